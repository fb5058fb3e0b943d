"""How far passages say what a sentence says: shared stems, shared meaning, and the facts that are missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from rag.answering.facts import Fact, facts, folded_formula
from rag.answering.names import same_name
from rag.answering.numerals import numbers
from rag.answering.quotable import units
from rag.protocols import Embedder, Vectors
from rag.retrieval.words import tokens


@dataclass(frozen=True)
class Evidence:
    """A passage cut into what a sentence can be compared with. `vectors` are those of `texts`, or `None` without an
    embedder."""

    text: str
    heading: str
    texts: tuple[str, ...]
    vectors: Vectors | None

    @cached_property
    def stems(self) -> tuple[frozenset[str], ...]:
        """The stems of each stretch."""
        return tuple(frozenset(tokens(text)) for text in self.texts)

    @cached_property
    def everything(self) -> str:
        """Heading and text, in which facts are looked up."""
        return f"{self.heading}\n{self.text}"

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The passage's own facts."""
        return tuple(facts(self.everything))

    @cached_property
    def values(self) -> frozenset[Fraction]:
        """The values of all numbers in the passage, those in dates and formulas too."""
        return frozenset(value for number in numbers(self.everything) for value in number.values)

    @cached_property
    def codes(self) -> frozenset[str]:
        """Words in lower case, without hyphens and with plain digits, to look codes and abbreviations up."""
        return frozenset(folded_formula(word).replace("-", "") for word in self.words)

    @cached_property
    def words(self) -> frozenset[str]:
        """Words as they stand, to look names up."""
        return frozenset(re.findall(r"[^\W_](?:[\w’'-]*\w)?", self.everything))


def evidence(passages: Sequence[tuple[str, str]], embedder: Embedder | None) -> list[Evidence]:
    """Prepare (heading, text) of several passages; all their stretches are embedded in one go."""
    cut = [tuple(unit.text(text) for unit in units(text)) or (text,) for _, text in passages]
    vectors = embedder.embed_passages([stretch for texts in cut for stretch in texts]) if embedder and cut else None
    found, at = [], 0
    for (heading, text), texts in zip(passages, cut, strict=True):
        found.append(Evidence(text, heading, texts, None if vectors is None else vectors[at : at + len(texts)]))
        at += len(texts)
    return found


def holds(passages: Sequence[Evidence], fact: Fact, written: str) -> bool:
    """Tell whether a fact, as the answer writes it, stands in one of the passages, in whatever spelling."""
    return any(_holds(passage, fact, written) for passage in passages)


def _holds(passage: Evidence, fact: Fact, written: str) -> bool:
    if fact.kind == "formula":
        return fact.key in folded_formula(passage.everything)
    if fact.kind == "date":
        same = [other for other in passage.facts if other.kind == "date" and same_date(fact, other)]
        year_there = not fact.key or any(other.key for other in same) or Fraction(fact.key) in passage.values
        return bool(same) and year_there
    if fact.kind == "number":
        return bool(fact.values & passage.values)
    if fact.key.isupper() or any(char.isdigit() for char in fact.key):
        if folded_formula(fact.key).replace("-", "") in passage.codes or _initials(fact.key, passage.everything):
            return True
        return fact.key.isalpha() and any(same_name(fact.key, word) for word in passage.words if word.isupper())
    return any(same_name(written, word) for word in passage.words)


def same_date(one: Fact, other: Fact) -> bool:
    """Tell whether two dates can be the same: what one leaves out (day, year) does not count."""
    (day, month), (other_day, other_month) = one.date, other.date
    years = {key[-2:] for key in (one.key, other.key) if key}
    return month == other_month and (day is None or day == other_day) and len(years) < 2


def _initials(abbreviation: str, text: str) -> bool:
    """An abbreviation may be spelled out in the passage: "Organisation for Economic Co-operation" for OEC."""
    letters = "".join(word[0] for word in re.findall(r"[^\W\d_]+", text)).upper()
    return len(abbreviation) > 2 and abbreviation.isalpha() and abbreviation.upper() in letters
