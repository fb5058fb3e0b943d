"""How near a question comes to the nearest sentence of a passage, read by the embedder in use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rag.models.samples import ANSWERED
from rag.models.sentence_vectors import SentenceVectors, as_kept
from rag.protocols import Embedder, Vectors
from rag.sentences import sentences

_SHORTEST = 25  # characters; shorter ones (numbers, labels) go with the sentence after them
_AT_ONCE = 16


class SentenceReader:
    """Compares questions with the sentences of passages.

    Sentences are embedded alone: read within their passage they tell no more than the passage does. That takes
    as long as embedding the passages did, so the vectors are kept on disk; `prepare` makes them ahead of
    questions, and a passage that was not prepared is read when it is first judged. The figures are the same
    either way. Safe to call from several threads.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        """Learn the embedder's scale at the first use. The vectors are kept in `folder`, a file for each model."""
        self._embedder = embedder
        self._kept = SentenceVectors(folder, embedder.identity)
        self._learning = threading.Lock()
        self._scale: tuple[float, float] | None = None

    @property
    def model(self) -> str:
        """The name of the model that reads."""
        return self._embedder.identity.name

    def nearness(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how near the nearest sentence of each passage comes to the question: 0 where a foreign sentence
        comes, 1 where one that answers comes, as this embedder gives them."""
        if not passages:
            return []
        low, high = self.scale()
        asked = self._embedder.embed_question(question)
        known = self._vectors(passages)
        return [float(((known[passage] @ asked).max() - low) / (high - low)) for passage in passages]

    def prepare(
        self,
        passages: Sequence[str],
        progress: Callable[[int], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Read passages ahead of questions, those that are new. `progress` gets the count done so far."""
        for start in range(0, len(passages), _AT_ONCE):
            if stopped():
                return
            self._vectors(passages[start : start + _AT_ONCE])
            if progress:
                progress(min(start + _AT_ONCE, len(passages)))

    def keep_only(self, passages: Sequence[str]) -> None:
        """Forget the sentences of all passages but these."""
        self._kept.keep_only(passages)

    def scale(self) -> tuple[float, float]:
        """Return this embedder's mean cosine of a question with foreign sentences, and with those that answer it; the
        first call learns them."""
        with self._learning:
            if self._scale is None:
                self._scale = _scale(self._embedder)
            return self._scale

    def close(self) -> None:
        """Close the file."""
        self._kept.close()

    def discard(self) -> None:
        """Close the file and delete it: no index is of this model any more."""
        self._kept.discard()

    def _vectors(self, passages: Sequence[str]) -> dict[str, Vectors]:
        known = self._kept.get(passages)
        missing = [passage for passage in dict.fromkeys(passages) if passage not in known]
        if not missing:
            return known
        # No lock: of two that read a passage at once, neither waits for all that the other has to read.
        fresh = self._read(missing)
        self._kept.put(fresh)
        return known | {passage: as_kept(vectors) for passage, vectors in fresh.items()}

    def _read(self, passages: Sequence[str]) -> dict[str, Vectors]:
        parts = {passage: self._fitting(_parts(passage)) for passage in passages}
        unlike = list(dict.fromkeys(part for of_one in parts.values() for part in of_one))
        vectors = dict(zip(unlike, self._embedder.embed_passages(unlike), strict=True))
        return {passage: np.stack([vectors[part] for part in of_one]) for passage, of_one in parts.items()}

    def _fitting(self, parts: list[str]) -> list[str]:
        """Halve what does not fit the model's window, such as a table in one line."""
        fitting = []
        while parts:
            counts = self._embedder.count_tokens(parts)
            counted = list(zip(parts, counts, strict=True))
            over = [part for part, tokens in counted if tokens > self._embedder.window and len(part) > 1]
            fitting += [part for part in parts if part not in over]
            parts = [half for part in over for half in (part[: len(part) // 2], part[len(part) // 2 :])]
        return fitting


def _parts(passage: str) -> list[str]:
    """Cut a passage into sentences, short ones joined to the next, at least one part."""
    parts, start = list[str](), None
    for begin, end in sentences(passage):
        start = begin if start is None else start
        if end - start >= _SHORTEST:
            parts.append(passage[start:end])
            start = None
    if start is not None:
        parts.append(passage[start:].strip())
    return parts or [passage]


def _scale(embedder: Embedder) -> tuple[float, float]:
    questions = np.stack([embedder.embed_question(question) for question, _ in ANSWERED])
    answers = embedder.embed_passages([answer for _, answer in ANSWERED])
    cosines = questions @ answers.T
    own = float(np.diagonal(cosines).mean())
    foreign = float(cosines[~np.eye(len(ANSWERED), dtype=bool)].mean())
    return foreign, max(own, foreign + 0.02)
