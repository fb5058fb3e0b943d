"""Tables of web pages: merged cells filled, header rows and captions told; tables that only lay a page out undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rag.parsing.draft import make_table
from rag.types import Table

MAX_SPAN = 200
LONGEST_CELL = 600  # characters, for each row that the table has
_BLOCKS = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "article", "section", "blockquote", "pre")


def undo_layout(root: Any) -> None:
    """Turn tables that hold headings, other tables, whole articles, or one column only, into plain blocks."""
    for table in reversed(list(root.iter("table"))):
        rows = list(_rows(table))
        width = max((len(list(_cells(row))) for row in rows), default=0)
        holds = any(node.tag in _BLOCKS for node in table.iterdescendants())
        longest = max((len(cell.text_content()) for row in rows for cell in _cells(row)), default=0)
        if table.get("role") in ("presentation", "none") or width <= 1 or holds or longest > LONGEST_CELL * len(rows):
            for part in (table, *table.iterdescendants("caption", "thead", "tbody", "tfoot", "tr", "td", "th")):
                part.tag = "div"


def read_table(table: Any) -> Table:
    """A table's cells in a full grid."""
    rows = list(_rows(table))
    head = sum(row.getparent().tag == "thead" for row in rows)
    if not head:
        while head < len(rows) - 1 and all(cell.tag == "th" for cell in _cells(rows[head])):
            head += 1
    caption = table.find("caption")
    return make_table(_grid(rows), max(head, 1), caption.text_content() if caption is not None else "")


def _grid(rows: list[Any]) -> list[list[str]]:
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        for cell in [*_cells(row), None]:
            while len(line) in hanging:
                left, text = hanging.pop(len(line))
                if left > 1:
                    hanging[len(line)] = left - 1, text
                line.append(text)
            if cell is None:
                break
            text = " ".join(" ".join(cell.itertext()).split()) if len(cell) else " ".join((cell.text or "").split())
            for _ in range(_span(cell, "colspan")):
                if (height := _span(cell, "rowspan")) > 1:
                    hanging[len(line)] = height - 1, text
                line.append(text)
        grid.append(line)
    return grid


def _span(cell: Any, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isdigit() else 1


def _rows(table: Any) -> Iterator[Any]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _cells(row: Any) -> Iterator[Any]:
    yield from row.iterchildren("td", "th")
