"""Tables drawn with vertical rules: their columns stand between the rules."""

from __future__ import annotations

from collections.abc import Sequence

from rag.parsing.layout import Cell, Column, Line, Rule, union
from rag.parsing.table_cells import FoundTable, filled, is_value
from rag.types import BBox, Table

_TOUCH = 4.0
_SAME = 4.0
_MOST_RULES = 3000


def ruled_tables(column: Column, rules: Sequence[Rule]) -> list[FoundTable]:
    """Return the tables of a column that have at least one vertical rule and two columns with text."""
    near = [r for r in rules if r.x1 >= column.left - 30 and r.x0 <= column.right + 30]
    if len(near) > _MOST_RULES or not any(not r.horizontal for r in near):
        return []
    found: list[FoundTable] = []
    for group in _touching(near):
        table = _table(column, group)
        if table and all(table.first > other.last or table.last < other.first for other in found):
            found.append(table)
    return found


def walls(rules: Sequence[Rule], width: float, height: float) -> list[BBox]:
    """Return the boxes of the page's ruled tables, frames around most of the page left out."""
    if len(rules) > _MOST_RULES or not any(not r.horizontal for r in rules):
        return []
    boxes = [union((r.x0, r.y0, r.x1, r.y1) for r in group) for group in _touching(rules) if len(group) > 3]
    return [b for b in boxes if b[3] - b[1] > 12 and (b[2] - b[0]) * (b[3] - b[1]) < 0.8 * width * height]


def _touching(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Group rules that touch each other, directly or through others."""
    groups: dict[int, list[int]] = {}
    group_of: dict[int, int] = {}
    ordered = sorted(rules, key=lambda r: (r.y0, r.x0))
    reaching: list[int] = []  # the rules above that go down as far as the one looked at
    for i, rule in enumerate(ordered):
        reaching = [k for k in reaching if rule.y0 <= ordered[k].y1 + _TOUCH]
        met = {group_of[k] for k in reaching if rule.x0 <= ordered[k].x1 + _TOUCH and ordered[k].x0 <= rule.x1 + _TOUCH}
        home = max(met, key=lambda group: len(groups[group]), default=i)
        members = groups.pop(home, [])
        for other in met - {home}:
            moved = groups.pop(other)
            group_of.update(dict.fromkeys(moved, home))
            members += moved
        groups[home] = [*members, i]
        group_of[i] = home
        reaching.append(i)
    touching = [[ordered[i] for i in members] for members in groups.values() if len(members) > 1]
    return [members for members in touching if any(not r.horizontal for r in members)]


def _table(column: Column, rules: list[Rule]) -> FoundTable | None:
    box = union((r.x0, r.y0, r.x1, r.y1) for r in rules)
    inside = [
        i
        for i, line in enumerate(column.lines)
        if box[1] - 2 <= (line.y0 + line.y1) / 2 <= box[3] + 2 and line.x1 > box[0] - 2 and line.x0 < box[2] + 2
    ]
    if len(inside) < 2 or inside[-1] - inside[0] + 1 != len(inside):
        return None
    lines = [column.lines[i] for i in inside]
    left, right = min(box[0], *(x.x0 for x in lines)), max(box[2], *(x.x1 for x in lines))
    borders = _distinct([left, *(r.x0 for r in rules if not r.horizontal and r.length > 6), right])
    if len(borders) < 3:
        return None
    if _leaves_cells_together(lines, borders):
        return None
    rows = [row for band in _bands(rules, lines, box) for row in _rows(band, borders)]
    rows = [row for row in rows if any(row)]
    kept = [k for k in range(len(borders) - 1) if any(row[k] for row in rows)]
    rows = [[row[k] for k in kept] for row in rows]
    several = sum(sum(1 for cell in row if cell) >= 2 for row in rows)
    if len(kept) < 2 or len(rows) < 2 or several < max(2, 0.4 * len(rows)) or _is_frame(rows):
        return None
    header = 1 if rows and not all(is_value(cell) for cell in rows[0][1:] if cell) else 0
    area = union([box, *(x.bbox for x in lines)])
    edges = tuple((borders[k], borders[k + 1]) for k in kept)
    return FoundTable(inside[0], inside[-1], Table(filled(rows), header), area, edges)


def _leaves_cells_together(lines: Sequence[Line], borders: Sequence[float]) -> bool:
    """Tell whether the rules part only some of the columns, as marks of one column in a statement do."""
    several = [line for line in lines if len(line.cells) > 1]
    crowded = 0
    for line in several:
        columns = [sum(border < (cell.x0 + cell.x1) / 2 for border in borders) for cell in line.cells]
        crowded += len(set(columns)) < len(columns)
    return crowded > 0.3 * len(several)


def _is_frame(rows: Sequence[Sequence[str]]) -> bool:
    """A box around running text is no table: its cells hold paragraphs."""
    cells = [cell for row in rows for cell in row if cell]
    return len(rows) <= 2 and sum(map(len, cells)) > 400 * len(cells)


def _distinct(places: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > _SAME:
            kept.append(place)
    return kept


def _bands(rules: Sequence[Rule], lines: Sequence[Line], box: BBox) -> list[list[Line]]:
    """Part lines into rows: by horizontal rules where these part all rows, else each line is one."""
    wide = [(r.y0 + r.y1) / 2 for r in rules if r.horizontal and r.length > 0.3 * (box[2] - box[0])]
    thin = [(r.y0 + r.y1) / 2 for r in rules if r.horizontal]
    cuts = _distinct(wide if len(_distinct(wide)) > 2 else thin)
    if len(cuts) < 4:
        return [[line] for line in lines]
    bands: dict[int, list[Line]] = {}
    for line in lines:
        middle = (line.y0 + line.y1) / 2
        bands.setdefault(sum(cut < middle for cut in cuts), []).append(line)
    return [bands[k] for k in sorted(bands)]


def _rows(band: Sequence[Line], borders: Sequence[float]) -> list[list[str]]:
    """Return the row between two rules, or several where only some rows are ruled: each line fills the same cells, and
    holds a value."""
    alone = [_row([line], borders) for line in band]
    filled_alike = len({tuple(bool(cell) for cell in row) for row in alone}) == 1
    if filled_alike and all(row[0] and any(map(is_value, filter(None, row[1:]))) for row in alone):
        return alone
    return [_row(band, borders)]


def _row(lines: Sequence[Line], borders: Sequence[float]) -> list[str]:
    cells = [""] * (len(borders) - 1)
    for line in lines:
        for cell in line.cells:
            for k, text in _parted(cell, borders):
                cells[k] = f"{cells[k]} {text}".strip() if not cells[k].endswith("-") else cells[k] + text
    return cells


def _parted(cell: Cell, borders: Sequence[float]) -> list[tuple[int, str]]:
    """Give a cell to the column it stands in; text that runs over a border is cut at the nearest space."""
    columns = [k for k in range(len(borders) - 1) if min(cell.x1, borders[k + 1]) - max(cell.x0, borders[k]) > _SAME]
    if len(columns) < 2:
        middle = (cell.x0 + cell.x1) / 2
        k = next((k for k in range(len(borders) - 1) if middle < borders[k + 1]), len(borders) - 2)
        return [(k, cell.text)]
    parts, text, start = [], cell.text, cell.x0
    for k in columns[:-1]:
        share = (borders[k + 1] - start) / max(cell.x1 - start, 0.1)
        spaces = [i for i, ch in enumerate(text) if ch == " "]
        if not spaces:
            break
        cut = min(spaces, key=lambda i: abs(i - share * len(text)))
        parts.append((k, text[:cut].strip()))
        text, start = text[cut:].strip(), borders[k + 1]
    return [*parts, (columns[len(parts)], text)]
