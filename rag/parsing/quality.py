"""How readable a text layer is: told by broken characters and by letters that make no words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

# The 150 commonest pairs of letters inside words, 87 % of all pairs in English and 78 % in Russian text
# (counted over encyclopaedia articles).
_COMMON = """
ab ac ad ag ai al am an ar as at ba be bl bo bu by ca ce ch ci cl co ct da de di du ea ec ed ee eg ei el em en
ep er es et ev ex fe fi fo fr ga ge gh gi gr ha he hi ho ia ic id ie ig il im in io ir is it iv la ld le li ll
lo ls ly ma me mi mo mp na nc nd ne ng ni no ns nt oc od of ol om on op or os ot ou ov ow pa pe pl po pr ra re
ri rm rn ro rs rt ry sc se sh si so sp ss st su ta te th ti to tr ts tu ty uc ue ul un ur us ut ve vi wa we wh
wi wo ав ад ае аз ак ал ам ан ар ас ат ач ая бо бр бы ва ве ви вл вн во вр вы га ги го гр да де ди дн до ду ев
ег ед ей ек ел ем ен ер ес ет же за ив ие из ии ий ик ил им ин ир ис ит их ич ия ка ки ко кр кт ку ла ле ли ло
ль ля ма ме ми мо му на не ни нн но нс нт ны об ов ог од ое ож оз ой ок ол ом он оп ор ос от па пе по пр ра ре
ри ро ру ры са се си ск сл со сп ст су ся та тв те ти тн то тр тс ту ты ть ую ци ча че чи чт ше ще ые ый ыл ым
ых ьн эт ют
"""
_PAIRS = frozenset(_COMMON.split())
_WORD = re.compile(r"[a-zа-яё]{3,}")
_MOJIBAKE = re.compile("[ÐÑÃâ][\u0080-\u00bf\u0100-\u024f\u2010-\u2122ÐÑ°±²³´µ¶·¸¹º»¼½¾¿‚ƒ„…†‡ˆ‰Š‹ŒŽ]")
_BROKEN = re.compile("[\ufffd\u0000-\u0008\u000e-\u001f\ue000-\uf8ff]")
_LEAST_PAIRS = 7
UNREADABLE = 0.5


def quality(text: str) -> float:
    """Return how readable a text is, 0..1; below `UNREADABLE` the page's picture should be read instead.

    Text in other scripts than Latin and Cyrillic, formulas and numbers are only judged by broken characters.
    """
    shown = "".join(text.split())
    if not shown:
        return 1.0
    broken = (len(_BROKEN.findall(shown)) + 2 * len(_MOJIBAKE.findall(shown))) / len(shown)
    return max(0.0, min(1.0 - 3 * broken, _likeness(text)))


def is_readable(text: str) -> bool:
    """Tell whether a text layer can be used as it is."""
    return quality(text) >= UNREADABLE


def _likeness(text: str) -> float:
    """Return 1.0 where the letters make words; falls below 0.5 where fewer than every third pair is a common one.
    Short texts are doubted only where next to nothing fits."""
    words = _WORD.findall(text.lower())
    pairs = sum(map(len, words)) - len(words)
    if pairs < _LEAST_PAIRS:
        return 1.0
    share = sum(map(_common_pairs, words)) / pairs
    return min(1.0, share / (0.66 if pairs >= 60 else 0.45))


@lru_cache(maxsize=20_000)
def _common_pairs(word: str) -> int:
    return sum(a + b in _PAIRS for a, b in pairwise(word))
