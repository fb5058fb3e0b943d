"""Words of a text as the keyword side sees them: folded, split, stemmed by script."""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_YEAR = re.compile(r"((?:19|20)\d\d)")
_LONG = re.compile(r"[^\W\d_]{3,}")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]+")
_LATIN = re.compile(r"[a-z]+")
# Scripts written without spaces: pairs of characters stand for words.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
# Stress marks and accents that NFKC leaves apart; soft hyphens and zero-width characters inside words.
_LOOSE_MARKS = re.compile(r"[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]")
# Signs that NFKC would write as letters, joined to the word beside them ("№5" as "no5").
_SIGNS = str.maketrans({"№": " ", "™": " ", "℠": " "})
# A raised number after a word is a note's mark, after a letter or a unit a power: "энтропия¹", but "x²", "км²".
_NOTE_MARK = re.compile(r"(?<=[^\W\d_]{4})(?=[⁰¹²³⁴⁵⁶⁷⁸⁹])")
_PLAIN_LETTERS = {
    code: unicodedata.normalize("NFD", chr(code))[0]
    for code in range(0xC0, 0x250)
    if len(unicodedata.normalize("NFD", chr(code))) > 1
} | {ord("ё"): "е"}

_stemming = threading.Lock()


@dataclass(frozen=True, slots=True)
class Word:
    """A word where it stands: `text[start:end]` as written, and the stems it is found by (one, but for codes
    such as "FY2022", which are also found by their year)."""

    surface: str
    start: int
    end: int
    stems: tuple[str, ...]


def fold(text: str) -> str:
    """Return the text in the form in which words are compared: case, accents, ё and compatibility forms folded."""
    apart = _NOTE_MARK.sub(" ", text.translate(_SIGNS))
    return _LOOSE_MARKS.sub("", unicodedata.normalize("NFKC", apart)).casefold().translate(_PLAIN_LETTERS)


def tokens(text: str) -> list[str]:
    """Return the stems of a text's words in order: Snowball's Russian stems for Cyrillic words, English for Latin
    ones, everything else as it stands. Used for passages and for questions."""
    return [stem for match in _WORD.finditer(fold(text)) for stem in _stems(match.group())]


def words(text: str) -> list[Word]:
    """Return a text's words with their places in it."""
    found = []
    for match in re.finditer(r"\d+(?:[.,]\d+)+|[^\W_]+(?:[\u0300-\u036f\u00ad]+[^\W_]+)*", text):
        stems = tuple(tokens(match.group()))
        if stems:
            found.append(Word(match.group(), match.start(), match.end(), stems))
    return found


def written_in_cyrillic(text: str) -> bool:
    """Tell whether a text is in a language of Cyrillic letters: a quarter of its letters will do, as Russian is full of
    Latin names and code, while English holds hardly a Cyrillic letter. Where there are words of three letters and more,
    only theirs count: a formula is written in Latin letters in every language."""
    folded = fold(text)
    letters = [c for c in "".join(_LONG.findall(folded)) or folded if c.isalpha()]
    return bool(letters) and sum("\u0400" <= c <= "\u04ff" for c in letters) * 4 >= len(letters)


def is_cyrillic(word: str) -> bool:
    """Tell whether a word is written in Cyrillic letters only."""
    return _CYRILLIC.fullmatch(word) is not None


def is_latin(word: str) -> bool:
    """Tell whether a folded word is written in Latin letters only."""
    return _LATIN.fullmatch(word) is not None


@lru_cache(maxsize=1 << 18)
def _stems(word: str) -> tuple[str, ...]:
    if word[0].isdigit() and ("," in word or "." in word):
        return _number(word)
    if word.isdecimal():
        return (word,)
    if _CYRILLIC.fullmatch(word):
        return (_snowball("russian", word),)
    if _LATIN.fullmatch(word):
        return (_snowball("english", word),)
    if _UNSPACED.search(word):
        return tuple(word[i : i + 2] for i in range(max(len(word) - 1, 1)))
    parts = [part for part in _YEAR.split(word) if len(part) > 1]
    return (word, *parts) if len(parts) > 1 or parts != [word] else (word,)


def _number(word: str) -> tuple[str, ...]:
    if _THOUSANDS.fullmatch(word):
        return (word.replace(",", ""),)
    parts = re.split(r"[.,]", word)
    whole = ".".join(parts)
    return (whole,) if len(parts) == 2 else (whole, *parts)


def _snowball(language: str, word: str) -> str:
    # A stemmer keeps the word it works on in itself, so two threads must not share one at a time.
    with _stemming:
        return str(_stemmer(language).stemWord(word))


@lru_cache(maxsize=2)
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)
