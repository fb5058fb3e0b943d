"""PDF: a file -> blocks with headings, pages and boxes, and a report of how well each page was read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag.errors import ParsingError, PasswordNeeded
from rag.messages import Message, msg
from rag.parsing.formulas import with_formulas
from rag.parsing.furniture import without_furniture
from rag.parsing.hyphens import words_of
from rag.parsing.layout import Column, PageLayout
from rag.parsing.pdf_blocks import BlockBuilder
from rag.parsing.pdf_columns import reading_order
from rag.parsing.pdf_headings import OutlineEntry, body_size, heading_levels
from rag.parsing.pdf_lines import build_lines
from rag.parsing.pdf_meta import course_of, read_meta
from rag.parsing.pdf_tables import find_tables
from rag.parsing.pdf_text import PageText, read_page
from rag.parsing.settings import ParseSettings
from rag.parsing.table_grid import walls
from rag.types import ParsedDocument, Report

_SHRINK_EVERY = 20


def parse_pdf(
    path: Path, settings: ParseSettings, progress: Callable[[int, int], None] | None = None
) -> ParsedDocument:
    """Read a PDF. `progress` gets pages done and pages in all.

    Raises `PasswordNeeded` where a user password is asked for, `ParsingError` where the file is no readable PDF or
    too large. A page that fails costs that page and is told in the report.
    """
    with open_pdf(path, settings) as document:
        reading = _Reading(document)
        for number in range(1, document.page_count + 1):
            reading.read(number)
            if progress:
                progress(number, document.page_count)
        return reading.document(path)


def open_pdf(path: Path, settings: ParseSettings) -> Any:
    """Open a PDF with PyMuPDF, within the limits; see `parse_pdf` for what it raises."""
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        size = path.stat().st_size
        if size > settings.max_file_mb * 1_000_000:
            raise ParsingError(msg("The file has {size} MB, more than the limit of {limit} MB. Raise the limit in the "
                                   "settings or split the file.", size=size // 1_000_000, limit=settings.max_file_mb))
        document = pymupdf.open(path, filetype="pdf")
    except OSError as error:
        raise ParsingError(msg("The file cannot be opened: {reason}.", reason=error.strerror or str(error))) from error
    except (RuntimeError, ValueError) as error:
        raise ParsingError(msg("This is no readable PDF; it may be damaged or cut short. Save it anew or replace it.")
                           ) from error
    if document.needs_pass:
        document.close()
        raise PasswordNeeded(msg("The PDF is locked with a password. Save a copy without the password."))
    if document.page_count == 0:
        document.close()
        raise ParsingError(msg("This is no readable PDF; it may be damaged or cut short. Save it anew or replace it."))
    return document


class _Reading:
    """One document being read: its pages as lines, and what is to be told about them."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._pages: list[PageLayout] = []
        self._text_pages: list[int] = []
        self._empty: list[int] = []
        self._suspect: list[int] = []
        self._dropped: dict[str, int] = {}
        self._warnings: list[Message] = []

    def read(self, number: int) -> None:
        """Read one page; one that fails is skipped and told."""
        import pymupdf

        try:
            text = read_page(self._document[number - 1])
        except (RuntimeError, ValueError, KeyError, IndexError) as error:
            self._suspect.append(number)
            self._warnings.append(msg("Page {page} could not be read: {reason}", page=number, reason=str(error)))
            return
        if text.hidden:
            self._dropped["hidden"] = self._dropped.get("hidden", 0) + text.hidden
        (self._text_pages if text.letters else self._empty).append(number)
        self._pages.append(_laid_out(text, number))
        if number % _SHRINK_EVERY == 0:
            pymupdf.TOOLS.store_shrink(100)

    def document(self, path: Path) -> ParsedDocument:
        """Make blocks of all pages read so far."""
        outline = _outline(self._document)
        furniture = without_furniture(self._pages)
        if furniture.dropped:
            self._dropped["header"] = furniture.dropped
        pages = furniture.pages
        levels = heading_levels(pages, outline)
        known = words_of(line.text for page in pages for line in page.lines)
        builder = BlockBuilder(
            levels, known, body_size(pages), course_of(furniture.header, self._document.page_count)
        )
        tables = 0
        for page in pages:
            found = {i: find_tables(column, page.rules, levels) for i, column in enumerate(page.columns)}
            tables += sum(len(each) for each in found.values())
            builder.add_page(page, found)
        blocks = builder.finish()
        report = Report(
            pages=self._document.page_count, text_pages=tuple(self._text_pages), empty_pages=tuple(self._empty),
            suspect_pages=tuple(self._suspect), tables=tables, dropped=self._dropped, warnings=tuple(self._warnings),
        )
        return ParsedDocument(tuple(blocks), read_meta(self._document, path, furniture.header, blocks), report)


def _laid_out(text: PageText, number: int) -> PageLayout:
    fragments = with_formulas(text.fragments, text.rules, text.height if text.turns % 2 else text.width)
    columns = []
    for part in reading_order(fragments, walls(text.rules, text.width, text.height)):
        lines = build_lines(part, number)
        if lines:
            columns.append(Column(tuple(lines), min(x.x0 for x in lines), max(x.x1 for x in lines)))
    aside = build_lines(text.aside, number)
    if aside:
        columns.append(Column(tuple(aside), min(x.x0 for x in aside), max(x.x1 for x in aside)))
    return PageLayout(number, text.width, text.height, tuple(columns), text.rules, text.turns)


def _outline(document: Any) -> list[OutlineEntry]:
    return [OutlineEntry(level, title, page) for level, title, page in document.get_toc() if page > 0]
