"""Inverted lists: for each stem, the passages that hold it and how often. Immutable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt

from rag.retrieval.cognates import sound
from rag.retrieval.words import is_cyrillic

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Row = tuple[str, str, Sequence[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Passages 0..n-1 and the inverted lists over them. The list of stem number r is
    `passages[starts[r]:starts[r + 1]]`, ascending, with `counts` beside it."""

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    lengths: Ints
    stems: dict[str, int]
    starts: Ints
    passages: Ints
    counts: Ints
    _by_length: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    _by_sound: dict[bool, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def build(cls, rows: Sequence[Row]) -> Self:
        """Count the stems of (chunk id, path, stems) rows."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        lengths = np.fromiter((len(stems) for _, _, stems in rows), np.int64, len(rows))
        codes = np.fromiter(
            map(numbers.__getitem__, chain.from_iterable(stems for _, _, stems in rows)), np.int64, int(lengths.sum())
        )
        owners = np.repeat(np.arange(len(rows)), lengths)
        pairs, counts = np.unique(codes * max(len(rows), 1) + owners, return_counts=True)
        return cls._sorted(tuple((r[0], r[1]) for r in rows), lengths, dict(numbers), pairs, counts)

    @classmethod
    def merge(cls, parts: Sequence[tuple[Segment, Flags]]) -> Self:
        """Join segments, leaving out the passages that are no longer alive and the stems only they held."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        codes, owners, counts, offset = [], [], [], 0
        for segment, alive in parts:
            renumbered = np.cumsum(alive) - 1 + offset
            kept = alive[segment.passages]
            used = np.repeat(np.arange(len(segment.stems)), np.diff(segment.starts))[kept]
            names = list(segment.stems)
            mapping = np.zeros(len(names), np.int64)
            for number in np.unique(used):
                mapping[number] = numbers[names[number]]
            codes.append(mapping[used])
            owners.append(renumbered[segment.passages[kept]])
            counts.append(segment.counts[kept])
            offset += int(alive.sum())
        pairs = np.concatenate(codes) * max(offset, 1) + np.concatenate(owners)
        order = np.argsort(pairs, kind="stable")
        rows = ((s.ids[i], s.paths[i]) for s, alive in parts for i in np.flatnonzero(alive))
        lengths = np.concatenate([s.lengths[alive] for s, alive in parts])
        return cls._sorted(tuple(rows), lengths, dict(numbers), pairs[order], np.concatenate(counts)[order])

    @classmethod
    def _sorted(
        cls, owners: tuple[tuple[str, str], ...], lengths: Ints, stems: dict[str, int], pairs: Ints, counts: Ints
    ) -> Self:
        codes, passages = np.divmod(pairs, max(len(owners), 1))
        starts = np.searchsorted(codes, np.arange(len(stems) + 1))
        ids, paths = tuple(i for i, _ in owners), tuple(path for _, path in owners)
        return cls(ids, paths, lengths, stems, starts, passages, counts)

    def holding(self, stem: str) -> tuple[Ints, Ints]:
        """Return the passages that hold a stem and its count in each."""
        number = self.stems.get(stem)
        if number is None:
            return self.passages[:0], self.counts[:0]
        span = slice(self.starts[number], self.starts[number + 1])
        return self.passages[span], self.counts[span]

    def place(self, chunk_id: str) -> int | None:
        """Return which passage has this id."""
        if not self._places:
            self._places.update({chunk: place for place, chunk in enumerate(self.ids)})
        return self._places.get(chunk_id)

    def stems_of_length(self, length: int) -> tuple[str, ...]:
        """Return the stems with so many characters."""
        if not self._by_length:
            groups: defaultdict[int, list[str]] = defaultdict(list)
            for stem in self.stems:
                groups[len(stem)].append(stem)
            # One update, so that another thread sees either nothing or all of it.
            self._by_length.update({n: tuple(group) for n, group in groups.items()} | {-1: ()})
        return self._by_length.get(length, ())

    def by_sound(self, cyrillic: bool) -> dict[str, tuple[str, ...]]:
        """Return the stems of one alphabet by their sounds."""
        if not self._by_sound:
            groups: dict[bool, defaultdict[str, list[str]]] = {True: defaultdict(list), False: defaultdict(list)}
            for stem in self.stems:
                heard = sound(stem)
                if heard:
                    groups[is_cyrillic(stem)][heard].append(stem)
            self._by_sound.update({c: {k: tuple(v) for k, v in group.items()} for c, group in groups.items()})
        return self._by_sound[cyrillic]
