"""What the retrieval benches share: where data lies, a library over a folder of notes, and tables of figures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag.library import Library
from rag.settings import Paths
from rag.types import FileProgress

COLUMNS = ("hit@1", "hit@3", "hit@5", "both@3", "mrr", "refusal_recall", "false_refusals", "ms_p50", "ms_p95")


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every bench."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the measuring data")
    parser.add_argument("--work", type=Path, help="keep notes and indexes here, so that a second run is quick")
    parser.add_argument("--modes", default="hybrid,dense,keyword,keyword-then-dense", help="comma-separated")
    parser.add_argument("--rerank", action="store_true", help="rerank as the settings say, or with sentences")
    parser.add_argument("--misses", action="store_true", help="print the questions that went wrong")
    return parser


def need(path: Path) -> Path:
    """Return the path, or end the run telling what is missing."""
    if not path.exists():
        sys.exit(f"{path} is missing: give the folder that holds it with --data.")
    return path


@contextmanager
def working_folder(options: argparse.Namespace) -> Iterator[Path]:
    """Give the folder of `--work`, or one that is deleted afterwards."""
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        yield options.work
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def library(notes: Path, data: Path) -> Iterator[Library]:
    """Bring a library over the notes up to date and give it."""
    opened = Library.open(Paths(notes.absolute(), data.absolute()))
    try:
        result = opened.sync(_tell)
        print(f"{result.files} files, {result.chunks} passages, {result.seconds:.0f} s", file=sys.stderr)
        for failure in result.failed:
            print(f"  {failure.file}: {failure.error}", file=sys.stderr)
        yield opened
    finally:
        opened.close()


def _tell(progress: FileProgress) -> None:
    print(f"\r{progress.stage} {progress.path}"[:100].ljust(100), end="", file=sys.stderr, flush=True)


def table(rows: Sequence[tuple[str, Mapping[str, Any]]], columns: Sequence[str] = COLUMNS) -> str:
    """Return rows of named figures as a Markdown table, without columns that hold nothing."""
    used = [c for c in columns if any(figures.get(c) is not None for _, figures in rows)]
    lines = ["| | n | " + " | ".join(used) + " |", "| --- " * (len(used) + 2) + "|"]
    for name, figures in rows:
        cells = [_cell(figures.get(c)) for c in used]
        lines.append(f"| {name} | {figures['n']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if value <= 1 else f"{value:.0f}"


def report(title: str, result: Mapping[str, Any], misses: bool) -> None:
    """Print the figures of every mode and group, and where asked the misses."""
    print(f"\n## {title}\n")
    print(table(list(result["modes"].items())))
    for mode, figures in result["modes"].items():
        if "by" in figures:
            print(f"\n{mode}:\n")
            print(table(list(figures["by"].items())))
    if misses:
        print()
        for miss in result["misses"]:
            places = ", ".join(f"{f['file']}:{f['page'] or ' › '.join(f['heading'])}" for f in miss["found"])
            print(f"{miss['mode']} {miss['problem']} {miss['confidence']:.2f} | {miss['question']} | {places}")
