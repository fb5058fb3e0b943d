"""Signs that a sentence says the opposite of its evidence, or puts another number in its place.

All of them look at sentences that otherwise share their words: there a single changed word is the likeliest fault of
a language model, and the one that similarity cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile

from rag.answering.content_words import content, meaningful
from rag.answering.facts import Fact, facts
from rag.answering.opposites import turned_round
from rag.retrieval.words import fold

_NEGATIONS = frozenset(
    ("не", "ни", "нельзя", "без", "никогда", "not", "no", "never", "without", "cannot", "nor", "neither")
)
_AFTERWARDS = frozenset(("нет", "отсутствует", "отсутствуют", "none"))  # these negate what stands before them
_SHORT_NEGATION = re.compile(r"\b(\w+)n['’]t\b", re.IGNORECASE)
_NO_NEGATION = re.compile(r"\b(?:не только|не менее|не более|not only|no less|no more|не просто)\b", re.IGNORECASE)
_FAR_FEWER = 0.25
_REACH = 2  # words that carry meaning


def opposed(claim: str, stretch: str) -> bool:
    """Tell whether one negates what the other asserts, or names the other direction ("increases" / "decreases")."""
    mine, theirs = _negated(claim), _negated(stretch)
    shared = content(claim) & content(stretch)
    if any((stem in mine) != (stem in theirs) for stem in shared & (mine | theirs)):
        return True
    return turned_round(fold(claim), fold(stretch))


def _negated(text: str) -> frozenset[str]:
    found: set[str] = set()
    row = re.findall(r"\w+", fold(_NO_NEGATION.sub(" ", _SHORT_NEGATION.sub(r"\1 not", text))))
    for i, word in enumerate(row):
        if word in _NEGATIONS or word in _AFTERWARDS:
            reached = row[i + 1 :] if word in _NEGATIONS else row[:i][::-1]
            told = [stems for stems in map(meaningful, reached) if stems]
            found.update(stem for stems in told[:_REACH] for stem in stems)
    return frozenset(found)


def swapped_numbers(claim: str, passages: Sequence[str]) -> list[tuple[int, int]]:
    """Return the numbers of a sentence that the passages give to something else: the words after the number stand there
    after other numbers, and this number before other words ("11 interceptions" for "24 interceptions and 11 sacks")."""
    counted = [pair for passage in passages for pair in _counted(passage)]
    found = []
    for mine in _counted(claim):
        # "32-bit window": the first word is only a unit. "Second law of Newton": the words after an ordinal vary.
        lengths = (1, 2) if claim[mine.start].isdigit() else (1,)
        if any(_elsewhere(mine, counted, length) for length in lengths):
            found.append((mine.start, mine.end))
    return found


@dataclass(frozen=True, slots=True)
class _Counted:
    """A number with the stems of the words after it, in order, that say what it counts."""

    start: int
    end: int
    values: frozenset[Fraction]
    what: tuple[str, ...]


def _elsewhere(mine: _Counted, theirs: Sequence[_Counted], length: int) -> bool:
    what = mine.what[:length]
    if len(what) < length:
        return False
    same = [bool(mine.values & other.values) for other in theirs if other.what[:length] == what]
    places = [other.what[:length] for other in theirs if mine.values & other.values]
    return (
        bool(same)
        and not any(same)
        and bool(places)
        and all(len(place) == length and place != what for place in places)
    )


def _counted(text: str) -> Iterator[_Counted]:
    for fact in facts(text):
        if fact.kind == "number":
            following = re.match(r"(?:[ \u00a0-]{0,2}[^\W\d_]{3,}){0,2}", text[fact.end :])
            told = [meaningful(word) for word in re.findall(r"\w+", following.group() if following else "")]
            yield _Counted(fact.start, fact.end, fact.values, tuple(min(stems) for stems in takewhile(bool, told)))


def misplaced_numbers(claim: str, stretches: Sequence[str], only_years: bool = True) -> list[tuple[int, int]]:
    """Return the years of a sentence whose own stretch of evidence is another one than the sentence's: the stretch that
    shares most of its words holds a different year, and those that hold this one share far fewer. Without
    `only_years`, of all its numbers."""

    def counts(fact: Fact) -> bool:
        return _is_year(fact) if only_years else fact.kind == "number"

    wanted = frozenset(stem for stem in meaningful(claim) if not stem.isdigit())
    if not wanted:
        return []
    told = []
    for stretch in stretches:
        values = {fact.values for fact in facts(stretch) if counts(fact)}
        if values:
            told.append((len(wanted & meaningful(stretch)) / len(wanted), values))
    share, best = max(told, key=lambda pair: pair[0], default=(0.0, set()))
    found = []
    for fact in facts(claim):
        own = [share_there for share_there, values in told if any(fact.values & value for value in values)]
        there = any(fact.values & value for value in best)
        if counts(fact) and own and not there and share - max(own) >= _FAR_FEWER:
            found.append((fact.start, fact.end))
    return found


def _is_year(fact: Fact) -> bool:
    return fact.kind == "number" and any(1000 <= value <= 2100 and value.denominator == 1 for value in fact.values)
