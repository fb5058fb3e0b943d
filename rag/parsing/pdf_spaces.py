"""Spaces that a PDF does not hold, which its reader puts where letters stand apart: some are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rag.parsing.layout import Fragment, Rule

_PUT_IN = 512  # of a span's `char_flags`: its characters are not in the file
_LEAST_STEPS = 4
_SAME_STEP = 0.005  # of the step
_LEAST_NARROW = 2  # letters with room on both their sides
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
    steps = [
        (after["origin"][0] - span["origin"][0]) / len(span["text"])
        for span, after in pairwise(drawn)
        if span["text"] and " " not in span["text"]
    ]
    narrow = sum(len(span["text"].strip()) == 1 for span in drawn)
    even = len(steps) >= _LEAST_STEPS and max(steps) - min(steps) <= _SAME_STEP * max(steps)
    return drawn if even and narrow >= _LEAST_NARROW else spans


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
