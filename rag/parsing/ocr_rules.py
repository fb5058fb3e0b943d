"""Straight lines on a scanned page: found, and taken out of the picture before its letters are read.

Borders of tables, staves of music and lines to write on are read as letters, or hide those that touch them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.parsing.layout import Rule
from rag.parsing.ocr_image import Grey, otsu

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Stave:
    """Where a stave of music stands, and the distance of its lines, in points."""

    x0: float
    y0: float
    x1: float
    y1: float
    step: float


_LEAST_ACROSS = 40.0  # points: longer than any stroke of a letter
_LEAST_DOWN = 22.0  # two rows of a small table
_THICKEST = 2.2  # points
_GAP = 1.5  # points between two parts of one line
_WHOLE = 0.96  # of a line's length is ink; the rest are gaps of a bad print
_MOST_RULES = 1000
_STAVE = 5  # lines
_NARROWEST, _WIDEST = 2.5, 14.0  # points between them
_REACH = 4  # such steps that stems and notes reach over a stave


def without_rules(picture: Grey, scale: float) -> tuple[Grey, tuple[Rule, ...]]:
    """Return a grey picture (height, width) without its straight lines, and those, in points of it (`scale`: pixels a
    point). Where letters cross a line they keep their strokes; what touches a stave of music goes with it."""
    level = otsu(picture)
    ink = _halved(picture < level)
    half = scale / 2
    across, down = _Lines(ink, _LEAST_ACROSS, half), _Lines(ink.T, _LEAST_DOWN, half)
    if not (across.free.any() or down.free.any()):
        return picture, ()
    level_rules = list(across.rules())
    erased = _grown(across.free | down.free.T)
    for stave in staves(level_rules):
        _add_touching(erased, ink, stave, half)
    rules = [*level_rules, *(Rule(r.y0, r.x0, r.y1, r.x1) for r in down.rules())]
    cleaned = picture.copy()
    height, width = (2 * n for n in ink.shape)
    cleaned[:height, :width][np.repeat(np.repeat(erased, 2, axis=0), 2, axis=1)] = _paper(picture, level)
    return cleaned, tuple(rules) if len(rules) <= _MOST_RULES else ()


def staves(rules: Sequence[Rule]) -> list[Stave]:
    """Return the staves of music among level rules: five and more under each other at one distance."""
    found: list[Stave] = []
    waiting = sorted(rules, key=lambda rule: rule.y0)
    while waiting:
        run = [waiting.pop(0)]
        for rule in list(waiting):
            step = rule.y0 - run[-1].y0
            usual = run[1].y0 - run[0].y0 if len(run) > 1 else step
            if step > 1.25 * max(usual, _NARROWEST):
                break
            if _beside(run[0], rule) and _NARROWEST <= step <= _WIDEST and step >= 0.75 * usual:
                run.append(rule)
                waiting.remove(rule)
        if len(run) >= _STAVE:
            step = (run[-1].y0 - run[0].y0) / (len(run) - 1)
            found.append(Stave(min(r.x0 for r in run), run[0].y0, max(r.x1 for r in run), run[-1].y1, step))
    return found


def _beside(a: Rule, b: Rule) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.8 * max(a.length, b.length)


def _add_touching(erased: Mask, ink: Mask, stave: Stave, scale: float) -> None:
    """Mark what is drawn within a stave, and what of it reaches a few steps over or under."""
    step = round(stave.step * scale)
    top, bottom = round(stave.y0 * scale), round(stave.y1 * scale)
    high, low = max(top - _REACH * step, 0), bottom + _REACH * step
    columns = slice(max(round(stave.x0 * scale) - step, 0), round(stave.x1 * scale) + step)
    band = ink[high:low, columns]
    found = np.zeros_like(band)
    found[top - high : bottom - high] = band[top - high : bottom - high]
    for _ in range(_REACH * step):
        found = np.logical_and(_grown(found), band)
    erased[high:low, columns] |= _grown(found)


def _halved(ink: Mask) -> Mask:
    """Return ink at half the size: a pixel is ink where one of its four is."""
    height, width = (n // 2 * 2 for n in ink.shape)
    rows = ink[0:height:2, :width] | ink[1:height:2, :width]
    return rows[:, 0::2] | rows[:, 1::2]


def _paper(picture: Grey, level: int) -> int:
    return round(float(np.median(picture[::8, ::8][picture[::8, ::8] >= level])))


class _Lines:
    """The level lines of a page of ink: stretches of a row that are ink for at least that many points.

    `free` is what of them nothing crosses: no letter's stroke, no note's head.
    """

    def __init__(self, ink: Mask, least: float, scale: float) -> None:
        self._scale = scale
        self._thickest = max(2, round(_THICKEST * scale))
        self._long: Mask = np.logical_and(_runs(ink, round(least * scale), _WHOLE), ink)
        self._least = least
        thick: Mask = _runs(ink.T, self._thickest + 1, 1.0).T if self._long.any() else ink
        self.free: Mask = np.logical_and(self._long, ~thick)

    def rules(self) -> Iterator[Rule]:
        """Join rows of pixels to rules; what is thicker than a line is left out."""
        joined: list[list[int]] = []
        for y in np.flatnonzero(self._long.any(axis=1)).tolist():
            for x0, x1 in _stretches(self._long[y], round(_GAP * self._scale)):
                near = [r for r in joined if y - r[3] <= 2 and x0 <= r[2] and r[0] <= x1]
                if near:
                    near[0][:] = [min(x0, near[0][0]), near[0][1], max(x1, near[0][2]), y]
                else:
                    joined.append([x0, y, x1, y])
        for left, top, right, bottom in joined:
            if right - left >= self._least * self._scale and bottom - top <= self._thickest:
                yield Rule(left / self._scale, top / self._scale, (right + 1) / self._scale, (bottom + 1) / self._scale)


def _runs(ink: Mask, length: int, share: float) -> Mask:
    """Mark the stretches of rows, `length` long, that are ink for that share."""
    height, width = ink.shape
    if width < length:
        return np.zeros_like(ink)
    sums = np.zeros((height, width + 1), np.int32)
    np.cumsum(ink, axis=1, out=sums[:, 1:])
    starts = sums[:, length:] - sums[:, :-length] >= share * length
    steps = np.zeros((height, width + 1), np.int32)
    steps[:, : starts.shape[1]] += starts
    steps[:, length:] -= starts
    return np.cumsum(steps, axis=1)[:, :-1] > 0


def _grown(mask: Mask) -> Mask:
    """Take in the pixel around each: the grey edge of a line."""
    grown = mask.copy()
    grown[1:] |= mask[:-1]
    grown[:-1] |= mask[1:]
    grown[:, 1:] |= mask[:, :-1]
    grown[:, :-1] |= mask[:, 1:]
    return grown


def _stretches(row: Mask, gap: int) -> list[tuple[int, int]]:
    places = np.flatnonzero(row)
    cuts = np.flatnonzero(np.diff(places) > gap)
    firsts, lasts = places[np.concatenate(([0], cuts + 1))], places[np.concatenate((cuts, [len(places) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
