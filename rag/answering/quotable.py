"""Cuts a passage into the stretches that can be quoted by themselves: sentences, whole list items, table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag.sentences import sentences

Span = tuple[int, int]
UnitKind = Literal["sentence", "item", "row", "code"]

_ITEM = re.compile(r"\s*(?:[-*+•–—▪◦·]|\d{1,3}[.)]|[a-zа-яё]\))\s+\S", re.IGNORECASE)
_CELLS = re.compile(r"\s\|\s|^\||\|$")
_RULE = re.compile(r"[\s|:+=-]*")
_FORMULA = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]", re.DOTALL)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_LONG_ITEM = 500
_LONG_LIST = 1200


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable stretch: `spans` of the passage's text, joined by line breaks (a table row comes after its header).
    `lead` is the sentence that announces a list item, or empty; it helps to judge the item and is not quoted."""

    kind: UnitKind
    spans: tuple[Span, ...]
    lead: Span = (0, 0)

    def text(self, passage: str) -> str:
        """Return the exact text."""
        return "\n".join(passage[start:end] for start, end in self.spans)


def units(text: str) -> list[Unit]:
    """Cut a passage into quotable units, in order. Nothing but white space and table rules is left out."""
    found: list[Unit] = []
    for kind, start, end in _stretches(text):
        if kind == "row":
            found += _rows(text, start, end)
        elif kind == "item":
            found += _items(text, start, end, _announcing(text, found))
        elif kind == "code":
            found.append(Unit("code", ((start, end),)))
        else:
            found += [Unit("sentence", ((start + a, start + b),)) for a, b in sentences(text[start:end])]
    return found


def with_announced(text: str, all_units: list[Unit], index: int) -> Unit:
    """Return the unit together with what it announces: a sentence that ends with a colon takes its list or formula
    along."""
    unit = all_units[index]
    start, end = unit.spans[-1]
    if unit.kind != "sentence" or not text[start:end].rstrip("*_ ").endswith(":"):
        return unit
    last = index
    for following in all_units[index + 1 :]:
        if following.spans[-1][1] - start > _LONG_LIST or (last > index and following.lead != unit.spans[-1]):
            break
        last += 1
        if following.kind == "sentence":
            break
    return Unit(unit.kind, ((start, all_units[last].spans[-1][1]),))


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _stretches(text: str) -> list[tuple[UnitKind, int, int]]:
    """Group lines of one kind; every list item is a group, with the indented lines that go on with it."""
    groups: list[tuple[UnitKind, int, int]] = []
    for kind, (start, end) in zip(_kinds(text), _lines(text), strict=True):
        opens_item = kind == "item" and _ITEM.match(text[start:end])
        if groups and groups[-1][0] == kind and not opens_item:
            groups[-1] = (kind, groups[-1][1], end)
        else:
            groups.append((kind, start, end))
    return [group for group in groups if text[group[1] : group[2]].strip()]


def _kinds(text: str) -> list[UnitKind]:
    spans = list(_lines(text))
    lines = [text[start:end] for start, end in spans]
    cells = [len(_CELLS.findall(line)) for line in lines]
    formulas = [found.span() for found in _FORMULA.finditer(text)]
    kinds: list[UnitKind] = []
    fenced = False
    for i, line in enumerate(lines):
        if _FENCE.match(line) or fenced:
            fenced ^= bool(_FENCE.match(line))
            kinds.append("code")
        elif any(start < spans[i][1] and spans[i][0] < end for start, end in formulas):
            kinds.append("sentence")
        elif cells[i] and cells[i] in {cells[j] for j in (i - 1, i + 1) if 0 <= j < len(lines)}:
            kinds.append("row")
        else:
            goes_on = i > 0 and kinds[-1] == "item" and line.startswith(("  ", "\t")) and line.strip()
            kinds.append("item" if goes_on or _ITEM.match(line) else "sentence")
    return kinds


def _rows(text: str, start: int, end: int) -> list[Unit]:
    rows = [
        (start + a, start + b) for a, b in _lines(text[start:end]) if not _RULE.fullmatch(text[start + a : start + b])
    ]
    if len(rows) < 2:
        return [Unit("row", (row,)) for row in rows]
    return [Unit("row", (rows[0], row)) for row in rows[1:]]


def _items(text: str, start: int, end: int, lead: Span) -> list[Unit]:
    if end - start <= _LONG_ITEM:
        return [Unit("item", (_stripped(text, start, end),), lead)]
    return [Unit("item", ((start + a, start + b),), lead) for a, b in sentences(text[start:end])]


def _stripped(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())


def _announcing(text: str, before: list[Unit]) -> Span:
    """The sentence before a list, if it ends with a colon; later items take it from the item before them."""
    if not before:
        return (0, 0)
    if before[-1].kind == "item":
        return before[-1].lead
    start, end = before[-1].spans[-1]
    return (start, end) if text[start:end].rstrip("*_ ").endswith(":") else (0, 0)
