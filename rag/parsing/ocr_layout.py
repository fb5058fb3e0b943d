"""Recognised words -> fragments of lines, cleaned by their geometry, so that a scan is read like any other page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rag.parsing.glyphs import clean
from rag.parsing.layout import Fragment, Piece, union
from rag.parsing.ocr import Word

_SPECK = 3  # shorter stretches far from the text's left side are specks
_FAR = 2.5  # in line heights
_SURE = 75.0
_LARGE = 1.4


def fragments_of(
    words: Sequence[Word], scale: float, *, join_lines: bool = True, drop_specks: bool = True
) -> list[Fragment]:
    """Return the text of a page as fragments; places are divided by `scale` (pixels a point)."""
    lines: dict[tuple[int, int, int], list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    rows = list(lines.values())
    if not rows:
        return []
    height = median(word.y1 - word.y0 for word in words)
    if drop_specks:
        rows = _without_specks(rows, height)
    if join_lines:
        rows = _joined(rows, height)
    body = median(_size(row) for row in rows) if rows else height
    return [fragment for row in rows for fragment in _fragments(row, scale, body)]


def _without_specks(rows: list[list[Word]], height: float) -> list[list[Word]]:
    """Drop stretches of one or two characters that stand far left or right of where lines begin, and doubtful ones."""
    starts = [row[0].x0 for row in rows if sum(len(word.text) for word in row) >= 10]
    if not starts:
        return rows
    left, right = median(starts), max(row[-1].x1 for row in rows if sum(len(word.text) for word in row) >= 10)
    kept = []
    for row in rows:
        text = "".join(word.text for word in row)
        far = row[0].x0 < left - _FAR * height or row[0].x0 > right
        doubtful = median(word.confidence for word in row) < _SURE
        marks = not any(ch.isalnum() for ch in text)
        tall = max(word.y1 - word.y0 for word in row) > 3 * height or max(word.y1 - word.y0 for word in row) < 0.25 * height
        if (len(text) < _SPECK and (doubtful or far)) or (marks and doubtful) or (tall and doubtful):
            continue
        kept.append(row)
    return kept


def _joined(rows: list[list[Word]], height: float) -> list[list[Word]]:
    """Join stretches that stand on one physical line beside each other, however Tesseract grouped them."""
    joined: list[list[Word]] = []
    for row in sorted(rows, key=lambda row: (_base(row), row[0].x0)):
        near = [
            other for other in joined[-6:]
            if abs(_base(other) - _base(row)) < 0.4 * height
            and (0 <= row[0].x0 - other[-1].x1 < 1.5 * height or 0 <= other[0].x0 - row[-1].x1 < 1.5 * height)
        ]
        if near:
            near[0].extend(row)
            near[0].sort(key=lambda word: word.x0)
        else:
            joined.append(list(row))
    return joined


def _base(row: Sequence[Word]) -> float:
    return median(word.y1 for word in row)


def _size(row: Sequence[Word]) -> float:
    return max(median(word.y1 - word.y0 for word in row), 1.0)


def _fragments(row: Sequence[Word], scale: float, body: float) -> list[Fragment]:
    """Part a line at wide gaps. Sizes are the page's usual one but for lines that are clearly larger."""
    own = _size(row)
    size = (own if own > _LARGE * body else body) / scale * 1.25
    base = _base(row) / scale
    groups: list[list[Word]] = []
    for word in row:
        if groups and word.x0 - groups[-1][-1].x1 < 1.6 * body:
            groups[-1].append(word)
        else:
            groups.append([word])
    made = []
    for group in groups:
        box = union((word.x0 / scale, word.y0 / scale, word.x1 / scale, word.y1 / scale) for word in group)
        text = clean(" ".join(word.text for word in group), "")
        if text.strip():
            made.append(Fragment((Piece(text, box, base, size),), box, base, size))
    return made
