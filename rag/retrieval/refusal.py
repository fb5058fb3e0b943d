"""Does the library hold an answer at all? A confidence in 0..1, calibrated to the library's own passages.

What a cosine means depends on the model and on the notes: in a library of one subject everything is alike. So the
best passage's cosine is measured against two things that the library itself shows: how near the question stands to
passages in general, and how near passages of different files come to each other. The share of the question's rare
words that the passage holds is the second, independent witness. The weights that join them were fitted on one
language of XQuAD and checked on the other (bench/refusal.py); nothing is fitted on a user's questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.protocols import ChunkStore, Vectors
from rag.types import Chunk, Mode

Chunks = Callable[[Sequence[str]], Mapping[str, Chunk]]

# A small sample says little of its own spread: it counts as this many more passages of the usual spread.
_PRIOR_PASSAGES = 20
_TOP_SHARE = 0.05
_SAMPLE = 256
_PROBES = 48
_NEIGHBOURS = 40


@dataclass(frozen=True, slots=True)
class Background:
    """What cosines mean in this library. `vectors` is a sample of its passages; `nearest` the median cosine of a
    sampled passage to the nearest one of another file, `spread` the usual deviation of a cosine; `passages` counts
    all."""

    vectors: Vectors
    nearest: float
    spread: float
    passages: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the best passage. `surprise`: how far its cosine lies above what the best of so many passages
    reaches by chance, in deviations; `closeness`: how far above the nearness of passages of different files;
    `covered`: the share of the question's rare words in it; `strength`: its BM25 score over the question's weight.
    Where question and passage are written in different scripts, words cannot be shared and say nothing."""

    surprise: float = 0.0
    closeness: float = 0.0
    covered: float = 0.0
    strength: float = 0.0
    same_script: bool = True


# bias, surprise, closeness, covered, strength: what bench/refusal.py --fit gives on half of XQuAD and on small parts.
_WEIGHTS: Mapping[str, tuple[float, float, float, float, float]] = {
    "hybrid": (-3.65, 0.73, 2.26, 3.33, 3.91),
    "dense": (-1.12, 1.53, 2.77, 0.0, 0.0),
    "keyword": (-5.76, 0.0, 0.0, 3.52, 7.99),
}


def learn(store: ChunkStore, chunks: Chunks, passages: int) -> Background | None:
    """Learn from a fixed sample of the library's own vectors. `None` where there are too few to compare."""
    ids = sorted(store.ids())
    sample = store.vectors(ids[:: max(1, len(ids) // _SAMPLE)][:_SAMPLE])
    if len(sample) < 2:
        return None
    vectors = np.stack([sample[i] for i in sorted(sample)])
    probes = vectors[:: max(1, len(vectors) // _PROBES)][:_PROBES]
    cosines = vectors @ vectors.T
    apart = cosines[~np.eye(len(vectors), dtype=bool)]
    nearest = [_nearest_elsewhere(store.query(probe, _NEIGHBOURS), chunks) for probe in probes]
    return Background(vectors, float(np.median(nearest)), float(apart.std()), passages)


def _nearest_elsewhere(found: Sequence[tuple[str, float]], chunks: Chunks) -> float:
    """Return the cosine of the best passage that is not of the first one's file; of the last, where all are."""
    paths = {chunk_id: chunk.path for chunk_id, chunk in chunks([chunk_id for chunk_id, _ in found]).items()}
    own = paths.get(found[0][0])
    return next((cosine for chunk_id, cosine in found if paths.get(chunk_id) != own), found[-1][1])


def evidence(cosine: float | None, question: Vectors | None, known: Background | None) -> Evidence:
    """Weigh the cosine of a question's best passage against the library's background."""
    if known is None or cosine is None or question is None:
        return Evidence()
    usual = np.sort(known.vectors @ question)[::-1][max(1, int(len(known.vectors) * _TOP_SHARE)) :]
    spread = known.spread or 1e-6
    variance = (len(usual) * float(usual.var()) + _PRIOR_PASSAGES * spread**2) / (len(usual) + _PRIOR_PASSAGES)
    deviations = (cosine - float(usual.mean())) / math.sqrt(variance)
    chance = math.sqrt(2 * math.log(max(known.passages, 2)))
    return Evidence(deviations - chance, (cosine - known.nearest) / spread)


def confidence(seen: Evidence, mode: Mode) -> float:
    """Return the confidence, 0..1, that the best passage answers."""
    kind = "dense" if mode == "dense" or (mode != "keyword" and not seen.same_script) else mode
    weights = _WEIGHTS["hybrid" if kind == "keyword-then-dense" else kind]
    terms: Sequence[float] = (1.0, seen.surprise, seen.closeness, seen.covered, seen.strength)
    total = sum(weight * term for weight, term in zip(weights, terms, strict=True))
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)
