"""Which lines are headings, and how deep: by the outline, else by size, weight and numbering."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rag.parsing.layout import Column, Line, PageLayout

_LONGEST = 160
_FEW_STEPS = 4
_NUMBER_BESIDE = 14
_NAMED = re.compile(
    r"(часть|раздел|глава|лекция|тема|модуль|семинар|занятие|билет|приложение"
    r"|part|chapter|lecture|unit|module|section|appendix|item)"
    r"\s+(№\s*)?(\d+|[ivxlc]+|[a-zа-я]|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|перв\w\w|втор\w\w|треть\w|четв[её]рт\w\w|пят\w\w|шест\w\w|седьм\w\w|восьм\w\w|девят\w\w|десят\w\w)\b\.?",
    re.IGNORECASE,
)
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s+(?=[^\W\d])")
_SECTION = re.compile(r"§+\s*\d+")
_ROMAN = re.compile(r"[IVX]{1,5}\.\s+(?=[^\W\d])")
_NOT_WORD = re.compile(r"[\W_]+")
_LETTER = re.compile(r"[^\W\d_]")
_RANKS = {"часть": 0, "part": 0, "раздел": 1, "section": 2, "глава": 1, "chapter": 1, "item": 1}


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One entry of a PDF's outline: level from 1, its title, the page (1-based) it points to."""

    level: int
    title: str
    page: int


def heading_levels(pages: Sequence[PageLayout], outline: Sequence[OutlineEntry]) -> dict[int, int]:
    """Return the level (1 = outermost) of every heading line, by the line's id()."""
    body = {ocr: body_size([page for page in pages if page.ocr is ocr]) for ocr in (False, True)}
    by_outline = _from_outline(pages, outline)
    looks = {
        id(line): line
        for page in pages
        for column in page.columns
        if column.aside is None
        for line in _candidates(column, body[page.ocr])
    }
    if not by_outline:
        return _ranked(looks)
    return by_outline | _under_outline(looks, by_outline, pages)


def body_size(pages: Sequence[PageLayout]) -> float:
    """Return the type size of running text: the largest one that, with all larger ones, has a quarter of the letters.
    A small file may hold more small print than text."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    seen = 0
    for size in sorted(sizes, reverse=True):
        seen += sizes[size]
        if seen >= 0.25 * sizes.total():
            return size
    return 12.0


def folded(text: str) -> str:
    """Letters and digits only, for comparing titles."""
    return _NOT_WORD.sub("", text.casefold())


def _from_outline(pages: Sequence[PageLayout], outline: Sequence[OutlineEntry]) -> dict[int, int]:
    by_number = {page.number: page for page in pages}
    spelt: dict[int, list[tuple[Line, str]]] = {}
    found: dict[int, int] = {}
    for entry in outline:
        page, title = by_number.get(entry.page), folded(entry.title)
        if not page or not title:
            continue
        if page.number not in spelt:
            spelt[page.number] = [(line, folded(line.text)) for line in page.lines]
        lines = spelt[page.number]
        for i, (line, _) in enumerate(lines):
            if id(line) not in found and (taken := _spelt([text for _, text in lines[i : i + 4]], title)):
                found.update((id(x), entry.level) for x, _ in lines[i : i + taken])
                break
    return found


def _spelt(lines: Sequence[str], title: str) -> int:
    """Return how many of the (folded) lines spell the title; 0 where they do not. Formulas may be missing in it."""
    text, like = "", 0
    for count, line in enumerate(lines, start=1):
        text += line
        if text == title:
            return count
        if text and not like and title.startswith(text[:12]) and _alike(text, title):
            like = count
        if not title.startswith(text):
            break
    return like


def _alike(a: str, b: str) -> bool:
    """Tell whether two titles differ by a few characters only, as where an outline drops a formula's signs."""
    letters_a, letters_b = Counter(a), Counter(b)
    return abs(len(a) - len(b)) <= 6 and sum(((letters_a - letters_b) + (letters_b - letters_a)).values()) <= 6


def _candidates(column: Column, body: float) -> list[Line]:
    found: list[Line] = []
    pitch = _pitch(column)
    for i, line in enumerate(column.lines):
        above = column.lines[i - 1] if i else None
        below = column.lines[i + 1] if i + 1 < len(column.lines) else None
        apart = above is None or line.base - above.base > 1.25 * pitch or (found and found[-1] is above)
        if _looks_like_heading(line, body, bool(apart)) and not _goes_on(line, below):
            found.append(line)
    return found


def _pitch(column: Column) -> float:
    steps = sorted(b.base - a.base for a, b in zip(column.lines, column.lines[1:], strict=False) if b.base > a.base)
    if column.lines and len(steps) < _FEW_STEPS:  # too few to be of one paragraph
        steps = [min([*steps, 1.4 * median(line.size for line in column.lines)])]
    return steps[len(steps) // 3] if steps else 14.0


def _goes_on(line: Line, below: Line | None) -> bool:
    """A bold line that runs on in the next line, which is not bold, is the beginning of a paragraph."""
    return below is not None and line.text[-1:] in ",-–(" and not below.bold


def _looks_like_heading(line: Line, body: float, apart: bool) -> bool:
    text = line.text
    letters = len(_LETTER.findall(text))
    if letters < 3 or len(text) > _LONGEST or line.mono or line.math > 0.4 or _is_row(line):
        return False
    if text[0].islower() or text[-1] in ",;" or letters < 0.4 * len(text):
        return False
    numbered = bool(_DECIMAL.match(text) or _NAMED.match(text) or _SECTION.match(text) or _ROMAN.match(text))
    if line.size >= 1.12 * body:
        return True
    if line.bold and line.size >= 0.93 * body and apart:
        return numbered or text[-1] not in ".:?!"
    if not apart or text[-1] in ".:?!":
        return False
    named = _NAMED.match(text) or _SECTION.match(text)
    decimal = _DECIMAL.match(text)
    return (
        bool(named and len(text) < 90)
        or bool(decimal and "." in decimal.group(1) and len(text) < 90)
        or (text.isupper() and letters >= 4 and len(text) < 80)
    )


def _is_row(line: Line) -> bool:
    """Tell whether a line is of a table: it names several columns, or says in brackets what is counted. Beside a title
    stands its number at most."""
    in_brackets = line.text.startswith("(") and line.text.endswith(")") and len(line.text) < 40
    return in_brackets or len(line.cells) > 2 or (len(line.cells) == 2 and len(line.cells[0].text) > _NUMBER_BESIDE)


def _style(line: Line) -> tuple[float, bool, bool]:
    return -round(line.size * 2) / 2, not line.bold, line.text.isupper() is False


def _depth(text: str) -> int:
    """Numbering as a depth: "Часть 1" 0, "Глава 2" 1, "1.2" 2; 1 where there is none."""
    if named := _NAMED.match(text):
        return _RANKS.get(named.group(1).casefold(), 1)
    if decimal := _DECIMAL.match(text):
        return decimal.group(1).count(".") + 1
    return 2 if _SECTION.match(text) else 1


def _ranked(looks: Mapping[int, Line]) -> dict[int, int]:
    """Order the looks: larger before smaller, bold before light, "1" before "1.2"."""
    depths: dict[tuple[float, bool, bool], int] = defaultdict(lambda: 9)
    for line in looks.values():
        depths[_style(line)] = min(depths[_style(line)], _depth(line.text))
    keys = {i: (_style(line), max(_depth(line.text), depths[_style(line)])) for i, line in looks.items()}
    order = {key: level for level, key in enumerate(sorted(set(keys.values())), start=1)}
    return {i: min(order[key], 6) for i, key in keys.items()}


def _under_outline(looks: Mapping[int, Line], known: Mapping[int, int], pages: Sequence[PageLayout]) -> dict[int, int]:
    """Headings that the outline leaves out go under those that it names, by their look."""
    by_style: dict[tuple[float, bool, bool], Counter[int]] = defaultdict(Counter)
    for page in pages:
        for line in page.lines:
            if id(line) in known:
                by_style[(*_style(line)[:2], True)][known[id(line)]] += 1
    level_of = {style: levels.most_common(1)[0][0] for style, levels in by_style.items()}
    found = {}
    for i, line in looks.items():
        if i in known:
            continue
        style = (*_style(line)[:2], True)
        larger = [level for other, level in level_of.items() if other < style]
        found[i] = level_of.get(style) or min(max(larger, default=0) + 1, 6)
    return found
