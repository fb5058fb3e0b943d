"""Short words that OCR in two languages read in the other alphabet ("ero" for "его", "оп" for "on") put right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rag.parsing.ocr import Word

_CYRILLIC, _LATIN = "аеорсухпгтикмАВЕКМНОРСТХУ", "aeopcyxnrtukmABEKMHOPCTXY"
_TO_LATIN = str.maketrans(_CYRILLIC, _LATIN)
_TO_CYRILLIC = str.maketrans(_LATIN, _CYRILLIC)
_CYRILLIC_WORD = re.compile(rf"[^\w]*[{_CYRILLIC}]{{1,3}}[^\w]*")
_LATIN_WORD = re.compile(r"[^\w]*[AEOPCXBHKMTYaeopcyxnrtukm][aeopcyxnrtukm]{1,2}[^\w]*")  # no abbreviation, no variable
_IS_CYRILLIC, _IS_LATIN = re.compile(r"[а-яё]", re.IGNORECASE), re.compile(r"[a-z]", re.IGNORECASE)
_MOST = 0.85
_LEAST_LETTERS = 10


def in_one_script(row: Sequence[Word]) -> list[Word]:
    """Return a line's words, those of up to three letters that look alike in both alphabets written in the line's."""
    text = " ".join(word.text for word in row)
    cyrillic, latin = len(_IS_CYRILLIC.findall(text)), len(_IS_LATIN.findall(text))
    if not cyrillic or not latin or cyrillic + latin < _LEAST_LETTERS:
        return list(row)
    if cyrillic >= _MOST * (cyrillic + latin):
        return [_written(word, _LATIN_WORD, _TO_CYRILLIC) for word in row]
    if latin >= _MOST * (cyrillic + latin):
        return [_written(word, _CYRILLIC_WORD, _TO_LATIN) for word in row]
    return list(row)


def _written(word: Word, alike: re.Pattern[str], letters: dict[int, int]) -> Word:
    return replace(word, text=word.text.translate(letters)) if alike.fullmatch(word.text) else word
