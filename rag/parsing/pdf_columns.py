"""The order in which a page's text is read: bands of columns, found by the white gutters between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag.parsing.layout import Fragment, union
from rag.types import BBox

_STEP = 3.0
_LEAST_ROWS = 4
_LEAST_SHARE = 0.17
_LEAST_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class _Item:
    """A fragment with what is counted again and again. `wall` is the table it belongs to, if any."""

    fragment: Fragment
    x0: float
    x1: float
    middle: float
    characters: int
    letters: int
    wall: BBox | None

    @property
    def sides(self) -> tuple[float, float]:
        """Left and right, between which no gutter may run."""
        return (self.wall[0], self.wall[2]) if self.wall else (self.x0, self.x1)


def reading_order(fragments: Sequence[Fragment], walls: Sequence[BBox] = ()) -> list[list[Fragment]]:
    """Part fragments into columns, in the order they are read. Text across a gutter ends the columns above it.

    Only running text makes a column: rows of short cells beside each other are a table and stay together, as does
    what stands inside one of the `walls` (boxes of ruled tables).
    """
    items = [_item(fragment, walls) for fragment in fragments]
    return [[item.fragment for item in column] for column in _parted(items, 0)]


def _item(fragment: Fragment, walls: Sequence[BBox]) -> _Item:
    x0, y0, x1, y1 = fragment.bbox
    middle = (y0 + y1) / 2
    wall = next((w for w in walls if w[1] <= middle <= w[3] and w[0] - 2 <= (x0 + x1) / 2 <= w[2] + 2), None)
    text = "".join(piece.text for piece in fragment.pieces)
    return _Item(fragment, x0, x1, middle, len(text), sum(map(str.isalpha, text)), wall)


def _parted(items: list[_Item], depth: int) -> list[list[_Item]]:
    if len(items) < 2 * _LEAST_ROWS or depth > 3:
        return [items] if items else []
    found = _widest_gutter(items)
    if not found:
        return [items]
    gutter, top, bottom = found
    above = [f for f in items if f.middle < top]
    below = [f for f in items if f.middle > bottom]
    beside = [f for f in items if top <= f.middle <= bottom]
    left = [f for f in beside if f.x1 <= gutter + 1]
    right = [f for f in beside if f.x1 > gutter + 1]
    return [column for part in (above, left, right, below) for column in _parted(part, depth + 1)]


def _widest_gutter(items: list[_Item]) -> tuple[float, float, float] | None:
    """Return the x of the gutter that parts most text, and the y where its columns begin and end."""
    x0, x1 = min(f.x0 for f in items), max(f.x1 for f in items)
    by_height = sorted(items, key=lambda f: f.middle)
    best: tuple[float, float, float, float] | None = None
    seen: set[tuple[int, int, int]] = set()
    gutters = [x0 + 0.15 * (x1 - x0) + k * _STEP for k in range(int((x1 - x0) * 0.7 / _STEP))]
    for k, first, last, on_left in _runs(by_height, gutters):
        if (first, last, on_left) in seen:
            continue
        seen.add((first, last, on_left))
        run, gutter = by_height[first:last], gutters[k]
        score = _score([f for f in run if f.x1 <= gutter], [f for f in run if f.x1 > gutter], x1 - x0)
        if score and (not best or score > best[0]):
            best = score, gutter, run[0].middle, run[-1].middle
    return best[1:] if best else None


def _runs(by_height: list[_Item], gutters: list[float]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of fragments, top to bottom, that do not cross a gutter and have enough on both its sides.

    Each is the gutter's index, the run's first index and the one past its last, and how many stand left of the gutter.
    All gutters are looked at in one array: a row a gutter, a place a fragment, and one more that ends the row.
    """
    at = np.array(gutters).reshape(-1, 1)
    starts, ends = np.array([f.sides for f in by_height]).T
    places = len(by_height) + 1
    crossed = np.ones((len(gutters), places), bool)
    crossed[:, :-1] = (starts < at + 3) & (ends > at - 3)
    left = np.zeros((len(gutters), places + 1), int)  # how many stand left of the gutter before each place
    np.cumsum(np.array([f.x1 for f in by_height]) <= at, axis=1, out=left[:, 1:-1])
    stops = np.flatnonzero(crossed)
    firsts = np.concatenate(([0], stops[:-1] + 1))
    long = stops - firsts >= 2 * _LEAST_ROWS
    for first, stop in zip(firsts[long].tolist(), stops[long].tolist(), strict=True):
        k, a, b = first // places, first % places, stop % places
        on_left = int(left[k, b] - left[k, a])
        if min(on_left, b - a - on_left) >= _LEAST_ROWS:
            yield k, a, b, on_left


def _score(left: list[_Item], right: list[_Item], width: float) -> float:
    """Return how much text stands on the lesser side, 0 where it is no pair of columns."""
    if not _is_running_text(left, width) or not _is_running_text(right, width):
        return 0.0
    a, b = (union(f.fragment.bbox for f in side) for side in (left, right))
    shared = min(a[3], b[3]) - max(a[1], b[1])
    if shared < 0.3 * min(a[3] - a[1], b[3] - b[1]):
        return 0.0
    return min(len(left), len(right)) + min(b[0] - a[2], 30) / 30


def _is_running_text(side: list[_Item], page: float) -> bool:
    characters, letters = sum(f.characters for f in side), sum(f.letters for f in side)
    if len(side) < _LEAST_ROWS or letters < 0.55 * characters:
        return False
    wide = max(f.x1 for f in side) - min(f.x0 for f in side)
    rows = _rows(side)
    if len(rows) < _LEAST_ROWS or wide < _LEAST_SHARE * page or characters / len(rows) < _LEAST_CHARACTERS:
        return False
    long = [row for row in rows if sum(f.x1 - f.x0 for f in row) > 0.55 * wide]
    return len(long) >= 0.4 * len(rows)


def _rows(side: list[_Item]) -> list[list[_Item]]:
    rows: list[list[_Item]] = []
    for f in sorted(side, key=lambda f: f.fragment.base):
        if rows and abs(rows[-1][-1].fragment.base - f.fragment.base) < 0.5 * f.fragment.size:
            rows[-1].append(f)
        else:
            rows.append([f])
    return rows
