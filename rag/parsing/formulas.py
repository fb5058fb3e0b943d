"""Formulas in one line: stacked fractions, roots and overlines, told from the rules drawn for them.

Only what is drawn is written: without its bar a fraction stays two stretches of text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag.parsing.layout import Fragment, Piece, Rule, union
from rag.parsing.pdf_lines import inline_text
from rag.types import BBox

_BARE = re.compile(r"[−-]?[^\s()+−·=<>/,|-]+|[^\W\d_][^\s()+−·=/]*\([^()]*\)")
_WORD = re.compile(r"[^\W\d_]{3}")
_COLUMN = re.compile(r"^(19|20)\d\d$|[$€£¥₽]")  # under an underlined name of columns
_OVERLINE = "\u0305"
_LONGEST_BAR = 0.6
_MOST_BARS = 400


def with_formulas(fragments: Sequence[Fragment], rules: Sequence[Rule], width: float) -> list[Fragment]:
    """Return the fragments, those over and under a fraction's bar made one, roots and overlines written out.

    `width` is the page's; longer rules than 60 % of it are borders.
    """
    bars = sorted((r for r in rules if r.horizontal and r.length <= _LONGEST_BAR * width), key=lambda r: r.length)
    if not bars or not fragments or len(bars) > _MOST_BARS:
        return list(fragments)
    result = [_root_at_its_bar(fragment, bars) for fragment in fragments]
    near = _Near(result, bars)
    for k, bar in enumerate(bars):
        if _as_fraction(result, near.beside(k), bar):
            near = _Near(result, bars)
        else:
            _as_overline(result, near.across(k), bar)
    return result


class _Near:
    """Which fragments stand at which bars: compared all with all at once, as a page may have hundreds of both."""

    def __init__(self, fragments: Sequence[Fragment], bars: Sequence[Rule]) -> None:
        x0, y0, x1, y1, base, size = np.array([(*f.bbox, f.base, f.size) for f in fragments]).T
        left, top, right, bottom = np.array([(b.x0, b.y0, b.x1, b.y1) for b in bars]).T[:, :, None]
        height = base - bottom
        self._beside = (left - 2 <= x0) & (x1 <= right + 2) & (np.abs((y0 + y1) / 2 - top) < 3 * size)
        self._across = (x0 - 2 <= left) & (right <= x1 + 2) & (0.45 * size <= height) & (height <= 1.25 * size)

    def beside(self, bar: int) -> list[int]:
        """Return the fragments within a bar's ends that may be parts of its fraction."""
        found: list[int] = np.flatnonzero(self._beside[bar]).tolist()
        return found

    def across(self, bar: int) -> list[int]:
        """Return the fragments a bar may be drawn over."""
        found: list[int] = np.flatnonzero(self._across[bar]).tolist()
        return found


def _root_at_its_bar(fragment: Fragment, bars: Sequence[Rule]) -> Fragment:
    """A root's sign hangs from a place that differs by font; its bar tells where it stands."""
    if fragment.pieces[-1].text.strip() != "√" or len(fragment.pieces) > 1:
        return fragment
    x0, y0, x1, y1 = fragment.bbox
    size = fragment.size
    near = [b for b in bars if abs(b.x0 - x1) < 3 and y0 - 0.5 * size < b.y0 < y1 + 1.2 * size]
    if not near:
        return fragment
    top = min(near, key=lambda b: abs(b.y0 - y0)).y0
    return Fragment(fragment.pieces, (x0, top, x1, top + 1.1 * size), top + 0.8 * size, size)


def _as_fraction(fragments: list[Fragment], inside: list[int], bar: Rule) -> bool:
    """Replace the parts of one fraction in place; tell whether there was one."""
    over = _nearest([i for i in inside if _middle(fragments[i]) < bar.y0], fragments, bar, -1)
    under = _nearest([i for i in inside if _middle(fragments[i]) > bar.y0], fragments, bar, 1)
    if not over or not under or not _fits(over, under, fragments, bar):
        return False
    parts = sorted(over + under)
    size = max(fragments[i].size for i in parts)
    text = "/".join(_bracketed(inline_text([fragments[i] for i in side])) for side in (over, under))
    box = union(fragments[i].bbox for i in parts)
    base = (bar.y0 + bar.y1) / 2 + 0.25 * size
    first = parts[0]
    fragments[first] = Fragment((Piece(text, box, base, size, math=True),), box, base, size)
    for i in reversed(parts[1:]):
        del fragments[i]
    return True


def _nearest(found: list[int], fragments: list[Fragment], bar: Rule, side: int) -> list[int]:
    """Keep the row of fragments that touches the bar from one side."""
    if not found:
        return []
    row = min(found, key=lambda i: abs(_middle(fragments[i]) - bar.y0))
    _, top, _, bottom = fragments[row].bbox
    gap = (bar.y0 - bottom) if side < 0 else (top - bar.y1)
    if gap > 0.9 * fragments[row].size:
        return []
    size = max(fragments[i].size for i in found)
    return [
        i
        for i in found
        if _shared(fragments[i].bbox, (top, bottom)) >= (0.5 if fragments[i].size > 0.85 * size else 0.2)
    ]


def _shared(box: BBox, band: tuple[float, float]) -> float:
    """The overlap of two heights, as a share of the smaller."""
    overlap = min(box[3], band[1]) - max(box[1], band[0])
    return overlap / max(min(box[3] - box[1], band[1] - band[0]), 0.1)


def _fits(over: list[int], under: list[int], fragments: list[Fragment], bar: Rule) -> bool:
    """A fraction's bar is as long as its longer part, both stand in its middle, and it keeps off their feet."""
    above, below = (union(fragments[i].bbox for i in side) for side in (over, under))
    size = max(fragments[i].size for i in over + under)
    longest = max(above[2] - above[0], below[2] - below[0])
    middle = (bar.x0 + bar.x1) / 2
    above_bar = (bar.y0 + bar.y1) / 2 - max(fragments[i].base for i in over)
    return (
        abs(bar.length - longest) <= 0.4 * size
        and all(abs((box[0] + box[2]) / 2 - middle) <= 0.3 * size for box in (above, below))
        and above_bar >= 0.12 * size
        and not (_is_prose(over, fragments) and _is_prose(under, fragments) and above_bar < 0.25 * size)
        and not (_is_prose(over, fragments) and _COLUMN.search(inline_text([fragments[i] for i in under])))
        and max(over + under) - min(over + under) <= 3 * (len(over) + len(under)) + 4
    )


def _is_prose(side: list[int], fragments: list[Fragment]) -> bool:
    return any(_WORD.search(piece.text) for i in side for piece in fragments[i].pieces if not piece.math)


def _as_overline(fragments: list[Fragment], under: list[int], bar: Rule) -> None:
    for i in under:
        fragment = fragments[i]
        for k, piece in enumerate(fragment.pieces):
            marked = _overlined(piece, bar, fragment.pieces[k - 1].text if k else _text_before(fragments, i))
            if marked:
                pieces = (*fragment.pieces[:k], marked, *fragment.pieces[k + 1 :])
                fragments[i] = Fragment(pieces, fragment.bbox, fragment.base, fragment.size)
                return


def _text_before(fragments: list[Fragment], i: int) -> str:
    return fragments[i - 1].pieces[-1].text if i else ""


def _overlined(piece: Piece, bar: Rule, before: str) -> Piece | None:
    """Return the piece with what lies under the bar marked, if the bar begins and ends between its characters."""
    if not piece.math:
        return None
    text = piece.text
    step = (piece.bbox[2] - piece.bbox[0]) / max(len(text), 1)
    start, end = ((x - piece.bbox[0]) / step if step else 0.0 for x in (bar.x0, bar.x1))
    a, b = round(start), round(end)
    if not 0 <= a < b <= len(text) or max(abs(start - a), abs(end - b)) * step > 2.2:
        return None
    under = text[a:b]
    if before.rstrip().endswith("√") and a == 0:
        written = under if _BARE.fullmatch(under.strip()) else f"({under.strip()})"
    elif any(ch.isalpha() for ch in under) and b - a <= 12:
        written = "".join(ch + _OVERLINE if ch.isalnum() else ch for ch in under)
    else:
        return None
    return Piece(
        text[:a] + written + text[b:],
        piece.bbox,
        piece.base,
        piece.size,
        piece.bold,
        piece.italic,
        piece.mono,
        piece.math,
    )


def _middle(fragment: Fragment) -> float:
    return (fragment.bbox[1] + fragment.bbox[3]) / 2


def _bracketed(text: str) -> str:
    return text if _BARE.fullmatch(text) else f"({text})"
