"""The command line: `python -m rag COMMAND`, also installed as `konspekt`."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rag import reports
from rag.errors import KonspektError
from rag.settings import Paths
from rag.syncing.scanning import check_folder
from rag.types import MODES, FileProgress, Filters, Meta

if TYPE_CHECKING:
    from rag.library import Library
    from rag.serving import LoadEmbedder


def main(arguments: Sequence[str] | None = None, embedders: LoadEmbedder | None = None) -> int:
    """Run one command. Returns 0 on success, 1 where something failed; wrong usage exits with 2.
    `embedders` loads an embedder by its name, in place of the library's own way."""
    options = _parser().parse_args(arguments, argparse.Namespace(embedders=embedders))
    try:
        # Whatever a library prints must not end up in the JSON document.
        with contextlib.redirect_stdout(sys.stderr):
            document, failed = options.run(options)
    except KonspektError as error:
        document, failed = {"error": str(error)}, True
        _write(f"{error}\n", sys.stderr)
    if options.json:
        _write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n", sys.stdout)
    elif "error" not in document:
        _write(options.show(document), sys.stdout)
    return int(failed)


def _write(text: str, stream: TextIO) -> None:
    """Write what any reader can decode: an argument may hold bytes that are no text."""
    from rag.answering.tidying import printable

    stream.write(printable(text))


Result = tuple[dict[str, Any], bool]


def _library(options: argparse.Namespace) -> contextlib.closing[Library]:
    from rag.library import Library

    given = {"embedders": options.embedders} if options.embedders else {}
    return contextlib.closing(Library.open(Paths.from_environment(options.notes, options.data), **given))


def _sync(options: argparse.Namespace) -> Result:
    with _library(options) as library:
        result = library.sync(None if options.quiet else _progress())
    return reports.sync(result), bool(result.failed)


def _search(options: argparse.Namespace) -> Result:
    with _library(options) as library:
        result = library.search(options.query, options.k, options.mode, options.rerank or None, _filters(options))
        return _with_gaps(reports.search(result), library, options), False


def _ask(options: argparse.Namespace) -> Result:
    with _library(options) as library:
        reply = library.ask(options.question, options.k, use_llm=not options.no_llm, filters=_filters(options))
        for _ in reply:
            pass
        return _with_gaps(reports.ask(reply), library, options), False


def _with_gaps(document: dict[str, Any], library: Library, options: argparse.Namespace) -> dict[str, Any]:
    """Tell with the hits why there may be none. JSON keeps stdout to itself, so a person is told on stderr."""
    filters = _filters(options)
    if document["hits"] and not (filters.files or filters.folders):
        return document
    gaps = _gaps(library, filters)
    if options.json:
        _write("".join(f"{gap}\n" for gap in gaps), sys.stderr)
    return {**document, "warnings": [*document["warnings"], *gaps]}


def _gaps(library: Library, filters: Filters) -> list[str]:
    """Tell that the index is empty, or which of the places to search it does not know."""
    from rag.retrieval.filtering import passes

    paths = [status.path for status in library.files() if status.chunks]
    if not paths:
        return ["The index is empty. Run `konspekt sync`: it tells what it cannot read."]
    places = [(f"file “{name}”", Filters(files=(name,))) for name in filters.files]
    places += [(f"folder “{name}”", Filters(folders=(name,))) for name in filters.folders]
    unknown = [name for name, place in places if not any(passes(path, Meta(), place) for path in paths)]
    return [f"There is no {name} in the index. See `konspekt files` for the names." for name in unknown]


def _eval(options: argparse.Namespace) -> Result:
    from rag.evaluation import read_questions

    questions = read_questions(options.questions)
    with _library(options) as library:
        result = library.evaluate(questions, options.k, options.modes, options.by, options.rerank or None)
    return result, False


def _files(options: argparse.Namespace) -> Result:
    with _library(options) as library:
        found = library.files()
        if not found:
            check_folder(library.paths.notes)
    return reports.files(found), False


def _chunks(options: argparse.Namespace) -> Result:
    with _library(options) as library:
        return reports.chunks(options.file, library.chunks(options.file)), False


def _doctor(options: argparse.Namespace) -> Result:
    from rag.doctor import doctor
    from rag.settings import Settings

    paths = Paths.from_environment(options.notes, options.data)
    checks = doctor(paths, Settings.load(paths.data))
    return reports.doctor(checks), any(check.required and not check.ok for check in checks)


def _progress() -> Callable[[FileProgress], None]:
    last = ""

    def tell(now: FileProgress) -> None:
        nonlocal last
        line = f"{now.path}: {now.stage}"
        if line != last:
            print(line, file=sys.stderr)
            last = line

    return tell


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_positive(part) for part in text.split(","))


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number of 1 or more")
    return number


def _date(text: str) -> str:
    if not re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", text):
        raise argparse.ArgumentTypeError(f"not a date: {text}; write 2024-05-17, 2024-05 or 2024")
    try:
        date.fromisoformat(f"{text}-01-01"[:10])
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"there is no such date: {text} (year, month, day)") from error
    return text


def _filters(options: argparse.Namespace) -> Filters:
    places = (tuple(options.folder), tuple(options.file))
    return Filters(*places, tuple(options.tag), tuple(options.language), options.date_from, options.date_to)


def _modes(text: str) -> tuple[str, ...]:
    modes = tuple(text.split(","))
    if unknown := set(modes) - set(MODES):
        raise argparse.ArgumentTypeError(f"unknown mode: {', '.join(sorted(unknown))}; choose from {', '.join(MODES)}")
    return modes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="konspekt", description="Questions and answers over your own notes.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--notes", type=Path, help="the notes folder (default: KONSPEKT_NOTES, else ./notes)")
    common.add_argument("--data", type=Path, help="the data folder (default: KONSPEKT_DATA, else ./.konspekt)")
    common.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def command(name: str, run: Callable[[argparse.Namespace], Result], about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, parents=[common], help=about, description=about)
        made.set_defaults(run=run, show=getattr(reports, f"show_{name}"))
        return made

    sync = command("sync", _sync, "Bring the index to what the notes folder holds.")
    sync.add_argument("--quiet", action="store_true", help="no progress on stderr")
    search = command("search", _search, "Find passages.")
    search.add_argument("query")
    search.add_argument("--mode", choices=MODES, help="how to search (default: the setting, hybrid)")
    ask = command("ask", _ask, "Answer a question from the notes.")
    ask.add_argument("question")
    ask.add_argument("--no-llm", action="store_true", help="quotes only, whatever model there is")
    evaluate = command("eval", _eval, "Measure retrieval on control questions.")
    evaluate.add_argument("questions", type=Path, metavar="QUESTIONS.jsonl")
    evaluate.add_argument("--k", type=_numbers, default=(1, 3, 5), help="cut-offs of hit@k (default: 1,3,5)")
    evaluate.add_argument("--modes", type=_modes, default=("hybrid",), help="comma-separated (default: hybrid)")
    evaluate.add_argument("--by", help="group the figures by this field of the questions, e.g. kind")
    for made in (search, ask):
        made.add_argument("-k", type=_positive, help="how many passages (default: the setting, 3)")
        only = made.add_argument_group("search only in", "each may be given several times; places are joined")
        for name, about in (
            ("folder", "files in this folder of the notes"),
            ("file", "this file"),
            ("tag", "files with this tag"),
            ("language", "files in this language, e.g. ru"),
        ):
            only.add_argument(f"--{name}", action="append", default=[], metavar=name.upper(), help=about)
        only.add_argument("--from", type=_date, dest="date_from", metavar="DATE", help="files dated from this day on")
        only.add_argument("--until", type=_date, dest="date_to", metavar="DATE", help="files dated up to this day")
    for made in (search, evaluate):
        made.add_argument("--rerank", action="store_true", help="rerank the candidates")
    command("files", _files, "List every file known, with its state and coverage.")
    command("chunks", _chunks, "List a file's passages in order.").add_argument("file")
    command("doctor", _doctor, "Tell what works here, and how to mend what does not.")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
