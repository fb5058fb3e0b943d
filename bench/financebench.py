"""Twelve annual and quarterly reports in one library, 46 questions with gold pages (FinanceBench's open sample).

python bench/financebench.py [--data ../shared/data] [--work DIR] [--modes hybrid,dense] [--reports ULTA,MGM] [--misses]
The data is CC BY-NC 4.0: for measuring only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from measuring import arguments, library, need, report, working_folder

from rag.evaluation import read_questions


def main() -> None:
    parser = arguments("Retrieval over company reports: is the gold page among the first?")
    parser.add_argument("--reports", default="", help="only those whose names hold one of these, comma-separated")
    options = parser.parse_args()
    source = need(options.data / "financebench")
    wanted = options.reports.split(",")
    chosen = [f for f in sorted(source.glob("*.pdf")) if any(part.casefold() in f.name.casefold() for part in wanted)]
    names = {file.name for file in chosen}
    control = [q for q in read_questions(need(source / "questions.jsonl")) if q["file"] in names]
    with working_folder(options) as work:
        notes = work / "notes.financebench"
        _copy_reports(chosen, notes)
        with library(notes, work / "index.financebench") as opened:
            result = opened.evaluate(control, (1, 3, 5), options.modes.split(","), rerank=options.rerank or None)
    report(f"FinanceBench, one library of {len(chosen)} reports", result, options.misses)


def _copy_reports(reports: Sequence[Path], notes: Path) -> None:
    """Put the reports alone into a folder: the questions and their answers must not be indexed."""
    notes.mkdir(parents=True, exist_ok=True)
    for file in set(notes.glob("*.pdf")) - {notes / report_file.name for report_file in reports}:
        file.unlink()
    for report_file in reports:
        if not (notes / report_file.name).exists():
            (notes / report_file.name).write_bytes(report_file.read_bytes())


if __name__ == "__main__":
    main()
