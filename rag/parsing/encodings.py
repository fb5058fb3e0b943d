"""Bytes to text: which of the encodings of old Russian and western files it is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
CYRILLIC = ("cp1251", "koi8-r", "cp866", "mac-cyrillic")
SAMPLE = 65_536

# Share of each letter in Russian text, in thousandths, rounded; then Ukrainian and Belarusian letters.
_FREQUENCY = {
    "о": 110, "е": 85, "а": 80, "и": 74, "н": 67, "т": 63, "с": 55, "р": 47, "в": 45, "л": 44, "к": 35, "м": 32,
    "д": 30, "п": 28, "у": 26, "я": 20, "ы": 19, "ь": 17, "г": 17, "з": 17, "б": 16, "ч": 14, "й": 12, "х": 10,
    "ж": 9, "ш": 7, "ю": 6, "ц": 5, "щ": 4, "э": 3, "ф": 3, "ъ": 1, "ё": 1, "і": 1, "ї": 1, "є": 1, "ґ": 1, "ў": 1,
}  # fmt: skip
_PUNCTUATION = set("«»„“”‘’–—…№•§°·±×\u00a0€©®™¿¡")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the codec that gave it, and whether that was a close call. Line ends are "\\n"."""

    text: str
    encoding: str
    doubtful: bool = False


def decode(data: bytes, declared: str = "") -> Decoded:
    """Tell the encoding by BOM, by validity as Unicode, then by which reading looks like words.

    `declared` is what the file says of itself: believed only where it reads as well as the best guess.
    """
    found = _by_bom(data) or _wide_without_bom(data) or _utf8(data) or _single_byte(data, declared)
    text = found.text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return Decoded(text, found.encoding, found.doubtful)


def _by_bom(data: bytes) -> Decoded | None:
    for bom, encoding in BOMS:
        if data.startswith(bom):
            text = data.decode(encoding, errors="replace")
            return Decoded(text, encoding, "\ufffd" in text)
    return None


def _wide_without_bom(data: bytes) -> Decoded | None:
    """UTF-16/32 without BOM: many zero bytes, and a reading without controls that is mostly letters and spaces."""
    sample = data[:SAMPLE]
    if len(data) < 4 or len(data) % 2:
        return None
    best: tuple[float, str] | None = None
    for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        width = 4 if "32" in encoding else 2
        if len(data) % width:
            continue
        try:
            text = sample[: len(sample) // width * width].decode(encoding)
        except UnicodeDecodeError:
            continue
        share = sum(_is_common(c) for c in text) / len(text)
        if share > 0.9 and (best is None or share > best[0]):
            best = share, encoding
    return Decoded(data.decode(best[1], errors="replace"), best[1]) if best else None


def _is_common(char: str) -> bool:
    return "\x20" <= char < "\x7f" or "\u0400" <= char <= "\u045f" or char in "\n\r\t" or char in _PUNCTUATION


def _utf8(data: bytes) -> Decoded | None:
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        # One torn character in a long UTF-8 file: reading it all as an 8-bit encoding would garble every letter.
        text = data.decode("utf-8", errors="replace")
        torn = text.count("\ufffd")
        whole = sum(c > "\x7f" for c in text) - torn
        if whole > 20 * torn or (whole and error.start > len(data) - 4):
            return Decoded(text, "utf-8", doubtful=True)
        return None


def _single_byte(data: bytes, declared: str) -> Decoded:
    sample = data[:SAMPLE]
    candidates = dict.fromkeys((*CYRILLIC, "cp1252"))
    if (name := _codec_name(declared)) and not name.startswith("utf"):
        candidates[name] = None
    texts = {candidate: sample.decode(candidate, errors="replace") for candidate in candidates}
    scores = {candidate: _points(text) + 1.5 * (candidate == name) for candidate, text in texts.items()}
    best = max(scores, key=lambda candidate: scores[candidate])
    rival = max((scores[c] for c in scores if texts[c] != texts[best]), default=-9.0)
    doubtful = scores[best] <= 0 or scores[best] - rival < 1.0
    return Decoded(data.decode(best, errors="replace"), best, doubtful)


def _codec_name(declared: str) -> str:
    try:
        name = codecs.lookup(declared.strip()).name if declared else ""
    except LookupError:
        return ""
    return {"windows-1251": "cp1251", "iso8859-1": "cp1252", "ascii": "cp1252"}.get(name, name)


def _points(text: str) -> float:
    """How much a reading looks like words: each non-ASCII character gives from -4 (rubbish) to 1.5."""
    points = 0.0
    for match in _WORD.finditer(text):
        word = match.group()
        if high := [c for c in word if c > "\x7f"]:
            points += _word_points(word, high)
    return points + sum(0.3 if c in _PUNCTUATION else -4.0 for c in text if c > "\x7f" and not c.isalpha())


def _word_points(word: str, high: list[str]) -> float:
    if word[1:] != word[1:].lower() and word != word.upper():
        return -2.0 * len(high)
    cyrillic = sum("\u0400" <= c <= "\u04ff" for c in word)
    if 0 < cyrillic < len(word):
        return -2.0 * len(high)
    if cyrillic:
        common = sum(min(_FREQUENCY.get(c, -80), 40) / 40 for c in word.lower())
        return common + 0.5 * len(high) if set(word.lower()) & set("аеёиоуыэюяії") or len(word) < 2 else 0.0
    # Western words have few accented letters among plain ones; a word of nothing else is another alphabet misread.
    return 0.8 * len(high) if len(high) * 2 <= len(word) or len(word) < 3 else -1.5 * len(high)
