"""A real student's notes (82 files of six courses) and control questions about them, by kind and by course.

python bench/student.py [--data ../shared/data] [--work DIR] [--modes hybrid,dense] [--misses] [--blind]
`--blind` gives the same ranking the text as it lies in the files, cut after every thousand characters: what is gained
over that comes from parsing and cutting alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pymupdf
from measuring import arguments, library, need, report, working_folder

from rag.chunking.embedded import CountTokens
from rag.evaluation import read_questions
from rag.syncing import indexing
from rag.types import Chunk, ParsedDocument

_BLIND = 1000  # characters


class BlindCutter:
    """Cuts files without reading them: in the place of `chunk_document`."""

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def __call__(self, document: ParsedDocument, path: str, count_tokens: CountTokens, window: int) -> list[Chunk]:
        cut = [(page, piece) for page, text in self._pages(path) for piece in _pieces(text)]
        return [
            Chunk(hashlib.sha256(f"{path}{n}".encode()).hexdigest()[:32], path, n, text, (), page, page)
            for n, (page, text) in enumerate(cut)
        ]

    def _pages(self, path: str) -> Iterator[tuple[int | None, str]]:
        file = self._notes / path
        if file.suffix != ".pdf":
            yield None, file.read_text(encoding="utf-8", errors="replace")
            return
        with pymupdf.open(file) as opened:
            for page in opened:
                yield page.number + 1, page.get_text()


def _pieces(text: str) -> list[str]:
    pieces = (text[start : start + _BLIND].strip() for start in range(0, len(text), _BLIND))
    return [piece for piece in pieces if piece]


def _without_headings(place: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in place.items() if key != "heading"}
    also = place.get("also")
    return {**kept, "also": [_without_headings(one) for one in also]} if isinstance(also, list) else kept


def main() -> None:
    parser = arguments("Retrieval and refusals on a student's library.")
    parser.add_argument("--blind", action="store_true", help="cut the bare text after every thousand characters")
    options = parser.parse_args()
    notes, file = need(options.data / "student"), need(options.data / "student.jsonl")
    control = [{**q, "course": q.get("file", "none").split("/")[0]} for q in read_questions(file)]
    if options.blind:  # what was never read has no headings: the text alone must be there
        control = [_without_headings(q) for q in control]
    modes = options.modes.split(",")
    cut = BlindCutter(notes) if options.blind else indexing.chunk_document
    with (
        working_folder(options) as work,
        patch.object(indexing, "chunk_document", cut),
        library(notes, work / ("index.student.blind" if options.blind else "index.student")) as opened,
    ):
        by_kind = opened.evaluate(control, (1, 3, 5), modes, by="kind", rerank=options.rerank or None)
        by_course = opened.evaluate(control, (1, 3, 5), modes[:1], by="course", rerank=options.rerank or None)
    report("A student's library, by kind of question", by_kind, options.misses)
    report("A student's library, by course", by_course, misses=False)


if __name__ == "__main__":
    main()
