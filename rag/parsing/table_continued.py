"""Tables that go on on the next page: what is there takes over the header, which stands on the first page only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.parsing.layout import PageLayout
from rag.parsing.table_cells import FoundTable, filled
from rag.types import Table

_CONTINUED = re.compile(r"\bcontinued\b|\bcont'?d\b|продолжение|окончание", re.IGNORECASE)
_SAME_BORDER = 3.0
_MOST_ABOVE = 3

Found = Mapping[int, Sequence[FoundTable]]


def with_header_above(page: PageLayout, found: Found, before: FoundTable | None) -> Found:
    """Return a page's tables (by column), the first with the header of `before` if it goes on with that one."""
    columns = [i for i, column in enumerate(page.columns) if column.lines]
    if not before or not columns or not found.get(columns[0]):
        return found
    first, *others = found[columns[0]]
    above = [line.text for line in page.columns[columns[0]].lines[: first.first]]
    told = len(above) <= _MOST_ABOVE and any(map(_CONTINUED.search, above))
    if (above and not told) or not _goes_on(first, before):
        return found
    header = before.table.rows[: before.table.header_rows]
    own = 0 if first.table.rows[: len(header)] != header else len(header)
    rows = filled([*header, *first.table.rows[own:]])
    table = Table(rows, len(header), first.table.caption or before.table.caption)
    return {**found, columns[0]: [replace(first, table=table), *others]}


def ends_page(page: PageLayout, found: Found) -> FoundTable | None:
    """Return the table that is the last thing on a page, if one is."""
    columns = [i for i, column in enumerate(page.columns) if column.lines and column.aside is None]
    last = found[columns[-1]][-1] if columns and found.get(columns[-1]) else None
    return last if last and last.last == len(page.columns[columns[-1]].lines) - 1 else None


def _goes_on(table: FoundTable, before: FoundTable) -> bool:
    """Tell whether the columns are the same and the second table names none of its own. In a ruled table, whose first
    row may look like a header, the same borders are enough."""
    if not before.table.header_rows or len(table.edges) != len(before.edges):
        return False
    pairs = list(zip(table.edges, before.edges, strict=True))
    if _is_ruled(table) or _is_ruled(before):
        same = all(abs(a - b) < _SAME_BORDER for now, then in pairs for a, b in zip(now, then, strict=True))
        return same and _is_ruled(table) and _is_ruled(before)
    return not table.table.header_rows and all(min(a[1], b[1]) > max(a[0], b[0]) for a, b in pairs)


def _is_ruled(found: FoundTable) -> bool:
    """Only a ruled table's first column, of labels, has known sides."""
    return len(found.edges) == len(found.table.rows[0])
