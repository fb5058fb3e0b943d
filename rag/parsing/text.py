"""Plain text in any encoding: paragraphs by blank lines, headings by the marks that people type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from textwrap import dedent

from rag.messages import msg
from rag.parsing.draft import Draft, clean, in_capitals
from rag.parsing.encodings import Decoded, decode
from rag.parsing.inline import reflow
from rag.parsing.links import cut_data_uris, shrink_links
from rag.parsing.numbering import NAMED, NUMBERED

_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,})\s*")
_ITEM = re.compile(r"\s*(?:[-*•–—·]|\(?[\w]{1,2}[.)])\s+\S")
NOTEPAD_WIDTH = 200
SHORT_TEXT = 8
_MOJIBAKE = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf]{1,3}")


def read_text(path: Path) -> tuple[str, Draft]:
    """A text file's text, line ends as "\\n", and a draft that knows its encoding."""
    found = decode(path.read_bytes())
    draft = Draft(encoding=found.encoding)
    warn_if_doubtful(found, draft)
    text = _mended(found.text, draft)
    return clean(text), draft


def warn_if_doubtful(found: Decoded, draft: Draft) -> None:
    """Say so where the encoding is only the best guess."""
    if found.doubtful:
        name = found.encoding
        draft.warn(msg("The text encoding is a guess ({encoding}): check that the passages read well.", encoding=name))


def _mended(text: str, draft: Draft) -> str:
    """Undo UTF-8 that was once read as Latin-1 and saved so ("Ð¤Ð¸Ð·Ð¸ÐºÐ°" for "Физика")."""
    broken = _MOJIBAKE.findall(text)
    if not broken or sum(map(len, broken)) * 3 < sum(c > "\x7f" for c in text) * 2:
        return text

    def mend(match: re.Match[str]) -> str:
        try:
            return match.group().encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return match.group()

    draft.warn(msg("Some letters had been garbled when this file was saved and were restored."))
    return re.sub(r"[\u0080-\u00ff]{2,}", mend, text)


def parse_text(path: Path) -> Draft:
    """Read a plain text file."""
    text, draft = read_text(path)
    text_blocks(text, draft)
    return draft


def text_blocks(text: str, draft: Draft) -> None:
    """Add a plain text's paragraphs, lists and headings to a draft. A form feed ends a paragraph."""
    text, cut = cut_data_uris(text)
    draft.drop_count("data", cut)
    for stretch in re.split(r"\n[ \t]*\n|\f", shrink_links(text)):
        lines = [line.rstrip() for line in stretch.strip("\n").split("\n")]
        for paragraph in _paragraphs(_leading_headings(lines, draft)):
            items = sum(bool(_ITEM.match(line)) for line in paragraph)
            if items * 3 >= len(paragraph) > 1 or (items and len(paragraph) == 1):
                draft.add(dedent("\n".join(paragraph)), "list")
            else:
                draft.add(dedent(reflow("\n".join(paragraph))))


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    """Cut lines without a blank one between them into paragraphs. Where lines are long, each is one, as Notepad saves
    them; else one ends with a sentence on a line that has room for the next line's first word."""
    width = max(map(len, lines), default=0)
    paragraph: list[str] = []
    for line, after in zip_longest(lines, lines[1:], fillvalue=""):
        paragraph.append(line)
        room = len(line) + 1 + len(after.split(" ")[0]) < width - 3
        ends = line.endswith((".", "!", "?", "…", ".»", '."', ".)")) and after[:1].isupper()
        if (width > NOTEPAD_WIDTH and not _ITEM.match(after)) or (len(lines) > SHORT_TEXT and room and ends):
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _leading_headings(lines: list[str], draft: Draft) -> list[str]:
    """Take headings off the top of a paragraph: underlined lines, and lines alone that are numbered or named."""
    while len(lines) >= 2 and lines[0].strip() and _UNDERLINE.fullmatch(lines[1]):
        draft.heading(lines[0], 1 if lines[1].startswith("=") else 2)
        lines = lines[2:]
    if len(lines) == 1 and (level := heading_level(lines[0])):
        draft.heading(lines[0], level)
        return []
    return lines


def heading_level(line: str) -> int:
    """The level of a line that stands alone and looks like a heading ("Лекция 5", "1.2 Импульс"), else 0."""
    line = line.strip()
    if not line or line[-1] in ".,;:!?" or len(line) > 120:
        return 0
    if NAMED.fullmatch(line) or in_capitals(line):
        return 1
    if found := NUMBERED.fullmatch(line):
        return 1 + len((found.group(1) or found.group(2)).split("."))
    return 0
