"""What a question was meant to say: Latin letters for Russian words, the wrong keyboard layout, misspelt words.

Nothing is changed that the library's words do not ask for: a reading or a correction is taken only where the library
holds the mended word and does not hold the written one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import fold, is_cyrillic, is_latin, tokens

_LATIN_KEYS = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`"
_RUSSIAN_KEYS = "йцукенгшщзхъфывапролджэячсмитьбюё"
# Small letters last: a key such as "," has no capital of its own.
_TO_RUSSIAN = str.maketrans(_LATIN_KEYS.upper() + _LATIN_KEYS, _RUSSIAN_KEYS.upper() + _RUSSIAN_KEYS)
_TO_LATIN = str.maketrans(_RUSSIAN_KEYS, _LATIN_KEYS)
_LETTER_GROUPS = (
    "shch=щ sch=щ sh=ш ch=ч zh=ж kh=х ts=ц yu=ю ju=ю ya=я ja=я yo=е jo=е ye=е ey=ей ay=ай oy=ой iy=ий yy=ый uy=уй "
    "a=а b=б c=ц d=д e=е f=ф g=г h=х i=и j=й k=к l=л m=м n=н o=о p=п q=к r=р s=с t=т u=у v=в w=в x=кс y=ы z=з '=ь"
)
_CYRILLIC_FOR = dict(pair.split("=") for pair in _LETTER_GROUPS.split())
# A "y" between vowels begins the next letter: "-niya" is "-ния", not "-нийа".
_LATIN_LETTERS = re.compile("|".join(f"{k}(?![aeou])" if re.search("[aeiouy]y$", k) else k for k in _CYRILLIC_FOR))
_LATIN_PAIRS = (
    "а=a б=b в=v г=g д=d е=e ж=zh з=z и=i й=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=h ц=c ч=ch ш=sh щ=sch "
    "ъ= ы=y ь= э=e ю=yu я=ya"
)
_LATIN_FOR = str.maketrans(dict(pair.split("=") for pair in _LATIN_PAIRS.split()))
_SHORTEST_CORRECTED = 5
_TWO_EDITS_FROM = 8


def best_reading(question: str, index: KeywordIndex) -> str:
    """Return the question as written, transliterated or typed in the other keyboard layout, whichever the library's
    words fit best; in doubt, as written."""
    share = _known_share(question, index)
    if share >= 0.5 or not len(index):
        return question
    others = [mend(question) for mend in (transliterated, in_russian_layout, in_latin_layout)]
    judged = [(_known_share(text, index), text) for text in others if text != question]
    best, text = max(judged, default=(0.0, question), key=lambda pair: pair[0])
    return text if best >= max(0.5, share + 0.25) else question


def with_mended_words(text: str, index: KeywordIndex) -> str:
    """Mend single words that are typed in the other layout or written in the other alphabet."""
    return re.sub(r"[^\W\d_]{3,}", lambda match: _mended_word(match.group(), index), text)


def corrected(stem: str, index: KeywordIndex) -> str | None:
    """Return the library's stem that a misspelt one was most likely meant to be: one edit away (two from eight
    letters on), the commonest of the nearest. `None` where the library holds the stem, or nothing near it."""
    if len(stem) < _SHORTEST_CORRECTED or not stem.isalpha() or index.frequency(stem):
        return None
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    edits = 2 if len(stem) >= _TWO_EDITS_FROM else 1
    near: list[tuple[float, int, str]] = []
    for length in range(len(stem) - edits, len(stem) + edits + 1):
        stems = index.stems_of_length(length)
        for candidate, distance, _ in extract(stem, stems, scorer=OSA.distance, score_cutoff=edits, limit=None):
            frequency = index.frequency(candidate)
            if frequency and (distance == 1 or candidate[0] == stem[0]):
                near.append((distance, -frequency, candidate))
    return min(near)[2] if near else None


def transliterated(text: str) -> str:
    """Write Latin letters as the Russian ones they stand for ("zachem" as "зачем")."""
    return _LATIN_LETTERS.sub(lambda match: _CYRILLIC_FOR[match.group()], text.lower())


def in_russian_layout(text: str) -> str:
    """Return what the same keys give in the Russian layout ("ghjwtcc" as "процесс")."""
    return text.translate(_TO_RUSSIAN)


def in_latin_layout(text: str) -> str:
    """Return what the same keys give in the Latin layout ("пше" as "git")."""
    return text.lower().translate(_TO_LATIN)


def latinised(text: str) -> str:
    """Write Russian letters as Latin ones ("докер" as "doker")."""
    return text.lower().translate(_LATIN_FOR)


def _mended_word(word: str, index: KeywordIndex) -> str:
    folded = fold(word)
    if _is_known(folded, index):
        return word
    ways: tuple[Callable[[str], str], ...] = ()
    if is_latin(folded):
        ways = (in_russian_layout,)
    elif is_cyrillic(folded):
        ways = (in_latin_layout, latinised)
    for way in ways:
        other = way(word)
        if other.isalpha() and all(index.frequency(stem) for stem in tokens(other)):
            return other
    return word


def _known_share(text: str, index: KeywordIndex) -> float:
    found = re.findall(r"[^\W_]+", fold(text))
    return sum(_is_known(word, index) for word in found) / len(found) if found else 1.0


def _is_known(word: str, index: KeywordIndex) -> bool:
    return word in STOP_WORDS or word.isdecimal() or all(index.frequency(stem) for stem in tokens(word))
