"""The stems that carry a text's meaning: all but those of function words."""

from __future__ import annotations

from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import tokens

_FUNCTION_STEMS = frozenset(tokens(" ".join(STOP_WORDS)))


def content(text: str) -> frozenset[str]:
    """Return the stems that carry meaning, numbers included; all stems where nothing else is left."""
    return meaningful(text) or frozenset(tokens(text))


def meaningful(text: str) -> frozenset[str]:
    """Return the stems that carry meaning, perhaps none."""
    return frozenset(tokens(text)) - _FUNCTION_STEMS
