"""Retrieval judged by control questions: hit@k, MRR and refusals, as the command-line contract has them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag.control_questions import ControlQuestion, control_question, read_questions
from rag.messages import msg
from rag.types import Hit, Mode, SearchResult

__all__ = ["evaluate", "read_questions"]

Search = Callable[[str, int, Mode], SearchResult]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one question got in one mode. Ranks are 1-based; `None`: not among the hits."""

    question: ControlQuestion
    result: SearchResult
    rank: int | None
    both_rank: int | None
    ms: float


def evaluate(
    search: Search,
    questions: Sequence[Mapping[str, Any]],
    ks: Sequence[int] = (1, 3, 5),
    modes: Sequence[Mode] = ("hybrid",),
    by: str | None = None,
) -> dict[str, Any]:
    """Ask every question in every mode and return the figures of each mode, and the questions that went wrong.

    hit@k and MRR (within the largest k) are over the answerable questions, refusals aside. With `by`, each mode
    also holds the figures by the values of that field. Shares that have no questions are `None`.
    Raises `QuestionError` naming the malformed question.
    """
    asked = [control_question(q, msg("Question {number}", number=n)) for n, q in enumerate(questions, 1)]
    figures: dict[str, Figures] = {}
    misses: list[dict[str, Any]] = []
    for mode in modes:
        outcomes = [_ask(search, question, max(ks), mode) for question in asked]
        figures[mode] = _figures(outcomes, ks)
        if by is not None:
            groups = _groups(outcomes, by)
            figures[mode]["by"] = {value: _figures(group, ks) for value, group in sorted(groups.items())}
        misses += _misses(outcomes, min(3, max(ks)), mode)
    return {"modes": figures, "misses": misses}


def _ask(search: Search, question: ControlQuestion, k: int, mode: Mode) -> _Outcome:
    began = time.perf_counter()
    result = search(question.question, k, mode)
    ms = (time.perf_counter() - began) * 1000
    return _Outcome(question, result, question.rank(result.hits), question.both_rank(result.hits), ms)


def _figures(outcomes: Sequence[_Outcome], ks: Sequence[int]) -> Figures:
    answerable = [o for o in outcomes if o.question.answerable]
    double = [o for o in answerable if o.question.also]
    refused = [o for o in outcomes if o.result.refused]
    rightly = sum(not o.question.answerable for o in refused)
    figures: Figures = {"n": len(outcomes)}
    figures |= {f"hit@{k}": _share(_within(o.rank, k) for o in answerable) for k in ks}
    if double:
        figures |= {f"both@{k}": _share(_within(o.both_rank, k) for o in double) for k in ks}
    return figures | {
        "mrr": _share(1 / o.rank if o.rank else 0 for o in answerable),
        "answered": len(outcomes) - len(refused),
        "refused": len(refused),
        "refusal_recall": _share(o.result.refused for o in outcomes if not o.question.answerable),
        "refusal_precision": round(rightly / len(refused), 4) if refused else None,
        "false_refusals": _share(o.result.refused for o in answerable),
        "ms_p50": _percentile(outcomes, 50),
        "ms_p95": _percentile(outcomes, 95),
    }


def _groups(outcomes: Iterable[_Outcome], by: str) -> dict[str, list[_Outcome]]:
    groups: defaultdict[str, list[_Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[str((outcome.question.fields or {}).get(by, ""))].append(outcome)
    return groups


def _misses(outcomes: Iterable[_Outcome], k: int, mode: Mode) -> list[dict[str, Any]]:
    """Tell which questions went wrong: no right passage among the first k, or refused or answered wrongly."""
    misses = []
    for outcome in outcomes:
        if outcome.question.answerable and not _within(outcome.rank, k):
            problem = "not found"
        elif outcome.question.answerable == outcome.result.refused:
            problem = "refused" if outcome.result.refused else "answered"
        else:
            continue
        misses.append(
            {
                "mode": mode,
                "problem": problem,
                "question": outcome.question.question,
                "expected": {k: v for k, v in (outcome.question.fields or {}).items() if k != "question"},
                "rank": outcome.rank,
                "confidence": outcome.result.confidence,
                "refused": outcome.result.refused,
                "found": [_found(hit) for hit in outcome.result.hits[:k]],
            }
        )
    return misses


def _found(hit: Hit) -> dict[str, Any]:
    return {"file": hit.chunk.path, "heading": list(hit.chunk.heading), "page": hit.chunk.page_first}


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _share(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _percentile(outcomes: Sequence[_Outcome], percent: int) -> float | None:
    return round(float(np.percentile([o.ms for o in outcomes], percent)), 1) if outcomes else None
