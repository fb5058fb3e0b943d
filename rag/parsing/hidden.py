"""Text that a reader of the page does not see: transparent, tiny, of the paper's colour, or behind a picture."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from rag.types import BBox

_TINIEST = 1.6
_WHOLE_PAGE = 0.6
_LEAST_CONTRAST = 24


class HiddenText:
    """Judges the spans of one page and counts the characters it hides.

    Transparent text over a scan is that scan's OCR layer, which is what the reader sees, so it stays.
    """

    def __init__(self, page: Any) -> None:
        self._page = page
        self.characters = 0

    def hides(self, span: dict[str, Any]) -> bool:
        """Tell whether the span (of PyMuPDF's "dict") is unseen."""
        if not span["text"].strip():
            return False
        unseen = (
            (span["alpha"] == 0 and not self._is_scan)
            or span["size"] <= _TINIEST
            or (_pale(span["color"]) and not self._has_contrast(span["bbox"]))
            or self._behind_picture(span["bbox"])
        )
        if unseen:
            self.characters += len(span["text"].strip())
        return unseen

    @cached_property
    def _pictures(self) -> list[dict[str, Any]]:
        return self._page.get_image_info() if self._page.get_images() else []

    @property
    def pictured(self) -> float:
        """The share of the page that its largest picture takes."""
        area = abs(self._page.rect.get_area()) or 1.0
        return max((_area(picture["bbox"]) / area for picture in self._pictures), default=0.0)

    @cached_property
    def _is_scan(self) -> bool:
        return self.pictured > _WHOLE_PAGE

    @cached_property
    def _grey(self) -> Any:
        import numpy as np
        import pymupdf

        image = self._page.get_pixmap(colorspace=pymupdf.csGRAY, alpha=False)
        return np.frombuffer(image.samples, np.uint8).reshape(image.height, image.stride)[:, : image.width]

    def _has_contrast(self, box: BBox) -> bool:
        import pymupdf

        x0, y0, x1, y1 = (max(int(v), 0) for v in pymupdf.Rect(box) * self._page.rotation_matrix)
        seen = self._grey[y0 : y1 + 1, x0 : x1 + 1]
        return bool(seen.size) and int(seen.max()) - int(seen.min()) >= _LEAST_CONTRAST

    def _behind_picture(self, box: BBox) -> bool:
        return any(_inside(box, cover) for cover in self._covers) and not self._text_comes_last(box)

    @cached_property
    def _covers(self) -> list[BBox]:
        """Opaque pictures smaller than the page."""
        area = abs(self._page.rect.get_area()) or 1.0
        return [
            picture["bbox"]
            for picture in self._pictures
            if not picture.get("has-mask") and _area(picture["bbox"]) <= _WHOLE_PAGE * area
        ]

    @cached_property
    def _drawn(self) -> list[tuple[str, BBox]]:
        return [(kind, box) for kind, box in self._page.get_bboxlog() if kind in ("fill-text", "fill-image")]

    def _text_comes_last(self, box: BBox) -> bool:
        """Tell whether text touching the box is drawn after the last picture that covers it."""
        last_cover = max(
            (i for i, (kind, area) in enumerate(self._drawn) if kind == "fill-image" and _inside(box, area)), default=-1
        )
        middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        return last_cover < 0 or any(
            kind == "fill-text" and _holds(area, middle) for kind, area in self._drawn[last_cover:]
        )


def _pale(color: int) -> bool:
    return min(color >> 16 & 255, color >> 8 & 255, color & 255) >= 0xF0


def _area(box: BBox) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0)


def _inside(box: BBox, cover: BBox) -> bool:
    return cover[0] <= box[0] + 1 and cover[1] <= box[1] + 1 and box[2] <= cover[2] + 1 and box[3] <= cover[3] + 1


def _holds(box: BBox, point: tuple[float, float]) -> bool:
    return box[0] - 1 <= point[0] <= box[2] + 1 and box[1] - 1 <= point[1] <= box[3] + 1
