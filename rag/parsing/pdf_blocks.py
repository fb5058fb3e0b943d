"""Lines in reading order -> blocks: headings, paragraphs (also across columns and pages), lists, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rag.parsing.hyphens import HYPHENS, join
from rag.parsing.layout import Column, Line, PageLayout, turned, union
from rag.parsing.pdf_measure import Measure
from rag.parsing.table_cells import FoundTable
from rag.parsing.topics import with_topics
from rag.types import BBox, Block, BlockKind, Region

_BULLET = re.compile(r"[•●○▪■□◦‣∙·*–—-]\s+\S")
_ITEM = re.compile(r"(\(?(\d{1,2}|[ivx]{1,4}|[IVX]{1,4})[.)]|\(?[a-zа-яA-ZА-Я]\))\s+\S")
_CAPTION = re.compile(r"(рис(унок|\.)|табл(ица|\.)|схема|график|figure|fig\.|table|exhibit)\s*№?\s*\d+", re.IGNORECASE)
_NOTE_MARK = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰*†‡]+\s*\S|\(?\d{1,2}\)\s*\S")
_DEFINITION = re.compile(r"[A-ZА-ЯЁ][^.!?:;,]{2,60}\s[-–—]\s+\S")
_END = re.compile(r"[.!?…:;][»”\"')\]]*$")


@dataclass(slots=True)
class _Open:
    """The paragraph being put together."""

    kind: BlockKind = "paragraph"
    lines: list[Line] = field(default_factory=list)
    column: Column | None = None


class BlockBuilder:
    """Takes pages one after the other and keeps the blocks. `known` are the document's words (`hyphens.words_of`)."""

    def __init__(
        self, levels: Mapping[int, int], known: Collection[str], body: float, root: tuple[str, ...] = ()
    ) -> None:
        self._levels, self._known, self._body = levels, known, body
        self._path: list[tuple[int, str]] = [(0, title) for title in root]
        self._open = _Open()
        self._late: list[Block] = []
        self._boxes: dict[int, BBox] = {}
        self._measures: dict[int, Measure] = {}
        self._leads: dict[int, str] = {}
        self.blocks: list[Block] = []

    def add_page(self, page: PageLayout, tables: Mapping[int, Sequence[FoundTable]]) -> None:
        """Add a page; `tables` are those found in each of its columns, by the column's index."""
        for column in page.columns:
            turns = page.turns if column.aside is None else column.aside
            width, height = (page.height, page.width) if turns % 2 else (page.width, page.height)
            self._boxes.update((id(line), turned(line.bbox, width, height, -turns)) for line in column.lines)
        notes: list[Line] = []
        for index, column in enumerate(page.columns):
            if column.aside is not None:
                self._late.append(self._aside(column.lines))
                continue
            found = {table.first: table for table in tables.get(index, ())}
            body, below = _footnotes(
                column, self._body, {i for t in found.values() for i in range(t.first, t.last + 1)}
            )
            notes += below
            skip = -1
            for i, line in enumerate(body):
                if i <= skip:
                    continue
                if i in found:
                    self._add_table(found[i], page)
                    skip = found[i].last
                else:
                    self._add_line(line, column)
        self._late += self._as_notes(notes)

    def finish(self) -> list[Block]:
        """Close the last paragraph and return all blocks."""
        self._flush()
        return with_topics(self.blocks, self._leads)

    def _add_line(self, line: Line, column: Column) -> None:
        level = self._levels.get(id(line))
        last = self._open.lines[-1] if self._open.lines else None
        if level:
            goes_on = (
                last is not None
                and self._open.kind == "heading"
                and self._levels.get(id(last)) == level
                and last.page == line.page
                and _near(last, line)
                and not _ITEM.match(line.text)
            )
            if not goes_on:
                self._start("heading", column)
        elif last is None or self._starts_new(last, line, column):
            self._start(_kind(line), column)
        self._open.lines.append(line)
        self._open.column = column

    def _start(self, kind: BlockKind, column: Column) -> None:
        self._flush()
        self._open = _Open(kind, [], column)

    def _starts_new(self, last: Line, line: Line, column: Column) -> bool:
        """Tell whether a line begins a block of its own after `last`, the open block's last line."""
        if self._open.kind == "heading" or self._differs(last, line):
            return True
        cut = last.text[-1:] in HYPHENS and line.text[:1].islower()
        ended = bool(_END.search(last.text))
        measure = self._measure(self._open.column or column)
        if last.page != line.page or self._open.column is not column:
            plain = line.text[:1].islower() or (len(last.text) >= 40 and not line.math and not last.math)
            goes_on = plain and len(last.text) >= 25 and not ended and measure.is_full(last, line)
            return line.mono or not (cut or goes_on)
        if line.mono:
            return False
        if line.base - last.base > 1.45 * measure.pitch(last.size) or line.base < last.base - 2:
            return True
        long = last.x1 - last.x0 > 0.55 * (column.right - column.left) and not last.math
        if cut or (long and line.text[:1].islower() and not ended):
            return False
        titled = _DEFINITION.match(line.text)
        return bool(titled) or not measure.is_full(last, line) or (ended and self._is_indented(last, line, column))

    def _measure(self, column: Column) -> Measure:
        if id(column) not in self._measures:
            self._measures[id(column)] = Measure(column)
        return self._measures[id(column)]

    def _differs(self, last: Line, line: Line) -> bool:
        """Tell whether a line's look or mark alone makes it begin a block."""
        weight = line.bold != last.bold and (line.bold or not line.lead) and not last.lead
        size = abs(line.size - last.size) > 0.12 * last.size
        marked = _BULLET.match(line.text) or _CAPTION.match(line.text)
        return weight or size or bool(marked) or line.mono != last.mono

    def _is_indented(self, last: Line, line: Line, column: Column) -> bool:
        left = max(column.left, min(x.x0 for x in self._open.lines))
        hanging = len(self._open.lines) == 1 and last.x0 > line.x0
        return line.x0 > left + 0.8 * line.size and not hanging and self._open.kind != "list"

    def _flush(self) -> None:
        opened, self._open = self._open, _Open()
        if opened.lines:
            text, regions = self._text(opened.lines, opened.kind)
            if opened.kind == "heading":
                self._add_heading(text, self._levels[id(opened.lines[0])], regions)
            else:
                if opened.lines[0].lead:
                    self._leads[len(self.blocks)] = opened.lines[0].lead
                self.blocks.append(Block(text, opened.kind, self._heading, regions))
        self.blocks += self._late
        self._late = []

    def _add_heading(self, text: str, level: int, regions: tuple[Region, ...]) -> None:
        self._path = [(depth, title) for depth, title in self._path if depth < level] + [(level, text)]
        self.blocks.append(Block(text, "heading", self._heading, regions, level=len(self._path)))

    @property
    def _heading(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._path)

    def _text(self, lines: Sequence[Line], kind: BlockKind) -> tuple[str, tuple[Region, ...]]:
        """Join lines; a region begins where the text goes on in another column or page."""
        text = ""
        starts: list[tuple[int, list[Line]]] = []
        for line in lines:
            if kind == "code":
                indent = max(int((line.x0 - min(x.x0 for x in lines)) / max(0.6 * line.size, 1)), 0)
                text += ("\n" if text else "") + " " * indent
                between, written = "", line.text
            elif text:
                text, between = join(text, line.text, self._known)
                written = line.text
            else:
                between, written = "", line.text
            text += between
            last = starts[-1][1][-1] if starts else None
            if last is None or last.page != line.page or line.base < last.base - 2:
                starts.append((len(text) if starts else 0, []))
            starts[-1][1].append(line)
            text += written
        regions = tuple(Region(start, part[0].page, union(self._boxes[id(x)] for x in part)) for start, part in starts)
        return text.rstrip("\u00ad"), regions

    def _add_table(self, found: FoundTable, page: PageLayout) -> None:
        self._flush()
        width, height = (page.height, page.width) if page.turns % 2 else (page.width, page.height)
        box = turned(found.bbox, width, height, -page.turns)
        rows = [" | ".join(cell for cell in row) for row in found.table.rows]
        text = "\n".join(([found.table.caption] if found.table.caption else []) + rows)
        self.blocks.append(Block(text, "table", self._heading, (Region(0, page.number, box),), found.table))

    def _aside(self, lines: Sequence[Line]) -> Block:
        text, regions = self._text(lines, "paragraph")
        return Block(text, "paragraph", self._heading, regions)

    def _as_notes(self, lines: Sequence[Line]) -> list[Block]:
        groups: list[list[Line]] = []
        for line in lines:
            if groups and not _NOTE_MARK.match(line.text):
                groups[-1].append(line)
            else:
                groups.append([line])
        notes = []
        for group in groups:
            text, regions = self._text(group, "note")
            notes.append(Block(text, "note", self._heading, regions))
        return notes


def _kind(line: Line) -> BlockKind:
    if line.mono:
        return "code"
    if _CAPTION.match(line.text):
        return "caption"
    return "list" if _BULLET.match(line.text) or _ITEM.match(line.text) else "paragraph"


def _near(last: Line, line: Line) -> bool:
    return 0 < line.base - last.base < 2.0 * last.size


def _footnotes(column: Column, body: float, taken: Collection[int]) -> tuple[list[Line], list[Line]]:
    """Part the small print with note marks at the column's foot from its text."""
    lines = list(column.lines)
    first = len(lines)
    while first > 0 and lines[first - 1].size <= 0.92 * body and first - 1 not in taken:
        first -= 1
    start = next((i for i in range(first, len(lines)) if _NOTE_MARK.match(lines[i].text)), len(lines))
    if start - first <= 1 and 0 < first <= start < len(lines):
        return lines[:first], lines[first:]
    return lines, []
