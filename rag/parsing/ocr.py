"""Optical character recognition through the `tesseract` program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag.errors import ParsingError
from rag.messages import Message, msg
from rag.parsing.ocr_image import Grey

_SECONDS = 120
_LEAST_CONFIDENCE = 25.0


@dataclass(frozen=True, slots=True)
class Word:
    """A recognised word: its place in pixels, Tesseract's confidence (0-100) and the line it was found in."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float
    line: tuple[int, int, int]


def program() -> str | None:
    """Return where Tesseract is, or `None`."""
    usual = Path(os.environ.get("PROGRAMFILES", "C:/Program Files")) / "Tesseract-OCR" / "tesseract.exe"
    return shutil.which("tesseract") or (str(usual) if sys.platform == "win32" and usual.exists() else None)


@cache
def languages(tesseract: str) -> frozenset[str]:
    """Return the names of the languages that are installed for it."""
    try:
        listed = subprocess.run([tesseract, "--list-langs"], capture_output=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(listed.stdout.decode("utf-8", "replace").split()[1:])


def missing(wanted: str) -> Message | None:
    """Return what must be installed before pages can be read in these languages ("rus+eng"), or `None`."""
    tesseract = program()
    if not tesseract:
        return msg("Tesseract is not installed. {how}", how=_how("tesseract", wanted))
    lacking = "+".join(name for name in wanted.split("+") if name not in languages(tesseract))
    if lacking:
        return msg("Tesseract lacks the language “{language}”. {how}", language=lacking, how=_how("language", lacking))
    return None


def _how(what: str, wanted: str) -> Message:
    packages = " ".join(f"tesseract-ocr-{name}" for name in wanted.split("+"))
    if sys.platform == "darwin":
        return msg("Install it: {command}", command="brew install tesseract tesseract-lang")
    if sys.platform == "win32":
        return msg(
            "Install it from {address} and choose the languages there.",
            address="https://github.com/UB-Mannheim/tesseract/wiki",
        )
    first = "tesseract-ocr " if what == "tesseract" else ""
    return msg("Install it: {command}", command=f"sudo apt install {first}{packages}")


def recognise(picture: Grey, wanted: str, dpi: int, mode: int = 3) -> list[Word]:
    """Return the words on a grey picture (height, width), in Tesseract's order. `mode` is its page segmentation mode.

    Raises `ParsingError` where Tesseract is missing, fails, or takes more than two minutes. Safe in several threads.
    """
    tesseract = program()
    if not tesseract:
        raise ParsingError(msg("Tesseract is not installed. {how}", how=_how("tesseract", wanted)))
    height, width = picture.shape
    command = [tesseract, "stdin", "stdout", "-l", wanted, "--psm", str(mode), "--dpi", str(dpi), "tsv"]
    try:
        done = subprocess.run(
            command,
            input=f"P5 {width} {height} 255\n".encode() + picture.tobytes(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise ParsingError(msg("Tesseract took more than {seconds} seconds.", seconds=_SECONDS)) from error
    except (OSError, subprocess.CalledProcessError) as error:
        told = (getattr(error, "stderr", None) or str(error).encode()).decode("utf-8", "replace").strip()
        raise ParsingError(msg("Tesseract failed: {reason}", reason=told.splitlines()[-1] if told else "")) from error
    return _words(done.stdout.decode("utf-8", "replace").splitlines())


def _words(rows: Sequence[str]) -> list[Word]:
    """Read Tesseract's tab-separated output; level 5 are words."""
    words = []
    for row in rows[1:]:
        cells = row.split("\t")
        if len(cells) < 12 or cells[0] != "5" or not cells[11].strip():
            continue
        left, top, width, height = (float(cell) for cell in cells[6:10])
        confidence = float(cells[10])
        if confidence >= _LEAST_CONFIDENCE:
            line = (int(cells[2]), int(cells[3]), int(cells[4]))
            words.append(Word(cells[11], left, top, left + width, top + height, confidence, line))
    return words
