"""Which of the passages found are shown: one text takes one place, and one file does not crowd out another."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rag.retrieval.fusion import Candidate, in_order
from rag.types import Chunk

_NEAR_DUPLICATE = 0.9
# Near-duplicates are looked for among so many of the best: no more are ever shown.
_COMPARED = 20
TURNING = frozenset({"не", "ни", "нет", "без", "not", "no", "never", "without"})
_LONG_WORD = 8
_PUNCTUATION = string.punctuation + "«»“”„‘’…—–•"
# How much a passage's score loses for each better one of the same section, and of the same file.
_SAME_SECTION = 0.02


def distinct(
    candidates: Sequence[Candidate], chunks: Mapping[str, Chunk]
) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Leave out passages whose text stands in a better one, and among the best also those that nearly repeat one.
    Returns those kept, and for each, by id, the other files that hold its text."""
    kept: list[Candidate] = []
    first: dict[str, str] = {}
    same_in: dict[str, list[str]] = {}
    words: list[frozenset[str]] = []
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        written = chunk.text.casefold().split()
        twin = first.setdefault(" ".join(written), candidate.chunk_id)
        if twin != candidate.chunk_id:
            if chunk.path not in (chunks[twin].path, *same_in.get(twin, ())):
                same_in.setdefault(twin, []).append(chunk.path)
            continue
        if len(kept) < _COMPARED:
            mine = frozenset(filter(None, (word.strip(_PUNCTUATION) for word in written)))
            if any(_alike(mine, others) for others in words):
                continue
            words.append(mine)
        kept.append(candidate)
    return kept, {chunk_id: tuple(sorted(files)) for chunk_id, files in same_in.items()}


def spread(candidates: Sequence[Candidate], chunks: Mapping[str, Chunk]) -> list[Candidate]:
    """Reorder so that a passage loses a little for each better one cut from the same section or page."""
    seen: dict[tuple[str, object], int] = {}
    lowered = []
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        places = {(chunk.path, chunk.heading), (chunk.path, chunk.page_first)} - {(chunk.path, ()), (chunk.path, None)}
        earlier = max((seen.get(place, 0) for place in places), default=0)
        for place in places:
            seen[place] = seen.get(place, 0) + 1
        lowered.append(replace(candidate, score=candidate.score - _SAME_SECTION * earlier))
    return in_order(lowered)


def merged(parts: Sequence[Sequence[Candidate]], key: Callable[[Candidate], str]) -> list[Candidate]:
    """Take turns: the best of each part first, then the second best of each, without repeating a passage."""
    seen: set[str] = set()
    found: list[Candidate] = []
    for rank in range(max(map(len, parts), default=0)):
        for candidate in _at(parts, rank):
            if key(candidate) not in seen:
                seen.add(key(candidate))
                found.append(candidate)
    return found


def _at(parts: Iterable[Sequence[Candidate]], rank: int) -> list[Candidate]:
    return [part[rank] for part in parts if rank < len(part)]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two sets of words are those of one text told twice. Other numbers, a "not", or a word in the place
    of another, which may be another name or the opposite, make another text; a misspelling does not."""
    few, many = sorted((len(one), len(other)))
    if few < _NEAR_DUPLICATE * many:
        return False
    shared = len(one & other)
    if shared < _NEAR_DUPLICATE * (few + many - shared):
        return False
    if any(word in TURNING or any(c.isdigit() for c in word) for word in one ^ other):
        return False
    left, right = sorted((one - other, other - one), key=len)
    return all(any(_misspelt(word, near) for near in right) for word in left)


def _misspelt(word: str, near: str) -> bool:
    from rapidfuzz.distance import OSA

    return word[0] == near[0] and OSA.distance(word, near) <= (1 if len(word) < _LONG_WORD else 2)
