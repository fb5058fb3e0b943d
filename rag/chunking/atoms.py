"""Atoms: the smallest pieces of a section between which it may be cut, and how good a cut before each would be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from rag.chunking.sections import Placed, Section
from rag.chunking.table_words import column_names, row_words
from rag.sentences import sentences
from rag.types import Table

MAX_ATOM = 600  # characters; a longer sentence, row or line is cut at spaces
MAX_HEADER = 500  # a longer header of a table is not repeated; its names stand in every row's words
MIN_ATOM = 40  # shorter neighbours of one kind are taken together


class Cut(IntEnum):
    """What a cut before an atom would part, from the worst to the best place."""

    WORD = 0  # inside a word or a formula that is too long for a passage
    GLUED = 1  # a caption from its table, a title from its text, a list or formula from what announces it
    SENTENCE = 2
    LINE = 3  # lines of code, formulas
    ITEM = 4  # items of a list, rows of a table
    PARAGRAPH = 5
    POINT = 6  # a definition, a theorem, a numbered point
    TOPIC = 7  # a few words on a line of their own


@dataclass(frozen=True, slots=True)
class Atom:
    """A stretch of the section's text. `words` are a table row's; `header` is what must be repeated before it
    where its table was cut; `prose` tells a sentence, which may be repeated as overlap."""

    start: int
    end: int
    cut: Cut
    words: str = ""
    header: str = ""
    prose: bool = False


_POINT = re.compile(
    r"(?:\*\*|__)?(?:определени|опр\.|теорем|лемм|следстви|утверждени|аксиом|свойств|доказательств|пример|замечани|"
    r"задач|упражнени|билет|вопрос|(?:def|th|lem|cor|ex|nota|rem|mem|lab)\.|definition|theorem|lemma|corollary|proposition|proof|example|remark|exercise|"
    r"question|(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,4})[.)]\s|§)",
    re.I,
)
_TERM = re.compile(r"[^\W\d_][^.!?:;\n]{1,60}?\s(?:[-–—]|это)\s")
_TITLE = re.compile(r"[A-ZА-ЯЁ][^\W\d_]+(?:[ -][^\W\d_]+){0,3}(?: \([^\W\d_]+\)[^\W\d_ ]*)?\Z")
_SPOKEN = re.compile(r"[^\W\d_]{4}")  # what has no such word is a formula or a mark
_ANNOUNCES = re.compile(r"[:=][*_\s]*\Z")
_SPACE = re.compile(r"\s+")


def atoms_of(section: Section) -> list[Atom]:
    """Return the atoms of a section; together they hold all of its text but the white space between them."""
    atoms: list[Atom] = []
    for i, placed in enumerate(section.blocks):
        before = section.blocks[i - 1] if i else None
        after = section.blocks[i + 1] if i + 1 < len(section.blocks) else None
        own = list(_atoms_of_block(placed))
        atoms += [replace(own[0], cut=_cut_before(placed, before, after)), *own[1:]]
    return list(_merge_small(_split_long(section.text, atoms)))


def _cut_before(placed: Placed, before: Placed | None, after: Placed | None) -> Cut:
    """Judge the cut between two blocks."""
    block = placed.block
    if before is not None:
        captioned = "caption" in (block.kind, before.block.kind) and "table" in (block.kind, before.block.kind)
        announced = before.block.kind != "list" and _ANNOUNCES.search(before.block.text[-8:])
        if captioned or announced or before.block.kind == "heading":
            return Cut.GLUED
    if block.kind == "list":
        return Cut.ITEM if before is not None and before.block.kind == "list" else Cut.PARAGRAPH
    if block.kind != "paragraph":
        return Cut.PARAGRAPH
    if not _SPOKEN.search(block.text):
        return Cut.LINE
    if _TITLE.match(block.text) and after is not None and after.block.kind == "paragraph":
        return Cut.TOPIC
    return Cut.POINT if _POINT.match(block.text) or _TERM.match(block.text) else Cut.PARAGRAPH


def _atoms_of_block(placed: Placed) -> Iterator[Atom]:
    block, start = placed.block, placed.start
    match block.kind:
        case "table":
            yield from _rows(placed)
        case "code":
            for first, last in _lines(block.text):
                yield Atom(start + first, start + last, Cut.LINE)
        case _:
            for first, last in sentences(block.text):
                item = block.kind == "list" and block.text[first - 1 : first] == "\n"
                yield Atom(start + first, start + last, Cut.ITEM if item else Cut.SENTENCE, prose=block.kind != "list")


def _rows(placed: Placed) -> Iterator[Atom]:
    """Yield a table's rows; the caption and a header of usual length go with the first one."""
    block, start = placed.block, placed.start
    table = block.table or Table(())
    lines = list(_lines(block.text))
    captions = len(list(_lines(table.caption))) if block.text.startswith(table.caption) else 0
    head = min(captions + table.header_rows, len(lines) - 1)
    header = block.text[lines[0][0] : lines[head - 1][1]] if head else ""
    if len(header) > MAX_HEADER:
        yield Atom(start + lines[0][0], start + lines[head - 1][1], Cut.PARAGRAPH)
        header = ""
    names = column_names(table)
    matched = len(lines) == captions + len(table.rows)
    for i, (first, last) in enumerate(lines[head:], head):
        cells = table.rows[i - captions] if matched and i >= captions else block.text[first:last].split(" | ")
        begin = lines[0][0] if header and i == head else first
        words = row_words(names, cells) if len(names) > 1 else ""  # a column alone is words already
        yield Atom(start + begin, start + last, Cut.ITEM, words, header if i > head else "")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        if line.strip():
            yield at, at + len(line.rstrip())
        at += len(line) + 1


def _split_long(text: str, atoms: list[Atom]) -> Iterator[Atom]:
    for atom in atoms:
        if atom.end - atom.start <= MAX_ATOM:
            yield atom
        else:
            yield from split_atom(text, atom, MAX_ATOM)


def split_atom(text: str, atom: Atom, limit: int) -> Iterator[Atom]:
    """Yield pieces of at most `limit` characters, cut at white space where there is any in a piece's second half."""
    spans: list[tuple[int, int]] = []
    start = atom.start
    while atom.end - start > limit:
        stop = following = start + limit
        for space in _SPACE.finditer(text, start + limit // 2, stop):
            stop, following = space.span()
        spans.append((start, stop))
        start = following
    spans.append((start, atom.end))
    spans = [span for span in spans if text[slice(*span)].strip()]
    shares = _shares(atom.words, len(spans))
    for i, ((start, stop), words) in enumerate(zip(spans, shares, strict=True)):
        cut = Cut.WORD if i else atom.cut
        yield replace(atom, start=start, end=stop, cut=cut, words=words)


def _shares(words: str, n: int) -> list[str]:
    """Part a long row's words among the n pieces of its text."""
    values = re.split(r"; |\n", words)
    return ["; ".join(values[i * len(values) // n : (i + 1) * len(values) // n]) for i in range(n)]


def _merge_small(atoms: Iterable[Atom]) -> Iterator[Atom]:
    """Take tiny lines and rows together, so that a file of one-letter lines is cut as fast as any other."""
    group: list[Atom] = []
    for atom in atoms:
        if group and not (atom.end - group[0].start <= MIN_ATOM and Cut.SENTENCE <= atom.cut <= Cut.ITEM):
            yield _together(group)
            group = []
        group.append(atom)
    if group:
        yield _together(group)


def _together(group: list[Atom]) -> Atom:
    if len(group) == 1:
        return group[0]
    return replace(group[0], end=group[-1].end, words="\n".join(atom.words for atom in group if atom.words))
