"""Text from files as HTML that shows it to the letter: nothing in it is markup, a link, a picture or a formula."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from html import escape
from itertools import groupby, pairwise

_WORD = re.compile(r"\w+(?:[-’'._]\w+)*")
_INNER = re.compile(r"\w+")
_GAP = re.compile(r"\n{2,}")
_CELL = re.compile(r" \| ")
_FUNCTION_TEXT = """
что как где когда какой какая какие какое каков какова каковы кто чем чему чего почему зачем сколько который которая
которые это эта эти для или при без под над между чтобы если так также его её ее она они оно мне нас вам был была
было были быть есть такое такой такая такие себя этот того этого всех все еще ещё про из-за
the and for with from that this what which who whom whose when where why how are was were does did has have had
not but its his her their our your into onto than then them they you can could would should about between
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
_LEAD = 160
_WINDOW = 320

Span = tuple[int, int]


@lru_cache(maxsize=20_000)
def _stems(word: str) -> frozenset[str]:
    from rag.retrieval.words import tokens

    return frozenset(tokens(word))


def stems(question: str) -> frozenset[str]:
    """Return what a question's words are matched by; function words are left out, unless all are such."""
    words = _WORD.findall(question)
    telling = [w for w in words if w.casefold() not in _FUNCTION_WORDS and (len(w) > 2 or not w.islower())]
    return frozenset().union(*(_stems(word) for word in telling or words))


def matches(text: str, wanted: Collection[str]) -> list[Span]:
    """Return where words of the text stand that share a stem with `wanted`."""
    return list(_matches(text, frozenset(wanted))) if wanted else []


def _matches(text: str, wanted: frozenset[str]) -> Iterator[Span]:
    for whole in _WORD.finditer(text):
        if wanted.isdisjoint(_stems(whole.group())):
            continue
        parts = [m.span() for m in _INNER.finditer(text, *whole.span()) if not wanted.isdisjoint(_stems(m.group()))]
        yield from parts if 0 < len(parts) < len(_INNER.findall(whole.group())) else [whole.span()]


def marked(text: str, spans: Sequence[Span], quoted: Sequence[Span] = ()) -> str:
    """Return the text as HTML, with the spans in <mark> and the quoted stretches set apart."""
    edges = sorted({0, len(text), *(edge for span in [*spans, *quoted] for edge in span)})
    pieces = []
    for start, end in pairwise(edges):
        piece = _GAP.sub(r'<span class="k-gap">\g<0></span>', escape(text[start:end]))
        if any(a <= start < b for a, b in spans):
            piece = f"<mark>{piece}</mark>"
        if any(a <= start < b for a, b in quoted):
            piece = f'<span class="k-quoted">{piece}</span>'
        pieces.append(piece)
    return "".join(pieces)


def passage_html(text: str, wanted: Collection[str] = (), quoted: Sequence[Span] = (), fold: bool = True) -> str:
    """Return a passage as HTML: lines as they are, rows of cells as a table, words that match in <mark>.

    With `fold` a long passage opens at what was quoted, or at the lines that match best.
    """
    spans = matches(text, wanted)
    start = _best_start(text, spans, quoted) if fold else 0
    parts = []
    if start:
        parts.append(
            f'<span class="k-lead">{_lines(text, 0, start, spans, quoted)}</span><span class="k-cut">… </span>'
        )
    parts.append(_lines(text, start, len(text), spans, quoted))
    return f'<div class="k-text">{"".join(parts)}</div>'


def is_long(text: str) -> bool:
    """Tell whether a folded passage hides anything."""
    return len(text) > 2 * _WINDOW or text.count("\n") > 8


def _best_start(text: str, spans: Sequence[Span], quoted: Sequence[Span]) -> int:
    """Return the start of the sentence or line from which what was quoted, or most matching words, come into view."""
    if not is_long(text) or not (spans or quoted):
        return 0
    starts = [0, *(m.end() for m in re.finditer(r"(?<=[.!?…])\s+|\n+", text))]
    if quoted:
        first = min(start for start, _end in quoted)
        best = max(start for start in starts if start <= first)
    else:

        def words_in_view(start: int) -> tuple[int, int]:
            return len({text[a:b].casefold() for a, b in spans if start <= a and b <= start + _WINDOW}), -start

        best = max(starts, key=words_in_view)
    return best if best > _LEAD else 0


def _within(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    return [(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and start < b]


def _lines(text: str, start: int, end: int, spans: Sequence[Span], quoted: Sequence[Span]) -> str:
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*(?:\n|$)", text[start:end]) if m.group()]
    parts: list[str] = []
    for cells, group in groupby(lines, key=lambda line: len(_CELL.findall(text, start + line[0], start + line[1]))):
        block = [(start + a, start + b) for a, b in group]
        if cells and len(block) > 1:
            rows = "".join(f"<tr>{_row(text, a, b, spans, quoted)}</tr>" for a, b in block)
            parts.append(f'<div class="k-table"><table>{rows}</table></div>')
        else:
            a, b = block[0][0], block[-1][1]
            parts.append(marked(text[a:b], _within(spans, a, b), _within(quoted, a, b)))
    return "".join(parts)


def _row(text: str, start: int, end: int, spans: Sequence[Span], quoted: Sequence[Span]) -> str:
    end -= text[start:end].endswith("\n")
    edges = [start, *(x for m in _CELL.finditer(text, start, end) for x in m.span()), end]
    cells = zip(edges[::2], edges[1::2], strict=True)
    return "".join(f"<td>{marked(text[a:b], _within(spans, a, b), _within(quoted, a, b))}</td>" for a, b in cells)
