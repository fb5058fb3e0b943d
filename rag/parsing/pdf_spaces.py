"""Spaces that a PDF does not hold, which its reader puts where letters stand apart: some are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rag.parsing.layout import Fragment, Rule

_PUT_IN = 512  # of a span's `char_flags`: its characters are not in the file
_LEAST_STEPS = 4
_LEAST_OF_EACH = 2  # narrow letters with room on both sides, and stretches of several letters
_SAME_STEP = 0.005  # of the step
_WORD_GAP = 0.9  # of the step: no space of a file is wider
_THICKEST = 1.2
_LONGEST = 10.0
_TOUCH = 1.2
_MOST_STROKES = 400


def with_true_spaces(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line's spans without spaces put in between letters that all stand at one distance: some programs set
    them so, which leaves room beside narrow ones."""
    if len(spans) <= _LEAST_STEPS or not any(_is_put_in(span) for span in spans):
        return spans
    drawn = [span for span in spans if not _is_put_in(span)]
    if len({(span["font"], span["size"]) for span in drawn}) > 1:
        return spans
    lengths = [(span["text"], after["origin"][0] - span["origin"][0]) for span, after in pairwise(drawn)]
    steps = [(text, length / len(text)) for text, length in lengths if text and " " not in text]
    step = min((width for _, width in steps), default=0.0)
    even = [text for text, width in steps if width <= (1 + _SAME_STEP) * step]
    narrow = sum(len(text) == 1 and text.isalpha() for text in even)
    if len(even) < _LEAST_STEPS or min(narrow, len(even) - narrow) < _LEAST_OF_EACH or step <= 0:
        return spans
    rest = {
        id(span): length - step * len(text.replace(" ", ""))
        for span, (text, length) in zip(drawn, lengths, strict=False)
    }
    return [
        span
        for before, span in zip([None, *spans], spans, strict=False)
        if not (_is_put_in(span) and before and _is_within_word(before, rest.get(id(before), step), step))
    ]


def _is_within_word(before: dict[str, Any], rest: float, step: float) -> bool:
    """Tell whether the letters before a put-in space, and the spaces among them, reach to what follows it."""
    spaces: int = before["text"].count(" ")
    return rest <= _WORD_GAP * step * spaces + 0.1


def _is_put_in(span: dict[str, Any]) -> bool:
    return bool(span.get("char_flags", 0) & _PUT_IN) and span["text"] == " "


def with_underscores(fragments: list[Fragment], rules: Sequence[Rule]) -> list[Fragment]:
    """Write the underscores that TeX draws as strokes between two fragments, as in "pg_dump"."""
    strokes = [r for r in rules if r.horizontal and r.y1 - r.y0 <= _THICKEST and 1.5 <= r.length <= _LONGEST]
    if not strokes or len(strokes) > _MOST_STROKES:
        return fragments
    for stroke in strokes:
        before = [i for i, f in enumerate(fragments) if abs(f.bbox[2] - stroke.x0) <= _TOUCH and _at_foot(f, stroke)]
        after = any(abs(f.bbox[0] - stroke.x1) <= _TOUCH and _at_foot(f, stroke) for f in fragments)
        if before and after:
            fragments[before[0]] = _lengthened(fragments[before[0]], stroke)
    return fragments


def _at_foot(fragment: Fragment, stroke: Rule) -> bool:
    below = (stroke.y0 + stroke.y1) / 2 - fragment.base
    if any(piece.math for piece in fragment.pieces):
        return False
    return -0.15 * fragment.size <= below <= 0.25 * fragment.size


def _lengthened(fragment: Fragment, stroke: Rule) -> Fragment:
    x0, y0, _, y1 = fragment.bbox
    *pieces, last = fragment.pieces
    end = replace(last, text=last.text + "_", bbox=(last.bbox[0], last.bbox[1], stroke.x1, last.bbox[3]))
    return replace(fragment, pieces=(*pieces, end), bbox=(x0, y0, stroke.x1, y1))
