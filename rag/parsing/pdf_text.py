"""A PDF page's characters as fragments: cleaned, upright, in the order they are drawn, hidden text left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rag.parsing.glyphs import EXTENSION_FONT, MATH_FONT, clean
from rag.parsing.hidden import HiddenText
from rag.parsing.layout import Fragment, Piece, Rule, turned, union
from rag.parsing.pdf_spaces import with_true_spaces, with_underscores
from rag.types import BBox

ARROW = "\u20d7"
_BOLD, _ITALIC, _MONO = 16, 2, 8
_BOLD_NAME = re.compile(r"bold|black|heavy|semibold|demi|[a-z]bx\d|^(CM|SF|LM)\w?BX", re.IGNORECASE)
_THICKEST_RULE = 3.0
_MOST_VECTORS = 6000
_WIDE_GAP = re.compile(r"\s{3,}")


@dataclass(frozen=True, slots=True)
class Aside:
    """Text that runs in another direction than the page's: it is upright after `turns` quarters clockwise."""

    fragments: tuple[Fragment, ...]
    turns: int


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as read. `fragments` come in drawing order; `rules` are the straight lines drawn on it. All places, but
    those of what stands `aside`, are those of the page turned `turns` quarters clockwise from how it is shown, which
    sets its text upright. `hidden` counts characters left out; `pictured` is the share of the page that
    its largest picture takes, `drawn` the count of drawn shapes."""

    width: float
    height: float
    fragments: tuple[Fragment, ...]
    aside: tuple[Aside, ...]
    rules: tuple[Rule, ...]
    hidden: int = 0
    turns: int = 0
    pictured: float = 0.0
    drawn: int = 0

    @property
    def text(self) -> str:
        """All text, unordered."""
        parts = (self.fragments, *(aside.fragments for aside in self.aside))
        return " ".join(piece.text for part in parts for f in part for piece in f.pieces)


def read_page(page: Any) -> PageText:
    """Read a PyMuPDF page. Raises what PyMuPDF raises on a broken page."""
    blocks = _blocks(page)
    lines = [line for block in blocks if block["type"] == 0 for line in block["lines"]]
    vectors = [block for block in blocks if block["type"] == 3]
    hidden = HiddenText(page)
    shown = (page.rect.width, page.rect.height)
    rotated = page.rotation // 90  # PyMuPDF gives places on the page as it is before its rotation
    size = shown if rotated % 2 == 0 else (shown[1], shown[0])
    turns = _upright(lines)
    ways: dict[int, list[Fragment]] = {turns: []}
    for line in lines:
        way = _way(line)
        ways.setdefault(way, []).extend(_fragments(with_true_spaces(line["spans"]), hidden, way, size))
    fragments = ways.pop(turns)
    rules = tuple(_rules(vectors, turns, size)) if len(vectors) <= _MOST_VECTORS else ()
    return PageText(
        *shown,
        tuple(with_underscores(list(_without_doubles(fragments)), rules)),
        tuple(Aside(tuple(found), (way - rotated) % 4) for way, found in sorted(ways.items())),
        rules,
        hidden.characters,
        (turns - rotated) % 4,
        hidden.pictured,
        len(vectors),
    )


def _blocks(page: Any) -> list[dict[str, Any]]:
    """Read spans; where the exact place of characters matters (formulas, columns made by spaces), those too."""
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
    flags |= pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    read = page.get_textpage(flags=flags)

    def blocks_of(kind: str) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = page.get_text(kind, flags=flags, textpage=read)["blocks"]
        for span in _spans(blocks) if kind == "rawdict" else ():
            span["text"] = "".join([char["c"] for char in span["chars"]])
        return blocks

    likely = "rawdict" if any(_font(font[3])[2] for font in page.get_fonts()) else "dict"
    blocks = blocks_of(likely)
    wanted = "rawdict" if _needs_places(blocks) else "dict"
    return blocks if wanted == likely else blocks_of(wanted)


def _spans(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [span for block in blocks if block["type"] == 0 for line in block["lines"] for span in line["spans"]]


def _needs_places(blocks: list[dict[str, Any]]) -> bool:
    """Tell whether a page has formulas or columns made by spaces."""
    return any(_font(span["font"])[2] or _WIDE_GAP.search(span["text"].strip()) for span in _spans(blocks))


def _way(line: dict[str, Any]) -> int:
    across, down = line["dir"]
    if abs(across) >= abs(down):
        return 0 if across > 0 else 2
    return 3 if down > 0 else 1


def _upright(lines: list[dict[str, Any]]) -> int:
    """Quarter turns, clockwise, that set most of the text upright."""
    votes = [0, 0, 0, 0]
    for line in lines:
        votes[_way(line)] += sum(len(span["text"]) for span in line["spans"])
    return votes.index(max(votes))


def _fragments(
    spans: Iterable[dict[str, Any]], hidden: HiddenText, turns: int, page: tuple[float, float]
) -> Iterator[Fragment]:
    pieces: list[Piece] = []
    for span in spans:
        if hidden.hides(span):
            continue
        for piece in _pieces(span, turns, page):
            gap = not piece.text.strip() and len(piece.text) >= 3
            if pieces and (gap or _apart(pieces[-1], piece)):
                yield from _as_fragment(pieces)
                pieces = []
            if pieces and _same_style(pieces[-1], piece):
                pieces[-1] = _joined(pieces[-1], piece)
            elif not gap:
                pieces.append(piece)
    yield from _as_fragment(pieces)


def _apart(a: Piece, b: Piece) -> bool:
    """Tell whether b stands on another baseline than a, or away from it: a script, a fraction's part, a column."""
    if not b.text.strip() or _is_arrow(a):
        return False
    size = max(a.size, b.size)
    return abs(a.base - b.base) > 0.12 * size or not -0.6 * size < b.bbox[0] - a.bbox[2] < 1.0 * size


def _is_arrow(piece: Piece) -> bool:
    """A vector's arrow comes before the letter under it."""
    return piece.text.strip() == ARROW


def _pieces(span: dict[str, Any], turns: int, page: tuple[float, float]) -> Iterator[Piece]:
    """Return the span as a piece, or as several where runs of spaces part it into columns."""
    font, bold_name, math, extension = _font(span["font"])
    first = next((char for char in span.get("chars", ()) if char["c"].strip()), span)  # a space may stand lower
    x, y = first["origin"]
    base = turned((x, y, x, y), *page, turns)[3]
    flags, size = span["flags"], span["size"]
    bold = bold_name or bool(flags & _BOLD)
    rise, fall = min(span["ascender"], 1.0), max(span["descender"], -0.4)
    if extension:  # its glyphs hang from the baseline, about the line's middle
        base, rise, fall = base + size, 1.0, -0.4
    for raw, box in _stretches(span):
        text = clean(raw, font)
        if math:
            text = text.replace("®", ARROW)  # what Libertine's arrow accent comes as
        if text:
            x0, _, x1, _ = turned(box, *page, turns)
            seen = (x0, base - rise * size, x1, base - fall * size)
            yield Piece(text, seen, base, size, bold, bool(flags & _ITALIC), bool(flags & _MONO), math)


@lru_cache(maxsize=1000)
def _font(name: str) -> tuple[str, bool, bool, bool]:
    """Return a font's name without its subset's prefix, and whether it is bold, a formula's, one of tall signs."""
    name = name.rsplit("+", maxsplit=1)[-1]
    return name, bool(_BOLD_NAME.search(name)), bool(MATH_FONT.search(name)), bool(EXTENSION_FONT.match(name))


def _stretches(span: dict[str, Any]) -> Iterator[tuple[str, BBox]]:
    """Part a span at wide runs of spaces; where characters are known, boxes keep to those that are seen."""
    text, chars = span["text"], span.get("chars")
    if not chars or not text.strip():
        x0, y0, x1, y1 = span["bbox"]
        space = 0.25 * span["size"]
        if x1 - x0 > y1 - y0 and text.strip():
            x0 += space * (len(text) - len(text.lstrip()))
            x1 -= space * (len(text) - len(text.rstrip()))
        yield text, (x0, y0, max(x1, x0 + 1), y1)
        return
    start = 0
    for gap in [*_WIDE_GAP.finditer(text), None]:
        for a, b in ((start, gap.start() if gap else len(text)), (gap.start(), gap.end()) if gap else (0, 0)):
            if a < b:
                seen = [char["bbox"] for char in chars[a:b] if char["c"].strip()] or [
                    char["bbox"] for char in chars[a:b]
                ]
                yield text[a:b], union(seen)
        start = gap.end() if gap else 0


def _same_style(a: Piece, b: Piece) -> bool:
    if not b.text.strip():
        return True
    if _is_arrow(a):
        return False
    return (a.bold, a.italic, a.mono, a.math) == (b.bold, b.italic, b.mono, b.math) and (
        abs(a.size - b.size) < 0.3 and abs(a.base - b.base) < 0.3
    )


def _joined(a: Piece, b: Piece) -> Piece:
    box = a.bbox
    if b.text.strip():
        box = min(box[0], b.bbox[0]), min(box[1], b.bbox[1]), max(box[2], b.bbox[2]), max(box[3], b.bbox[3])
    return Piece(a.text + b.text, box, a.base, a.size, a.bold, a.italic, a.mono, a.math)


def _as_fragment(pieces: list[Piece]) -> Iterator[Fragment]:
    seen = [piece for piece in pieces if piece.text.strip()]
    if not seen:
        return
    main = max(seen, key=lambda piece: (not _is_arrow(piece), len(piece.text.strip()), piece.size))
    yield Fragment(tuple(pieces), union(piece.bbox for piece in seen), main.base, main.size)


def _without_doubles(fragments: list[Fragment]) -> Iterator[Fragment]:
    """Leave out text drawn a second time, a hair aside, to look bold."""
    seen: dict[str, list[BBox]] = {}
    for fragment in fragments:
        same = seen.setdefault("".join(piece.text for piece in fragment.pieces), [])
        x, y = fragment.bbox[:2]
        if any(abs(box[0] - x) < 1.5 and abs(box[1] - y) < 1.5 for box in same):
            continue
        same.append(fragment.bbox)
        yield fragment


def _rules(vectors: Iterable[dict[str, Any]], turns: int, page: tuple[float, float]) -> Iterator[Rule]:
    for vector in vectors:
        if vector["alpha"] == 0 or (vector["color"] or 0) == 0xFFFFFF:
            continue
        x0, y0, x1, y1 = turned(vector["bbox"], *page, turns)
        if min(x1 - x0, y1 - y0) <= _THICKEST_RULE:
            if max(x1 - x0, y1 - y0) >= 3:
                yield Rule(x0, y0, x1, y1)
        elif vector["stroked"] and vector["isrect"]:
            yield from (Rule(x0, y0, x1, y0), Rule(x0, y1, x1, y1), Rule(x0, y0, x0, y1), Rule(x1, y0, x1, y1))
