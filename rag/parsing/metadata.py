"""What is known about a document besides its text: date, language, title."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path

from rag.types import Meta, ParsedDocument

_MONTHS = {
    "янв": 1, "фев": 2, "мар": 3, "апр": 4, "мая": 5, "май": 5, "июн": 6, "июл": 7, "авг": 8, "сен": 9, "окт": 10,
    "ноя": 11, "дек": 12, "jan": 1, "feb": 2, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
    "nov": 11, "dec": 12,
}  # fmt: skip
_YEAR_FIRST = re.compile(r"(?<!\d)(19[5-9]\d|20\d\d)([-_. /]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(0?[1-9]|[12]\d|3[01])([-_. /])(0?[1-9]|1[0-2])\2(19[5-9]\d|20\d\d)(?!\d)")
_NAMED = re.compile(r"(?<!\d)(0?[1-9]|[12]\d|3[01])[-_. ]+([^\W\d_]{3,10})[-_., ]+(19[5-9]\d|20\d\d)(?!\d)")
_MONTH = re.compile(r"(?<!\d)(19[5-9]\d|20\d\d)[-_.](0[1-9]|1[0-2])(?![\d])")
_YEAR = re.compile(r"(?<!\d)(19[5-9]\d|20\d\d)(?!\d)")
LANGUAGE_SAMPLE = 20_000
FEW_LETTERS = 40
SURE = 0.9


def iso_date(text: str) -> str | None:
    """The first date in a text as "2024-09-16", "2024-09" or "2024": a day is preferred to a month, that to a year."""
    for pattern, order in ((_YEAR_FIRST, (1, 3, 4)), (_DAY_FIRST, (4, 3, 1)), (_NAMED, (3, 2, 1))):
        for found in pattern.finditer(text):
            if day := _day(*(found.group(i) for i in order)):
                return day
    if month := _MONTH.search(text):
        return f"{month.group(1)}-{month.group(2)}"
    year = _YEAR.search(text)
    return year.group() if year else None


def _day(year: str, month: str, day: str) -> str | None:
    number = int(month) if month.isdigit() else _MONTHS.get(month[:3].lower().replace("mar", "мар"))
    try:
        return datetime.date(int(year), number or 0, int(day)).isoformat()
    except ValueError:
        return None


def complete(document: ParsedDocument, path: Path) -> ParsedDocument:
    """Fill in what the document does not say itself: its date, its language, its title."""
    meta = _dated(document.meta, path)
    if not meta.language:
        meta = replace(meta, language=language_of("\n".join(_sample(document))))
    if not meta.title:
        meta = replace(meta, title=_first_heading(document))
    return replace(document, meta=meta)


def _dated(meta: Meta, path: Path) -> Meta:
    """A day in the file's name was written by its owner; properties often hold a template's date or the last print's.
    So front matter comes first, then a day in the name, then properties, then a year or month in the name."""
    if meta.date and meta.date_source in ("front matter", "text"):
        return meta
    named = iso_date(path.stem) or iso_date(path.parent.name)
    if named and (len(named) == 10 or not meta.date):
        return replace(meta, date=named, date_source="name")
    if meta.date:
        return meta
    changed = datetime.datetime.fromtimestamp(path.stat().st_mtime, tz=datetime.UTC).date()
    return replace(meta, date=changed.isoformat(), date_source="file time")


def _first_heading(document: ParsedDocument) -> str:
    return next((b.text for b in document.blocks if b.kind == "heading"), "")


def _sample(document: ParsedDocument) -> list[str]:
    taken, texts = 0, []
    for block in document.blocks:
        if block.kind != "code":
            texts.append(block.text[: LANGUAGE_SAMPLE - taken])
            taken += len(texts[-1])
        if taken >= LANGUAGE_SAMPLE:
            break
    return texts


def language_of(text: str) -> str:
    """The language of a text as an ISO 639-1 code, or "" where there are too few letters to tell.

    Cyrillic is told by its letters (langdetect takes Russian notes for Bulgarian or Macedonian),
    the rest by langdetect, seeded so that it always says the same.
    """
    letters = [c for c in text.lower() if c.isalpha()]
    if len(letters) < FEW_LETTERS:
        return ""
    cyrillic = sum("а" <= c <= "я" or c in "ёіїєґў" for c in letters)
    if cyrillic * 2 > len(letters):
        ukrainian = sum(c in "іїєґ" for c in letters)
        return "uk" if ukrainian * 50 > cyrillic else "ru"
    return _other_language(text)


def _other_language(text: str) -> str:
    from langdetect import DetectorFactory, LangDetectException, detect_langs

    DetectorFactory.seed = 0
    try:
        best = detect_langs(text[:5_000])[0]
    except LangDetectException:
        return ""
    return str(best.lang)[:2] if best.prob > SURE else ""
