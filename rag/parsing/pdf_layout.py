"""A page's fragments -> its columns of lines."""

from __future__ import annotations

from rag.parsing.formulas import with_formulas
from rag.parsing.layout import Column, PageLayout
from rag.parsing.pdf_columns import reading_order
from rag.parsing.pdf_lines import build_lines
from rag.parsing.pdf_text import PageText
from rag.parsing.table_grid import walls


def laid_out(text: PageText, number: int, *, ocr: bool = False) -> PageLayout:
    """Return the page as lines in reading order; text that runs in another direction comes last."""
    upright_width = text.height if text.turns % 2 else text.width
    fragments = text.fragments if ocr else with_formulas(text.fragments, text.rules, upright_width)
    parts = reading_order(fragments, walls(text.rules, text.width, text.height))
    columns = []
    ways = [(part, None) for part in parts] + [(aside.fragments, aside.turns) for aside in text.aside]
    for part, turns in ways:
        lines = build_lines(part, number)
        if lines:
            columns.append(Column(tuple(lines), min(x.x0 for x in lines), max(x.x1 for x in lines), turns))
    return PageLayout(number, text.width, text.height, tuple(columns), text.rules, text.turns, ocr)
