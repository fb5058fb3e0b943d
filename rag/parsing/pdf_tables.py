"""Tables of a PDF page, found by the geometry of their cells and rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.parsing.layout import Column, Rule
from rag.types import BBox, Table


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that takes the column's lines `first` to `last`."""

    first: int
    last: int
    table: Table
    bbox: BBox


def find_tables(column: Column, rules: Sequence[Rule]) -> list[FoundTable]:
    """Return the tables among a column's lines, top to bottom."""
    return []
