"""Signs that a sentence says the opposite of its evidence, or puts another name or number in its place.

All of them look at sentences that otherwise share their words: there a single changed word is the likeliest fault of
a language model, and the one that similarity cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag.answering.content_words import content
from rag.answering.facts import facts
from rag.answering.names import same_name
from rag.retrieval.words import Word, fold, tokens, words

_NEGATIONS = frozenset("не ни нет нельзя без никогда not no never without cannot nor neither".split())
_SHORT_NEGATION = re.compile(r"\b(\w+)n['’]t\b", re.IGNORECASE)
_REACH = 2  # words between a negation and what it negates
_OPPOSITES = (
    "increase increases increased rise rises rose grow grows grew raise raises higher more greater above upper maximum before first",
    "decrease decreases decreased fall falls fell shrink shrinks shrank lower lowers lower less smaller below lower minimum after last",
    "увеличивает увеличивается растёт растет возрастает повышает повышается выше больше максимум максимальный до сильнее быстрее",
    "уменьшает уменьшается падает снижает снижается понижает понижается ниже меньше минимум минимальный после слабее медленнее",
)
_DIRECTIONS = tuple(frozenset(fold(line).split()) for line in _OPPOSITES)


def opposed(claim: str, stretch: str) -> bool:
    """Tell whether one negates what the other asserts, or names the other direction ("increases" / "decreases")."""
    mine, theirs = _negated(claim), _negated(stretch)
    shared = content(claim) & content(stretch)
    if any((stem in mine) != (stem in theirs) for stem in shared if stem in mine | theirs):
        return True
    here, there = set(fold(claim).split()), set(fold(stretch).split())
    for up, down in (_DIRECTIONS[0:2], _DIRECTIONS[2:4]):
        for one, other in ((up, down), (down, up)):
            if here & one and not here & other and there & other and not there & one:
                return True
    return False


def _negated(text: str) -> frozenset[str]:
    found: set[str] = set()
    row = tokens_in_order(_SHORT_NEGATION.sub(r"\1 not", text))
    for i, word in enumerate(row):
        if word in _NEGATIONS:
            following = [other for other in row[i + 1 : i + 1 + _REACH] if other not in _NEGATIONS]
            found.update(stem for other in following for stem in tokens(other) if stem in content(other))
    return frozenset(found)


def tokens_in_order(text: str) -> list[str]:
    """Folded words as they follow each other."""
    return re.findall(r"\w+", fold(text))


def replaced_opening(claim: str, passages: Sequence[str]) -> tuple[int, int] | None:
    """Return the span of a sentence's first word where the passages put another name before the same next word:
    "Denmark gained ..." where they say "Sweden gained ...". A first word's capital alone proves no name."""
    row = words(claim)
    if len(row) < 2 or not row[0].surface[0].isupper() or not content(row[0].surface) & set(row[0].stems):
        return None
    first, following = row[0], row[1]
    found = False
    for passage in passages:
        theirs = words(passage)
        if any(same_name(first.surface, word.surface) for word in theirs):
            return None
        found = found or any(_names(before, row) and after.stems == following.stems for before, after in _pairs(theirs))
    return (first.start, first.end) if found else None


def _pairs(row: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    return zip(row, row[1:], strict=False)


def _names(word: Word, claim: Sequence[Word]) -> bool:
    return word.surface[0].isupper() and bool(content(word.surface)) and not any(word.stems == other.stems for other in claim)


def swapped_numbers(claim: str, passages: Sequence[str]) -> list[tuple[int, int]]:
    """Return the numbers of a sentence that the passages give to something else: the word after the number stands there
    after other numbers, and never after this one ("11 interceptions" where they say "24 interceptions and 11 sacks")."""
    counted = [pair for passage in passages for pair in _counted(passage)]
    found = []
    for start, end, values, noun in _counted(claim):
        same = [their_values for _, _, their_values, their_noun in counted if their_noun == noun]
        if same and not any(values & their_values for their_values in same):
            found.append((start, end))
    return found


def _counted(text: str) -> Iterator[tuple[int, int, frozenset[object], str]]:
    """Numbers with the stem of what they count: the next word, if it carries meaning and is no number itself."""
    for fact in facts(text):
        following = re.match(r"[ \u00a0-]{0,2}([^\W\d_]{3,})", text[fact.end :])
        if fact.kind == "number" and following and content(following.group(1)) == frozenset(tokens(following.group(1))):
            yield fact.start, fact.end, frozenset(fact.values), tokens(following.group(1))[0]
