"""A document under construction: keeps the path of headings and counts what a report needs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import accumulate
from textwrap import dedent

from rag.messages import Message
from rag.types import Block, BlockKind, Meta, ParsedDocument, Region, Report, Table

MAX_HEADING = 300
MAX_FAKE_HEADING = 120
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
BOLD_LEVEL = 7  # below the six levels of HTML and Markdown


@dataclass
class Draft:
    """Collects blocks in reading order. Formats with pages (slides) pass `page`, 1-based."""

    encoding: str = ""
    meta: Meta = field(default_factory=Meta)
    pages: int = 0
    blocks: list[Block] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    warnings: list[Message] = field(default_factory=list)
    _open: list[tuple[int, str]] = field(default_factory=list)

    def heading(self, text: str, level: int, page: int | None = None) -> None:
        """Close the headings of this level and deeper, and open this one.
        A "heading" longer than any title is body text that somebody styled large."""
        title = " ".join(clean(text).split())
        if not title:
            return
        if len(title) > MAX_HEADING:
            self.add(text, page=page)
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))
        self.blocks.append(Block(title, "heading", self.path, (Region(0, page),), level=len(self._open)))

    def close_headings(self) -> None:
        """A new slide, chapter or message begins: it stands under none of the headings before it."""
        self._open.clear()

    def extend(self, other: Draft) -> None:
        """Append another draft's blocks below the headings that are open here."""
        above = self.path
        self.blocks += [
            replace(b, heading=(*above, *b.heading), level=b.level + len(above) if b.kind == "heading" else 0)
            for b in other.blocks
        ]
        self.dropped.update(other.dropped)
        for warning in other.warnings:
            self.warn(warning)

    @property
    def path(self) -> tuple[str, ...]:
        """The headings that are open, outermost first."""
        return tuple(title for _, title in self._open)

    def add(self, text: str, kind: BlockKind = "paragraph", page: int | None = None) -> None:
        """Add a block of text under the open headings; blank text is no block.
        "\\f" in the text of a format with pages is the beginning of the next page."""
        text = clean(text)
        text = dedent(text.strip("\n")).rstrip() if text.startswith((" ", "\n")) else text.rstrip()
        if text.strip():
            text, regions = _split_pages(text, page)
            self.blocks.append(Block(text, kind, self.path, regions))

    def add_table(self, table: Table, page: int | None = None) -> None:
        """Add a table that has at least one cell with text."""
        if any(cell.strip() for row in table.rows for cell in row):
            text = table_text(table)
            self.blocks.append(Block(text, "table", self.path, (Region(0, page),), table))

    def drop(self, reason: str, text: str) -> None:
        """Count characters that are left out on purpose."""
        self.drop_count(reason, len(text))

    def drop_count(self, reason: str, characters: int) -> None:
        """The same where only their number is known."""
        if characters:
            self.dropped[reason] += characters

    def warn(self, message: Message) -> None:
        """Add a warning once, however often it arises."""
        if message not in self.warnings:
            self.warnings.append(message)

    def finish(self) -> ParsedDocument:
        """Freeze what was collected. Pages with and without text are told from the blocks."""
        with_text = {r.page for b in self.blocks if b.text.strip() for r in b.regions if r.page}
        report = Report(
            pages=self.pages,
            text_pages=tuple(sorted(with_text)),
            empty_pages=tuple(p for p in range(1, self.pages + 1) if p not in with_text),
            tables=sum(b.kind == "table" for b in self.blocks),
            dropped=dict(self.dropped),
            encoding=self.encoding,
            warnings=tuple(self.warnings),
        )
        meta = replace(self.meta, title=clean(self.meta.title), author=clean(self.meta.author))
        return ParsedDocument(tuple(self.blocks), meta, report)


def clean(text: str) -> str:
    """Text without control characters, and without halves of characters, which no database takes."""
    return _UNWANTED.sub("", text)


def is_fake_heading(text: str, bold: bool = True) -> bool:
    """Whether a paragraph that is bold or in capitals throughout is short enough, and ends so, that it names what
    follows."""
    text = text.strip()
    return (
        1 < len(text) <= MAX_FAKE_HEADING
        and text[-1] not in ".,;:!?…"
        and "\n" not in text
        and (any(map(str.isalpha, text)) if bold else in_capitals(text))
    )


def in_capitals(text: str) -> bool:
    """Whether a text is written in capitals, as titles are; formulas and abbreviations are not enough."""
    letters = sum(map(str.isalpha, text))
    return text.isupper() and letters >= 5 and letters * 10 > 7 * len(text.replace(" ", ""))


def _split_pages(text: str, page: int | None) -> tuple[str, tuple[Region, ...]]:
    if page is None:
        return text, (Region(0),)
    parts = text.split("\f")
    starts = accumulate((len(part) for part in parts[:-1]), initial=0)
    regions = {start: Region(start, page + i) for i, start in enumerate(starts) if start < sum(map(len, parts))}
    return "".join(parts), tuple(regions.values())


def table_text(table: Table) -> str:
    """A table as lines: its caption, then one line a row, cells joined by " | "."""
    lines = [table.caption] if table.caption else []
    lines += [" | ".join(" ".join(cell.split()) for cell in row) for row in table.rows]
    return "\n".join(lines)


def make_table(rows: list[list[str]], header_rows: int = 1, caption: str = "") -> Table:
    """Make a table of ragged rows: short ones are filled with empty cells, rows and columns without any text go."""
    rows = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    keep = [i for i in range(width) if any(row[i] for row in rows)]
    cells = tuple(tuple(row[i] for i in keep) for row in rows)
    return Table(cells, min(header_rows, len(cells)), " ".join(caption.split()))
