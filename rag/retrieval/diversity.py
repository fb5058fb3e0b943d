"""Which of the passages found are shown: one text takes one place, and one file does not crowd out another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rag.retrieval.fusion import Candidate, in_order
from rag.retrieval.words import fold, tokens
from rag.types import Chunk

_NEAR_DUPLICATE = 0.9
_TURNING = frozenset({"не", "ни", "нет", "без", "not", "no", "never", "without"})
# How much a passage's score loses for each better one of the same section, and of the same file.
_SAME_SECTION = 0.04


def distinct(
    candidates: Sequence[Candidate], chunks: Mapping[str, Chunk]
) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
    """Leave out passages whose text (nearly) stands in a better one. Returns those kept, and for each, by id,
    the other files that hold its text."""
    kept: list[Candidate] = []
    words: dict[str, frozenset[str]] = {}
    texts: dict[str, str] = {}
    same_in: dict[str, list[str]] = {}
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        text = " ".join(fold(chunk.text).split())
        mine = frozenset(tokens(text))
        twin = next((k for k in texts if text == texts[k]), None)
        near = twin or next((k for k in words if _alike(mine, words[k])), None)
        if near is None:
            kept.append(candidate)
            words[candidate.chunk_id], texts[candidate.chunk_id] = mine, text
            same_in[candidate.chunk_id] = []
        elif twin and chunk.path not in (chunks[twin].path, *same_in[twin]):
            same_in[twin].append(chunk.path)
    return kept, {chunk_id: tuple(sorted(files)) for chunk_id, files in same_in.items()}


def spread(candidates: Sequence[Candidate], chunks: Mapping[str, Chunk]) -> list[Candidate]:
    """Reorder so that a passage loses a little for each better one cut from the same section."""
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    lowered = []
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        section = (chunk.path, chunk.heading)
        earlier = seen.get(section, 0)
        seen[section] = earlier + 1
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
    """Tell whether two sets of stems are those of one text told twice: other numbers or a "not" make another text."""
    differing = one ^ other
    if any(stem in _TURNING or any(c.isdigit() for c in stem) for stem in differing):
        return False
    return len(one & other) >= _NEAR_DUPLICATE * max(len(one | other), 1)
