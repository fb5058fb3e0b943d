"""What both ways of reading a table share: cells that belong together, values, captions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.parsing.layout import Cell, Line
from rag.types import BBox, Table

_VALUE = re.compile(
    r"[(\[]?[$€£¥₽]?\s*[(+−–—-]?\s*[$€£¥₽]?\s*\d[\d\s.,:/]*\d*\s*[)\]]?\s*(%|bps|pts?|x|п\.\s?п\.|руб\.?|тыс\.?|млн|млрд|₽|\)|\*)*"
    r"(\s*\(?[a-z*\d]\)?)?|[—–−-]+\s*%?|n/?[am]|nm|\*|н/д",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(fy|q[1-4]|[1-4]q|i{1,3}|iv)?\s*'?((19|20)\d\d)(\s*(г\.?|год[а-я]*|\(?[a-z]\)?))?", re.IGNORECASE)
_CURRENCY = re.compile(r"[$€£¥₽]")
_RUN_OF_VALUES = re.compile(r"(?:[$€£¥₽]|\(?[\d.,]+\)?(?:\s?%)?|[—–-]|\s)+")
_VALUE_OF_RUN = re.compile(r"[$€£¥₽]|\(?[\d.,]+\)?\s?%?|[—–-]")
_TAIL = re.compile(r"[)%\]*]+|\)\s*%|bps|pts?", re.IGNORECASE)
_UNITS = re.compile(
    r"\(?.{0,40}\b(in (millions|thousands|billions)|(dollars|shares|amounts) in|млн|тыс|млрд|unaudited|руб)\b.{0,80}",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(табл(ица|\.)|table)\s*№?\s*[\dA-Z]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that takes the column's lines `first` to `last`. `edges` are the left and right sides of its columns."""

    first: int
    last: int
    table: Table
    bbox: BBox
    edges: tuple[tuple[float, float], ...] = ()


def is_value(text: str) -> bool:
    """Tell whether a cell holds a number, a percentage, a dash, "n/a"."""
    return bool(_VALUE.fullmatch(text.strip()))


def is_year(text: str) -> bool:
    """Tell whether a cell names a year or a quarter, as headers of columns do."""
    return bool(_YEAR.fullmatch(text.strip()))


def is_units(line: Line) -> bool:
    """Tell whether a line says what the values are counted in, or numbers the table."""
    return bool(_CAPTION.match(line.text) or (len(line.text) < 110 and _UNITS.fullmatch(line.text)))


def whole_cells(line: Line) -> list[Cell]:
    """Return the line's cells, currency signs and closing brackets put to the number they belong to.

    The place of such a cell is its number's, so that columns stay narrow.
    """
    parted: list[Cell] = []
    for cell in line.cells:
        if len(cell.text) < 60 and _CURRENCY.search(cell.text[1:]) and _RUN_OF_VALUES.fullmatch(cell.text):
            step = (cell.x1 - cell.x0) / len(cell.text)
            parted += [
                Cell(part.group(), cell.x0 + part.start() * step, cell.x0 + part.end() * step)
                for part in _VALUE_OF_RUN.finditer(cell.text)
            ]
        else:
            parted.append(cell)
    whole: list[Cell] = []
    sign = ""
    for cell in parted:
        if _CURRENCY.fullmatch(cell.text):
            sign = cell.text
        elif whole and _TAIL.fullmatch(cell.text) and is_value(whole[-1].text):
            whole[-1] = Cell(whole[-1].text + cell.text, whole[-1].x0, cell.x1)
        else:
            whole.append(Cell(sign + cell.text, cell.x0, cell.x1))
            sign = ""
    return whole


def filled(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Make all rows equally long."""
    width = max((len(row) for row in rows), default=0)
    return tuple(tuple(row) + ("",) * (width - len(row)) for row in rows)
