"""A column's measure: the usual step between its lines, and whether a line fills its width."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise

from rag.parsing.layout import Column, Line


class Measure:
    """Answers for one column, whose lines go from top to bottom. What is asked for every line is worked out once."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._heights = [round(line.base) for line in column.lines]
        self._pitches: dict[float, float] = {}

    def pitch(self, size: float) -> float:
        """Return the usual step between lines of this size."""
        if size not in self._pitches:
            lines = [x for x in self._column.lines if abs(x.size - size) < 0.6]
            steps = sorted(b.base - a.base for a, b in pairwise(lines) if 0.5 * a.size < b.base - a.base < 3 * a.size)
            self._pitches[size] = steps[len(steps) // 3] if steps else 1.35 * size
        return self._pitches[size]

    def is_full(self, last: Line, line: Line) -> bool:
        """Tell whether a line was broken for want of room: the next line's first word would not have fitted.

        In justified text a line that ends before the others ended on purpose, unless its sentence goes on.
        """
        near = self._near(last, 12 * last.size)
        if any(abs(x.x1 - last.x1) < 2.5 and 0 < abs(x.base - last.base) < 2.2 * last.size for x in near):
            return True
        ends = [x.x1 for x in near if x.page == last.page]
        right = max(ends, default=self._column.right)
        edge = Counter(map(round, ends)).most_common(1)
        justified = bool(edge) and edge[0][1] >= max(3, 0.4 * len(ends)) and edge[0][0] > right - 4
        if justified and last.x1 < edge[0][0] - 1.6 and not line.text[:1].islower():
            return False
        first = line.text.split(" ", 1)[0]
        word = (line.x1 - line.x0) * (len(first) + 1) / max(len(line.text), 1)
        return last.x1 + word > right - 0.5 * last.size

    def _near(self, line: Line, distance: float) -> list[Line]:
        start = bisect_left(self._heights, line.base - distance - 1)
        stop = bisect_right(self._heights, line.base + distance + 1)
        return [x for x in self._column.lines[start:stop] if abs(x.base - line.base) < distance]
