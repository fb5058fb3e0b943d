"""What stands on a page, between reading it and making blocks of it. Coordinates are points of the page as shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag.types import BBox


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters in one style. `base` is the y of its baseline, `math` tells a formula's font."""

    text: str
    bbox: BBox
    base: float
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    math: bool = False


@dataclass(frozen=True, slots=True)
class Fragment:
    """Pieces that follow each other without a wide gap; `size` and `base` are those of its main text."""

    pieces: tuple[Piece, ...]
    bbox: BBox
    base: float
    size: float

    @property
    def width(self) -> float:
        return self.bbox[2] - self.bbox[0]

    @property
    def is_fraction(self) -> bool:
        """Tell whether it was made of a stacked fraction, which must stay apart from what follows."""
        return len(self.pieces) == 1 and self.pieces[0].math and "/" in self.pieces[0].text


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a line between wide gaps."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text as a reader sees it. `lead` is the bold beginning of a line that goes on plain,
    `math` the share of its characters that stand in a formula's font."""

    text: str
    bbox: BBox
    base: float
    size: float
    page: int
    cells: tuple[Cell, ...]
    bold: bool = False
    italic: bool = False
    mono: bool = False
    math: float = 0.0
    lead: str = ""

    @property
    def x0(self) -> float:
        return self.bbox[0]

    @property
    def x1(self) -> float:
        return self.bbox[2]

    @property
    def y0(self) -> float:
        return self.bbox[1]

    @property
    def y1(self) -> float:
        return self.bbox[3]


@dataclass(frozen=True, slots=True)
class Rule:
    """A thin straight line drawn on the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def horizontal(self) -> bool:
        return self.x1 - self.x0 >= self.y1 - self.y0

    @property
    def length(self) -> float:
        return max(self.x1 - self.x0, self.y1 - self.y0)


@dataclass(frozen=True, slots=True)
class Column:
    """Lines that are read one after the other, top to bottom, and the sides they stand between. `aside`: the
    quarter turns that set them upright where they run in another direction than the page's text, as stamps at its
    margin do."""

    lines: tuple[Line, ...]
    left: float
    right: float
    aside: int | None = None


@dataclass(frozen=True, slots=True)
class PageLayout:
    """A page (1-based number) as lines in reading order. `turns` set its text upright: see `PageText`."""

    number: int
    width: float
    height: float
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()
    turns: int = 0
    ocr: bool = False

    @property
    def lines(self) -> list[Line]:
        """The lines of its text, in order; what stands aside is left out."""
        return [line for column in self.columns if column.aside is None for line in column.lines]


def turned(box: BBox, width: float, height: float, turns: int) -> BBox:
    """Return a box of a page of that size after `turns` quarter turns clockwise of the page."""
    x0, y0, x1, y1 = box
    if turns % 4 == 1:
        return height - y1, x0, height - y0, x1
    if turns % 4 == 2:
        return width - x1, height - y1, width - x0, height - y0
    if turns % 4 == 3:
        return y0, width - x1, y1, width - x0
    return box


def union(boxes: Iterable[BBox]) -> BBox:
    """Return the smallest box around all."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)
