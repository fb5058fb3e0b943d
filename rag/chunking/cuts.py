"""Where to cut a section: passages near the target size, at the best places, none a stub, none over the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.chunking.atoms import Atom, Cut

# What a cut of each kind costs, on the scale of `_size_cost`, where a passage half or twice the target costs 1.
CUT_COST = {
    Cut.WORD: 4.0,
    Cut.GLUED: 2.0,
    Cut.SENTENCE: 0.9,
    Cut.LINE: 0.8,
    Cut.ITEM: 0.5,
    Cut.PARAGRAPH: 0.25,
    Cut.POINT: 0.12,
    Cut.TOPIC: 0.0,
}
KEPT_TOPIC = 0.3  # what a passage costs for each change of topic inside it


@dataclass(frozen=True, slots=True)
class Limits:
    """The size wished for and the most allowed, in characters, and the most tokens."""

    target: int
    most: int
    tokens: int


def best_cuts(atoms: Sequence[Atom], tokens: Sequence[int], limits: Limits) -> list[int]:
    """Return the atoms that begin a passage, 0 first.

    Minimises the sum of the passages' costs. The best cuts after an atom do not depend on what stands before it,
    so that after an edit the cuts fall back to where they were.
    """
    n = len(atoms)
    cost = [0.0] * (n + 1)
    following = [n] * (n + 1)
    for first in range(n - 1, -1, -1):
        best = float("inf")
        used = 0
        kept = 0.0
        for last in range(first, n):
            size = len(atoms[first].header) + atoms[last].end - atoms[first].start
            used += tokens[last]
            if last > first:
                if used > limits.tokens or size > limits.most:
                    break
                kept += KEPT_TOPIC if atoms[last].cut is Cut.TOPIC else 0
            after = last + 1
            total = cost[after] + kept + _size_cost(size, limits.target, whole=first == 0 and after == n)
            total += CUT_COST[atoms[after].cut] if after < n else 0
            if total < best:
                best, following[first] = total, after
        cost[first] = best
    starts, at = [], 0
    while at < n:
        starts.append(at)
        at = following[at]
    return starts


def _size_cost(size: int, target: int, whole: bool) -> float:
    if size >= target:
        return (size / target - 1) ** 2
    return 0.0 if whole else (target / max(size, 1) - 1) ** 2
