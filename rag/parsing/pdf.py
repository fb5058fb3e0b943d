"""PDF: a file -> blocks with headings, pages and boxes, and a report of how well each page was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rag.errors import ParsingError, PasswordNeeded
from rag.messages import Message, msg
from rag.parsing.furniture import without_furniture
from rag.parsing.hyphens import words_of
from rag.parsing.layout import PageLayout
from rag.parsing.ocr import missing
from rag.parsing.pdf_blocks import BlockBuilder
from rag.parsing.pdf_headings import OutlineEntry, body_size, heading_levels
from rag.parsing.pdf_layout import laid_out
from rag.parsing.pdf_meta import course_of, read_meta
from rag.parsing.pdf_ocr import needs_ocr, read_pictures, readable
from rag.parsing.pdf_tables import find_tables
from rag.parsing.pdf_text import PageText, read_page
from rag.parsing.settings import ParseSettings
from rag.parsing.table_continued import Found, ends_page, with_header_above
from rag.types import ParsedDocument, Report

_SHRINK_EVERY = 20
_BLANK = re.compile(  # what printers write on pages that they leave empty
    r"[\W\d]*(?=.*\b(page|intentionally)\b)((this|the)\s+)?(page\s+)?((is|was|has\s+been)\s+)?"
    r"((intentionally|deliberately)\s+)?(left\s+)?blank(\s+intentionally)?[\W\d]*"
    r"|[\W\d]*(эта\s+)?страница\s+(намеренно|специально)\s+(оставлена|остаётся|остается)\s+(пустой|чистой)[\W\d]*",
    re.IGNORECASE,
)


def parse_pdf(
    path: Path, settings: ParseSettings, progress: Callable[[int, int], None] | None = None
) -> ParsedDocument:
    """Read a PDF. `progress` gets pages done and pages in all.

    Raises `PasswordNeeded` where a user password is asked for, `ParsingError` where the file is no readable PDF or
    too large. A page that fails costs that page and is told in the report.
    """
    document = _opened(path, settings)
    try:
        reading = _Reading(document, settings, progress)
        for number in range(1, document.page_count + 1):
            reading.read(number)
        reading.read_scans()
        return reading.document(path)
    finally:
        document.close()


def _opened(path: Path, settings: ParseSettings) -> Any:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        size = path.stat().st_size
        if size > settings.max_file_mb * 1_000_000:
            raise ParsingError(
                msg(
                    "The file has {size} MB, more than the limit of {limit} MB. Raise the limit in the settings or "
                    "split the file.",
                    size=size // 1_000_000,
                    limit=settings.max_file_mb,
                )
            )
        document = pymupdf.open(path, filetype="pdf")
    except OSError as error:
        raise ParsingError(msg("The file cannot be opened: {reason}.", reason=error.strerror or str(error))) from error
    except (RuntimeError, ValueError) as error:
        raise ParsingError(
            msg("This is no readable PDF; it may be damaged or cut short. Save it anew or replace it.")
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

    def __init__(self, document: Any, settings: ParseSettings, progress: Callable[[int, int], None] | None) -> None:
        self._document, self._settings = document, settings
        self._progress, self._done = progress, 0
        self._pages: dict[int, PageLayout] = {}
        self._waiting: dict[int, PageText] = {}
        self._kinds: dict[str, set[int]] = {kind: set() for kind in ("text", "ocr", "empty", "suspect")}
        self._dropped: dict[str, int] = {}
        self._warnings: list[Message] = []

    def read(self, number: int) -> None:
        """Read one page's text layer. One that fails is told; one that needs OCR waits."""
        import pymupdf

        try:
            text = read_page(self._document[number - 1])
        except (RuntimeError, ValueError, KeyError, IndexError, TypeError) as error:
            self._kinds["suspect"].add(number)
            self._warnings.append(
                msg("Page {page} could not be read: {reason}", page=number, reason=str(error) or type(error).__name__)
            )
            self._tick()
            return
        if text.hidden:
            self._drop("hidden", text.hidden)
        if _BLANK.fullmatch(text.text.strip()):
            self._drop("blank page", len(text.text.strip()))
            self._kinds["empty"].add(number)
            self._tick()
        elif needs_ocr(text):
            self._waiting[number] = text
        else:
            self._keep(number, text, "text" if text.fragments or text.aside else "empty")
            self._tick()
        if number % _SHRINK_EVERY == 0:
            pymupdf.TOOLS.store_shrink(100)

    def read_scans(self) -> None:
        """Read the pages that wait for OCR, or tell what is missing for it."""
        if not self._waiting:
            return
        problem = missing(self._settings.ocr_languages)
        if problem:
            self._warnings.append(
                msg(
                    "No readable text on these pages: {pages}. They wait for OCR. {problem}",
                    pages=ranges(self._waiting),
                    problem=problem,
                )
            )
            for number, text in self._waiting.items():
                self._without_ocr(number, text)
            return
        numbers = sorted(self._waiting)
        for number, result in read_pictures(self._document, numbers, self._settings.ocr_languages, self._tick).items():
            if isinstance(result, ParsingError):
                self._warnings.append(msg("Page {page}: {problem}", page=number, problem=result.message))
                self._without_ocr(number, self._waiting[number])
            else:
                self._choose(number, self._waiting[number], result)

    def _choose(self, number: int, layer: PageText, scan: PageText) -> None:
        """Keep what OCR read, unless a readable text layer says more."""
        in_layer, in_scan = (sum(map(str.isalnum, text.text)) for text in (layer, scan))
        if in_scan > in_layer or (in_scan and not readable(layer)):
            self._keep(number, scan, "ocr")
        elif in_layer:
            self._keep(number, layer, "text" if readable(layer) else "suspect")
        else:
            self._kinds["empty"].add(number)

    def _without_ocr(self, number: int, text: PageText) -> None:
        self._kinds["suspect"].add(number)
        if readable(text):
            self._keep(number, text, "suspect")
        else:
            self._drop("unreadable", len(text.text))

    def _keep(self, number: int, text: PageText, kind: str) -> None:
        self._kinds[kind].add(number)
        self._pages[number] = laid_out(text, number, ocr=kind == "ocr")

    def _drop(self, reason: str, characters: int) -> None:
        self._dropped[reason] = self._dropped.get(reason, 0) + characters

    def _tick(self) -> None:
        self._done += 1
        if self._progress:
            self._progress(self._done, self._document.page_count)

    def document(self, path: Path) -> ParsedDocument:
        """Make blocks of all pages read so far."""
        furniture = without_furniture([self._pages[number] for number in sorted(self._pages)])
        if furniture.dropped:
            self._drop("header", furniture.dropped)
        pages, count = furniture.pages, self._document.page_count
        levels = heading_levels(pages, _outline(self._document))
        known = words_of(line.text for page in pages for line in page.lines)
        builder = BlockBuilder(levels, known, body_size(pages), course_of(furniture.header, count))
        tables, before, number = 0, None, 0
        for page in pages:
            found: Found = {
                i: find_tables(x, page.rules, levels) for i, x in enumerate(page.columns) if x.aside is None
            }
            found = with_header_above(page, found, before if page.number == number + 1 else None)
            before, number = ends_page(page, found), page.number
            tables += sum(len(each) for each in found.values())
            builder.add_page(page, found)
        blocks = builder.finish()
        report = Report(
            pages=count,
            tables=tables,
            dropped=self._dropped,
            warnings=tuple(self._warnings),
            **{f"{kind}_pages": tuple(sorted(numbers)) for kind, numbers in self._kinds.items()},  # type: ignore[arg-type]
        )
        return ParsedDocument(tuple(blocks), read_meta(self._document, path, furniture.header, blocks), report)


def ranges(numbers: Iterable[int]) -> str:
    """Write page numbers short: "1-3, 7"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _outline(document: Any) -> list[OutlineEntry]:
    return [OutlineEntry(level, title, page) for level, title, page in document.get_toc() if page > 0]
