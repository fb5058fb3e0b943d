"""A scanned page's picture made ready for OCR: set straight and evenly lit.

It stays grey: Tesseract parts ink from paper itself and reads edges better in grey than in black and white.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Grey = npt.NDArray[np.uint8]
_STEEPEST = 6.0
_LEAST_TURN = 0.2
_EVEN = 0.85


def prepared(picture: Grey, *, even: bool = True) -> tuple[Grey, float]:
    """Return a grey picture (height, width) set straight and evenly lit, and the degrees it was turned by."""
    angle = skew(picture)
    if abs(angle) >= _LEAST_TURN:
        picture = _turned(picture, angle)
    else:
        angle = 0.0
    return (evenly_lit(picture) if even else picture), angle


def otsu(picture: Grey) -> int:
    """Return the grey level that parts ink from paper best: N. Otsu, A threshold selection method from gray-level
    histograms, 1979."""
    counts = np.bincount(picture.ravel(), minlength=256).astype(np.float64)
    below = np.cumsum(counts)
    above = below[-1] - below
    sums = np.cumsum(counts * np.arange(256))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    return int(np.nanargmax(np.where(np.isfinite(between), between, 0.0)))


def evenly_lit(picture: Grey) -> Grey:
    """Divide a picture by its paper, the brightest tone around each place, smoothed; one evenly lit stays as it is."""
    from PIL import Image, ImageFilter

    height, width = picture.shape
    small = Image.fromarray(picture).resize((max(width // 8, 1), max(height // 8, 1)), Image.Resampling.BOX)
    paper = small.filter(ImageFilter.MaxFilter(9)).filter(ImageFilter.GaussianBlur(6))
    dark, bright = np.percentile(np.asarray(paper), (5, 95))
    if dark > _EVEN * bright:
        return picture
    shade = np.maximum(np.asarray(paper.resize((width, height)), dtype=np.float32), 1.0)
    return np.clip(picture / shade * 255.0, 0, 255).astype(np.uint8)


def skew(picture: Grey) -> float:
    """Return the degrees (counter-clockwise) by which turning the picture sets its lines level, within 6 degrees.

    Level lines of text make the sums of ink over rows differ most.
    """
    step = max(1, picture.shape[1] // 800)
    small = picture[::step, ::step]
    ink = (small < otsu(small)).astype(np.uint8) * 255
    if not ink.any():
        return 0.0
    coarse = max(np.arange(-_STEEPEST, _STEEPEST + 0.1, 0.5), key=lambda a: _evenness(ink, a))
    return float(max(np.arange(coarse - 0.4, coarse + 0.41, 0.1), key=lambda a: _evenness(ink, a)))


def is_sideways(picture: Grey) -> bool:
    """Tell whether lines of text run up or down the picture: then ink differs more between columns than rows."""
    step = max(1, max(picture.shape) // 1000)
    small = evenly_lit(picture)[::step, ::step]
    ink = (small < otsu(small)).astype(np.float32)
    rows, columns = ink.mean(axis=1), ink.mean(axis=0)
    return float(np.square(np.diff(columns)).mean()) > 1.5 * float(np.square(np.diff(rows)).mean())


def _evenness(ink: Grey, angle: float) -> float:
    from PIL import Image

    turned = np.asarray(Image.fromarray(ink).rotate(float(angle), fillcolor=0), dtype=np.float32)
    rows = turned.sum(axis=1)
    return float(np.square(np.diff(rows)).sum())


def _turned(picture: Grey, angle: float) -> Grey:
    from PIL import Image

    result: Any = Image.fromarray(picture).rotate(angle, resample=Image.Resampling.BICUBIC, fillcolor=255)
    return np.asarray(result, dtype=np.uint8)
