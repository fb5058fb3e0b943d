"""Headings that are told by their words: "Лекция 5", "§ 3", "1.2 Импульс"."""

from __future__ import annotations

import re

NUMBERED = re.compile(r"(?:§\s*(\d{1,3}(?:\.\d{1,2})*)|(\d{1,2}(?:\.\d{1,2}){1,3}))\.?\s+(?=[A-ZА-ЯЁ]).{1,100}")
NAMED = re.compile(
    r"(часть|раздел|глава|тема|модуль|лекция|семинар|занятие|билет|вопрос|part|chapter|section|module|lecture|unit)\s+"
    r"(?:№\s*)?(?:\d+|[ivxlcdm]+)\b[.:)]?.{0,120}",
    re.IGNORECASE,
)


def depth_of(title: str) -> int:
    """Return how deep a title stands by its words: 0 names a lecture or a chapter, 1 has no number or a whole one,
    2 one of two parts ("1.2"), and so on."""
    title = title.strip()
    if NAMED.fullmatch(title):
        return 0
    if found := NUMBERED.fullmatch(title):
        return len((found.group(1) or found.group(2)).split("."))
    return 1
