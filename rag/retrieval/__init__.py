"""Retrieval, a module per step: a question is read (asking, spelling, questions), looked up by words (words, postings,
keywords) and by meaning, joined (fusion), thinned (diversity), and judged (refusal)."""

from __future__ import annotations

from rag.retrieval.retriever import Retriever, passage_text

__all__ = ["Retriever", "passage_text"]
