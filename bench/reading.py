"""Is the text right? Files with known headings, sentences and pages; control questions; rows of statements.

    python bench/reading.py [files|student|tables ...] [--data ../shared/data] [--work DIR]

files: `reading.files.jsonl` holds, for each file of `files/`, headings, sentences with page and heading, rows of tables
and what must not be there, written down by people who looked at the file.
student: the `text` of every control question stands in one passage of the file that it names, under its heading.
tables: `reading.tables.jsonl` names the row that a question about a company's report needs; label, column and value
must stand together in the searchable words of a passage of that page.

Prints what is missing and a total for each; exit code 1 where something is. Nothing is embedded.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import need, working_folder

from rag.chunking import CHUNKER_VERSION, chunk_document
from rag.control_questions import Place, control_question, read_questions
from rag.errors import ParsingError
from rag.messages import msg
from rag.models.embedding import load_embedder
from rag.parsing import PARSER_VERSION, ParseSettings, parse
from rag.protocols import Embedder
from rag.settings import BUNDLED_EMBEDDER
from rag.types import Block, Chunk, Hit, ParsedDocument

HERE = Path(__file__).parent
PARTS = ("files", "student", "tables")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="files, student or tables; all if none")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the measuring data")
    parser.add_argument("--work", type=Path, help="keep the model and the reports as read here for the next run")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    checks = {"files": check_files, "student": check_student, "tables": check_tables}
    wrong = 0
    with working_folder(options) as work:
        for part in options.parts or PARTS:
            right, told = 0, 0
            for name, misses in checks[part](options.data, work):
                told, right = told + 1, right + (not misses)
                for miss in misses:
                    print(f"{part}: {name}: {miss}", flush=True)
            print(f"{part}: {right} of {told} right", flush=True)
            wrong += told - right
    return 1 if wrong else 0


# Files: what a reader of each one sees.


def check_files(data: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each file with what is wrong in it."""
    folder = need(data / "files")
    expected = {row["file"]: row for row in _rows(HERE / "reading.files.jsonl")}
    for path in sorted(folder.iterdir()):
        yield path.name, _file_misses(path, expected[path.name]) if path.name in expected else ["nothing is expected"]
    for name in expected.keys() - {path.name for path in folder.iterdir()}:
        yield name, ["is not there"]


def _file_misses(path: Path, row: dict[str, Any]) -> list[str]:
    try:
        document = parse(path, ParseSettings())
    except ParsingError as error:
        expected = row.get("error")
        return [] if expected and expected.lower() in str(error).lower() else [f"error: {error}"]
    if row.get("error"):
        return [f"no error; expected: {row['error']}"]
    if row.get("empty"):
        return [f"not empty: {document.blocks[0].text!r}"] if document.blocks else []
    return [*_report_misses(document, row), *_text_misses(document.blocks, row)]


def _report_misses(document: ParsedDocument, row: dict[str, Any]) -> Iterator[str]:
    report = document.report
    found = {
        "pages": report.pages,
        "encoding": report.encoding,
        "title": document.meta.title,
        "ocr_pages": list(report.ocr_pages),
        "empty_pages": list(report.empty_pages),
    }
    for name, value in found.items():
        if name in row and row[name] != value:
            yield f"{name}: {value!r}, expected {row[name]!r}"


def _text_misses(blocks: tuple[Block, ...], row: dict[str, Any]) -> Iterator[str]:
    headings = {block.heading for block in blocks}
    for path in row.get("headings", ()):
        if not any(found[-len(path) :] == tuple(path) for found in headings):
            yield f"no heading {' > '.join(path)}"
    for said in row.get("says", ()):
        if not any(_says(block, said) for block in blocks):
            where = f", page {said['page']}" if "page" in said else ""
            under = f", under {said['under']}" if said.get("under") else ""
            yield f"not said: {said['text']!r}{where}{under}"
    rows = {cells for block in blocks if block.table for cells in block.table.rows}
    yield from (f"no row {' | '.join(cells)}" for cells in row.get("rows", ()) if tuple(cells) not in rows)
    whole = "\n".join(block.text for block in blocks)
    yield from (f"should not be there: {text!r}" for text in row.get("never", ()) if text in whole)


def _says(block: Block, said: dict[str, Any]) -> bool:
    """Tell whether a block holds the sentence, ending on its page and under its heading ("" for none)."""
    at = _folded(block.text).find(_folded(said["text"]))
    if at < 0 or ("under" in said and said["under"] != (block.heading[-1] if block.heading else "")):
        return False
    end = at + len(_folded(said["text"]))
    pages = [region.page for region in block.regions if len(_folded(block.text[: region.start])) < end]
    return "page" not in said or pages[-1] == said["page"]


# Student: no control question's text is lost to a cut, a ligature or a hyphen.


def check_student(data: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each control question that has a text, with the places of it that are in no passage."""
    notes = need(data / "student")
    passages = Passages(work)
    for number, fields in enumerate(read_questions(need(data / "student.jsonl")), start=1):
        question = control_question(fields, msg("Question {number}", number=number))
        places = [place for place in (*question.right, *question.also) if place.text]
        if places:
            yield str(fields.get("id", number)), [m for p in places if (m := _place_miss(passages, notes, p))]


def _place_miss(passages: Passages, notes: Path, place: Place) -> str:
    chunks = passages.of(notes / place.file, place.file)
    if any(place.matches(Hit(chunk, 0.0)) for chunk in chunks):
        return ""
    holding = [chunk for chunk in chunks if replace(place, heading="", pages=frozenset()).matches(Hit(chunk, 0.0))]
    if holding:
        found = " > ".join(holding[0].heading)
        return f"{place.file}: {place.text!r} stands under {found}, page {holding[0].page_first}"
    return f"{place.file}: {place.text!r} is in no passage"


# Tables: the row that a question needs, in words.


def check_tables(data: Path, work: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each row of a report that a question needs, with the passages' words where it is not in them."""
    folder = need(data / "financebench")
    asked = [question["question"] for question in read_questions(need(folder / "questions.jsonl"))]
    passages = Passages(work)
    for row in _rows(HERE / "reading.tables.jsonl"):
        name = f"{row['file']} p. {row['page']}, {row['label']}, {row['column']}: {row['value']}"
        if not any(row["question"] in question for question in asked):
            yield name, [f"no question holds {row['question']!r}"]
            continue
        lines = [line for chunk in _on_page(passages, folder, row) for line in chunk.words.split("\n")]
        near = [line for line in lines if line.startswith(row["label"])]
        yield name, [] if any(_tells(line, row) for line in near) else [f"in words: {near or 'nothing'}"]


def _on_page(passages: Passages, folder: Path, row: dict[str, Any]) -> Iterator[Chunk]:
    for chunk in passages.of(folder / row["file"], row["file"]):
        if chunk.page_first is not None and chunk.page_first <= row["page"] <= (chunk.page_last or 0):
            yield chunk


def _tells(line: str, row: dict[str, Any]) -> bool:
    """Tell whether a row in words gives the value under the column's name."""
    cells = (cell.rpartition(": ") for cell in line.removeprefix(f"{row['label']}, ").split("; "))
    return any(row["column"] in name and row["value"] in value for name, _, value in cells)


class Passages:
    """The passages of files as they are indexed, kept in a folder: long reports take a minute to read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._embedder: Embedder | None = None
        self._known: dict[Path, list[Chunk]] = {}

    def of(self, path: Path, name: str) -> list[Chunk]:
        """Return the passages of a file, read once for each version of the parser and of the file."""
        if path not in self._known:
            stamp = f"{path.stem}-{PARSER_VERSION}-{CHUNKER_VERSION}-{path.stat().st_mtime_ns}-{_code_stamp()}.passages"
            kept = self._folder / "passages" / stamp
            if not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(pickle.dumps(self._read(path, name)))
            self._known[path] = pickle.loads(kept.read_bytes())
        return self._known[path]

    def _read(self, path: Path, name: str) -> list[Chunk]:
        self._embedder = self._embedder or load_embedder(BUNDLED_EMBEDDER, self._folder, "")
        document = parse(path, ParseSettings())
        return chunk_document(document, name, self._embedder.count_tokens, self._embedder.window)


def _code_stamp() -> int:
    """When the code that reads and cuts was last changed, so that nothing old is judged."""
    folder = HERE.parent / "rag"
    return max(file.stat().st_mtime_ns for part in ("parsing", "chunking") for file in (folder / part).glob("*.py"))


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in need(file).read_text(encoding="utf-8").splitlines() if line.strip()]


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
