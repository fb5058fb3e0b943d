"""Quotes on XQuAD: does the first quoted sentence, do the first three hold the gold answer?

python bench/answers.py [--data ../shared/data] [--languages en,ru] [--work DIR] [--every 1] [--misses]
The figures are over all questions, whatever the passages found: a missed paragraph counts against the quotes.
Refusals are
switched off, since the ranking is judged by itself; how many would have been refused is printed beside it.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from measuring import arguments, table, working_folder
from xquad import articles, write_notes

from rag.answering.question_kinds import kind_of
from rag.library import Library
from rag.messages import Message
from rag.models.embedding import load_embedder
from rag.protocols import Embedder, ModelIdentity, Vectors
from rag.settings import Paths, Settings


class Remembering:
    """An embedder that embeds each sentence once: many questions are about one paragraph."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, Vectors] = {}

    @property
    def identity(self) -> ModelIdentity:
        return self._embedder.identity

    @property
    def window(self) -> int:
        return self._embedder.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if fresh:
            self._rows.update(zip(fresh, self._embedder.embed_passages(fresh, progress), strict=True))
        return np.stack([self._rows[text] for text in texts])

    def embed_question(self, text: str) -> Vectors:
        return self._embedder.embed_question(text)


def remembering(name: str, data: Path, url: str, progress: Callable[[Message], None] | None = None) -> Embedder:
    """Load an embedder as the library does, and let it remember."""
    return Remembering(load_embedder(name, data, url, progress))


def folded(text: str) -> str:
    """Case, ё, white space and zero-width marks do not matter for holding an answer."""
    plain = unicodedata.normalize("NFKC", text).replace("\ufeff", "").casefold().replace("ё", "е")
    return " ".join(plain.split())


def asked(found: list[dict[str, Any]], every: int) -> list[tuple[str, str, list[str]]]:
    """Return (question, paragraph, gold answers), each `every`-th question."""
    rows = [
        (question["question"], paragraph["context"], [answer["text"] for answer in question["answers"]])
        for article in found
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    return rows[::every]


def measure(opened: Library, rows: list[tuple[str, str, list[str]]], misses: bool) -> dict[str, dict[str, float]]:
    """Quote for every question; return figures by kind of question and for all."""
    counted: dict[str, list[tuple[bool, bool, bool, bool, int]]] = {}
    for question, paragraph, gold in rows:
        reply = opened.ask(question, 3, use_llm=False).finish()
        holds = [any(folded(answer) in folded(quote.text) for answer in gold) for quote in reply.quotes]
        found = any(folded(hit.chunk.text) in folded(paragraph) for hit in reply.result.hits)
        refused = reply.result.confidence < Settings().refusal
        row = (holds[:1] == [True], any(holds), found, refused, len(holds))
        for name in ("all", kind_of(question)):
            counted.setdefault(name, []).append(row)
        if misses and not any(holds):
            print(f"{'found' if found else 'lost'} | {question} | {gold[0]} | {[quote.text for quote in reply.quotes]}")
    return {name: _figures(counted[name]) for name in sorted(counted)}


def _figures(rows: list[tuple[bool, bool, bool, bool, int]]) -> dict[str, float]:
    first, three, found, refused, quotes = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return {
        "n": len(rows), "first": first, "first three": three, "paragraph found": found, "would refuse": refused,
        "quotes": quotes,
    }  # fmt: skip


def main() -> None:
    parser = arguments("Quotes on XQuAD.")
    parser.add_argument("--languages", default="en,ru")
    parser.add_argument("--every", type=int, default=1, help="ask only each n-th question")
    options = parser.parse_args()
    with working_folder(options) as work:
        for language in options.languages.split(","):
            found = articles(options.data / f"xquad.{language}.json")
            write_notes(found, work / f"notes.{language}")
            paths = Paths((work / f"notes.{language}").absolute(), (work / f"index.{language}").absolute())
            with closing(Library.open(paths, embedders=remembering)) as opened:
                opened.sync()
                opened.change_settings(replace(opened.settings, refusal=0.0))
                rows = asked(found, options.every)
                started = time.monotonic()
                figures = measure(opened, rows, options.misses)
            seconds = (time.monotonic() - started) / len(rows)
            print(f"\n## XQuAD {language}: gold answer in the quotes ({seconds:.2f} s a question)\n")
            print(table(list(figures.items()), ("first", "first three", "paragraph found", "would refuse", "quotes")))


if __name__ == "__main__":
    main()
