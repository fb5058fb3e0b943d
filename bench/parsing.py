"""Parsing: pages a second per format, peak memory for a long PDF, OCR error rates per cleaning step.

    python bench/parsing.py [speed|memory|ocr ...] [--data ../shared/data]

Each part runs alone where named. The error rate of OCR is the edit distance over the length of the known text, white
space folded, on pages that are drawn here: the smaller, the better.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import pymupdf
from ocr_rates import ocr

from rag.errors import ParsingError
from rag.parsing import SUPPORTED, ParseSettings, parse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help="speed, memory or ocr; all if none")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    parts = options.parts or ["speed", "memory", "ocr"]
    if unknown := set(parts) - {"speed", "memory", "ocr"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if not options.data.is_dir() and ("speed" in parts or "ocr" in parts):
        print(f"No data folder {options.data}: name it with --data.", file=sys.stderr)
        return 1
    if "speed" in parts:
        speed(options.data)
    if "memory" in parts:
        memory()
    if "ocr" in parts:
        ocr(options.data)
    return 0


# Speed: every file of the data folder that Konspekt reads, by format.


def speed(data: Path) -> None:
    """Print pages (files, where a format has no pages) and characters a second for each format."""
    by_format: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(p for p in data.rglob("*") if p.suffix.lower() in SUPPORTED):
        folder = f" {path.relative_to(data).parts[0]}" if path.suffix.lower() == ".pdf" else ""
        by_format[path.suffix.lower() + folder].append(path)
    print("format             files  pages  failed  pages/s  cpu pages/s  characters/s")
    for kind, paths in sorted(by_format.items()):
        parse_all(paths[:1])  # imports are not counted
        wall, cpu = time.perf_counter(), _cpu_seconds()
        pages, characters, failed = parse_all(paths)
        wall, cpu = time.perf_counter() - wall, max(_cpu_seconds() - cpu, 0.01)
        print(
            f"{kind:18} {len(paths):5}  {pages:5}  {failed:6}  {pages / wall:7.1f}  {pages / cpu:11.1f}  "
            f"{characters / wall:12,.0f}",
            flush=True,
        )


def _cpu_seconds() -> float:
    """What this process and the programs it ran (Tesseract, LibreOffice) have used so far."""
    return sum(os.times()[:4])


def parse_all(paths: list[Path]) -> tuple[int, int, int]:
    """Return pages (1 a file without pages), characters and failures of parsing the files."""
    pages = characters = failed = 0
    for path in paths:
        try:
            document = parse(path, ParseSettings())
        except ParsingError:
            failed += 1
            continue
        pages += document.report.pages or 1
        characters += sum(len(block.text) for block in document.blocks)
    return pages, characters, failed


# Memory: one PDF of 800 dense pages, in a process of its own.


def memory(pages: int = 800) -> None:
    """Print how far the memory of a fresh process grows while it parses a PDF of that many pages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.pdf"
        _long_pdf(path, pages)
        context = multiprocessing.get_context("spawn")
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_parse_and_measure, args=(path, writer))
        process.start()
        before, after, blocks, seconds = reader.recv()
        process.join()
    print(
        f"{pages} pages, {blocks} blocks in {seconds:.1f} s: {before:.0f} MB before, {after:.0f} MB at the peak, "
        f"grown by {after - before:.0f} MB"
    )


def _long_pdf(path: Path, pages: int) -> None:
    chance = random.Random(7)
    words = ["field", "charge", "force", "point", "mass", "law", "theorem", "function", "limit", "integral"]
    document = pymupdf.open()
    for number in range(pages):
        lines = [" ".join(chance.choice(words) for _ in range(13)) + f" {number}" for _ in range(52)]
        document.new_page().insert_text((50, 60), lines, fontsize=9, lineheight=1.5)
    document.save(path, deflate=True)
    document.close()


def _parse_and_measure(path: Path, writer: multiprocessing.connection.Connection) -> None:
    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / "short.pdf"
        _long_pdf(short, 1)
        parse(short, ParseSettings())
    before, start = _peak(), time.perf_counter()
    document = parse(path, ParseSettings())
    writer.send((before, _peak(), len(document.blocks), time.perf_counter() - start))


def _peak() -> float:
    """Return the most memory this process has held, in MB. Linux counts the parent's in what `resource` tells."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e3
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    sys.exit(main())
