"""Whether two spellings are one name: other cases of it, another script, a short form."""

from __future__ import annotations

import re
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
а у ом е ы и ам ами ах я ю ем ей ой ою ий ый ые ие ая яя ое ее ого его ому ему ым им их ых ыми ими ую юю й ь ью ии ию ия
ием ям ями ях
"""
_ENDINGS = ("", *_CASE_ENDINGS.split())
_PLURAL = ("ы", "и", "ам", "ами", "ах", "ям", "ями", "ях")
_FLEETING = re.compile(r"(?<=\w)[еоь](?=[бвгджзклмнпрстфхцчшщ]\Z)")  # "Павел" / "Павла"
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
    if a == b:
        return True
    if _cyrillic(a) != _cyrillic(b):
        return _sounds_alike(a.translate(_LATIN_OF), b.translate(_LATIN_OF))
    if not _cyrillic(a):
        return _stem(a) == _stem(b) or (a.rstrip("s") == b.rstrip("s") and len(a) > 3)
    return not _bases(a).isdisjoint(_bases(b)) or _one_people(a, b) or _one_people(b, a)


@lru_cache(maxsize=4096)
def _bases(name: str) -> frozenset[str]:
    """What is left of a Russian name without an ending, for every ending that it may have."""
    shortest = 3 if len(name) > 4 else 2
    bases = {name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)}
    return frozenset(base for base in bases | {_FLEETING.sub("", base) for base in bases} if len(base) >= shortest)


def _one_people(many: str, other: str) -> bool:
    """ "Норманнов" is of "норманны", but "Иванов" is not of "Иван"."""
    base = re.sub(r"(?:ов|ев)\Z", "", many)
    return base != many and len(base) > 2 and any(other == base + ending for ending in _PLURAL)


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
