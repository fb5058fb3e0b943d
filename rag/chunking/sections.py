"""Sections: what stands under one heading, as one running text with the places of its pieces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.types import Block, PageBox, Region


@dataclass(frozen=True, slots=True)
class Placed:
    """A block and the character of its section's text at which it begins."""

    block: Block
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.block.text)


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, blocks joined by blank lines (items of a list by line breaks)."""

    heading: tuple[str, ...]
    text: str
    blocks: tuple[Placed, ...]

    def places(self, start: int, end: int) -> tuple[list[int], tuple[PageBox, ...]]:
        """Return the pages and the boxes of the text from start to end, in reading order, each once."""
        pages: dict[int, None] = {}
        boxes: dict[PageBox, None] = {}
        for region in self._regions(start, end):
            if region.page is not None:
                pages[region.page] = None
                if region.bbox is not None:
                    boxes[PageBox(region.page, region.bbox)] = None
        return sorted(pages), tuple(boxes)

    def _regions(self, start: int, end: int) -> Iterator[Region]:
        first = bisect_right(self.blocks, start, key=lambda placed: placed.start) - 1
        for placed in self.blocks[max(0, first) :]:
            if placed.start >= end:
                return
            regions = placed.block.regions
            for i, region in enumerate(regions):
                stop = placed.start + regions[i + 1].start if i + 1 < len(regions) else placed.end
                if placed.start + region.start < end and stop > start:
                    yield region


def sections_of(blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections in reading order. A heading with nothing below it is a section of its own title.

    A heading that was told by its looks on a page also begins the text of its section, as it does on the page:
    if it was none, nothing is lost. One that the format declares stands in the heading path alone.
    """
    blocks = [block for block in blocks if block.text.strip()]
    titles: list[Block] = []
    body: list[Block] = []
    for i, block in enumerate(blocks):
        if body and (block.kind == "heading" or block.heading != body[0].heading):
            yield _section([*titles, *body])
            titles, body = [], []
        if block.kind != "heading":
            body.append(block)
        elif not _is_told(block, blocks[i + 1] if i + 1 < len(blocks) else None):
            yield _section([*titles, block])
            titles = []
        elif block.bbox is not None:
            titles.append(block)
    if body:
        yield _section([*titles, *body])


def without_titles(text: str, heading: tuple[str, ...]) -> str:
    """Return a passage's text without the titles, as its heading path has them, that it may begin with."""
    for title in heading:
        line = re.match(r"\s*" + r"\s+".join(re.escape(word) for word in title.split()) + r"[^\S\n]*\n+", text)
        if line and title.split():
            text = text[line.end() :]
    return text


def _is_told(heading: Block, following: Block | None) -> bool:
    """Tell whether the heading's text stands in the heading path of what follows it."""
    depth = len(heading.heading)
    if following is None or not depth or following.heading[:depth] != heading.heading:
        return False
    below = following.kind != "heading" or len(following.heading) > depth
    return below and heading.text.split() == heading.heading[-1].split()


def _section(blocks: Sequence[Block]) -> Section:
    parts: list[str] = []
    placed: list[Placed] = []
    at = 0
    for i, block in enumerate(blocks):
        if i:
            joiner = "\n" if block.kind == blocks[i - 1].kind == "list" else "\n\n"
            parts.append(joiner)
            at += len(joiner)
        placed.append(Placed(block, at))
        parts.append(block.text)
        at += len(block.text)
    return Section(blocks[-1].heading, "".join(parts), tuple(placed))
