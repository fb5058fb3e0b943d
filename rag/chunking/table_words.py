"""A table's rows written out as words, so that a figure can be found by what it is: "Выручка, 2022: 100; 2023: 120"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.types import Table

_EMPTY = re.compile(r"[\s\-–—.…]*\Z")
_LETTER = re.compile(r"[^\W\d_]")


def column_names(table: Table) -> list[str]:
    """Return one name a column: its header cells from the top down, a cell that spans several said once."""
    width = max((len(row) for row in table.rows), default=0)
    head = table.rows[: table.header_rows]
    names = []
    for column in range(width):
        cells = [" ".join(row[column].split()) for row in head if column < len(row)]
        names.append(" ".join(dict.fromkeys(cell for cell in cells if cell)))
    return names


def row_words(names: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as "label, column: value; column: value"; empty cells are left out, "" if all are.

    The first cell is the label if it holds words; a mere number there is a value like any other.
    """
    pairs = [(names[i] if i < len(names) else "", " ".join(cell.split())) for i, cell in enumerate(cells)]
    label = pairs[0][1] if len(pairs) > 1 and _LETTER.search(pairs[0][1]) else ""
    values: list[str] = []
    for name, value in pairs[1:] if label else pairs:
        said = f"{name}: {value}" if name and name != value else value
        if not _EMPTY.match(value) and (not values or values[-1] != said):
            values.append(said)
    return ", ".join(part for part in (label, "; ".join(values)) if part)
