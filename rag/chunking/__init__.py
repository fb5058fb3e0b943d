"""Chunking: a parsed document cut into passages, by heading first, by topic and size within a heading. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from rag.chunking.embedded import CountTokens, embedding_texts, keyword_text
from rag.chunking.passages import passages_of
from rag.chunking.sections import sections_of
from rag.types import Chunk, ParsedDocument

__all__ = ["CHUNKER_VERSION", "chunk_document", "embedding_texts", "keyword_text"]

CHUNKER_VERSION = "2"  # raise it with every change of what is cut, embedded or hashed


def chunk_document(document: ParsedDocument, path: str, count_tokens: CountTokens, window: int) -> list[Chunk]:
    """Cut a document into passages, in reading order.

    No passage crosses a heading; each fits, with its heading path, into `window` tokens as `count_tokens` counts
    them (prefix and special tokens included). All text is in some passage. Passages of one section that had to
    be cut overlap by a sentence or two; a table that had to be cut repeats its header.
    """
    seen: Counter[str] = Counter()
    chunks = []
    passages = passages_of(list(sections_of(document.blocks)), count_tokens, window)
    for ordinal, passage in enumerate(passages):
        heading, text = passage.section.heading, passage.text
        pages, boxes = passage.section.places(passage.start, passage.end)
        key = json.dumps([path, heading, text])
        chunks.append(
            Chunk(
                id=_identity(key, seen[key]),
                path=path,
                ordinal=ordinal,
                text=text,
                heading=heading,
                page_first=pages[0] if pages else None,
                page_last=pages[-1] if pages else None,
                boxes=boxes,
                date=document.meta.date,
                tokens=passage.tokens,
                words=passage.words,
                date_source=document.meta.date_source,
            )
        )
        seen[key] += 1
    return chunks


def _identity(key: str, earlier: int) -> str:
    return hashlib.sha256(f"{key}{earlier}".encode()).hexdigest()[:32]
