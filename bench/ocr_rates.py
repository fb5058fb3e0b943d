"""Error rates of OCR on pages of known text, spoiled in known ways, read with one cleaning step more each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ocr_pages import A4, SPOILED, known_text, page_picture
from PIL import Image

from rag.parsing.layout import Fragment
from rag.parsing.ocr import Word, missing, recognise
from rag.parsing.ocr_image import Grey, prepared
from rag.parsing.ocr_layout import fragments_of
from rag.parsing.ocr_rules import without_rules
from rag.parsing.pdf_layout import laid_out
from rag.parsing.pdf_text import PageText

STEPS = ("150 dpi", "3x", "+ deskew", "+ even light", "+ lines out", "+ specks out", "+ one script")


def ocr(data: Path) -> None:
    """Print the error rate of each kind of page after each further step."""
    problem = missing("rus+eng")
    if problem:
        print(problem)
        return
    print("page                   " + "  ".join(f"{step:>14}" for step in STEPS))
    totals = np.zeros(len(STEPS))
    count = 0
    for language in ("ru", "en"):
        text = known_text(data, language)
        for kind in SPOILED:
            picture = kind.spoil(page_picture(text, kind.draw), np.random.default_rng(3))
            rates = [error_rate(reading, text) for reading in readings(picture)]
            totals, count = totals + rates, count + 1
            print(f"{kind.name + ', ' + language:22} " + "  ".join(f"{rate:14.4f}" for rate in rates), flush=True)
    print(f"{'mean':22} " + "  ".join(f"{rate:14.4f}" for rate in totals / count))


def readings(picture: Grey) -> Iterator[str]:
    """Read a picture of 150 dpi with each step of `STEPS` more. Pictures that a step leaves alone are read once."""
    scale = 150 / 72
    yield _uncleaned(_recognised(picture, scale), scale)
    size = (round(picture.shape[1] * 3 / scale), round(picture.shape[0] * 3 / scale))
    last = np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC))
    words = _recognised(last, 3.0)
    yield _uncleaned(words, 3.0)
    even = prepared(last)[0]
    for ready in (prepared(last, even=False)[0], even, without_rules(even, 3.0)[0]):
        words, last = (words if ready is last else _recognised(ready, 3.0)), ready
        yield _uncleaned(words, 3.0)
    yield _in_order(fragments_of(words, 3.0, one_script=False))
    yield _in_order(fragments_of(words, 3.0))


def _uncleaned(words: list[Word], scale: float) -> str:
    return _in_order(fragments_of(words, scale, drop_specks=False, one_script=False))


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
