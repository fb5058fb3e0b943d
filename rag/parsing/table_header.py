"""Which columns a header's cells name: one, or several that they are centred over."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from rag.parsing.layout import Cell, Rule

Edge = tuple[float, float]
_MOST_COLUMNS = 14
_CENTRED = 0.15  # of a column's width
_OFF_CENTRE = 0.45


def over(cells: Sequence[Cell], edges: Sequence[Edge]) -> list[Cell]:
    """Return the cells of a line that stand over columns of values."""
    return [c for c in cells if c.x1 > edges[0][0] - 25 and c.x0 > edges[0][0] - 140]


def heads_of(lines: Sequence[Sequence[Cell]], edges: Sequence[Edge]) -> list[Edge]:
    """Return the sides of the lowest header cells where there is one a column, else those of the values."""
    for cells in reversed(lines):
        named = over(cells, edges)
        if len(named) == len(edges):
            return [(cell.x0, cell.x1) for cell in named]
    return list(edges)


def ruled_groups(
    cells: Sequence[Cell], between: tuple[float, float], edges: Sequence[Edge], rules: Sequence[Rule]
) -> list[range | None]:
    """Return, for each cell over the columns, those that the rule next under it runs over; `None` where no rule tells.

    The rules `between` those heights, the cells' baseline and the top of the first row, are looked at. One that is
    shorter than the cell or runs under several cells tells nothing.
    """
    named = over(cells, edges)
    near = _whole([r for r in rules if r.horizontal and between[0] - 1 <= r.y0 <= between[1] + 1])
    middles = [_middle(cell.x0, cell.x1) for cell in named]
    groups: list[range | None] = []
    for cell, middle in zip(named, middles, strict=True):
        rule = min((r for r in near if r.x0 <= middle <= r.x1), key=lambda r: r.y0, default=None)
        groups.append(None)
        if rule and rule.length > cell.x1 - cell.x0 - 4 and sum(rule.x0 <= x <= rule.x1 for x in middles) == 1:
            columns = [k for k, edge in enumerate(edges) if rule.x0 <= _middle(*edge) <= rule.x1]
            groups[-1] = range(columns[0], columns[-1] + 1) if columns else None
    return groups


def _whole(rules: Sequence[Rule]) -> list[Rule]:
    """Join rules that are drawn in pieces, one a cell."""
    whole: list[Rule] = []
    for rule in sorted(rules, key=lambda r: (round(r.y0), r.x0)):
        if whole and abs(whole[-1].y0 - rule.y0) < 1 and rule.x0 - whole[-1].x1 < 0.5:
            whole[-1] = Rule(whole[-1].x0, whole[-1].y0, max(whole[-1].x1, rule.x1), whole[-1].y1)
        else:
            whole.append(rule)
    return whole


def spread(
    cells: Sequence[Cell], edges: Sequence[Edge], heads: Sequence[Edge], ruled: Sequence[range | None]
) -> dict[int, str]:
    """Give each column (1 and on; 0 is that of the labels) the text of the header cells over it.

    `ruled` tells which columns each cell names where rules say so. Without rules, where a line has fewer cells than
    there are columns, and its cells stand over the middles of groups of columns, each goes to all of its group; else to
    the column nearest to it. `heads` are the sides of the columns' own names, which say better than the values where a
    column's middle is.
    """
    named = over(cells, edges)
    texts: dict[int, str] = {}
    for cell in cells:
        if cell not in named:
            texts[0] = f"{texts.get(0, '')} {cell.text}".strip()
    told = [group for group in ruled if group]
    groups = told if len(told) == len(named) else None
    if groups is None and 0 < len(named) < len(edges) <= _MOST_COLUMNS:
        groups = _groups(named, heads)
    for i, cell in enumerate(named):
        for k in groups[i] if groups else (_nearest(cell, edges),):
            texts[k + 1] = f"{texts.get(k + 1, '')} {cell.text}".strip()
    return texts


def _nearest(cell: Cell, edges: Sequence[Edge]) -> int:
    return min(range(len(edges)), key=lambda k: _distance(cell, edges[k]))


def _groups(cells: Sequence[Cell], edges: Sequence[Edge]) -> list[range] | None:
    """Return the columns each cell stands in the middle of; `None` where the cells fit no groups."""
    width = (edges[-1][1] - edges[0][0]) / len(edges)
    return _exact_groups(cells, edges, _CENTRED * width) or _parted(cells, edges, _OFF_CENTRE * width)


def _exact_groups(cells: Sequence[Cell], edges: Sequence[Edge], limit: float) -> list[range] | None:
    """Return the widest group each cell is centred over; some columns may be in none.

    `None` where groups meet, or differ in width without taking all columns: a cell over one column is centred over
    its neighbours as well.
    """
    groups: list[range] = []
    n = len(edges)
    for cell in cells:
        fitting = [
            range(i, j + 1)
            for i in range(n)
            for j in range(i, n)
            if _off(cell, edges[i], edges[j]) <= limit
            and edges[i][0] - limit <= cell.x1
            and cell.x0 <= edges[j][1] + limit
        ]
        free = [g for g in fitting if not groups or g.start >= groups[-1].stop]
        if not free:
            return None
        groups.append(max(free, key=len))
    alike = len({len(group) for group in groups}) == 1
    return groups if alike or sum(map(len, groups)) == n else None


def _parted(cells: Sequence[Cell], edges: Sequence[Edge], limit: float) -> list[range] | None:
    """Part all columns into one group a cell, each cell nearest to the middle of its own."""
    best: tuple[float, list[range]] | None = None
    for cuts in combinations(range(1, len(edges)), len(cells) - 1):
        groups = [range(a, b) for a, b in pairwise((0, *cuts, len(edges)))]
        off = max(_off(cell, edges[g[0]], edges[g[-1]]) for g, cell in zip(groups, cells, strict=True))
        if best is None or off < best[0]:
            best = off, groups
    return best[1] if best and best[0] <= limit else None


def _off(cell: Cell, first: Edge, last: Edge) -> float:
    return abs(_middle(first[0], last[1]) - _middle(cell.x0, cell.x1))


def _middle(a: float, b: float) -> float:
    return (a + b) / 2


def _distance(cell: Cell, edge: Edge) -> float:
    """How far a cell is from a column; less than 0 where they share room."""
    shared = min(cell.x1, edge[1]) - max(cell.x0, edge[0])
    return -shared if shared > 0 else abs(_middle(cell.x0, cell.x1) - _middle(*edge))
