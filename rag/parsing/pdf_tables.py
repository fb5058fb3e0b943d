"""Tables of a PDF page, found by the geometry of their cells and rules, without rendering the page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rag.parsing.layout import Column, Line, Rule
from rag.parsing.table_cells import FoundTable
from rag.parsing.table_grid import ruled_tables
from rag.parsing.table_rows import open_tables


def find_tables(column: Column, rules: Sequence[Rule], headings: Collection[int]) -> list[FoundTable]:
    """Return the tables among a column's lines, top to bottom. `headings` are the id()s of heading lines.

    Tables with vertical rules are read by their grid, others (statements, aligned columns) by their values.
    """
    found = ruled_tables(column, rules)
    taken = {i for table in found for i in range(table.first, table.last + 1)}
    for start, end in _free(column.lines, taken):
        found += open_tables(column, start, end, rules, headings)
    return sorted(found, key=lambda table: table.first)


def _free(lines: Sequence[Line], taken: Collection[int]) -> list[tuple[int, int]]:
    """Return the stretches of lines (first, one past the last) that no table has taken."""
    stretches: list[tuple[int, int]] = []
    start = 0
    for i in range(len(lines) + 1):
        if i == len(lines) or i in taken:
            if i > start:
                stretches.append((start, i))
            start = i + 1
    return stretches
