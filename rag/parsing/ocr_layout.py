"""Recognised words -> fragments of lines, cleaned by their geometry, so that a scan is read like any other page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rag.parsing.glyphs import clean
from rag.parsing.layout import Fragment, Piece, union
from rag.parsing.ocr import Word
from rag.parsing.ocr_scripts import in_one_script

_SPECK = 3  # shorter stretches far from the text's left side are specks
_FAR = 2.5  # in line heights
_SURE = 75.0
_LIKELY = 60.0
_LARGE = 1.4


def fragments_of(
    words: Sequence[Word], scale: float, *, drop_specks: bool = True, one_script: bool = True
) -> list[Fragment]:
    """Return the text of a page as fragments; places are divided by `scale` (pixels a point).

    Stretches of one physical line that Tesseract reads apart are joined later, as those of any page: by `build_lines`.
    """
    lines: dict[tuple[int, int, int], list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    rows = list(lines.values())
    if not rows:
        return []
    height = median(word.y1 - word.y0 for word in words)
    if drop_specks:
        rows = _without_specks(rows, height)
    body = median(_size(row) for row in rows) if rows else height
    if one_script:
        rows = [in_one_script(row) for row in rows]
    return [fragment for row in rows for fragment in _fragments(row, scale, body)]


def _without_specks(rows: list[list[Word]], height: float) -> list[list[Word]]:
    """Drop what is no text: doubtful words of one or two characters, and stretches of nothing longer that are doubtful
    or stand far from where lines begin; marks much taller or flatter than letters."""
    starts = [row[0].x0 for row in rows if _characters(row) >= 10]
    ends = [row[-1].x1 for row in rows if _characters(row) >= 10]
    if not starts:
        return rows
    left, right = median(starts) - _FAR * height, max(ends)
    kept = []
    for row in ([word for word in row if not _is_speck(word, height)] for row in rows):
        if not row:
            continue
        short = max(len(word.text) for word in row) < _SPECK
        doubtful = median(word.confidence for word in row) < _SURE
        if not (short and (doubtful or row[0].x0 < left or row[0].x0 > right)):
            kept.append(row)
    return kept


def _is_speck(word: Word, height: float) -> bool:
    tall = word.y1 - word.y0
    if word.confidence < _SURE and not 0.2 * height < tall < 3 * height:
        return True
    return word.confidence < _LIKELY and (len(word.text) < _SPECK or len(set(word.text.casefold())) == 1)


def _characters(row: Sequence[Word]) -> int:
    return sum(len(word.text) for word in row)


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
