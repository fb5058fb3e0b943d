"""The keyword index and its words, under the names by which the rest of the library knows them."""

from __future__ import annotations

from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import tokens

__all__ = ["KeywordIndex", "tokens"]
