"""Does the library hold an answer at all? A confidence in 0..1, calibrated to the library's own passages.

What a cosine means depends on the model and on the notes: in a library of one subject everything is alike. So the
best passage's cosine is measured against a sample of the library's own passages and against their number. The share
of the question's rare words that the passage holds is the second, independent witness; the third is that the best
passages speak of one thing: what the notes do not hold finds them scattered. Names and numbers that none of the best
passages holds speak against it. The weights that join them were fitted on the English half of XQuAD and checked on the
Russian one (bench/refusal.py); nothing is fitted on a user's questions. A wrong refusal, which hides the notes, weighs
half as heavy again as a wrong answer, which shows its passages; only hybrid's bias was lowered by 0.3 after that, until
of what is missing in either half .95 was refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.protocols import ChunkStore, Vectors
from rag.types import Mode

# A small sample says little of its own spread: it counts as this many more passages of the usual spread.
_PRIOR_PASSAGES = 20
_TOP_SHARE = 0.05
_SAMPLE = 256
_NO_SPREAD = 1e-6


@dataclass(frozen=True, slots=True)
class Background:
    """What cosines mean in this library. `vectors` is a sample of its passages, `usual` and `spread` the mean and the
    deviation of a cosine between two of them; `passages` counts all."""

    vectors: Vectors
    usual: float
    spread: float
    passages: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the best passage. `surprise`: how far its cosine lies above what the best of so many passages
    reaches by chance, in deviations; `covered`: the share of the question's rare words in it; `strength`: its BM25
    score over the question's weight; `lacking`: the share of the question's weight in names, numbers and codes that
    none of the three best passages holds; `coherence`: how much more alike the best passages are than any two of the
    library, in deviations; `closeness`: how close its words come to the question's, 0 for a foreign passage, about 1
    for one that answers, `None` where words are not compared. Where question and passage are written in different
    scripts, words cannot be shared and say nothing."""

    surprise: float = 0.0
    covered: float = 0.0
    strength: float = 0.0
    lacking: float = 0.0
    coherence: float = 0.0
    closeness: float | None = None
    same_script: bool = True


# bias, surprise, covered, strength, lacking, coherence: fitted as bench/refusal.py --fit does, the bias raised for the
# dearer mistake.
_WEIGHTS: Mapping[str, tuple[float, float, float, float, float, float]] = {
    "hybrid": (-4.21, 1.75, 1.88, 2.01, -2.27, 0.43),
    "dense": (-3.16, 2.22, 0.0, 0.0, 0.0, 0.4),
    "across scripts": (-1.97, 1.89, 0.0, 0.0, 0.0, 0.52),
    "keyword": (-4.9, 0.0, 3.5, 8.0, -1.89, 0.0),
}


def learn(store: ChunkStore, passages: int) -> Background | None:
    """Learn from a fixed sample of the library's own vectors. `None` where there are too few to compare."""
    ids = sorted(store.ids())
    sample = store.vectors(ids[:: max(1, len(ids) // _SAMPLE)][:_SAMPLE])
    if len(sample) < 2:
        return None
    vectors = np.stack([sample[i] for i in sorted(sample)])
    cosines = vectors @ vectors.T
    between = cosines[~np.eye(len(vectors), dtype=bool)]
    return Background(vectors, float(between.mean()), float(between.std()), passages)


def evidence(cosine: float | None, question: Vectors | None, known: Background | None) -> Evidence:
    """Weigh the cosine of a question's best passage against the library's background."""
    if known is None or cosine is None or question is None:
        return Evidence()
    usual = np.sort(known.vectors @ question)[::-1][max(1, int(len(known.vectors) * _TOP_SHARE)) :]
    spread = known.spread or _NO_SPREAD
    variance = (len(usual) * float(usual.var()) + _PRIOR_PASSAGES * spread**2) / (len(usual) + _PRIOR_PASSAGES)
    deviations = (cosine - float(usual.mean())) / math.sqrt(variance)
    chance = math.sqrt(2 * math.log(max(known.passages, 2)))
    return Evidence(deviations - chance)


def coherence(question: Vectors, best: Sequence[Vectors], known: Background) -> float:
    """Return how much more alike the best passages are than any two of the library, in deviations. Each passage,
    (n, dimension), is seen through the vector that is nearest to the question."""
    if len(best) < 2:
        return 0.0
    nearest = np.stack([vectors[int(np.argmax(vectors @ question))] for vectors in best])
    cosines = nearest @ nearest.T
    alike = float(cosines[~np.eye(len(nearest), dtype=bool)].mean())
    return (alike - known.usual) / (known.spread or _NO_SPREAD)


def confidence(seen: Evidence, mode: Mode) -> float:
    """Return the confidence, 0..1, that the best passage answers."""
    across = mode != "keyword" and not seen.same_script
    weights = _WEIGHTS["across scripts" if across else "hybrid" if mode == "keyword-then-dense" else mode]
    terms = (1.0, seen.surprise, seen.covered, seen.strength, seen.lacking, seen.coherence)
    total = sum(weight * term for weight, term in zip(weights, terms, strict=True))
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)
