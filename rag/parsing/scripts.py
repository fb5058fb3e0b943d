"""Raised and lowered characters: x with a raised 2 is x² and never x2."""

from __future__ import annotations

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ENDINGS = frozenset({"st", "nd", "rd", "th", "го", "й", "я"})
_MARKS = {"TM": "™", "SM": "℠"}


def raised(text: str) -> str:
    """A superscript: in raised characters where they all exist, else "^" and the text. Marks of notes stay, and endings
    as in "21st"."""
    if text.strip() in _ENDINGS:
        return text.strip()
    return _MARKS.get(text.strip()) or _script(text, _RAISED, "^")


def lowered(text: str) -> str:
    """A subscript, likewise with "_"."""
    return _script(text, _LOWERED, "_")


def _script(text: str, table: dict[int, int], sign: str) -> str:
    words = text.strip()
    if not words or words.startswith("["):
        return text
    if all(ord(char) in table for char in words):
        return words.translate(table)
    if len(words) > 12 or " " in words:
        return text
    return sign + (words if len(words) == 1 else f"({words})")
