"""The order in which a page's text is read: bands of columns, found by the white gutters between them."""

from __future__ import annotations

from collections.abc import Sequence

from rag.parsing.layout import Fragment, union

_STEP = 3.0
_LEAST_ROWS = 4
_LEAST_SHARE = 0.17
_LEAST_CHARACTERS = 16


def reading_order(fragments: Sequence[Fragment], depth: int = 0) -> list[list[Fragment]]:
    """Part fragments into columns, in the order they are read. Text across a gutter ends the columns above it.

    Only running text makes a column: rows of short cells beside each other are a table and stay together.
    """
    items = list(fragments)
    if len(items) < 2 * _LEAST_ROWS or depth > 3:
        return [items] if items else []
    found = _widest_gutter(items)
    if not found:
        return [items]
    gutter, top, bottom = found
    above = [f for f in items if _middle(f) < top]
    below = [f for f in items if _middle(f) > bottom]
    beside = [f for f in items if top <= _middle(f) <= bottom]
    left = [f for f in beside if f.bbox[2] <= gutter + 1]
    right = [f for f in beside if f.bbox[2] > gutter + 1]
    parts = (above, left, right, below)
    return [column for part in parts for column in reading_order(part, depth + 1)]


def _middle(fragment: Fragment) -> float:
    return (fragment.bbox[1] + fragment.bbox[3]) / 2


def _widest_gutter(items: list[Fragment]) -> tuple[float, float, float] | None:
    """Return the x of the gutter that parts most text, and the y where its columns begin and end."""
    x0, _, x1, _ = union(f.bbox for f in items)
    by_height = sorted(items, key=_middle)
    best: tuple[float, float, float, float] | None = None
    steps = int((x1 - x0) * 0.7 / _STEP)
    for k in range(steps):
        gutter = x0 + 0.15 * (x1 - x0) + k * _STEP
        for run in _runs(by_height, gutter):
            score = _score(run, gutter, x1 - x0)
            if score and (not best or score > best[0]):
                best = score, gutter, _middle(run[0]), _middle(run[-1])
    return best[1:] if best else None


def _runs(by_height: list[Fragment], gutter: float) -> list[list[Fragment]]:
    """Part the fragments, top to bottom, where one crosses the gutter."""
    runs: list[list[Fragment]] = [[]]
    for f in by_height:
        if f.bbox[0] < gutter + 3 and f.bbox[2] > gutter - 3:
            runs.append([])
        else:
            runs[-1].append(f)
    return [run for run in runs if len(run) >= 2 * _LEAST_ROWS]


def _score(run: list[Fragment], gutter: float, width: float) -> float:
    """Return how much text stands on the lesser side, 0 where it is no pair of columns."""
    sides = [f for f in run if f.bbox[2] <= gutter], [f for f in run if f.bbox[0] >= gutter]
    if any(not _is_running_text(side, width) for side in sides):
        return 0.0
    left, right = (union(f.bbox for f in side) for side in sides)
    shared = min(left[3], right[3]) - max(left[1], right[1])
    if shared < 0.3 * min(left[3] - left[1], right[3] - right[1]):
        return 0.0
    gap = right[0] - left[2]
    return min(len(side) for side in sides) + min(gap, 30) / 30 - abs(gutter - (left[2] + right[0]) / 2) / width


def _is_running_text(side: list[Fragment], page: float) -> bool:
    if len(side) < _LEAST_ROWS:
        return False
    x0, _, x1, _ = union(f.bbox for f in side)
    rows = _rows(side)
    if len(rows) < _LEAST_ROWS or x1 - x0 < _LEAST_SHARE * page:
        return False
    long = [row for row in rows if sum(f.width for f in row) > 0.55 * (x1 - x0)]
    characters = sum(len(p.text) for f in side for p in f.pieces)
    letters = sum(ch.isalpha() for f in side for p in f.pieces for ch in p.text)
    return (
        len(long) >= 0.4 * len(rows)
        and characters / len(rows) >= _LEAST_CHARACTERS
        and letters >= 0.55 * characters
    )


def _rows(side: list[Fragment]) -> list[list[Fragment]]:
    rows: list[list[Fragment]] = []
    for f in sorted(side, key=lambda f: f.base):
        if rows and abs(rows[-1][-1].base - f.base) < 0.5 * f.size:
            rows[-1].append(f)
        else:
            rows.append([f])
    return rows
