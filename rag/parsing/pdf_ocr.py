"""Which pages of a PDF must be read from their picture, and reading them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from rag.errors import ParsingError
from rag.parsing.layout import Fragment, Rule
from rag.parsing.ocr import recognise
from rag.parsing.ocr_image import Grey, is_sideways, prepared
from rag.parsing.ocr_layout import fragments_of
from rag.parsing.ocr_rules import without_rules
from rag.parsing.pdf_text import PageText
from rag.parsing.quality import is_readable, quality
from rag.types import BBox

SCALE = 3.0  # pixels a point: 216 dpi
_MOST_PIXELS = 20_000_000
_FEW_LETTERS = 40
_DRAWN_LETTERS = 150
_SURE = 50.0  # confidence (0-100) times the quality of the words; less may be upside down


def needs_ocr(text: PageText) -> bool:
    """Tell whether a page's text layer is missing beside a picture (or letters drawn as shapes), or unreadable."""
    letters = sum(map(str.isalnum, text.text))
    if letters == 0:
        return text.pictured > 0.02 or text.drawn > _DRAWN_LETTERS
    if letters < _FEW_LETTERS and text.pictured > 0.6:
        return True
    return not readable(text)


def readable(text: PageText) -> bool:
    """Tell whether the text layer holds words rather than damaged characters."""
    return is_readable(text.text)


def read_pictures(
    document: Any, numbers: Sequence[int], languages: str, done: Callable[[], None]
) -> dict[int, PageText | ParsingError]:
    """Read pages (1-based) by OCR, a few at a time; `done` is called after each. A page that fails has its error."""
    results: dict[int, PageText | ParsingError] = {}
    waiting: list[tuple[int, Any, Future[PageText]]] = []
    workers = max(1, min(4, (os.cpu_count() or 2)))

    def collect() -> None:
        number, page, future = waiting.pop(0)
        try:
            results[number] = replace(future.result(), width=page[0], height=page[1])
        except ParsingError as error:
            results[number] = error
        done()

    with ThreadPoolExecutor(workers) as pool:
        for number in numbers:
            try:
                picture, scale, size = _picture(document[number - 1])
            except (RuntimeError, ValueError, MemoryError) as error:
                results[number] = ParsingError(_failed(error))
                done()
                continue
            waiting.append((number, size, pool.submit(_read, picture, scale, languages)))
            if len(waiting) >= workers + 1:
                collect()
        while waiting:
            collect()
    return results


def _failed(error: Exception) -> Any:
    from rag.messages import msg

    return msg("The page could not be drawn: {reason}", reason=str(error) or type(error).__name__)


def _picture(page: Any) -> tuple[Grey, float, tuple[float, float]]:
    """Draw a page in grey; return it with pixels a point and the page's size in points."""
    import numpy as np
    import pymupdf

    scale = min(SCALE, (_MOST_PIXELS / max(abs(page.rect.get_area()), 1.0)) ** 0.5)
    drawn = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False)
    picture = np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)[:, : drawn.width].copy()
    return picture, scale, (page.rect.width, page.rect.height)


def _read(picture: Grey, scale: float, languages: str) -> PageText:
    """Recognise one page; one that makes little sense is tried the other ways up."""
    import numpy as np

    best: tuple[float, PageText] | None = None
    for turns in (1, 3, 0, 2) if is_sideways(picture) else (0, 2, 1, 3):
        turned = np.ascontiguousarray(np.rot90(picture, -turns))
        ready, angle = prepared(turned)
        ready, rules = without_rules(ready, scale)
        words = recognise(ready, languages, round(72 * scale))
        sure = sum(w.confidence * len(w.text) for w in words) / max(sum(len(w.text) for w in words), 1)
        sure *= quality(" ".join(word.text for word in words))
        tilt = _Tilt(angle, turned.shape[1] / scale / 2, turned.shape[0] / scale / 2)
        fragments = tuple(tilt.fragment(fragment) for fragment in fragments_of(words, scale))
        read = PageText(0, 0, fragments, (), tuple(map(tilt.rule, rules)), turns=turns)
        if best is None or sure > best[0]:
            best = sure, read
        if sure >= _SURE or not words:
            break
    assert best is not None
    return best[1]


@dataclass(frozen=True, slots=True)
class _Tilt:
    """Moves what was found on a picture that was set straight by an angle (degrees) to where it stands on the page,
    whose middle is given in points. Boxes stay level."""

    angle: float
    x: float
    y: float

    def fragment(self, fragment: Fragment) -> Fragment:
        box = self._box(fragment.bbox)
        return replace(fragment, pieces=tuple(replace(piece, bbox=box) for piece in fragment.pieces), bbox=box)

    def rule(self, rule: Rule) -> Rule:
        return Rule(*self._box((rule.x0, rule.y0, rule.x1, rule.y1)))

    def _box(self, box: BBox) -> BBox:
        if not self.angle:
            return box
        x0, y0, x1, y1 = box
        turn = math.radians(self.angle)
        dx, dy = (x0 + x1) / 2 - self.x, (y0 + y1) / 2 - self.y
        right = self.x + dx * math.cos(turn) - dy * math.sin(turn) - (x0 + x1) / 2
        down = self.y + dx * math.sin(turn) + dy * math.cos(turn) - (y0 + y1) / 2
        return x0 + right, y0 + down, x1 + right, y1 + down
