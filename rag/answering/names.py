"""Whether two spellings are one name: other cases of it, another script, a short form."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import lru_cache

from rag.retrieval.words import tokens

_LATIN_OF = str.maketrans(
    {
        "а": "a",
        "б": "b",
        "в": "v",
        "г": "g",
        "д": "d",
        "е": "e",
        "ё": "e",
        "ж": "zh",
        "з": "z",
        "и": "i",
        "й": "i",
        "к": "k",
        "л": "l",
        "м": "m",
        "н": "n",
        "о": "o",
        "п": "p",
        "р": "r",
        "с": "s",
        "т": "t",
        "у": "u",
        "ф": "f",
        "х": "h",
        "ц": "c",
        "ч": "ch",
        "ш": "sh",
        "щ": "sh",
        "ъ": "",
        "ы": "i",
        "ь": "",
        "э": "e",
        "ю": "iu",
        "я": "ia",
    }
)
# Russian case endings of names: "Брюер" / "Брюером", "Ленинский" / "Ленинского"
_CASE_ENDINGS = """
а у ом е ы и ов ам ами ах я ю ем ей ой ою ий ый ая яя ое ее ого его ому ему ым им их ых ыми ими ую юю й ь ью ии ию ия
ием
"""
_ENDINGS = frozenset(("", *_CASE_ENDINGS.split()))
_SAME_SOUND = 0.64


@lru_cache(maxsize=4096)
def _folded(word: str) -> str:
    return word.casefold().replace("ё", "е").replace("’", "'").removesuffix("'s")


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    return " ".join(tokens(word))


@lru_cache(maxsize=4096)
def _cyrillic(word: str) -> bool:
    return any("а" <= char <= "я" for char in word)


def same_name(one: str, other: str) -> bool:
    """Tell whether two words can be the same name. Names in two scripts are compared by sound, roughly."""
    a, b = _folded(one), _folded(other)
    if a == b or _stem(a) == _stem(b):
        return True
    if _cyrillic(a) != _cyrillic(b):
        return _sounds_alike(a.translate(_LATIN_OF), b.translate(_LATIN_OF))
    if not _cyrillic(a):
        return a.rstrip("s") == b.rstrip("s") and len(a) > 3
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= 3 and a[shared:] in _ENDINGS and b[shared:] in _ENDINGS


def _sounds_alike(a: str, b: str) -> bool:
    for old, new in (
        ("ph", "f"),
        ("w", "v"),
        ("y", "i"),
        ("ck", "k"),
        ("x", "ks"),
        ("th", "t"),
        ("j", "dzh"),
        ("sch", "sh"),
        ("q", "k"),
    ):
        a, b = a.replace(old, new), b.replace(old, new)
    return a[:1] == b[:1] and SequenceMatcher(None, a, b, autojunk=False).ratio() >= _SAME_SOUND
