"""What parsing can be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParseSettings:
    """`ocr_languages` are Tesseract's names joined by "+"; files over `max_file_mb` (10^6 bytes) are refused."""

    ocr_languages: str = "rus+eng"
    max_file_mb: int = 200
