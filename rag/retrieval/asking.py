"""A question as retrieval reads it: the text to embed, the weighted stems to look up, the phrases it quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag.retrieval.cognates import cognate
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.spelling import best_reading, corrected, with_mended_words
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import Word, fold, is_cyrillic, words, written_in_cyrillic

_QUOTED = re.compile(r"«([^«»]{2,200})»|“([^“”]{2,200})”|„([^„“”]{2,200})[“”]|\"([^\"]{2,200})\"")
_LETTERS = re.compile(r"[^\W\d_]")
# A word that the library does not hold is looked up as its likely correction, or as what sounds like it in the other
# alphabet; a part of its weight stays on what was written, so that a passage is never thought to hold a word that the
# question does not contain.
_CORRECTION_WEIGHT = 0.7
_BARE = (2, 3)  # words
# A question's alphabet is foreign to a library that holds this share of words in it, of those in the other.
_FEW_WORDS = 0.25


@dataclass(frozen=True, slots=True)
class Asked:
    """`weights` are those of the stems; `exact` are the stems of names, numbers, codes and quoted words, which mean
    just themselves; `phrases` are folded. `text` is what the question is read as, `mended` the same with single words
    mended as well. `bare`: nothing but two or three words are given, a thing and what of it."""

    text: str
    mended: str
    weights: dict[str, float] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    bare: bool = False


def understand(question: str, index: KeywordIndex) -> Asked:
    """Read a question against the words of a library: layout, transliteration and spelling mended where the library
    knows the mended word and not the written one.

    Single misspelt words are mended for the keyword side only: the dense side bears them well, and a rare word that
    merely looks like one of the library's must not change what is asked.
    """
    reading = best_reading(question, index)
    text = with_mended_words(reading, index)
    found = words(text)
    names = _names(found, text)
    weights: dict[str, float] = {}
    exact: set[str] = set()
    for position, word in enumerate(found):
        if fold(word.surface) in STOP_WORDS:
            continue
        for stem in word.stems:
            better = _better(stem, reading, index) if len(word.stems) == 1 else None
            kept = 1.0 if better is None else 1.0 - _CORRECTION_WEIGHT
            weights[stem] = weights.get(stem, 0.0) + kept
            if better is not None:
                weights[better] = weights.get(better, 0.0) + _CORRECTION_WEIGHT
            if position in names:
                exact.add(better or stem)
    return Asked(reading, text, weights, frozenset(exact), _phrases(question), _is_bare(found, text))


def _is_bare(found: Sequence[Word], text: str) -> bool:
    said = not any(fold(word.surface) in STOP_WORDS for word in found)
    return said and len(found) in _BARE and "?" not in text


def _better(stem: str, question: str, index: KeywordIndex) -> str | None:
    """Return what to look up for a stem that the library does not hold. In a language of which the library holds a few
    words only, what is missing is not misspelt."""
    if index.frequency(stem):
        return None
    return (None if _foreign(question, index) else corrected(stem, index)) or cognate(stem, index)


def _foreign(question: str, index: KeywordIndex) -> bool:
    mine = written_in_cyrillic(question)
    own, other = (sum(map(len, index.sounds(cyrillic))) for cyrillic in (mine, not mine))
    return own < _FEW_WORDS * other


def _phrases(question: str) -> tuple[str, ...]:
    quoted = ("".join(groups) for groups in _QUOTED.findall(question))
    return tuple(phrase for phrase in (" ".join(fold(q).split()) for q in quoted) if words(phrase))


def _names(found: Sequence[Word], text: str) -> frozenset[int]:
    """Return the positions of words that look like names, numbers or codes: digits in them, all capitals, a capital
    inside a sentence, Latin letters in a Cyrillic question."""
    cyrillic = sum(is_cyrillic(fold(w.surface)) for w in found) * 2 > len(found)
    positions = set()
    for position, word in enumerate(found):
        surface = word.surface
        opens = not text[: word.start].strip(" \t\n«“\"'(-–—") or text[: word.start].rstrip()[-1:] in ".?!"
        code = any(c.isdigit() for c in surface) or (len(surface) > 1 and surface.isupper())
        foreign = cyrillic and surface.isascii() and _LETTERS.search(surface) is not None
        if code or foreign or (surface[0].isupper() and not opens):
            positions.add(position)
    return frozenset(positions)
