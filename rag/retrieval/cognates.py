"""Names and learned words that sound alike in two alphabets: "Monty" is "Монти", "transaction" is "транзакция".

A question in one language over notes in another shares no letter with them, yet names and terms are often the same
word. Words are compared by a rough common spelling of their sound, which throws together what transcriptions confuse.
Measured in bench/RESULTS.md: of questions in the other language, one in seventy more finds its passage first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rag.retrieval.words import is_cyrillic, is_latin

if TYPE_CHECKING:
    from rag.retrieval.keywords import KeywordIndex

_SHORTEST = 4
_LONG = 6
# How much of two sounds must agree: of long ones, and of short ones, which agree by chance more often.
_ALIKE = 0.85
_SHORT_ALIKE = 0.88

_CYRILLIC = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхцчшщжъыьэю", "abvgdesiiklmnoprstufhshsss\0i\0eu", strict=True)) | {"я": "ia"}
)
_LATIN_GROUPS = (
    "sch=s tch=h tion=sion sh=s zh=s ch=h ph=f th=t ck=k dg=s qu=kv x=ks ew=u ee=i oo=u ya=ia ju=u yu=u ts=s "
    "j=s w=v y=i z=s q=k"
)
_LATIN = [tuple(pair.split("=")) for pair in _LATIN_GROUPS.split()]
_SOFT_C = re.compile("c(?=[ei])")
_VOWELS = "aeiou"
_TWICE = re.compile(r"(.)\1+")


def sound(stem: str) -> str:
    """Return a rough spelling of how a folded word sounds, the same for "entropi" and "энтроп" but for its end; ""
    for what is written in neither alphabet."""
    if is_cyrillic(stem):
        spelt = stem.replace("дж", "ж").translate(_CYRILLIC).replace("\0", "").replace("ts", "s")
    elif is_latin(stem):
        spelt = stem
        for written, heard in _LATIN:
            spelt = spelt.replace(written, heard)
        spelt = _SOFT_C.sub("s", spelt).replace("c", "k")
    else:
        return ""
    return _TWICE.sub(r"\1", spelt)


def cognate(stem: str, index: KeywordIndex) -> str | None:
    """Return the library's stem of the other alphabet that sounds like this one, the nearest and of these the
    commonest. `None` where the library holds the stem itself, or none that sounds like it."""
    heard = sound(stem)
    if len(heard) < _SHORTEST or index.frequency(stem):
        return None
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extract

    cutoff = _ALIKE if len(heard) >= _LONG else _SHORT_ALIKE
    near: list[tuple[float, int, str]] = []
    for known in index.sounds(not is_cyrillic(stem)):
        for key, alike, _ in extract(heard, known.keys(), scorer=Indel.normalized_similarity, score_cutoff=cutoff):
            if _begin_alike(key, heard):
                near += [(-alike, -index.frequency(s), s) for s in known[key] if index.frequency(s)]
    return min(near)[2] if near else None


def _begin_alike(one: str, other: str) -> bool:
    """Tell whether two sounds begin with one consonant, or both with some vowel."""
    return one[0] == other[0] or (one[0] in _VOWELS and other[0] in _VOWELS)
