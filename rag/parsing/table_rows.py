"""Tables without vertical rules: rows of a label and values that stand under each other, as in statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag.parsing.layout import Cell, Column, Line, Rule, union
from rag.parsing.table_cells import FoundTable, filled, is_units, is_value, is_year, whole_cells
from rag.parsing.table_header import heads_of, over, ruled_groups, spread
from rag.types import Table

_LEAST_ROWS = 2
_LONGEST_LABEL = 150
_LABEL = 20.0  # points that a label takes at least


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    line: Line
    cells: tuple[Cell, ...]

    @property
    def values(self) -> list[Cell]:
        """Cells right of the first that hold values and do not merely name a year, as a header's cells do."""
        return [c for c in self.cells[1:] if is_value(c.text) and not is_year(c.text)]

    @property
    def is_seed(self) -> bool:
        """A row of data: at least one value right of a label, and few other cells."""
        label = self.cells[0].text
        values = len(self.values) + (is_value(label) and not is_year(label) and len(self.cells) > 2)
        return 1 <= values >= (len(self.cells) - 1) / 2 and self.line.math < 0.3


def open_tables(
    column: Column, start: int, end: int, rules: Sequence[Rule], headings: Collection[int]
) -> list[FoundTable]:
    """Return the tables among `column.lines[start:end]`. `rules` under names of columns tell how far these reach."""
    rows = [_Row(i, column.lines[i], tuple(whole_cells(column.lines[i]))) for i in range(start, end)]
    found: list[FoundTable] = []
    free = 0
    for first, last in [*_runs(rows), *_text_runs(rows)]:
        if any(found_.first <= rows[k].index <= found_.last for found_ in found for k in (first, last)):
            continue
        table = _table(rows, (first, last), max(free if first >= free else 0, 0), rules, headings)
        if table and all(table.first > other.last or table.last < other.first for other in found):
            found.append(table)
            free = last + 1
    return found


def _runs(rows: Sequence[_Row]) -> list[tuple[int, int]]:
    """Return stretches that begin and end with a row of data and hold only such rows and short labels between.

    A row alone is a table only if its columns are named."""
    runs: list[tuple[int, int]] = []
    first: int | None = None
    last = 0
    for k, row in enumerate(rows):
        if row.is_seed:
            if first is None or not _bridges(rows, last, k):
                if first is not None:
                    runs.append((first, last))
                first = k
            last = k
    if first is not None:
        runs.append((first, last))
    return [(a, b) for a, b in runs if sum(rows[k].is_seed for k in range(a, b + 1)) >= _LEAST_ROWS or a == b]


def _bridges(rows: Sequence[_Row], a: int, b: int) -> bool:
    """Tell whether nothing between two rows of data ends the table."""
    if b - a > 7:
        return False
    size = rows[a].line.size
    for k in range(a, b):
        if rows[k + 1].line.base - rows[k].line.base > 4.2 * size:
            return False
    return all(_is_label(rows[k]) and not _is_header(rows[k]) for k in range(a + 1, b))


def _is_header(row: _Row) -> bool:
    """Tell whether a line names columns: several cells, none with a value; another table begins there."""
    return len(row.cells) >= 2 and not row.values


def _is_label(row: _Row) -> bool:
    text = row.line.text
    return len(text) < _LONGEST_LABEL and not (len(row.cells) == 1 and text.endswith(".") and len(text) > 60)


def _text_runs(rows: Sequence[_Row]) -> list[tuple[int, int]]:
    """Return stretches of three and more lines whose short cells begin (or end) under each other."""
    runs: list[tuple[int, int]] = []
    k = 0
    while k < len(rows):
        first, full = k, 1
        while k + 1 < len(rows) and len(rows[first].cells) >= 2 and _follows(rows[first], rows[k], rows[k + 1]):
            k += 1
            full += len(rows[k].cells) == len(rows[first].cells)
        if full >= 3 and _is_textual(rows[first : k + 1]):
            runs.append((first, k))
        k += 1
    return runs


def _follows(first: _Row, last: _Row, row: _Row) -> bool:
    """Tell whether a line is a further row of words, or goes on in one of the columns right of the first."""
    if row.line.math >= 0.3 or row.line.base - last.line.base > 4 * row.line.size:
        return False
    if len(row.cells) == len(first.cells):
        return _aligned(first.cells, row.cells)
    starts = [cell.x0 for cell in first.cells[1:]]
    return (
        len(row.cells) < len(first.cells)
        and row.line.base - last.line.base < 1.7 * row.line.size
        and all(any(abs(cell.x0 - x) < 3 for x in starts) for cell in row.cells)
    )


def _aligned(a: Sequence[Cell], b: Sequence[Cell]) -> bool:
    return all(
        abs(x.x0 - y.x0) < 3 or abs(x.x1 - y.x1) < 3 or abs((x.x0 + x.x1) - (y.x0 + y.x1)) < 6
        for x, y in zip(a, b, strict=True)
    )


def _is_textual(rows: Sequence[_Row]) -> bool:
    """Columns of words, not bullets and numbers before running text."""
    most = max(len(row.cells) for row in rows)
    firsts = [row.cells[0].text for row in rows if len(row.cells) == most]
    return (
        all(any(ch.isalpha() for ch in text) and len(text) > 1 for text in firsts)
        and all(len(cell.text) < 90 for row in rows for cell in row.cells)
        and all(row.line.math < 0.3 for row in rows)
    )


def _table(
    rows: Sequence[_Row], body: tuple[int, int], floor: int, rules: Sequence[Rule], headings: Collection[int]
) -> FoundTable | None:
    first, last = body
    edges = _columns(rows[first : last + 1])
    if not edges:
        return None
    first = _with_labels_above(rows, first, floor, edges)
    top = _top(rows, first, floor, edges, headings)
    header = _header(rows, top, first, edges, rules)
    if first == last and not _is_named(rows[first], header):
        return None
    lines: list[list[str]] = []
    for row in rows[first : last + 1]:
        _add_row(lines, row, edges)
    start, caption = _caption(rows, top, floor, headings)
    if any(header):
        lines.insert(0, header)
    taken = rows[start : last + 1]
    words_only = not any(row.is_seed for row in rows[first : last + 1])
    table = Table(filled(lines), 1 if any(header) or words_only else 0, caption)
    return FoundTable(taken[0].index, taken[-1].index, table, union(row.line.bbox for row in taken), tuple(edges))


def _with_labels_above(rows: Sequence[_Row], first: int, floor: int, edges: Sequence[tuple[float, float]]) -> int:
    """Return where the body begins: labels ("Assets") between header and first row with values are part of it."""
    for k in range(first - 1, max(floor, first - 5) - 1, -1):
        row, below = rows[k], rows[k + 1].line
        if below.base - row.line.base > 2.6 * below.size:
            break
        if len(over(row.cells, edges)) >= 2 or any(is_year(c.text) for c in over(row.cells, edges)):
            return k + 1
        longest = 110 if row.line.text.endswith(":") else 70
        if len(row.cells) > 1 or len(row.line.text) > longest or row.line.x1 > edges[-1][0]:
            break
    return first


def _columns(body: Sequence[_Row]) -> list[tuple[float, float]]:
    """Return the sides of the columns right of the labels: values that stand over each other share one.

    Narrow cells go first; one that would join two columns joins none. A row's first cell makes no column.
    """
    seeds = [row for row in body if row.is_seed]
    cells = [c for row in seeds for c in row.cells[1:] if is_value(c.text)] or [
        c for row in body for c in row.cells[1:]
    ]
    merged: list[list[float]] = []
    for x0, x1 in sorted(((c.x0, c.x1) for c in cells), key=lambda span: span[1] - span[0]):
        shared = [edge for edge in merged if min(x1, edge[1]) - max(x0, edge[0]) > 0.5]
        if not shared:
            merged.append([x0, x1])
        elif len(shared) == 1:
            shared[0][:] = [min(x0, shared[0][0]), max(x1, shared[0][1])]
    return _apart(sorted(merged))


def _apart(edges: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Join columns that grew into each other."""
    joined: list[tuple[float, float]] = []
    for a, b in edges:
        if joined and a < joined[-1][1] - 0.5:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


def _add_row(lines: list[list[str]], row: _Row, edges: Sequence[tuple[float, float]]) -> None:
    cells = [""] * (len(edges) + 1)
    for cell in row.cells:
        k = _column_of(cell, edges)
        cells[k] = f"{cells[k]} {cell.text}".strip()
    label_only = not any(cells[1:])
    if lines and not cells[0] and not row.is_seed and not any(is_value(cell) for cell in cells if cell):
        lines[-1] = [f"{a} {b}".strip() for a, b in zip(lines[-1], cells, strict=True)]
        return
    if lines and not label_only and not any(lines[-1][1:]) and _goes_on(lines[-1][0], cells[0]):
        cells[0] = f"{lines[-1][0]} {cells[0]}"
        lines[-1] = cells
    elif lines and label_only and any(lines[-1][1:]) and cells[0][:1].islower():
        lines[-1][0] = f"{lines[-1][0]} {cells[0]}"
    else:
        lines.append(cells)


def _goes_on(label: str, next_label: str) -> bool:
    """A label without values goes on in the next row if that begins in lower case or the first has no end."""
    return (
        bool(label)
        and not label.endswith(":")
        and (next_label[:1].islower() or label.endswith((",", " and", " of", "-")))
    )


def _column_of(cell: Cell, edges: Sequence[tuple[float, float]]) -> int:
    """Return the column (0 = labels) that the cell shares most room with."""
    shares = [min(cell.x1, b) - max(cell.x0, a) for a, b in edges]
    best = max(range(len(edges)), key=lambda k: shares[k])
    if shares[best] > 0 and (is_value(cell.text) or cell.x0 > edges[0][0] - 40):
        return best + 1
    if cell.x1 < edges[0][0] or cell.x0 < edges[0][0] - 40:
        return 0
    middle = (cell.x0 + cell.x1) / 2
    return 1 + min(range(len(edges)), key=lambda k: abs((edges[k][0] + edges[k][1]) / 2 - middle))


def _top(
    rows: Sequence[_Row], first: int, floor: int, edges: Sequence[tuple[float, float]], headings: Collection[int]
) -> int:
    """Return where the header begins: lines over the first row that stand over the values."""
    top = first
    while top > floor and first - top < 9:
        row, below = rows[top - 1], rows[top].line
        gap = below.base - row.line.base
        alone = len(row.cells) == 1 and (row.line.x0 < edges[0][0] - 60 or is_units(row.line))
        if not over(row.cells, edges) or alone or gap > 2.6 * max(below.size, row.line.size):
            break
        if id(row.line) in headings or len(row.line.text) > 170:
            break
        top -= 1
    return top


def _header(
    rows: Sequence[_Row], top: int, first: int, edges: Sequence[tuple[float, float]], rules: Sequence[Rule]
) -> list[str]:
    """Return the names of the columns, from the lines between `top` and the first row."""
    header = [""] * (len(edges) + 1)
    heads = heads_of([row.cells for row in rows[top:first]], edges)
    rules = [rule for rule in rules if rule.x0 > rows[first].line.x0 + _LABEL]  # not under the labels too
    for k, row in enumerate(rows[top:first], start=top + 1):
        ruled = ruled_groups(row.cells, (row.line.base, rows[first].line.y0), edges, rules)
        below = over(rows[k].cells, edges)
        if len(ruled) == 1 and len(below) == len(edges) and k < first and all(is_year(cell.text) for cell in below):
            ruled = [range(len(edges))]  # "31 December" over the years
        for column, text in spread(row.cells, edges, heads, ruled).items():
            header[column] = f"{header[column]} {text}".strip()
    return header


def _is_named(row: _Row, header: Sequence[str]) -> bool:
    """Tell whether a single row is a table: every one of its values has a name over it, and there are several."""
    return len(row.values) >= 2 and len(row.cells) == len(row.values) + 1 == len(header) and all(header[1:])


def _caption(rows: Sequence[_Row], top: int, floor: int, headings: Collection[int]) -> tuple[int, str]:
    """Return where the caption over the table begins and its text: units and a numbered title."""
    start = top
    while start > floor and top - start < 3:
        row = rows[start - 1]
        gap = rows[start].line.base - row.line.base
        if id(row.line) in headings or len(row.cells) > 1 or gap > 2.6 * row.line.size or not is_units(row.line):
            break
        start -= 1
    return start, " ".join(row.line.text for row in rows[start:top])
