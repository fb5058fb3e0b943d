"""Retrieval, a module per step: a question is read (asking, spelling, questions), looked up by words (words, postings,
keywords) and by meaning (centring), joined (fusion), thinned (diversity), compared word by word (late_interaction), and
judged (refusal)."""

from __future__ import annotations

from rag.retrieval.retriever import Retriever, passage_text

__all__ = ["Retriever", "passage_text"]
