"""Which words each family of embedding models wants before questions and passages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
_SEARCHING = "Represent this sentence for searching relevant passages: "
_QUESTION_KEYS = ("query", "search_query", "question", "retrieval.query", "s2p_query", "web_search_query")
_PASSAGE_KEYS = ("document", "passage", "corpus", "search_document", "retrieval.passage")

# From the models' own cards. The first pattern found in the name decides; order matters.
_FAMILIES: tuple[tuple[str, str, str], ...] = (
    (r"e5-\w+-instruct|e5-mistral|gte-qwen\d?.*instruct", f"Instruct: {_INSTRUCTION}\nQuery: ", ""),
    (r"qwen3-embedding", f"Instruct: {_INSTRUCTION}\nQuery:", ""),
    (r"(^|[-_/])e5-(small|base|large)|deepvk/user-base", "query: ", "passage: "),
    (r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    (r"nomic-embed-text|rosberta|(^|/)frida", "search_query: ", "search_document: "),
    (r"arctic-embed(2|.*-v2)", "query: ", ""),
    (r"arctic-embed|mxbai-embed-large|bge-(small|base|large)-en|bge-large($|:)", _SEARCHING, ""),
    (r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"bge-m3|minilm|mpnet|distiluse|labse|gtr-t5|sentence-t5|multi-qa-|msmarco-|paraphrase-|(^|/)gte-(small|base|large)"
     r"|gte-multilingual|gte-modernbert|granite-embedding|static-|potion-|jina-embeddings-v2|rubert-tiny|sbert_large",
     "", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a question and before a passage, and who said so: the model's own settings, its
    family's card, or nobody ("unknown": nothing is added, and the user is told)."""

    question: str
    passage: str
    source: Literal["model", "family", "unknown"]


def prompts_for(name: str, stated: Mapping[str, str | None]) -> Prompts:
    """Choose the prompts of the model `name`; `stated` are those in its own settings.

    A model that states only empty ones has stated nothing: sentence-transformers writes empty ones by itself.
    """
    question = next((stated[k] or "" for k in _QUESTION_KEYS if stated.get(k)), "")
    passage = next((stated[k] or "" for k in _PASSAGE_KEYS if stated.get(k)), "")
    if question or passage:
        return Prompts(question, passage, "model")
    for pattern, question, passage in _FAMILIES:
        if re.search(pattern, name.casefold()):
            return Prompts(question, passage, "family")
    return Prompts("", "", "unknown")
