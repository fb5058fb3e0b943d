"""A page of a PDF as a picture, with the places of a passage marked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from rag.errors import ParsingError
from rag.messages import msg
from rag.types import PageBox

_PYMUPDF = threading.Lock()  # PyMuPDF must not be called from two threads at once
_MOST_PIXELS = 25_000_000
_MARK = (1.0, 0.78, 0.1)


def page_image(path: Path, page: int, boxes: Sequence[PageBox] = (), scale: float = 2.0) -> bytes:
    """Return the page (1-based) as PNG, `scale` pixels a point, at most 25 million pixels, and the boxes that stand on
    it drawn as translucent marks. Safe to call from several threads. Raises `ParsingError`."""
    import pymupdf

    with _PYMUPDF:
        try:
            with pymupdf.open(path) as document:
                if not 1 <= page <= document.page_count:
                    raise ParsingError(msg("The file has no page {page}.", page=page))
                shown = document[page - 1]
                for box in boxes:
                    if box.page == page:
                        _mark(shown, box)
                zoom = min(scale, (_MOST_PIXELS / max(abs(shown.rect.get_area()), 1.0)) ** 0.5)
                picture: bytes = shown.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png")
        except (RuntimeError, ValueError, OSError) as error:
            raise ParsingError(
                msg("Page {page} cannot be shown: {reason}", page=page, reason=str(error) or type(error).__name__)
            ) from error
        return picture


def _mark(page: object, box: PageBox) -> None:
    import pymupdf

    assert isinstance(page, pymupdf.Page)
    x0, y0, x1, y1 = box.bbox
    place = pymupdf.Rect(x0 - 2, y0 - 2, x1 + 2, y1 + 2) * page.derotation_matrix
    page.draw_rect(place, color=_MARK, fill=_MARK, fill_opacity=0.22, stroke_opacity=0.9, width=0.8, overlay=True)
