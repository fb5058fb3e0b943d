"""XQuAD as notes: a file an article, a heading a paragraph; which paragraph does each question find?

python bench/xquad.py [--data ../shared/data] [--pairs en-en,ru-ru,en-ru,ru-en] [--work DIR]
A pair names the language of the notes, then that of the questions.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from measuring import arguments, library, need, report, working_folder

Article = dict[str, Any]


def articles(file: Path) -> list[Article]:
    """Read a SQuAD-shaped file; titles in sorted order."""
    data: list[Article] = json.loads(need(file).read_text(encoding="utf-8"))["data"]
    return sorted(data, key=lambda article: str(article["title"]))


def write_notes(found: Collection[Article], folder: Path) -> None:
    """Write each article as a note whose paragraphs have numbered headings. Unchanged notes are not touched."""
    folder.mkdir(parents=True, exist_ok=True)
    for article in found:
        paragraphs = (f"## {n}\n\n{p['context']}" for n, p in enumerate(article["paragraphs"], 1))
        text = "\n\n".join([f"# {article['title'].replace('_', ' ')}", *paragraphs]) + "\n"
        note = folder / note_name(article)
        if not note.exists() or note.read_text(encoding="utf-8") != text:
            note.write_text(text, encoding="utf-8")


def note_name(article: Article) -> str:
    """Return the file name of an article's note."""
    return str(article["title"]).replace("/", "_") + ".md"


def questions(found: Collection[Article], indexed: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Return control questions; those of articles whose title is not in `indexed` have no answer."""
    asked: list[dict[str, Any]] = []
    for article in found:
        for number, paragraph in enumerate(article["paragraphs"], 1):
            place = {"file": note_name(article), "heading": str(number)}
            known = indexed is None or article["title"] in indexed
            told = place if known else {"answerable": False}
            asked += [{"question": question["question"], **told} for question in paragraph["qas"]]
    return asked


def main() -> None:
    parser = arguments("Retrieval on XQuAD, in one language and across two.")
    parser.add_argument("--pairs", default="en-en,ru-ru,en-ru,ru-en", help="language of notes - language of questions")
    options = parser.parse_args()
    with working_folder(options) as work:
        for pair in options.pairs.split(","):
            notes, asked = pair.split("-")
            write_notes(articles(options.data / f"xquad.{notes}.json"), work / f"notes.{notes}")
            with library(work / f"notes.{notes}", work / f"index.{notes}") as opened:
                control = questions(articles(options.data / f"xquad.{asked}.json"))
                result = opened.evaluate(control, (1, 3, 5), options.modes.split(","), rerank=options.rerank or None)
            report(f"XQuAD, notes {notes}, questions {asked}", result, options.misses)


if __name__ == "__main__":
    main()
