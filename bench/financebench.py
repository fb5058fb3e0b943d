"""Twelve annual and quarterly reports in one library, 46 questions with gold pages (FinanceBench's open sample).

python bench/financebench.py [--data ../shared/data] [--work DIR] [--modes hybrid,dense] [--misses]
The data is CC BY-NC 4.0: for measuring only.
"""

from __future__ import annotations

from pathlib import Path

from measuring import arguments, library, need, report, working_folder

from rag.evaluation import read_questions


def main() -> None:
    options = arguments("Retrieval over company reports: is the gold page among the first?").parse_args()
    source = need(options.data / "financebench")
    control = read_questions(need(source / "questions.jsonl"))
    with working_folder(options) as work:
        notes = work / "notes.financebench"
        _link_reports(source, notes)
        with library(notes, work / "index.financebench") as opened:
            result = opened.evaluate(control, (1, 3, 5), options.modes.split(","), rerank=options.rerank or None)
    report("FinanceBench, one library of twelve reports", result, options.misses)


def _link_reports(source: Path, notes: Path) -> None:
    """Put the reports alone into a folder: the questions and their answers must not be indexed."""
    notes.mkdir(parents=True, exist_ok=True)
    for report_file in sorted(source.glob("*.pdf")):
        link = notes / report_file.name
        if not link.exists():
            link.write_bytes(report_file.read_bytes())


if __name__ == "__main__":
    main()
