"""Tables in files of their own: CSV and Excel."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.messages import msg
from rag.parsing.draft import Draft, make_table
from rag.parsing.properties import zipped_properties
from rag.parsing.text import read_text

MAX_ROWS = 50_000
MAX_COLUMNS = 200
MAX_CELLS = 1_000_000
MAX_MERGED = 10_000
_UNNAMED = re.compile(r"(?:sheet|лист|table|аркуш)\s*\d*", re.IGNORECASE)
_UNIT = re.compile(r'"([^"]{1,12})"|\[\$([^\]-]{1,5})[^\]]*\]|([$€£₽])')


def parse_csv(path: Path) -> Draft:
    """Read comma, semicolon or tab separated values in any encoding."""
    text, draft = read_text(path)
    csv.field_size_limit(2**31 - 1)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text))
    _add_sheet(draft, _limited(rows, draft))
    return draft


def _separator(text: str) -> str:
    """The separator that cuts the first rows into most and equally many cells; the comma in doubt."""
    lines = [line for line in text[:200_000].split("\n")[:50] if line.strip()]

    def score(separator: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator)]
        common = max(set(widths), key=widths.count, default=0)
        return (widths.count(common), common) if common > 1 else (0, 0)

    return max((",", ";", "\t", "|"), key=score)


def parse_sheet(path: Path) -> Draft:
    """Read an Excel workbook: a sheet's name is a heading, tables apart are cut where rows are empty.
    Formulas are read as the values that Excel stored."""
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True, read_only=path.stat().st_size > 2_000_000)
    draft = Draft(meta=zipped_properties(path, "docProps/core.xml"))
    for sheet in book.worksheets:
        _fill_merged(sheet)
        rows = list(_limited(_sheet_rows(sheet, draft), draft))
        draft.close_headings()
        if any(map(any, rows)) and not _UNNAMED.fullmatch(sheet.title):
            draft.heading(sheet.title, 1)
        _add_sheet(draft, rows)
    book.close()
    return draft


def _sheet_rows(sheet: Any, draft: Draft) -> Iterator[list[str]]:
    """A sheet's rows. One stray cell far out makes a sheet of billions of cells: such sheets are cut."""
    width = min(sheet.max_column or 1, MAX_COLUMNS)
    height = min(sheet.max_row or 1, MAX_CELLS // width)
    if height < min(sheet.max_row or 1, MAX_ROWS):
        draft.warn(msg("Only the first {rows} rows of a table were read.", rows=height))
    for row in sheet.iter_rows(max_row=height, max_col=width):
        yield [_shown(cell) for cell in row]


def _fill_merged(sheet: Any) -> None:
    """Give every cell of a merged range its value, as somebody sees it."""
    for area in list(getattr(sheet, "merged_cells", ())):
        sheet.unmerge_cells(str(area))
        first = sheet.cell(area.min_row, area.min_col)
        if area.size["rows"] * area.size["columns"] > MAX_MERGED:
            continue
        for row in sheet.iter_rows(area.min_row, area.max_row, area.min_col, area.max_col):
            for cell in row:
                cell.value, cell.number_format = first.value, first.number_format


def _shown(cell: Any) -> str:
    """A cell's value with its unit, near to how Excel shows it."""
    value, shape = cell.value, str(getattr(cell, "number_format", "") or "")
    if value is None:
        return ""
    if isinstance(value, datetime.datetime) and not (value.hour or value.minute or value.second):
        return value.date().isoformat()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if "%" in shape:
        return f"{value * 100:.10g} %"
    unit = _UNIT.search(shape.split(";", maxsplit=1)[0])
    return f"{value:.12g}" + (f" {next(filter(None, unit.groups())).strip()}" if unit else "")


def _limited(rows: Any, draft: Draft) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if number >= MAX_ROWS:
            draft.warn(msg("Only the first {rows} rows of a table were read.", rows=MAX_ROWS))
            return
        yield list(row[:MAX_COLUMNS])


def _add_sheet(draft: Draft, rows: Iterable[list[str]]) -> None:
    """Add the tables of a sheet. A single cell in the rows above a table is its caption."""
    part: list[list[str]] = []
    for row in [*rows, []]:
        if any(cell.strip() for cell in row):
            part.append(row)
        elif part:
            _add_part(draft, part)
            part = []


def _add_part(draft: Draft, rows: list[list[str]]) -> None:
    width = max(_filled(row) for row in rows)
    captions = []
    while width > 1 and rows and _filled(rows[0]) == 1:
        captions.append(next(cell for cell in rows[0] if cell.strip()))
        rows = rows[1:]
    if width == 1 and len(rows) == 1:
        draft.add(" ".join(filter(None, rows[0])))
    else:
        draft.add_table(make_table(rows, 1, " ".join(captions)))


def _filled(row: list[str]) -> int:
    """How many different texts a row holds: a merged title counts once."""
    return len({cell for cell in row if cell.strip()})
