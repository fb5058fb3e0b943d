"""Exact things first: names, numbers, codes and quoted words mean just themselves, so where they are rare in the
library, a passage that holds them stands above one that is merely about the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.retrieval.asking import Asked
from rag.retrieval.fusion import Candidate, in_order
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import fold, tokens
from rag.types import Chunk

EXACT_LIFT = 0.2
PHRASE_LIFT = 0.5
_PART = re.compile(r"[^\W\d_]+|\d+")
# A year, or letters and digits in one word or with a hyphen between; "FY21" names the year 2021.
_FIGURE = re.compile(
    r"(?<![\w.,/-])(?![fF][yY]\d\d(?!\d))"
    r"(?:(?:1\d|20)\d\d(?!\w|[.,]\d)|[^\W\d_]+-?\d[\w-]*\w|[^\W\d_]{2,}-?\d(?!\w))"
)
# Rare: in at most this share of the passages, or in this many.
_RARE_SHARE = 0.01
_RARE_COUNT = 3


def lifted(
    candidates: Sequence[Candidate], asked: Asked, index: KeywordIndex, chunks: Mapping[str, Chunk]
) -> list[Candidate]:
    """Return the candidates in a new order: each gains by the share of the question's rare exact words that it
    holds, and by each quoted phrase that stands in it word for word."""
    limit = max(_RARE_COUNT, _RARE_SHARE * len(index))
    rare = {stem: 1.0 for stem in sorted(asked.exact) if 0 < index.frequency(stem) <= limit}
    if not rare and not asked.phrases:
        return list(candidates)
    held = index.judge(rare, [c.chunk_id for c in candidates]) if rare else {}
    gains = {chunk_id: EXACT_LIFT * match.covered for chunk_id, match in held.items()}
    for candidate in candidates:
        text = _plain(chunks[candidate.chunk_id]) if asked.phrases else ""
        phrases = sum(_holds(text, phrase) for phrase in asked.phrases)
        gains[candidate.chunk_id] = gains.get(candidate.chunk_id, 0.0) + PHRASE_LIFT * phrases
    return in_order([replace(c, score=c.score + gains[c.chunk_id]) for c in candidates])


def names_unknown_figure(question: str, index: KeywordIndex) -> bool:
    """Tell whether the question names a year or a code ("CS-102", "FY2024") that stands nowhere in the library,
    neither whole nor in parts ("RAID5" as "RAID 5"). Other numbers are written in too many ways to tell."""
    return any(not _is_known(figure, index) for figure in _FIGURE.findall(question))


def _is_known(figure: str, index: KeywordIndex) -> bool:
    return all(_stands(tokens(word), index) or _stands_in_parts(word, index) for word in figure.split("-"))


def _stands(stems: list[str], index: KeywordIndex) -> bool:
    return any(map(index.frequency, stems))


def _stands_in_parts(word: str, index: KeywordIndex) -> bool:
    return all(_stands(tokens(part), index) for part in _PART.findall(word))


def _holds(text: str, phrase: str) -> bool:
    return phrase in text and re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _plain(chunk: Chunk) -> str:
    return " ".join(fold(" ".join((*chunk.heading, chunk.text))).split())
