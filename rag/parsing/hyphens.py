"""Words cut at a line's end: joined where they are one word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

HYPHENS = "-\u00ad\u2010"
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+|[^\W\d_]+")
_TAIL = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u00ad\u2010]$")
_HEAD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COMPOUND = re.compile(
    r"из-(за|под)|по-\w+(ому|ему|ски|цки|ьи)|кое-\w+|во?-(первых|вторых|третьих|четв\w+|пят\w+)|\w+-(либо|нибудь|таки)"
    r"|(как|кто|ког|ком|кем|что|чег|чем|где|куда|откуда|почему|зачем|че[йм]|чь|сколько)\w*-то|(non|self|semi)-\w+"
)
_WORD_PARTS = frozenset(
    ("with", "under", "over", "some", "every", "there", "where", "more", "further", "never", "other", "when")
)
_COMPOUND_HALF = 6  # letters of a second half that speak for a compound where another has it too
_ALONE = frozenset({"и", "или", "а", "либо", "and", "or", "und", "oder", "to"})


def words_of(texts: Iterable[str]) -> set[str]:
    """Return the words, lower-case, hyphenated ones whole, that stand inside lines: halves of cut words are none."""
    words: set[str] = set()
    cut = False
    for text in texts:
        found = _WORD.findall(text)
        begin, cut = int(cut), bool(_cut_word(text))
        words.update(word.casefold() for word in found[begin : len(found) - cut])
    return words


def join(before: str, after: str, known: Collection[str]) -> tuple[str, str]:
    """Return how a line's text ends when `after` follows it, and what stands between the two.

    `known` are the document's words: a compound found there keeps its hyphen, a word found there loses it.
    """
    tail, head = _cut_word(before), _HEAD.match(after)
    if not tail or not head:
        return before.rstrip("\u00ad"), " "
    left, right = tail.group(1).casefold(), head.group().casefold()
    if right in _ALONE and not before.endswith("\u00ad"):
        return before, " "
    keeps = not before.endswith("\u00ad") and _keeps_hyphen(left, right, head.group()[0].islower(), known)
    return (before if keeps else before[:-1]), ""


def _cut_word(text: str) -> re.Match[str] | None:
    """Find the beginning of a word cut at the text's end. Only the last word is looked at: `text` may be long."""
    return _TAIL.search(text.rsplit(None, 1)[-1]) if text[-1:] in HYPHENS and text.strip() else None


def _keeps_hyphen(left: str, right: str, lower: bool, known: Collection[str]) -> bool:
    one, compound = left.rsplit("-", 1)[-1] + right, f"{left}-{right}"
    if compound in known or not lower:
        return True
    if one in known:
        return False
    parts_are_words = left in known and right in known and min(len(left), len(right)) > 3 and left not in _WORD_PARTS
    if left.isascii() and (len(left) == 1 or parts_are_words):
        return True
    if len(right) >= _COMPOUND_HALF and left not in _WORD_PARTS and any(word.endswith(f"-{right}") for word in known):
        return True
    return _COMPOUND.fullmatch(compound) is not None
