"""Does the library hold an answer at all? A confidence in 0..1, calibrated to the library's own passages.

What a cosine means depends on the model and on the notes: in a library of one subject everything is alike. So the
best passage's cosine is measured against a sample of the library's own passages and against their number. The share
of the question's rare words that the passage holds is the second, independent witness; the third is that the best
passages speak of one thing: what the notes do not hold finds them scattered; the fourth, how close the passage's words
come to the question's. Names and numbers that none of the best passages holds speak against it. Where these leave
doubt, the sentences of the best passage are asked, each read alone: a paraphrase that shares no word with its passage
comes near one of them, and what the notes do not hold to none.

The first and the third tell that the subject is right. Where words are compared, they count only so far: a question
about the right subject whose fact is not there, a near miss, has as much of them as any. The weights that join the
witnesses were fitted on the English half of XQuAD and checked on the Russian one (bench/refusal.py --fit); nothing is
fitted on a user's questions.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.protocols import ChunkStore, Vectors
from rag.retrieval.keywords import KeywordIndex
from rag.types import Mode

# A small sample says little of its own spread: it counts as this many more passages of the usual spread.
_PRIOR_PASSAGES = 20
_TOP_SHARE = 0.05
_SAMPLE = 256
_NO_SPREAD = 1e-6
# Of the questions that XQuAD's notes answer, one in 600 names a figure that the library does not hold.
_OF_UNKNOWN_FIGURE = 0.3
# Between these the sentences of the best passage are asked, which takes as long as embedding it.
_DOUBT = (0.02, 0.88)


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
    none of the three best passages holds (of two or three bare words, in those that no passage holds); `coherence`: how
    much more alike the best passages are than any two of the library, in deviations; `closeness`: how close its words
    come to the question's, 0 for a foreign passage, about 1 for one that answers, `None` where words are not compared;
    `nearness`: how near its nearest sentence comes, on the same scale, `None` where sentences were not asked. Where
    question and passage are not written in the same script, hardly a word can be shared, and other weights judge.
    `unknown_figure`: the question names a year or a code that stands nowhere in the library."""

    surprise: float = 0.0
    covered: float = 0.0
    strength: float = 0.0
    lacking: float = 0.0
    coherence: float = 0.0
    closeness: float | None = None
    nearness: float | None = None
    same_script: bool = True
    unknown_figure: bool = False


# The subject is right; more of it says nothing of the fact. Chosen on the near misses of bench/near_misses.jsonl.
_ENOUGH_SURPRISE = 0.75
_ENOUGH_COHERENCE = 1.5

# In the order of `terms`, as `bench/refusal.py --fit` prints them for English. Modes that embed share theirs:
# the same witnesses judge whatever passage a mode puts first.
_WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "keyword": (-6.02, 0.0, 0.0, 11.61, -6.06, 0.0, 0.0, 0.0),
    "one script": (-5.16, 0.99, 2.03, 6.22, -6.81, 0.23, 0.0, 0.0),
    "one script + words": (-8.5, 1.31, 0.0, 6.27, -6.72, 0.51, 5.44, 0.0),
    "one script + words + sentences": (-13.06, 0.0, 0.84, 5.07, -3.4, 0.0, 2.61, 11.87),
    "one script + sentences": (-11.43, 0.23, 1.95, 5.08, -3.36, 0.0, 0.0, 11.63),
    "across scripts": (-2.22, 1.56, 0.0, 5.95, -2.39, 0.48, 0.0, 0.0),
    "across scripts + words": (-8.13, 1.74, 0.0, 7.22, -2.71, 0.4, 9.4, 0.0),
    "across scripts + words + sentences": (-9.56, 0.78, 0.0, 6.17, -1.03, 0.0, 7.39, 9.16),
    "across scripts + sentences": (-4.76, 1.04, 0.0, 5.65, -0.83, 0.0, 0.0, 9.0),
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


class BackgroundKeeper:
    """Learns the library's background at the first question, and again when the library has changed."""

    def __init__(self) -> None:
        self._learning = threading.Lock()
        self._known: Background | None = None
        self._version = -1

    def get(self, store: ChunkStore, keywords: KeywordIndex) -> Background | None:
        """Return what is known; `None` where there are too few passages."""
        with self._learning:
            if self._version != keywords.version:
                self._known, self._version = learn(store, len(keywords)), keywords.version
            return self._known


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


def kind_of(seen: Evidence, mode: Mode) -> str:
    """Return the name of the weights for what was seen: by words alone, in one script or across two, and what of the
    passage was compared."""
    if mode == "keyword":
        return "keyword"
    kind = "one script" if seen.same_script else "across scripts"
    return kind + " + words" * (seen.closeness is not None) + " + sentences" * (seen.nearness is not None)


def terms(seen: Evidence) -> tuple[float, ...]:
    """Return what the weights weigh: 1 for the bias, surprise, covered, strength, lacking, coherence, closeness,
    nearness."""
    words, nearness = (seen.covered, seen.strength, seen.lacking), seen.nearness or 0.0
    if seen.closeness is None:
        return (1.0, seen.surprise, *words, seen.coherence, 0.0, nearness)
    surprise, coherence = min(seen.surprise, _ENOUGH_SURPRISE), min(seen.coherence, _ENOUGH_COHERENCE)
    return (1.0, surprise, *words, coherence, seen.closeness, nearness)


def doubtful(seen: Evidence, mode: Mode) -> bool:
    """Tell whether the witnesses leave it open if the best passage answers, so that its sentences should be asked."""
    return _DOUBT[0] < confidence(seen, mode) < _DOUBT[1]


def confidence(seen: Evidence, mode: Mode) -> float:
    """Return the confidence, 0..1, that the best passage answers."""
    kind = kind_of(seen, mode)
    total = math.fsum(weight * term for weight, term in zip(_WEIGHTS[kind], terms(seen), strict=True))
    sure = round(1 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 4)
    return min(sure, _OF_UNKNOWN_FIGURE) if seen.unknown_figure else sure
