"""What a PDF says of itself: title, author, date, printed page numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag.types import Block, Meta

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_WRITTEN_DATE = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)\b|\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b")
_MOST_LECTURE_PAGES = 40
_LECTURER = re.compile(r"(?:лекци[ия]|лектор|преподаватель|доц\.|проф\.|lecturer|prof\.)\s+(.+)", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"^(untitled.*|без имени.*|microsoft word.*|.*\.(docx?|tex|dvi|pdf|indd|pptx?)|\s*)$", re.IGNORECASE
)


def read_meta(document: Any, path: Path, header: Sequence[str], blocks: Sequence[Block]) -> Meta:
    """Put together title, author and date: properties first, then the running header (course, date, lecturer) and
    the first heading."""
    properties = document.metadata or {}
    written, lecturer = _from_header(header)
    title = (properties.get("title") or "").strip()
    if _NO_TITLE.match(title):
        first = next((block.text for block in blocks[:12] if block.kind == "heading"), "")
        parts = [*course_of(header, document.page_count), first]
        title = ". ".join(part.rstrip(".") for part in dict.fromkeys(parts) if part)
    author = (properties.get("author") or "").strip() or lecturer
    made = _DATE.match(properties.get("creationDate") or "")
    if written:
        date, source = written, "text"
    elif made:
        date, source = "-".join(part for part in made.groups() if part), "properties"
    else:
        date, source = None, ""
    return Meta(title=title, author=author, date=date, date_source=source, page_labels=_labels(document))


def course_of(header: Sequence[str], pages: int) -> tuple[str, ...]:
    """Return what a running header names beside date and lecturer: the course, and what it is, outermost first.

    Only a header of several parts over a short file is taken for one of lecture notes.
    """
    if not 2 <= len(header) <= 5 or sum(map(len, header)) > 160 or pages > _MOST_LECTURE_PAGES:
        return ()
    cells: list[str] = []
    for cell in header:
        if _WRITTEN_DATE.search(cell) or _LECTURER.match(cell) or not any(map(str.isalpha, cell)):
            continue
        if cells and cell[:1].islower():
            cells[-1] = f"{cells[-1]} {cell}"
        else:
            cells.append(cell)
    return tuple(cells)


def _from_header(header: Sequence[str]) -> tuple[str, str]:
    """Return ISO date and lecturer as a lecture's running header gives them, empty where it does not."""
    date = next((m for cell in header if (m := _WRITTEN_DATE.search(cell))), None)
    lecturer = next((m.group(1) for cell in header if (m := _LECTURER.match(cell))), "")
    if not date:
        return "", lecturer.strip()
    day, month, year, iso_year, iso_month, iso_day = date.groups()
    written = f"{year}-{int(month):02}-{int(day):02}" if year else f"{iso_year}-{iso_month}-{iso_day}"
    return written, lecturer.strip()


def _labels(document: Any) -> tuple[str, ...]:
    """Return the printed page numbers if the file names them and they differ from the physical ones."""
    if not document.get_page_labels():
        return ()
    labels = tuple(document[i].get_label() for i in range(document.page_count))
    return labels if any(label != str(i) for i, label in enumerate(labels, start=1)) else ()
