"""Later first: where two passages of about equal score tell the same thing differently, the one of the later date.

Dates decide only where documents tell them themselves (front matter, properties, name, text). A file's time is that
of its last copy: it would order the same notes differently on another machine, so it decides nothing. Where the
question names a year, the passage of that year goes first instead; where it asks of the past, no date decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag.retrieval.asking import Asked
from rag.retrieval.diversity import TURNING
from rag.retrieval.fusion import Candidate
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import fold, tokens, words
from rag.sentences import sentences
from rag.types import Chunk

# Passages so near in score, among so many of the best, may change places. Less than a file gains by being named.
_ABOUT_EQUAL = 0.08
# Where there are few candidates, scores are stretched far apart: then cosines and shared words tell what is near.
_SAME_COSINE, _SAME_WORDS = 0.015, 0.9
_COMPARED = 10
# Two sentences tell of the same thing where they share this part of their words, numbers and names aside.
_ALIKE = 0.6
_FEWEST_SHARED = 2
# A word or two in the place of others may be another answer; more make another sentence.
_REPLACED = 2
_NEGATIONS = TURNING | {"нельзя", "cannot"}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ASKS_OF_THE_PAST = re.compile(
    r"\b(?:раньше|ранее|прежде|прежн\w+|прошл\w+|стар(?:ый|ая|ое|ые|ого|ой|ую|ому|ым|ом|ых|ыми)|бывш\w+|изначально"
    r"|первоначальн\w+|сначала|earlier|previous\w*|former\w*|original\w*|initial\w*|old|older|past|used to"
    r"|last (?:year|term|semester|month|week|time))\b"
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence's content stems, with its numbers, its names (a capital inside the sentence) and its negations."""

    stems: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negations: frozenset[str]


def later_first(candidates: Sequence[Candidate], chunks: Mapping[str, Chunk], asked: Asked) -> list[Candidate]:
    """Return the candidates in a new order: each of the best changes places, scores included, with the latest of those
    that follow it closely and tell the same thing differently (with the first one of the year that is asked for)."""
    order = list(candidates)
    compared = min(len(order), _COMPARED)
    years = frozenset(_YEAR.findall(fold(asked.text)))
    dates = [_stamp(chunks[c.chunk_id], years) for c in order[:compared]]
    if len(set(filter(None, dates))) < 2 or (not years and _ASKS_OF_THE_PAST.search(fold(asked.text))):
        return order
    for first in range(compared):
        best = first
        for other in range(first + 1, compared):
            if not _about_equal(order[first], order[other]):
                continue
            here, there = (chunks[order[n].chunk_id] for n in (first, other))
            if _earlier(dates[best], dates[other]) and _earlier(dates[first], dates[other]):
                best = other if _retold(here, there, frozenset(asked.weights)) else best
        if best != first:
            one, two = order[first], order[best]
            order[first], order[best] = replace(two, score=one.score), replace(one, score=two.score)
            dates[first], dates[best] = dates[best], dates[first]
    return order


def _about_equal(better: Candidate, other: Candidate) -> bool:
    if better.score - other.score <= _ABOUT_EQUAL:
        return True
    if better.dense is not None and (other.dense is None or other.dense < better.dense - _SAME_COSINE):
        return False
    if better.keyword is not None and (other.keyword or 0.0) < _SAME_WORDS * better.keyword:
        return False
    return better.dense is not None or better.keyword is not None


def _stamp(chunk: Chunk, years: frozenset[str]) -> str:
    """Return the document's own date; where years are asked for, "2" if it is of one of them by its name, else by its
    date, and "1" if not. What is to stand first has the greater stamp."""
    date = (chunk.date or "") if chunk.date_source not in ("", "file time") else ""
    if not years:
        return date
    own = frozenset(_YEAR.findall(chunk.path)) or {date[:4]}
    return "2" if own & years else "1"


def _earlier(one: str, other: str) -> bool:
    """Tell whether a stamp surely stands before another: the dates "2024" and "2024-05" are not told apart."""
    known = min(len(one), len(other))
    return bool(known) and one[:known] < other[:known]


def _retold(here: Chunk, there: Chunk, asked: frozenset[str]) -> bool:
    """Tell whether `there` says something else than `here` about the same thing that is asked for."""
    wanted = asked & _stems(here)
    if not wanted <= _stems(there):
        return False
    return any(_differ(one, other) for one in _about(here.text, wanted) for other in _about(there.text, wanted))


def _differ(one: _Sentence, other: _Sentence) -> bool:
    shared, all_of_both = one.stems & other.stems, one.stems | other.stems
    own = [(s.stems | s.names) - (o.stems | o.names) for s, o in ((one, other), (other, one))]
    if len(shared) < _FEWEST_SHARED or len(shared) < _ALIKE * len(all_of_both):
        return False
    renamed = bool(one.names - other.names and other.names - one.names)
    renumbered = bool(one.numbers - other.numbers and other.numbers - one.numbers)
    if renumbered:  # other names and other numbers: the same is told of somebody else
        return not renamed
    replaced = all(0 < len(words) <= _REPLACED for words in own)
    return one.numbers == other.numbers and (replaced or one.negations != other.negations)


def _about(text: str, wanted: frozenset[str]) -> Iterator[_Sentence]:
    return (s for s in _sentences(text) if not wanted or wanted & (s.stems | s.names))


@lru_cache(maxsize=2048)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    return tuple(_read(text[start:end]) for start, end in sentences(text))


def _read(text: str) -> _Sentence:
    stems, numbers, names, negations = set[str](), set[str](), set[str](), set[str]()
    for position, word in enumerate(words(text)):
        folded = fold(word.surface)
        if folded in _NEGATIONS:
            negations.add(folded)
        elif any(c.isdigit() for c in folded):
            numbers.update(word.stems)
        elif word.surface[0].isupper() and position:
            names.update(word.stems)
        elif folded not in STOP_WORDS:
            stems.update(word.stems)
    return _Sentence(frozenset(stems), frozenset(numbers), frozenset(names), frozenset(negations))


@lru_cache(maxsize=2048)
def _stems_of(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _stems(chunk: Chunk) -> frozenset[str]:
    return _stems_of("\n".join((*chunk.heading, chunk.text)))
