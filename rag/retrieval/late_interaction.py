"""Late interaction: every word of a question looks for the word of a passage that is nearest to it in meaning.

One vector for a whole passage blurs what single words say, and shared stems miss synonyms and other languages. Here
the model's states of words in their context are compared, each word of the question with its best match in the
passage (MaxSim, as in ColBERT: Khattab and Zaharia, 2020, https://arxiv.org/abs/2004.12832), with an embedder that was
never trained for it: its upper layers will do once their mean is taken away. Of a passage's words only the signs of
each state are kept, 48 bytes a word of 384 dimensions; measured in bench/RESULTS.md, that costs next to nothing.
The states fall off while a passage is embedded, so that they cost no time of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.models.samples import ANSWERED, QUESTIONS
from rag.protocols import Embedder, Vectors, WordReader
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import Word, fold, words

# Of the way in which words are kept: part of what makes an index.
VERSION = "1"
FAINT = 0.1
Weigh = Callable[[Word], float]


@dataclass(frozen=True, slots=True)
class _Scale:
    """What is usual for a model: the mean state of a passage's word and of a question's, and how near a question comes
    to a foreign sentence and to one that answers it."""

    passage: Vectors
    question: Vectors
    foreign: float
    own: float


class LateInteraction:
    """Compares questions with passages word by word. Safe to use from several threads."""

    def __init__(self, reader: WordReader) -> None:
        """Learns what is usual for the model at its first use, for about a second."""
        self._reader = reader
        self._learning = threading.Lock()
        self._scale: _Scale | None = None

    @classmethod
    def of(cls, embedder: Embedder) -> LateInteraction | None:
        """Return the comparison with this embedder; `None` where it does not show what it makes of single words."""
        return cls(embedder) if isinstance(embedder, WordReader) and embedder.reads_words else None

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> tuple[Vectors, list[bytes]]:
        """Return the vectors of passages, (n, dimension), and the words of each as they are kept."""
        centre = self.scale().passage
        vectors, states = self._reader.embed_with_words(texts, [_spans(text) for text in texts], progress)
        return vectors, [_packed(of_one, centre) for of_one in states]

    def closeness(self, question: str, kept: Mapping[str, Sequence[bytes]], weigh: Weigh) -> dict[str, float]:
        """Return how close passages, given by id with the words of each of their windows as they are kept, come to the
        question by their best window: 0 where a foreign sentence comes, 1 where one that answers comes. `weigh` gives
        the weight of a word of the question, those that say nothing of the answer's place aside. Passages without
        words are left out; a question without words is close to none."""
        scale = self.scale()
        windows = [(passage_id, packed) for passage_id, of_one in kept.items() for packed in of_one]
        near = self._near(question, scale.question, [packed for _, packed in windows], weigh)
        if near.size == 0:
            return {}
        best: dict[str, float] = {}
        for (passage_id, _), value in zip(windows, near, strict=True):
            close = round((float(value) - scale.foreign) / (scale.own - scale.foreign), 6)
            best[passage_id] = max(close, best.get(passage_id, close))
        return best

    def scale(self) -> _Scale:
        """Return what is usual for the model; the first call learns it."""
        with self._learning:
            if self._scale is None:
                self._scale = self._learnt()
            return self._scale

    def _learnt(self) -> _Scale:
        plain = [question for of_script in QUESTIONS.values() for question in of_script]
        asked, answers = zip(*ANSWERED, strict=True)
        told = [*plain, *answers]
        passages = self._reader.embed_with_words(told, [_spans(text) for text in told])[1]
        passage = np.concatenate(passages).mean(axis=0)
        question = np.concatenate([self._reader.question_words(text, _spans(text)) for text in plain]).mean(axis=0)
        kept = [_packed(states, passage) for states in passages[len(plain) :]]
        near = np.stack([self._near(text, question, kept, lambda _: 1.0) for text in asked])
        own = float(np.diagonal(near).mean())
        foreign = float(near[~np.eye(len(near), dtype=bool)].mean())
        return _Scale(passage, question, foreign, max(own, foreign + 0.02))

    def _near(self, question: str, centre: Vectors, kept: Sequence[bytes], weigh: Weigh) -> npt.NDArray[np.float32]:
        """Return how near each window comes; nothing where there is no word to compare."""
        asked = words(question)
        states = self._reader.question_words(question, [(word.start, word.end) for word in asked])
        seen = states.any(axis=1)
        if not kept or not seen.any():
            return np.empty(0, np.float32)
        weights = [FAINT if fold(word.surface) in STOP_WORDS else weigh(word) for word in asked]
        return _similarity(_centred(states[seen], centre), np.array(weights, np.float32)[seen], kept)


def _spans(text: str) -> list[tuple[int, int]]:
    return [(word.start, word.end) for word in words(text)]


def _packed(states: Vectors, centre: Vectors) -> bytes:
    """Return the signs of centred states, (words, width), a bit each; what the model did not see is left out."""
    return np.packbits(states[states.any(axis=1)] > centre, axis=1).tobytes()


def _centred(states: Vectors, centre: Vectors) -> Vectors:
    apart = states - centre
    return np.asarray(apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-9), np.float32)


def _similarity(asked: Vectors, weights: Vectors, kept: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Return for each passage the weighted mean, over the words asked for, of the cosine with its nearest word."""
    width = asked.shape[1]
    rows = -(-width // 8)
    bits = np.unpackbits(np.frombuffer(b"".join(kept), np.uint8).reshape(-1, rows), axis=1, count=width)
    # A sign is 2 bit - 1: the product with signs is twice that with bits, less the sum of what is asked.
    cosines = (2 * (bits.astype(np.float32) @ asked.T) - asked.sum(axis=1)) / np.sqrt(width)
    starts = np.cumsum([0, *(len(packed) // rows for packed in kept[:-1])])
    best = np.maximum.reduceat(cosines, starts, axis=0)
    return np.asarray(best @ weights / weights.sum(), np.float32)
