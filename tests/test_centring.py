"""A question's vector keeps what it asks and loses what all questions of its language share."""

from __future__ import annotations

import numpy as np

from rag.protocols import Vectors
from rag.retrieval.centring import SHARE, Centring


class ThreeAxes:
    """The first two axes tell the language of a question, the third whether it asks about volcanoes."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_question(self, text: str) -> Vectors:
        self.asked.append(text)
        cyrillic = any("а" <= c <= "я" for c in text.casefold())
        volcano = any(word in text.casefold() for word in ("volcano", "вулкан"))
        vector = np.array([cyrillic, not cyrillic, volcano], np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def test_the_share_of_the_language_is_taken_away_and_the_subject_weighs_more() -> None:
    embedder = ThreeAxes()
    for question, axis in (("Почему извергается вулкан?", 0), ("Why does a volcano erupt?", 1)):
        plain, centred = embedder.embed_question(question), Centring(embedder).embed(question)  # type: ignore[arg-type]
        assert np.isclose(np.linalg.norm(centred), 1.0)
        assert centred[2] > plain[2]
        assert np.isclose(centred[axis] / centred[2], plain[axis] / plain[2] - SHARE / plain[2])


def test_a_question_that_is_nothing_but_its_language_keeps_a_direction() -> None:
    centred = Centring(ThreeAxes()).embed("Что?")  # type: ignore[arg-type]
    assert np.allclose(centred, [1.0, 0.0, 0.0])


def test_the_mean_questions_are_learnt_once() -> None:
    embedder = ThreeAxes()
    centring = Centring(embedder)  # type: ignore[arg-type]
    centring.embed("Why?")
    before = len(embedder.asked)
    centring.embed("Зачем?")
    assert len(embedder.asked) == before + 1
