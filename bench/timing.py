"""How long a question takes over ten thousand passages, against the bare cost of embedding it.

python bench/timing.py [--data ../shared/data] [--passages 10000] [--questions 120] [--mode hybrid] [--profile]

Passages are sentences of XQuAD in both languages, put together at random (seeded); each one's vector is that of its
first real paragraph with noise, and its words are that paragraph's, in two windows as notes have them, so that nothing
has to be embedded for an hour. The model, the catalogue, Chroma, the
keyword index and the questions are the real ones. Each question is embedded, searched, and searched with reranking in
turn, so that all three meet the same load.
"""

from __future__ import annotations

import cProfile
import pstats
import random
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import arguments, working_folder
from xquad import articles

from rag.chunking import keyword_text
from rag.models.embedding import load_embedder
from rag.models.sentence_reader import SentenceReader
from rag.models.sentence_reranking import SentenceReranker
from rag.protocols import Embedder, Vectors
from rag.retrieval import Retriever, passage_text
from rag.retrieval.late_interaction import LateInteraction
from rag.sentences import sentences
from rag.storage.index import Embedded, EmbeddedChunk, Index
from rag.storage.indexes import Indexes
from rag.syncing.indexing import index_identity
from rag.types import Chunk, FileStatus, Fingerprint

Times = tuple[float, float]

_A_FILE = 20
_NOISE = 0.35
_A_LANGUAGE = 120  # paragraphs
_EMBEDDED = 500  # characters: enough for a vector to stand for the paragraph, and within any window


class Remembering:
    """An embedder that embeds each passage once: the made passages share their sentences."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self.identity, self.window = embedder.identity, embedder.window
        self.count_tokens, self.embed_question = embedder.count_tokens, embedder.embed_question

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self._embedder.embed_passages(missing, progress), strict=True))
        return np.stack([self._known[text] for text in texts])


def paragraphs(data: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (title, paragraph) pairs and questions of both languages, shuffled the same way at every run."""
    found, asked = [], []
    for language in ("en", "ru"):
        read = articles(data / f"xquad.{language}.json")
        rows = [(str(article["title"]), paragraph) for article in read for paragraph in article["paragraphs"]]
        for title, paragraph in rows[:: max(1, len(rows) // _A_LANGUAGE)]:
            found.append((title, str(paragraph["context"])))
            asked += [str(question["question"]) for question in paragraph["qas"]]
    random.Random(1).shuffle(asked)
    return found, asked


def made_chunks(real: Sequence[tuple[str, str]], count: int) -> list[tuple[Chunk, int]]:
    """Return `count` chunks and for each the number of the real paragraph that gives its vector. The first ones are
    the real paragraphs; the others join sentences of two."""
    chance = random.Random(2)
    cut = [[text[start:end] for start, end in sentences(text)] for _, text in real]
    chunks = []
    for n in range(count):
        base = n if n < len(real) else chance.randrange(len(real))
        text = real[base][1] if n < len(real) else _joined(cut[base], chance.choice(cut), chance)
        path = f"{n // _A_FILE % 25}/{real[n // _A_FILE * _A_FILE % len(real)][0]}-{n // _A_FILE}.md"
        chunks.append((Chunk(f"{n:06}", path, n % _A_FILE, text), base))
    return chunks


def _joined(one: Sequence[str], other: Sequence[str], chance: random.Random) -> str:
    mixed = [*one, *other]
    chance.shuffle(mixed)
    return " ".join(mixed[: max(3, len(one))])


def filled(work: Path, embedder: Embedder, late: LateInteraction, real: Sequence[tuple[str, str]], count: int) -> Index:
    """Make the index and fill it."""
    index = Indexes(work, "").open(index_identity("bundled", embedder))
    if index.catalog.counts()[1] == count:
        return index
    base, words = late.embed([text[:_EMBEDDED] for _, text in real])
    noise = np.random.default_rng(3)
    files: dict[str, list[EmbeddedChunk]] = {}
    for chunk, number in made_chunks(real, count):
        spread = noise.standard_normal(base.shape[1]) / np.sqrt(base.shape[1])
        vector = base[number] + (_NOISE * spread if int(chunk.id) >= len(real) else 0)
        made = np.asarray(vector / np.linalg.norm(vector), np.float32)
        windows = (Embedded(made, words[number]), Embedded(base[number], words[number]))
        digests = (f"{chunk.id}-1", f"{chunk.id}-2")
        files.setdefault(chunk.path, []).append(EmbeddedChunk(chunk, keyword_text(chunk), digests, windows))
    for path, chunks in files.items():
        index.replace(FileStatus(path, "indexed", 1, len(chunks)), Fingerprint(1, 1, path), chunks)
    return index


def timed(embedder: Any, work: Callable[[], Any]) -> Times:
    """Return the milliseconds that the work takes, by the clock and of the processor, with a question that the
    embedder has not just embedded. On a busy machine the latter says more."""
    embedder._asked.clear()
    start, used = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - used)


def measure(retriever: Retriever, embedder: Embedder, asked: Sequence[str], mode: Any) -> dict[str, list[Times]]:
    """Return the milliseconds of each question, by what was done with it."""
    times: dict[str, list[Times]] = {"embedding": [], "retrieval": [], "reranked": []}
    for q in asked:
        times["embedding"].append(timed(embedder, partial(embedder.embed_question, q)))
        times["retrieval"].append(timed(embedder, partial(retriever.search, q, mode=mode)))
        times["reranked"].append(timed(embedder, partial(retriever.search, q, mode=mode, rerank=True)))
    return times


def show(times: dict[str, list[Times]], first: Sequence[Times]) -> None:
    """Print p50 and p95 and the ratios that are asked for."""
    rows = {**times, "reranked, sentences not read before": first}
    middle = {name: np.median(values, axis=0) for name, values in rows.items()}
    print("\n| | p50, ms | p95, ms | CPU p50, ms | p50 / embedding | CPU / embedding |\n|" + " --- |" * 6)
    for name, values in rows.items():
        wall, cpu = middle[name]
        shares = middle[name] / middle["embedding"]
        high = np.percentile(values, 95, axis=0)[0]
        print(f"| {name} | {wall:.1f} | {high:.1f} | {cpu:.1f} | {shares[0]:.2f} | {shares[1]:.2f} |")
    added = (middle["reranked"] - middle["retrieval"]) / middle["retrieval"]
    print(
        f"\nreranking adds {added[0]:.2f} of what retrieval takes by the clock, {added[1]:.2f} of the processor's time"
    )


def profile(options: Namespace, retriever: Retriever, asked: Sequence[str]) -> None:
    """Print where the time of plain and of reranked searches goes."""
    for rerank in (False, True):
        watch = cProfile.Profile()
        for question in asked:
            watch.runcall(retriever.search, question, mode=options.mode, rerank=rerank)
        pstats.Stats(watch).sort_stats("cumulative").print_stats("rag/", 45)


def main() -> None:
    parser = arguments("How long a question takes, against the cost of embedding it.")
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--mode", default="hybrid")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    with working_folder(options) as work, tempfile.TemporaryDirectory() as nothing:
        embedder = load_embedder("bundled", work, "")
        real, asked = paragraphs(options.data)
        late = LateInteraction.of(embedder)
        assert late is not None
        index = filled(work / "index.timing", embedder, late, real, options.passages)
        read = SentenceReader(Remembering(embedder), work / "sentences")
        read.prepare([passage_text(chunk) for chunk in index.catalog.all_chunks()])
        unread = SentenceReader(embedder, Path(nothing))
        words = (late, index.catalog.words_of)
        near = unread.nearness
        plain = Retriever(embedder, index.store, index.keywords, index.catalog.chunks, late=words, nearness=near)
        retriever, fresh = plain.with_reranker(SentenceReranker(read)), plain.with_reranker(SentenceReranker(unread))
        for question in asked[-5:]:
            retriever.search(question, mode=options.mode, rerank=True)
        if options.profile:
            profile(options, retriever, asked[: options.questions])
        unseen = asked[-8:-5]
        first = [timed(embedder, partial(fresh.search, q, mode=options.mode, rerank=True)) for q in unseen]
        print(f"{len(index.keywords)} passages, {options.questions} questions, mode {options.mode}")
        show(measure(retriever, embedder, asked[: options.questions], options.mode), first)


if __name__ == "__main__":
    main()
