"""Pages of known text, drawn and spoiled as scans are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageFilter

from rag.parsing.ocr_image import Grey

A4 = (595.0, 842.0)


def known_text(data: Path, language: str) -> str:
    """Return 150 words of an encyclopaedia article."""
    articles = json.loads((data / f"xquad.{language}.json").read_text(encoding="utf-8"))["data"]
    return " ".join(articles[3]["paragraphs"][0]["context"].split()[:150])


def page_picture(text: str, draw: Callable[[pymupdf.Page, str], None]) -> Grey:
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


def _lined(page: pymupdf.Page, text: str) -> None:
    """Draw text on lined paper with a margin line, as in an exercise book; letters touch the lines."""
    words = text.split()
    for i in range(0, len(words), 8):
        y = 70 + 24 * (i // 8)
        page.draw_line((40, y + 2), (555, y + 2), color=(0.3, 0.3, 0.3), width=0.6)
        _apart(page, words[i : i + 8], 75, y, 11, gap=4)
    page.draw_line((65, 30), (65, 800), color=(0.3, 0.3, 0.3), width=0.6)


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
    Spoiled("lined paper", _specks, _lined),
    Spoiled("music", _specks, _songs),
)
