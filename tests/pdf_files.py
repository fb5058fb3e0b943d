"""Small PDFs that the tests draw for themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf

from rag.parsing.pdf import parse_pdf
from rag.parsing.settings import ParseSettings
from rag.types import ParsedDocument


def write(page: Any, x: float, y: float, text: str, size: float = 11, *, color: tuple[float, ...] = (0, 0, 0)) -> None:
    """Write one line with its baseline at y. The font is PyMuPDF's own; it has Cyrillic letters."""
    writer = pymupdf.TextWriter(page.rect)
    writer.append((x, y), text, font=pymupdf.Font("cjk"), fontsize=size)
    writer.write_text(page, color=color)


def write_lines(page: Any, x: float, y: float, lines: list[str], *, size: float = 11, step: float = 14) -> float:
    """Write lines under each other; return the y after the last."""
    for line in lines:
        write(page, x, y, line, size)
        y += step
    return y


def save(document: Any, folder: Path, name: str = "file.pdf", **options: Any) -> Path:
    """Save under the folder and return the path."""
    path = folder / name
    document.save(path, **options)
    document.close()
    return path


def parsed(path: Path) -> ParsedDocument:
    """Parse with the default settings."""
    return parse_pdf(path, ParseSettings())


def text_of(document: ParsedDocument) -> str:
    """All text, a block a line."""
    return "\n".join(block.text for block in document.blocks)
