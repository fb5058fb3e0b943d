"""Parsing: pages a second per format, peak memory for a long PDF, OCR error rates per cleaning step.

    python bench/parsing.py [speed|memory|ocr ...] [--data ../shared/data]

Each part runs alone where named. The error rate of OCR is the edit distance over the length of the known text, white
space folded, on pages that are drawn here: the smaller, the better.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageFilter

from rag.errors import ParsingError
from rag.parsing import SUPPORTED, ParseSettings, parse
from rag.parsing.layout import Fragment
from rag.parsing.ocr import Word, missing, recognise
from rag.parsing.ocr_image import Grey, prepared
from rag.parsing.ocr_layout import fragments_of
from rag.parsing.pdf_layout import laid_out
from rag.parsing.pdf_text import PageText

A4 = (595.0, 842.0)


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
    import resource

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)

    with tempfile.TemporaryDirectory() as folder:
        short = Path(folder) / "short.pdf"
        _long_pdf(short, 1)
        parse(short, ParseSettings())
    before, start = peak(), time.perf_counter()
    document = parse(path, ParseSettings())
    writer.send((before, peak(), len(document.blocks), time.perf_counter() - start))


# OCR: pages of known text, spoiled in known ways, read with one cleaning step more each time.


STEPS = ("150 dpi", "3x", "+ deskew", "+ even light", "+ specks dropped")


def ocr(data: Path) -> None:
    """Print the error rate of each kind of page after each further step."""
    problem = missing("rus+eng")
    if problem:
        print(problem)
        return
    print("page                   " + "  ".join(f"{step:>16}" for step in STEPS))
    totals = np.zeros(len(STEPS))
    count = 0
    for language in ("ru", "en"):
        text = _known_text(data, language)
        for kind in SPOILED:
            picture = kind.spoil(_page_picture(text, kind.draw), np.random.default_rng(3))
            rates = [error_rate(reading, text) for reading in readings(picture)]
            totals, count = totals + rates, count + 1
            print(f"{kind.name + ', ' + language:22} " + "  ".join(f"{rate:16.4f}" for rate in rates), flush=True)
    print(f"{'mean':22} " + "  ".join(f"{rate:16.4f}" for rate in totals / count))


def readings(picture: Grey) -> Iterator[str]:
    """Read a picture of 150 dpi with each step of `STEPS` more. Pictures that a step leaves alone are read once."""
    scale = 150 / 72
    yield _in_order(fragments_of(_recognised(picture, scale), scale, drop_specks=False))
    size = (round(picture.shape[1] * 3 / scale), round(picture.shape[0] * 3 / scale))
    larger = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC))
    words, last = _recognised(larger, 3.0), larger
    yield _in_order(fragments_of(words, 3.0, drop_specks=False))
    for even in (False, True):
        ready, _ = prepared(larger, even=even)
        words, last = (words if ready is last else _recognised(ready, 3.0)), ready
        yield _in_order(fragments_of(words, 3.0, drop_specks=False))
    yield _in_order(fragments_of(words, 3.0))


def _recognised(picture: Grey, scale: float) -> list[Word]:
    return recognise(np.ascontiguousarray(picture), "rus+eng", round(72 * scale))


def _in_order(fragments: list[Fragment]) -> str:
    page = laid_out(PageText(*A4, tuple(fragments), (), ()), 1, ocr=True)
    return " ".join(line.text for line in page.lines)


def error_rate(read_text: str, known: str) -> float:
    """Edit distance between two texts over the length of the known one, white space folded."""
    a, b = " ".join(read_text.split()), " ".join(known.split())
    row = np.arange(len(b) + 1)
    codes = np.frombuffer(b.encode("utf-32-le"), np.uint32)
    for ch in a:
        cost = np.minimum(row[1:] + 1, row[:-1] + (codes != ord(ch)))
        new = np.empty_like(row)
        new[0] = row[0] + 1
        # insertions run along the row: new[j] = min(cost[j], new[j-1] + 1)
        steps = np.concatenate([[new[0]], cost]) - np.arange(len(b) + 1)
        new = np.minimum.accumulate(steps) + np.arange(len(b) + 1)
        row = new
    return float(row[-1]) / max(len(b), 1)


def _known_text(data: Path, language: str) -> str:
    articles = json.loads((data / f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    return " ".join(articles[3]["paragraphs"][0]["context"].split()[:150])


def _page_picture(text: str, draw: Callable[[pymupdf.Page, str], None]) -> Grey:
    """Draw the text on a page and return its picture at 150 dpi."""
    document = pymupdf.open()
    page = document.new_page(width=A4[0], height=A4[1])
    draw(page, text)
    drawn = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
    return np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)[:, : drawn.width].copy()


def _printed(page: pymupdf.Page, text: str) -> None:
    page.insert_htmlbox((60, 60, 535, 780), f"<p style='font-family:serif;font-size:11pt'>{text}</p>")


def _songs(page: pymupdf.Page, text: str) -> None:
    """Draw staves of music and under each a line of the text, its words apart as they are sung."""
    words = text.split()
    for i in range(0, len(words), 10):
        y = 60 + 48 * (i // 10)
        for k in range(5):
            page.draw_line((60, y + 4 * k), (535, y + 4 * k), width=0.4)
        for k in range(18):
            x, note = 80 + 25 * k, y + 2 + 4 * (k * 7 % 5)
            page.draw_circle((x, note), 2.2, fill=(0, 0, 0))
            page.draw_line((x + 2, note), (x + 2, note - 12), width=0.6)
        _apart(page, words[i : i + 10], 50, y + 31, 9, gap=7)


def _typewritten(page: pymupdf.Page, text: str) -> None:
    """Draw lines of uneven baseline with one wide gap in each, as typewriters leave them."""
    words, chance = text.split(), random.Random(5)
    for i in range(0, len(words), 7):
        _apart(page, words[i : i + 7], 50, 60 + 26 * (i // 7), 11, gap=6, jitter=1.2, wide=chance.randint(1, 5))


def _apart(
    page: pymupdf.Page,
    words: list[str],
    x: float,
    y: float,
    size: float,
    *,
    gap: float,
    jitter: float = 0.0,
    wide: int = -1,
) -> None:
    """Write words side by side, each up to `jitter` off the baseline, with a wide gap after the one at `wide`."""
    chance = random.Random(int(y))
    font = pymupdf.Font("tiro")
    writer = pymupdf.TextWriter(page.rect)
    for i, word in enumerate(words):
        writer.append((x, y + chance.uniform(-jitter, jitter)), word, font=font, fontsize=size)
        x += font.text_length(word, size) + (30 if i == wide else gap)
    writer.write_text(page)


def _noise(picture: Grey, chance: np.random.Generator) -> Grey:
    noisy = picture.astype(np.float32) + chance.normal(0, 40, picture.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def _specks(picture: Grey, chance: np.random.Generator) -> Grey:
    spoiled = picture.copy()
    for _ in range(160):
        y, x = chance.integers(0, picture.shape[0] - 6), chance.integers(0, picture.shape[1] - 6)
        spoiled[y : y + chance.integers(1, 6), x : x + chance.integers(1, 6)] = 40
    return spoiled


def _tilted(picture: Grey, chance: np.random.Generator) -> Grey:
    return np.asarray(Image.fromarray(picture).rotate(2.3, Image.Resampling.BICUBIC, fillcolor=255))


def _shadow(picture: Grey, chance: np.random.Generator) -> Grey:
    shade = np.linspace(0.45, 1.0, picture.shape[1])[None, :]
    grey = np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(0.7)), dtype=np.float32)
    return np.clip(grey * shade + chance.normal(0, 8, picture.shape), 0, 255).astype(np.uint8)


def _photographed(picture: Grey, chance: np.random.Generator) -> Grey:
    """Dark towards one corner, as under a lamp, and tilted."""
    down, across = np.linspace(0, 1, picture.shape[0])[:, None], np.linspace(0, 1, picture.shape[1])[None, :]
    lit = _tilted(picture, chance).astype(np.float32) * (1.0 - 0.75 * (down * across) ** 0.5)
    return np.clip(lit + chance.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)


def _faded(picture: Grey, chance: np.random.Generator) -> Grey:
    """Pale ink on grey paper."""
    return np.clip(150 + picture * 0.25 + chance.normal(0, 8, picture.shape), 0, 255).astype(np.uint8)


@dataclass(frozen=True)
class Spoiled:
    """A kind of page: what it is called, what spoils its grey picture of 150 dots an inch, and how it is drawn."""

    name: str
    spoil: Callable[[Grey, np.random.Generator], Grey]
    draw: Callable[[pymupdf.Page, str], None] = _printed


SPOILED = (
    Spoiled("clean", lambda picture, _: picture),
    Spoiled("noise", _noise),
    Spoiled("specks", _specks),
    Spoiled("skew 2.3", _tilted),
    Spoiled("shadow", _shadow),
    Spoiled("photographed", _photographed),
    Spoiled("faded", _faded),
    Spoiled("typewritten", _specks, _typewritten),
    Spoiled("music", _specks, _songs),
)


if __name__ == "__main__":
    sys.exit(main())
