"""A reranker that needs no model of its own: the embedder in use compares sentences with the question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag.models.sentence_reader import SentenceReader

_STEEPNESS = 4


class SentenceReranker:
    """Scores a passage by how near its nearest sentence comes to the question. Safe to call from several threads."""

    def __init__(self, sentences: SentenceReader) -> None:
        self._sentences = sentences

    @property
    def name(self) -> str:
        """What is shown and stored in run records."""
        return f"sentences, by {self._sentences.model}"

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one relevance per passage in 0..1: 0.12 where a foreign sentence comes as near, 0.88 where one that
        answers does."""
        near = self._sentences.nearness(question, passages)
        return [1 / (1 + math.exp(-_STEEPNESS * (one - 0.5))) for one in near]
