"""A question's vector without what all questions of its language share.

Embedding models put every question near every passage that is itself question-like, or written in the question's
language: an English question over Russian notes finds the few passages with English words in them, whatever it asks.
A part of the mean of many unrelated questions is taken away, so that what is left is what this one asks.
Measured in bench/RESULTS.md: hit@3 across two languages rises from .94 to .96, in one language nothing is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from rag.models.samples import QUESTIONS
from rag.protocols import Embedder, Vectors
from rag.retrieval.words import written_in_cyrillic

SHARE = 0.5


class Centring:
    """Learns the mean questions of one embedder at its first question. Safe to use from several threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._learning = threading.Lock()
        self._means: Mapping[bool, Vectors] | None = None

    def embed(self, question: str) -> Vectors:
        """Return the centred vector of a question, float32 (dimension,), of length 1."""
        vector = self._embedder.embed_question(question)
        centred = vector - SHARE * self.means()[written_in_cyrillic(question)]
        length = float(np.linalg.norm(centred))
        return np.asarray(centred / length, np.float32) if length else vector

    def means(self) -> Mapping[bool, Vectors]:
        """Return the mean question of each script (True: Cyrillic); the first call embeds them, for about a second."""
        with self._learning:
            if self._means is None:
                embed = self._embedder.embed_question
                self._means = {c: np.mean([embed(q) for q in asked], axis=0) for c, asked in QUESTIONS.items()}
            return self._means
