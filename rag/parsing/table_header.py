"""Which columns a header's cells name: one, or several that they are centred over."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from rag.parsing.layout import Cell

Edge = tuple[float, float]
_MOST_COLUMNS = 14
_OFF_CENTRE = 0.45  # of a column's width


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


def spread(cells: Sequence[Cell], edges: Sequence[Edge], heads: Sequence[Edge]) -> dict[int, str]:
    """Give each column (1 and on; 0 is that of the labels) the text of the header cells over it.

    Where a line has fewer cells than there are columns, and its cells stand over the middles of groups of columns, each
    goes to all of its group; else to the column nearest to it. `heads` are the sides of the columns' own names, which
    say better than the values where a column's middle is.
    """
    named = over(cells, edges)
    texts: dict[int, str] = {}
    for cell in cells:
        if cell not in named:
            texts[0] = f"{texts.get(0, '')} {cell.text}".strip()
    groups = _groups(named, heads) if 0 < len(named) < len(edges) <= _MOST_COLUMNS else None
    for i, cell in enumerate(named):
        for k in groups[i] if groups else (_nearest(cell, edges),):
            texts[k + 1] = f"{texts.get(k + 1, '')} {cell.text}".strip()
    return texts


def _nearest(cell: Cell, edges: Sequence[Edge]) -> int:
    return min(range(len(edges)), key=lambda k: _distance(cell, edges[k]))


def _groups(cells: Sequence[Cell], edges: Sequence[Edge]) -> list[range] | None:
    """Part all columns into one group a cell, each cell in the middle of its own; `None` if they cannot be."""
    n = len(edges)
    width = (edges[-1][1] - edges[0][0]) / n
    best: tuple[float, list[range]] | None = None
    for cuts in combinations(range(1, n), len(cells) - 1):
        bounds = (0, *cuts, n)
        groups = [range(a, b) for a, b in pairwise(bounds)]
        off = max(
            abs(_middle(edges[group[0]][0], edges[group[-1]][1]) - _middle(cell.x0, cell.x1))
            for group, cell in zip(groups, cells, strict=True)
        )
        if best is None or off < best[0]:
            best = off, groups
    return best[1] if best and best[0] <= _OFF_CENTRE * width else None


def _middle(a: float, b: float) -> float:
    return (a + b) / 2


def _distance(cell: Cell, edge: Edge) -> float:
    """How far a cell is from a column; less than 0 where they share room."""
    shared = min(cell.x1, edge[1]) - max(cell.x0, edge[0])
    return -shared if shared > 0 else abs(_middle(cell.x0, cell.x1) - _middle(*edge))
