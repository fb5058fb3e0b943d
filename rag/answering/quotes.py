"""The answer without a model: the sentences of the found passages that answer best, word for word."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.answering.content_words import content
from rag.answering.injection import gives_orders
from rag.answering.question_kinds import QuestionKind, holds_kind, kind_of
from rag.answering.quotable import Span, Unit, units, with_announced
from rag.protocols import Embedder
from rag.retrieval.words import tokens
from rag.types import Hit

MOST_QUOTES = 3
_LISTED = re.compile(r":[*_ ]*\n\s*(?:[-*+•–—▪◦·]|\d+[.)])\s")
_LEAST_SPREAD = 0.005
_FALLS_BEHIND = 3.0  # a sentence this far under the best one is not worth the reader's time


@dataclass(frozen=True, slots=True)
class Quote:
    """An exact stretch of the n-th hit's passage (n from 1): `spans` are offsets in it, `text` joins them by line
    breaks."""

    n: int
    spans: tuple[Span, ...]
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    n: int
    unit: Unit
    text: str
    context: str
    tokens: frozenset[str]
    context_tokens: frozenset[str]


@dataclass(frozen=True, slots=True)
class Weights:
    """What makes a sentence the answer. `meaning` weighs its cosine with the question in standard deviations among the
    candidates, `words` and `context` the share of the question's informative stems in it and just before it, `kind`
    what the question waits for, `rank` the passage's place. Fitted on one half of XQuAD, checked on the other."""

    meaning: float = 0.7
    words: float = 3.0
    context: float = 1.5
    kind: float = 1.0
    rank: float = 0.7


def best_quotes(
    hits: Sequence[Hit],
    question: str,
    embedder: Embedder | None,
    most: int = MOST_QUOTES,
    weights: Weights | None = None,
) -> list[Quote]:
    """Return at most `most` quotes, best first. Without an embedder words alone decide."""
    candidates = _candidates(hits, kind_of(question) == "list")
    if not candidates:
        return []
    scores = _scores(candidates, question, embedder, weights or Weights())
    quotes: list[Quote] = []
    for i in sorted(range(len(candidates)), key=lambda i: (-scores[i], i)):
        chosen = candidates[i]
        if quotes and quotes[0].score - scores[i] > _FALLS_BEHIND:
            break
        passage = hits[chosen.n - 1].chunk.text
        if not any(_overlap(chosen.unit, chosen.n, quote) for quote in quotes):
            quotes.append(Quote(chosen.n, chosen.unit.spans, chosen.unit.text(passage), float(scores[i])))
        if len(quotes) == most:
            break
    return quotes


def _overlap(unit: Unit, n: int, quote: Quote) -> bool:
    return n == quote.n and any(a < d and c < b for a, b in unit.spans[-1:] for c, d in quote.spans)


def _candidates(hits: Sequence[Hit], whole_lists: bool) -> list[_Candidate]:
    """All units of the hits, but those that only repeat another one or a title, or hold orders to a language model. A
    sentence that announces a list is quoted with it, and with `whole_lists` judged with it."""
    found: list[_Candidate] = []
    seen: set[str] = set()
    for n, hit in enumerate(hits, 1):
        passage = hit.chunk.text
        cut = units(passage)
        heading = " ".join(hit.chunk.heading[-2:])
        seen |= {" ".join(title.casefold().split()) for title in hit.chunk.heading}
        for index in range(len(cut)):
            unit = with_announced(passage, cut, index)
            text = (unit if whole_lists else cut[index]).text(passage)
            folded = " ".join(text.casefold().split())
            if folded in seen or not any(char.isalnum() for char in text):
                continue
            seen.add(folded)
            before = cut[index - 1].text(passage) if index else ""
            context = " ".join((heading, passage[slice(*unit.lead)], before))
            found.append(_Candidate(n, unit, text, context, frozenset(tokens(text)), frozenset(tokens(context))))
    safe = [candidate for candidate in found if not gives_orders(candidate.text)]
    return safe or found


def _scores(
    candidates: Sequence[_Candidate], question: str, embedder: Embedder | None, weights: Weights
) -> list[float]:
    asked = content(question)
    rarity = _rarity(candidates, asked)
    total = sum(rarity.values()) or 1.0
    kind = kind_of(question)
    meaning = _meaning(candidates, question, embedder)
    scores = []
    for candidate, cosine in zip(candidates, meaning, strict=True):
        words = sum(rarity.get(t, 0.0) for t in asked & candidate.tokens) / total
        around = sum(rarity.get(t, 0.0) for t in (asked & candidate.context_tokens) - candidate.tokens) / total
        scores.append(
            weights.meaning * cosine
            + weights.words * words
            + weights.context * around
            + weights.kind * _fits(candidate, question, kind)
            - weights.rank * (candidate.n - 1)
        )
    return scores


def _fits(candidate: _Candidate, question: str, kind: QuestionKind) -> float:
    """Code answers no question in words. A list with the sentence that announces it is what "which ...?" asks for."""
    if candidate.unit.kind == "code":
        return -1.0
    whole_list = kind == "list" and candidate.unit.kind == "sentence" and _LISTED.search(candidate.text) is not None
    return holds_kind(candidate.text, question, kind) + whole_list


def _rarity(candidates: Sequence[_Candidate], asked: frozenset[str]) -> dict[str, float]:
    """How much each of the question's stems tells one candidate from another: its idf among them."""
    counts = Counter(token for candidate in candidates for token in candidate.tokens & asked)
    return {token: math.log(1 + (len(candidates) + 1) / (counts[token] + 1)) for token in asked if counts[token]}


def _meaning(candidates: Sequence[_Candidate], question: str, embedder: Embedder | None) -> list[float]:
    """Cosines with the question, less the best one, in standard deviations: models differ in how widely theirs
    spread."""
    if embedder is None:
        return [0.0] * len(candidates)
    cosines = embedder.embed_passages([candidate.text for candidate in candidates]) @ embedder.embed_question(question)
    return [float(value) for value in (cosines - np.max(cosines)) / max(float(np.std(cosines)), _LEAST_SPREAD)]
