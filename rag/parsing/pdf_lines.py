"""Fragments of one column -> its lines, top to bottom, with sub- and superscripts written in one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from rag.parsing.glyphs import lowered, raised
from rag.parsing.layout import Cell, Fragment, Line, Piece, union

_SCRIPT = 0.85
_BIG_OPERATORS = frozenset("∑∏∐∫∬∭∮⋃⋂⋁⋀→⟶⇒⟹=−↔⇔")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_LETTER = re.compile(r"[^\W\d_]")
_VECTOR = re.compile("\u20d7\\s?([^\\W\\d_])")
_RELATION = re.compile(r"\s*([−=]?[=≤≥≈≠∈∉⊂⊃⇒⟹]+)\s*")
_COMBINING = dict(zip("´`¨ˆ˜¸ˇ˘˚˝", "\u0301\u0300\u0308\u0302\u0303\u0327\u030c\u0306\u030a\u030b", strict=True))
_ACCENT = re.compile(r"([´`¨ˆ˜¸ˇ˘˚˝])\s?([A-Za-zı])")
_INNER_SOFT_HYPHEN = re.compile("\u00ad(?=\\w)")
_SPACE_RUN = re.compile(r"\s+")
_WIDE_GAP = 1.0
_LONGEST_MARK = 3


def build_lines(fragments: Sequence[Fragment], page: int) -> list[Line]:
    """Return the lines that fragments of one column make. Drawing order keeps a formula together."""
    groups: list[list[Fragment]] = []
    for fragment in fragments:
        if groups and _continues(groups[-1], fragment):
            groups[-1].append(fragment)
        else:
            groups.append([fragment])
    groups = _same_row([part for group in groups for part in _marks_apart(group)])
    lines = [_line(group, page) for group in groups]
    return sorted((line for line in lines if line.text), key=lambda line: (round(line.base), line.x0))


def inline_text(fragments: Sequence[Fragment]) -> str:
    """Return the text of fragments that make one line or one part of a formula."""
    return " ".join(cell.text for cell in _cells(fragments))


def _continues(group: list[Fragment], new: Fragment) -> bool:
    """Tell whether a fragment goes on the line: on its baseline, or as a script, limit or part of a formula."""
    recent, last = group[-4:], group[-1]
    size = max(new.size, *(f.size for f in recent))
    level = [f for f in recent if abs(f.base - new.base) < 0.12 * size]
    if level:
        return new.bbox[0] >= max(f.bbox[2] for f in (*level, last)) - size
    if new.bbox[0] < last.bbox[0] - 2 * size or new.bbox[0] > max(f.bbox[2] for f in group) + 2.5 * size:
        return False
    full = [f for f in recent if f.size >= _SCRIPT * size]
    shift = min(abs(f.base - new.base) for f in full or recent)
    if not full:
        return shift <= 1.35 * size
    if new.size < _SCRIPT * size:
        is_limit = any(p.math for f in (*recent, new) for p in f.pieces)
        return shift <= 1.35 * size and (is_limit or new.bbox[0] >= last.bbox[2] - 0.3 * size)
    both_math = any(p.math for p in new.pieces) and any(p.math for f in recent for p in f.pieces)
    after_limit = last.size < _SCRIPT * size and both_math
    ahead = new.bbox[0] >= last.bbox[0] + (-1.2 if after_limit else 0.2) * size
    return shift <= (0.95 if both_math else 0.3) * size and ahead


def _marks_apart(group: list[Fragment]) -> list[list[Fragment]]:
    """Part a row of notes' marks, each of which belongs to a word of the line below them."""
    short = all(sum(_LONGEST_MARK * p.math + len(p.text.strip()) for p in f.pieces) <= _LONGEST_MARK for f in group)
    apart = all(b.bbox[0] - a.bbox[2] > _WIDE_GAP * b.size for a, b in pairwise(group))
    return [[f] for f in group] if short and apart else [group]


def _same_row(groups: list[list[Fragment]]) -> list[list[Fragment]]:
    """Join groups that stand beside each other on one baseline."""
    rows: list[list[Fragment]] = []
    by_base: dict[int, list[list[Fragment]]] = {}
    for group in groups:
        main = _main(group)
        box = union(f.bbox for f in group)
        key = round(main.base / 2)
        for row in (row for k in (key, key - 1, key + 1, key + 2) for row in by_base.get(k, [])):
            other = _main(row)
            beside = all(box[0] >= f.bbox[2] - 1 or box[2] <= f.bbox[0] + 1 for f in row)
            if beside and (
                abs(other.base - main.base) <= 0.3 * min(main.size, other.size) or _is_mark(group, row, other)
            ):
                if box[0] < row[0].bbox[0] or box[0] < row[-1].bbox[0]:
                    merged = _by_groups(row, group)
                    row.clear()
                    row.extend(merged)
                else:
                    row.extend(group)
                break
        else:
            row = list(group)
            rows.append(row)
            by_base.setdefault(key, []).append(row)
    return rows


def _is_mark(group: list[Fragment], row: list[Fragment], main: Fragment) -> bool:
    """Tell whether a group is a raised mark that touches the end of a part of the row."""
    raised = main.base - group[0].base
    return (
        len(group) == 1
        and group[0].size < _SCRIPT * main.size
        and 0.15 * main.size < raised <= 0.6 * main.size
        and any(-1 <= group[0].bbox[0] - f.bbox[2] < 0.35 * main.size for f in row)
    )


def _by_groups(row: list[Fragment], group: list[Fragment]) -> list[Fragment]:
    """Insert a group into a row where it belongs from left to right."""
    at = next(
        (i for i, f in enumerate(row) if f.bbox[0] >= group[0].bbox[0] and f.size >= _SCRIPT * _main(row).size),
        len(row),
    )
    return [*row[:at], *group, *row[at:]]


def _main(group: Sequence[Fragment]) -> Fragment:
    """The fragment whose baseline is the line's: of its full-sized ones, the first baseline that carries most text."""
    size = max(f.size for f in group)
    weight: dict[int, float] = {}
    full = [f for f in group if f.size >= _SCRIPT * size]
    for f in full:
        weight[round(f.base)] = weight.get(round(f.base), 0) + f.width
    return max(full, key=lambda f: weight[round(f.base)])


def _line(group: list[Fragment], page: int) -> Line:
    main = _main(group)
    cells = _cells(group)
    pieces = [piece for f in group for piece in f.pieces if piece.text.strip()]
    letters = [p for p in pieces if _LETTER.search(p.text)]
    count = sum(len(p.text) for p in pieces) or 1
    if any(p.math for p in pieces):
        cells = [Cell(_RELATION.sub(r" \1 ", cell.text).strip(), cell.x0, cell.x1) for cell in cells]
    text = " ".join(cell.text for cell in cells).strip()
    return Line(
        text=text,
        bbox=union(f.bbox for f in group),
        base=main.base,
        size=main.size,
        page=page,
        cells=tuple(cells),
        bold=bool(letters) and all(p.bold for p in letters if not p.math) and any(p.bold for p in letters),
        italic=bool(letters) and all(p.italic for p in letters),
        mono=sum(len(p.text) for p in pieces if p.mono) > 0.8 * count,
        math=sum(len(p.text) for p in pieces if p.math) / count,
        lead=_lead(pieces),
    )


def _lead(pieces: list[Piece]) -> str:
    """Return the bold words with which a line begins before it goes on plain."""
    end = next((i for i, p in enumerate(pieces) if not p.bold or p.math), len(pieces))
    return _tidy("".join(p.text for p in pieces[:end])) if 0 < end < len(pieces) else ""


def _cells(fragments: Sequence[Fragment]) -> list[Cell]:
    main = _main(fragments)
    cells: list[Cell] = []
    text, x0, x1 = "", 0.0, 0.0
    after_fraction = False
    for fragment in _limits_after_operators(list(fragments), main.size):
        written = _written(fragment, main, text)
        gap = fragment.bbox[0] - x1
        if not text:
            text, x0 = written, fragment.bbox[0]
        elif gap > _WIDE_GAP * main.size:
            cells.append(Cell(_tidy(text), x0, x1))
            text, x0 = written, fragment.bbox[0]
        else:
            apart = after_fraction and written[:1] not in ")],.;:!"
            text += (" " if apart or _spaced(text, written, gap, fragment, main) else "") + written
        after_fraction = fragment.is_fraction
        x1 = max(x1, fragment.bbox[2]) if x0 != fragment.bbox[0] else fragment.bbox[2]
    if text.strip():
        cells.append(Cell(_tidy(text), x0, x1))
    return cells


def _spaced(text: str, written: str, gap: float, fragment: Fragment, main: Fragment) -> bool:
    if text[-1:].isspace() or written[:1].isspace():
        return False
    if fragment.is_fraction and text[-1:] not in "([":
        return True
    if fragment.size < _SCRIPT * main.size and fragment.base != main.base:
        return False
    if _parts_scripts(text[-1:], written[:1], fragment.pieces[0].math):
        return True
    return gap > 0.16 * main.size


def _parts_scripts(before: str, after: str, math: bool) -> bool:
    """A formula's letter parts from the Cyrillic word beside it."""
    if _CYRILLIC.match(after) and not math:
        return bool(_LETTER.match(before)) and not _CYRILLIC.match(before)
    return math and bool(_CYRILLIC.match(before)) and bool(_LETTER.match(after)) and not _CYRILLIC.match(after)


def _written(fragment: Fragment, main: Fragment, before: str) -> str:
    text = ""
    for piece in fragment.pieces:
        between = " " if text and _parts_scripts(text[-1:], piece.text[:1], piece.math) else ""
        dash = " " if text and piece.text[:1] in "–—" and not text[-1:].isspace() and not piece.math else ""
        text += (between or dash) + piece.text
    if not before and abs(fragment.base - main.base) >= 0.12 * main.size and text.strip().isdigit():
        return raised(text, formula=False) if fragment.base < main.base else text
    if fragment.is_fraction and abs(fragment.base - main.base) < 0.35 * main.size:
        return text
    if not before or fragment.size >= _SCRIPT * main.size or abs(fragment.base - main.base) < 0.12 * main.size:
        return text
    formula = any(p.math for p in fragment.pieces) or (bool(before) and before[-1] in "∑∏∫⋃⋂)]")
    return raised(text, formula=formula) if fragment.base < main.base else lowered(text, formula=formula)


def _limits_after_operators(fragments: list[Fragment], size: float) -> list[Fragment]:
    """A limit drawn over an operator before the operator itself is written after it."""
    for i in range(len(fragments) - 1):
        small, operator = fragments[i], fragments[i + 1]
        if small.size >= _SCRIPT * size or operator.size < _SCRIPT * size:
            continue
        middle = (small.bbox[0] + small.bbox[2]) / 2
        sign = operator.pieces[0].text.strip()[:1]
        if (
            sign in _BIG_OPERATORS
            and operator.bbox[0] - 2 <= middle <= operator.bbox[2] + 2
            and operator.width < 3 * size
        ):
            fragments[i], fragments[i + 1] = operator, small
    return fragments


def _tidy(text: str) -> str:
    text = _ACCENT.sub(_accented, _INNER_SOFT_HYPHEN.sub("", text))
    return _SPACE_RUN.sub(" ", _VECTOR.sub("\\1\u20d7", text)).strip()


def _accented(match: re.Match[str]) -> str:
    """An accent drawn before its letter becomes part of it, where the two make one character."""
    letter = match.group(2).replace("ı", "i")
    made = unicodedata.normalize("NFC", letter + _COMBINING[match.group(1)])
    return made if len(made) == 1 else match.group()
