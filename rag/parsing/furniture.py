"""Running headers, footers and page numbers: what repeats at the same height of page after page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag.parsing.layout import Line, PageLayout

_ZONE = 0.16
_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:стр(?:аница)?|с|page|p|лист|slide|слайд)\.?\s*)?(\d{1,4}|[ivxlc]{1,7})(?:\s*(?:из|of|/)\s*\d{1,4})?[\W_]*",
    re.IGNORECASE,
)
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Furniture:
    """Pages without their furniture, how many characters that took away, and the running header's
    cells as they first stood (course, date, lecturer), for the document's title."""

    pages: tuple[PageLayout, ...]
    dropped: int
    header: tuple[str, ...]


def without_furniture(pages: Sequence[PageLayout]) -> Furniture:
    """Drop the outermost lines of each page that repeat on others or count the pages."""
    drop: set[int] = set()
    header: tuple[str, ...] = ()
    for top in (True, False):
        for page, lines in _outermost(pages, top):
            drop.update(id(line) for line in lines)
            if top and not header and page.number <= 2:
                header = tuple(cell.text for line in lines for cell in line.cells)
    drop -= _all_there_is(pages, drop)
    drop.update(id(line) for line in _stamps(pages))
    kept, dropped = [], 0
    for page in pages:
        columns = []
        for column in page.columns:
            columns.append(replace(column, lines=tuple(x for x in column.lines if id(x) not in drop)))
            dropped += sum(len(x.text) for x in column.lines if id(x) in drop)
        kept.append(replace(page, columns=tuple(columns)))
    return Furniture(tuple(kept), dropped, header)


def _all_there_is(pages: Sequence[PageLayout], drop: set[int]) -> set[int]:
    """Return the lines (by id), but for page numbers, of pages that would lose all, where most pages would: what
    repeats there is the text, one line a page, and no furniture of it."""
    emptied = [page for page in pages if page.lines and all(id(line) in drop for line in page.lines)]
    if 2 * len(emptied) <= len(pages):
        return set()
    return {id(x) for page in emptied for x in page.lines if not _PAGE_NUMBER.fullmatch(x.text.strip())}


def _stamps(pages: Sequence[PageLayout]) -> Iterable[Line]:
    """Return the lines that stand aside on page after page."""
    asides = [(page.number, x) for page in pages for c in page.columns if c.aside is not None for x in c.lines]
    places: dict[str, set[int]] = defaultdict(set)
    for number, line in asides:
        places[_key(line)[0]].add(number)
    return [line for _, line in asides if len(places[_key(line)[0]]) >= max(3, 0.3 * len(pages))]


def _outermost(pages: Sequence[PageLayout], top: bool) -> Iterable[tuple[PageLayout, list[Line]]]:
    """Yield, for each page, the lines at its edge that are furniture, from the edge inwards."""
    edges = {page.number: _edge(page, top) for page in pages}
    places: dict[tuple[str, int], list[int]] = defaultdict(list)
    different = _without_copies(pages)
    for page in different:
        for line in edges[page.number]:
            places[_key(line)].append(page.number)
    numbers = _numbered(edges)
    for page in pages:
        found = []
        for line in edges[page.number]:
            if not (_repeats(places, line, len(different)) or id(line) in numbers):
                break
            found.append(line)
        yield page, found


def _without_copies(pages: Sequence[PageLayout]) -> list[PageLayout]:
    """Leave out pages that repeat another as a whole: what they share is text, not furniture."""
    seen: set[str] = set()
    different = []
    for page in pages:
        text = "\n".join(line.text for line in page.lines)
        if text not in seen:
            different.append(page)
        seen.add(text)
    return different


def _edge(page: PageLayout, top: bool) -> list[Line]:
    lines = sorted(page.lines, key=lambda x: x.y0 if top else -x.y1)
    limit = page.height if page.turns % 2 == 0 else page.width
    inside = [x for x in lines[:6] if (x.y1 < _ZONE * limit if top else x.y0 > (1 - _ZONE) * limit)]
    return inside or [x for x in lines[:1] if _PAGE_NUMBER.fullmatch(x.text.strip())]


def _key(line: Line) -> tuple[str, int]:
    text = _NUMBER.sub("#", line.text.casefold())
    return _NOT_WORD.sub(" ", _ROMAN.sub("#", text)).strip() or text, round(line.base / 4)


def _repeats(places: dict[tuple[str, int], list[int]], line: Line, pages: int) -> bool:
    text, height = _key(line)
    found = sorted({n for k in (-1, 0, 1) for n in places.get((text, height + k), ())})
    if pages <= 4:
        return len(found) >= 2
    if len(found) >= max(3, 0.3 * pages):
        return True
    return any(b - a <= 8 for a, b in zip(found, found[3:], strict=False))


def _numbered(edges: dict[int, list[Line]]) -> set[int]:
    """Return the lines (by id) that are page numbers: they grow as the pages do."""
    by_offset: dict[int, list[Line]] = defaultdict(list)
    for page, lines in edges.items():
        for line in lines:
            match = _PAGE_NUMBER.fullmatch(line.text.strip())
            if match and match.group(1).isdigit():
                by_offset[int(match.group(1)) - page].append(line)
    enough = 2 if len(edges) > 1 else 1
    return {id(line) for lines in by_offset.values() if len(lines) >= enough for line in lines}
