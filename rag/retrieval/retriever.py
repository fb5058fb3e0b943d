"""Retrieval: a question in, the best passages out, with the confidence that they answer it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from rag.protocols import ChunkStore, Embedder, Reranker, Vectors
from rag.retrieval.asking import Asked, understand
from rag.retrieval.centring import Centring
from rag.retrieval.diversity import distinct, merged, spread
from rag.retrieval.exact import lifted, names_unknown_figure
from rag.retrieval.freshness import later_first
from rag.retrieval.fusion import IDF_SCALE, Candidate, Found, fuse, in_order
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.late_interaction import FAINT, LateInteraction
from rag.retrieval.naming import NamesKeeper
from rag.retrieval.questions import sub_questions, without_instructions
from rag.retrieval.refusal import BackgroundKeeper, Evidence, coherence, confidence, doubtful, evidence
from rag.retrieval.words import Word, words, written_in_cyrillic
from rag.types import Chunk, Hit, Mode, SearchResult

Chunks = Callable[[Sequence[str]], Mapping[str, Chunk]]
WordsOf = Callable[[Sequence[str]], Mapping[str, Sequence[bytes]]]
Nearness = Callable[[str, Sequence[str]], Sequence[float]]
Item = TypeVar("Item")

# Candidates of each path and of the fused order, and how many times more where these are not enough; those that a
# reranker judges.
_CANDIDATES = 100
_WIDER = 4
_RERANKED = 30
_RERANK_WEIGHT = 0.5
# Candidates that are compared with the question word by word, the weight of that, and what is added to it where no
# candidate shares a word with the question: what words do not tell, their meaning must.
_COMPARED_BY_WORDS = 30
_CLOSENESS_WEIGHT = 0.25
_CLOSENESS_OF_UNCOVERED = 1.0
# Candidates of each path from the files that the question names, and what a passage gains by standing in one.
_NAMED = 40
NAMED_LIFT = 0.1
# Of the best passages, those that are compared with each other, and those in which names and numbers are looked for.
_COMPARED = 5
_NAMES_IN = 3


@dataclass(frozen=True, slots=True)
class _Ranking:
    """One question as it was read, its candidates in order, the texts of the best, and what speaks for the first."""

    asked: Asked
    candidates: Sequence[Candidate]
    chunks: Mapping[str, Chunk]
    same_in: Mapping[str, tuple[str, ...]]
    reranked: Mapping[str, float]
    evidence: Evidence | None
    confidence: float


class Retriever:
    """Searches one index with the embedder that made it. Safe to use from several threads."""

    def __init__(
        self,
        embedder: Embedder,
        store: ChunkStore,
        keywords: KeywordIndex,
        chunks: Chunks,
        reranker: Reranker | None = None,
        late: tuple[LateInteraction, WordsOf] | None = None,
        nearness: Nearness | None = None,
    ) -> None:
        """`late` compares words, and gets them of passages, where the index keeps them; `nearness` tells how near a
        question comes to the nearest sentence of each of some passages."""
        self._embedder = embedder
        self._late = late
        self._store = store
        self._keywords = keywords
        self._chunks = chunks
        self._reranker = reranker
        self._nearness = nearness
        self._centring = Centring(embedder)
        self._background = BackgroundKeeper()
        self._names = NamesKeeper()

    def with_reranker(self, reranker: Reranker | None) -> Self:
        """Return a retriever over the same index, with what this one has learnt, that uses another reranker."""
        other = type(self)(
            self._embedder, self._store, self._keywords, self._chunks, reranker, self._late, self._nearness
        )
        other._centring, other._background, other._names = self._centring, self._background, self._names
        return other

    def warm_up(self) -> None:
        """Do ahead what the first question would wait for."""
        self._centring.means()
        self._keywords.sounds(cyrillic=True)
        if self._late:
            self._late[0].scale()

    def search(
        self,
        query: str,
        k: int = 3,
        mode: Mode = "hybrid",
        rerank: bool = False,
        paths: Sequence[str] | None = None,
        threshold: float = 0.5,
        parts: Sequence[str] = (),
    ) -> SearchResult:
        """Return at most k hits, best first. `paths` restricts to those files (`None`: all), `rerank` asks for the
        reranker's judgement where there is one, and a confidence under `threshold` refuses. `parts` are the questions
        that it consists of; where none are given, rules look for them."""
        asked = without_instructions(query)
        whole = self._rank(asked, mode, rerank, paths, k)
        parts = parts or sub_questions(whole.asked.mended)
        rankings = [whole, *(self._rank(part, mode, rerank, paths) for part in parts)]
        hits = _hits(rankings, k)
        sure = max(whole.confidence, min((r.confidence for r in rankings[1:]), default=0.0))
        mended = whole.asked.mended if whole.asked.mended != asked else ""
        return SearchResult(query, hits, sure < threshold, sure, threshold, mode, tuple(parts), reading=mended)

    def evidence(self, query: str, mode: Mode = "hybrid", paths: Sequence[str] | None = None) -> Evidence | None:
        """Return all that speaks for the best passage, whether it is needed or not; `None` where nothing is found. For
        measuring."""
        return self._rank(without_instructions(query), mode, False, paths, thorough=True).evidence

    def _rank(
        self,
        question: str,
        mode: Mode,
        rerank: bool,
        paths: Sequence[str] | None,
        k: int = 1,
        *,
        thorough: bool = False,
    ) -> _Ranking:
        asked = understand(question, self._keywords)
        vector = None if mode == "keyword" else self._centring.embed(asked.text)
        named = self._names.get(self._keywords).named_by(asked.text)
        n = _CANDIDATES
        while True:
            found = self._find(asked, vector, mode, paths, named, n)
            chunks, kept, same_in = self._kept(asked, found, mode, named, n)
            # Copies of one text may have filled all places: then more candidates are looked at, while there are more.
            if len(kept) >= k or max(len(found.dense), len(found.keyword)) < n:
                break
            n *= _WIDER
        if vector is not None:
            kept = self._compared_by_words(asked, kept)
        reranked = self._judge(asked.text, kept, chunks) if rerank and self._reranker else {}
        if reranked:
            kept = in_order([replace(c, score=_with_rerank(c, reranked)) for c in kept])
        kept = later_first(kept, chunks, asked)
        if not kept or not words(asked.text):
            return _Ranking(asked, kept, chunks, same_in, reranked, None, 0.0)
        first = chunks[kept[0].chunk_id]
        seen = self._evidence(asked, vector, kept[:_COMPARED], found, first.text)
        if vector is not None and self._nearness and (thorough or doubtful(seen, mode)):
            seen = replace(seen, nearness=round(self._nearness(asked.text, [passage_text(first)])[0], 6))
        return _Ranking(asked, kept, chunks, same_in, reranked, seen, confidence(seen, mode))

    def _kept(
        self, asked: Asked, found: Found, mode: Mode, named: Mapping[str, float], n: int
    ) -> tuple[Mapping[str, Chunk], list[Candidate], dict[str, tuple[str, ...]]]:
        """Return the texts of all candidates, the n best in order, each text once, and where else a text stands."""
        fused = fuse(found, mode)
        chunks = self._chunks([c.chunk_id for c in fused])
        known = [c for c in fused if c.chunk_id in chunks]
        best = in_order([replace(c, score=c.score + _named_lift(chunks[c.chunk_id], named)) for c in known])[:n]
        return chunks, *distinct(spread(lifted(best, asked, self._keywords, chunks), chunks), chunks)

    def _compared_by_words(self, asked: Asked, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates in a new order: the first are compared with the question word by word."""
        if self._late is None:
            return list(candidates)
        late, words_of = self._late
        first, rest = candidates[:_COMPARED_BY_WORDS], candidates[_COMPARED_BY_WORDS:]
        close = late.closeness(asked.text, words_of([c.chunk_id for c in first]), self._weight)
        covered = max((c.covered for c in first), default=0.0)
        weight = _CLOSENESS_WEIGHT + _CLOSENESS_OF_UNCOVERED * (1 - covered)
        return [*in_order([_with_closeness(c, close.get(c.chunk_id), weight) for c in first]), *rest]

    def _weight(self, word: Word) -> float:
        """Return how much a word of the question weighs among the others: the rarer in the library, the more."""
        size = len(self._keywords) + 1
        rarest = min(self._keywords.frequency(stem) for stem in word.stems)
        return FAINT + max(0.0, math.log(size / (1 + rarest))) / math.log(size)

    def _find(
        self,
        asked: Asked,
        vector: Vectors | None,
        mode: Mode,
        paths: Sequence[str] | None,
        named: Mapping[str, float],
        n: int,
    ) -> Found:
        keyword = [] if mode == "dense" else self._keywords.search(asked.weights, n, paths)
        if mode == "keyword-then-dense":
            paths = sorted({chunk.path for chunk in self._chunks([m.chunk_id for m in keyword]).values()})
        dense = [] if vector is None else self._store.query(vector, n, paths)
        floor = dense[-1][1] if dense else 0.0
        if named and mode != "keyword-then-dense":
            inside = sorted(named if paths is None else named.keys() & set(paths))
            if keyword:
                keyword = _joined(keyword, self._keywords.search(asked.weights, _NAMED, inside), lambda m: m.chunk_id)
            if vector is not None:
                dense = _joined(dense, self._store.query(vector, _NAMED, inside), lambda pair: pair[0])
        judged = self._keywords.judge(asked.weights, {i for i, _ in dense} | {m.chunk_id for m in keyword})
        rarity = self._keywords.rarity(asked.weights)
        ideal = math.fsum(rarity[stem] * weight for stem, weight in asked.weights.items())
        return Found([(i, round(cosine, 6)) for i, cosine in dense], keyword, judged, ideal, floor)

    def _judge(self, question: str, candidates: Sequence[Candidate], chunks: Mapping[str, Chunk]) -> dict[str, float]:
        assert self._reranker is not None
        ids = [c.chunk_id for c in candidates[:_RERANKED]]
        texts = [passage_text(chunks[i]) for i in ids]
        return dict(zip(ids, self._reranker.scores(question, texts), strict=True))

    def _evidence(
        self, asked: Asked, vector: Vectors | None, best: Sequence[Candidate], found: Found, text: str
    ) -> Evidence:
        """Weigh the first of the best candidates; all of them are compared with each other, and the first three are
        asked for the question's names and numbers."""
        first = best[0]
        cosine = first.dense if first.dense is not None else (found.floor if found.dense else None)
        known = None if vector is None else self._background.get(self._store, self._keywords)
        strength = (first.keyword or 0.0) / (IDF_SCALE * found.ideal) if found.ideal else 0.0
        same_script = written_in_cyrillic(asked.text) == written_in_cyrillic(text)
        ids = [c.chunk_id for c in best]
        alike = 0.0
        if vector is not None and known is not None:
            stored = self._store.of_chunks(ids)
            alike = coherence(vector, [stored[i] for i in ids if i in stored], known)
        return replace(
            evidence(cosine, vector, known),
            coherence=round(alike, 6),
            covered=first.covered,
            strength=strength,
            closeness=first.closeness,
            lacking=self._lacking(asked, ids[:_NAMES_IN]),
            unknown_figure=names_unknown_figure(asked.text, self._keywords),
            same_script=same_script,
        )

    def _lacking(self, asked: Asked, ids: Sequence[str]) -> float:
        rarity = self._keywords.rarity(asked.weights)
        named = asked.exact & asked.weights.keys()
        if asked.bare:  # each of so few words names what is asked for; one that was mended weighs less than 1
            named |= {s for s, weight in asked.weights.items() if weight >= 1 and not self._keywords.frequency(s)}
        missing = [s for s in sorted(named) if not self._keywords.judge({s: 1.0}, ids)]
        total = math.fsum(rarity[stem] * weight for stem, weight in asked.weights.items())
        return math.fsum(rarity[stem] for stem in missing) / total if total else 0.0


def _joined(first: Sequence[Item], more: Sequence[Item], key: Callable[[Item], str]) -> list[Item]:
    seen = {key(item) for item in first}
    return [*first, *(item for item in more if key(item) not in seen)]


def _hits(rankings: Sequence[_Ranking], k: int) -> tuple[Hit, ...]:
    """Return the hits of the whole question; where it has parts, the best of each part are among the first k."""
    whole, parts = rankings[0].candidates, [r.candidates for r in rankings[1:]]
    firsts = merged([whole[:1], *(part[:1] for part in parts)], lambda c: c.chunk_id)
    chosen = merged([firsts + merged([whole, *parts], lambda c: c.chunk_id)], lambda c: c.chunk_id)[:k]
    chunks = {i: chunk for r in rankings for i, chunk in r.chunks.items()}
    same_in = {i: files for r in rankings for i, files in r.same_in.items()}
    reranked = {i: score for r in rankings for i, score in r.reranked.items()}
    return tuple(
        Hit(
            chunks[c.chunk_id],
            round(c.score, 6),
            c.dense,
            c.keyword,
            reranked.get(c.chunk_id),
            c.dense_rank,
            c.keyword_rank,
            same_in.get(c.chunk_id, ()),
            c.closeness,
        )
        for c in chosen
    )


def _named_lift(chunk: Chunk, named: Mapping[str, float]) -> float:
    return NAMED_LIFT * named.get(chunk.path, 0.0)


def _with_closeness(candidate: Candidate, close: float | None, weight: float) -> Candidate:
    if close is None:
        return candidate
    return replace(candidate, score=candidate.score + weight * close, closeness=close)


def _with_rerank(candidate: Candidate, reranked: Mapping[str, float]) -> float:
    judged = reranked.get(candidate.chunk_id)
    return candidate.score + _RERANK_WEIGHT * judged if judged is not None else candidate.score


def passage_text(chunk: Chunk) -> str:
    """Return what a reranker judges of a passage."""
    return "\n".join(part for part in (" › ".join(chunk.heading), chunk.text) if part)
