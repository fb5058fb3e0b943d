"""Passages of different dates that give different figures for the same thing: the reader is to know of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.answering.content_words import content, meaningful
from rag.answering.evidence import same_date
from rag.answering.facts import Fact, facts
from rag.answering.quotable import units
from rag.messages import Message, msg
from rag.types import Hit

_ALIKE = 0.6
_MOST_FIGURES = 3  # a row of many numbers is no statement about one of them


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The hits number `newer` and `older` (from 1) say the same with different figures, as they write them."""

    newer: int
    older: int
    newer_figures: str
    older_figures: str

    def message(self, hits: Sequence[Hit]) -> Message:
        """What to tell the reader."""
        return msg(
            "Notes of different dates differ: [{newer}] ({newer_date}) has {newer_figures}, "
            "[{older}] ({older_date}) has {older_figures}. The later may replace the earlier.",
            newer=self.newer,
            newer_date=hits[self.newer - 1].chunk.date,
            newer_figures=self.newer_figures,
            older=self.older,
            older_date=hits[self.older - 1].chunk.date,
            older_figures=self.older_figures,
        )


@dataclass(frozen=True, slots=True)
class _Statement:
    n: int
    text: str
    stems: frozenset[str]
    figures: tuple[Fact, ...]

    def without(self, other: _Statement) -> list[Fact]:
        """The figures that the other statement does not have."""
        return [fact for fact in self.figures if not any(_same(fact, theirs) for theirs in other.figures)]

    def written(self, figures: Sequence[Fact]) -> str:
        return ", ".join(
            dict.fromkeys(" ".join(self.text[fact.start : fact.end].split()).rstrip(".") for fact in figures)
        )


def disagreements(hits: Sequence[Hit], question: str) -> list[Disagreement]:
    """Return at most one disagreement for each pair of hits, about what the question asks, best hits first."""
    asked = content(question)
    statements = {n: list(_statements(n, hit)) for n, hit in enumerate(hits, 1) if hit.chunk.date}
    found = []
    for one in statements:
        for other in statements:
            if one < other and _later(hits[one - 1], hits[other - 1]) is not None:
                newer, older = (one, other) if _later(hits[one - 1], hits[other - 1]) else (other, one)
                found += _first_of(statements[newer], statements[older], asked)
    return found


def _first_of(newer: Sequence[_Statement], older: Sequence[_Statement], asked: frozenset[str]) -> list[Disagreement]:
    for late in newer:
        for early in older:
            if asked & late.stems & early.stems and _alike(late.stems, early.stems) and _differ(late, early):
                figures = late.written(late.without(early)), early.written(early.without(late))
                return [Disagreement(late.n, early.n, *figures)]
    return []


def _later(one: Hit, other: Hit) -> bool | None:
    """Whether the first is of a later date; `None` where that cannot be told, or where the headings share nothing:
    the exam under "Physics" and the exam under "Chemistry" are two."""
    a, b = one.chunk.date or "", other.chunk.date or ""
    headings = [meaningful(" ".join(hit.chunk.heading)) for hit in (one, other)]
    if a.startswith(b) or b.startswith(a) or (all(headings) and not headings[0] & headings[1]):
        return None
    return a > b


def _statements(n: int, hit: Hit) -> Iterator[_Statement]:
    passage = hit.chunk.text
    for unit in units(passage):
        text = unit.text(passage)
        figures = tuple(fact for fact in facts(text) if fact.kind in ("number", "date"))
        if figures and unit.kind != "code":
            words = "".join(" " if any(f.start <= i < f.end for f in figures) else c for i, c in enumerate(text))
            yield _Statement(n, text, frozenset(s for s in meaningful(words) if not s.isdigit()), figures)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)


def _differ(late: _Statement, early: _Statement) -> bool:
    """Both have a figure of one kind in the place of the other's. Where years differ and other figures too, each
    speaks of its own year."""
    mine, theirs = late.without(early), early.without(late)
    if not (0 < len(mine) <= _MOST_FIGURES and 0 < len(theirs) <= _MOST_FIGURES):
        return False
    kinds = [{_kind(fact) for fact in figures} for figures in (mine, theirs)]
    return kinds[0] == kinds[1] and not ("year" in kinds[0] and len(kinds[0]) > 1)


def _kind(fact: Fact) -> str:
    return "year" if fact.kind == "number" and any(1500 <= value <= 2100 for value in fact.values) else fact.kind


def _same(one: Fact, other: Fact) -> bool:
    if one.kind == other.kind == "date":
        return same_date(one, other)
    return bool(one.values & other.values)
