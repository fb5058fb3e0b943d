"""How well passages support a sentence, as one figure from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.answering.content_words import content
from rag.answering.contradiction import opposed
from rag.answering.evidence import Evidence
from rag.protocols import Vectors

_OPPOSED = 0.4  # a sentence that says the opposite is never "supported", however much it looks like its evidence
_SAME_SENTENCE = 0.6
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Features:
    """What the figure is made of: shares of the sentence's content stems in the best stretch of evidence (`best`),
    in the
    best two (`pair`) and in all of the passages with their headings (`whole`); `meaning` is the best cosine with a
    stretch, `None` without an embedder. `foreign`: sentence and passages are written in different scripts, so that
    words cannot match. `opposed`: the best stretch says the opposite."""

    best: float
    pair: float
    whole: float
    meaning: float | None
    foreign: bool
    opposed: bool


def features(claim: str, vector: Vectors | None, cited: Sequence[Evidence]) -> Features:
    """Compare a sentence with the passages together: an answer may join facts of two."""
    wanted = frozenset(stem for stem in content(claim) if not stem.isdigit())  # numbers are judged as facts
    stretches = [stems for passage in cited for stems in passage.stems]
    shares = sorted(
        ((len(wanted & stems), i) for i, stems in enumerate(stretches)), key=lambda pair: (-pair[0], pair[1])
    )
    first = stretches[shares[0][1]] if shares else frozenset()
    second = max((len(wanted & (stems | first)) for stems in stretches), default=0)
    whole = wanted & frozenset().union(*stretches, *(content(passage.heading) for passage in cited))
    size = max(len(wanted), 1)
    texts = [text for passage in cited for text in passage.texts]
    best = len(wanted & first) / size
    turned = best >= _SAME_SENTENCE and opposed(claim, texts[shares[0][1]])
    return Features(best, second / size, len(whole) / size, _meaning(vector, cited), _foreign(claim, cited), turned)


def support(claim: str, vector: Vectors | None, cited: Sequence[Evidence], certain: bool = False) -> float:
    """Return 0..1; 0.5 is where a right sentence and a made-up one are as likely (fitted on such pairs). `certain`: the
    sentence holds numbers or names, and all of them stand in the passages."""
    if not cited:
        return 0.0
    found = features(claim, vector, cited)
    bonus = 1.0 if certain else 0.0
    if found.meaning is None:
        score = 7.0 * (0.6 * found.pair + 0.4 * found.whole) + bonus - 4.0
    elif found.foreign:
        score = 60.0 * (found.meaning - 0.84) + bonus
    else:
        score = 5.0 * found.pair + 2.0 * found.whole + 20.0 * (found.meaning - 0.88) + bonus - 4.5
    return min(_squashed(score), _OPPOSED) if found.opposed else _squashed(score)


def _squashed(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _meaning(vector: Vectors | None, cited: Sequence[Evidence]) -> float | None:
    vectors = [passage.vectors for passage in cited if passage.vectors is not None]
    return float(np.max(np.concatenate(vectors) @ vector)) if vector is not None and vectors else None


def _foreign(claim: str, cited: Sequence[Evidence]) -> bool:
    def russian(text: str) -> bool:
        return len(_CYRILLIC.findall(text)) > len(re.findall(r"[a-z]", text, re.IGNORECASE)) / 2

    return all(russian(claim) != russian(passage.text) for passage in cited)
