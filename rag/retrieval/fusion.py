"""Joining what meaning and words find into one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.retrieval.keywords import Match
from rag.types import Mode

# Measured, see bench/RESULTS.md: near the best on every library tried, in one language or across two.
DENSE_WEIGHT = 0.5
# BM25+ gives a passage about 2 idf for a word that stands in it once or twice: the scale on which a passage that
# holds the whole question comes near 1, and one that shares a stray word with it stays near 0.
IDF_SCALE = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that some path found. `score` is the fused score, about 0..1, and what was added to it; ranks are
    1-based. `closeness` is that of its words (rag/retrieval/late_interaction.py)."""

    chunk_id: str
    score: float
    dense: float | None = None
    dense_rank: int | None = None
    keyword: float | None = None
    keyword_rank: int | None = None
    covered: float = 0.0
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What the two paths found: (chunk id, cosine) and matches, both best first. `judged` holds the matches of all
    candidates; `ideal` is the sum of the question's idf weights; `floor` the last cosine of the library's best."""

    dense: Sequence[tuple[str, float]]
    keyword: Sequence[Match]
    judged: Mapping[str, Match]
    ideal: float
    floor: float = 0.0


def fuse(found: Found, mode: Mode) -> list[Candidate]:
    """Return all candidates of a mode, best first, ties by id.

    Cosines are stretched from the worst to the best candidate (min-max); BM25 scores are measured against the
    question's own weight, not stretched: where the words of a question are hardly found at all, as across two
    languages, a chance word must not count as a full hit. A passage that the dense path did not reach counts as
    its last one.
    """
    dense = {chunk_id: (rank, cosine) for rank, (chunk_id, cosine) in enumerate(found.dense, 1)}
    keyword_ranks = {match.chunk_id: rank for rank, match in enumerate(found.keyword, 1)}
    top = found.dense[0][1] if found.dense else 0.0
    floor = found.floor
    weight = {"dense": 1.0, "keyword": 0.0, "keyword-then-dense": 1.0}.get(mode, DENSE_WEIGHT)
    candidates = []
    for chunk_id in _pool(dense, keyword_ranks, mode):
        rank, cosine = dense.get(chunk_id, (None, None))
        match = found.judged.get(chunk_id)
        meaning = _stretched(floor if cosine is None else cosine, floor, top)
        words = match.score / (IDF_SCALE * found.ideal) if match and found.ideal else 0.0
        candidates.append(
            Candidate(
                chunk_id,
                weight * meaning + (1 - weight) * words,
                cosine,
                rank,
                match.score if match else None,
                keyword_ranks.get(chunk_id),
                match.covered if match else 0.0,
            )
        )
    return in_order(candidates)


def in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Sort candidates, best first. Scores are compared to six digits, so that the last bits of a sum that depends on
    the order of its parts decide nothing."""
    return sorted(candidates, key=lambda c: (-round(c.score, 6), c.chunk_id))


def _pool(dense: Mapping[str, object], keyword: Mapping[str, object], mode: Mode) -> list[str]:
    if mode == "dense":
        return list(dense)
    if mode in ("keyword", "keyword-then-dense"):
        return list(keyword)
    return [*dense, *(chunk_id for chunk_id in keyword if chunk_id not in dense)]


def _stretched(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 1.0
