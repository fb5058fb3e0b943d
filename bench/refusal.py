"""Does Konspekt know when the notes hold no answer?

Half of the XQuAD articles are indexed (every second title in sorted order) and all questions are asked. The weights
of rag/retrieval/refusal.py are judged as they stand, and weights fitted on one language are tested on the other.

python bench/refusal.py [--data ../shared/data] [--work DIR] [--fit] [--step 1]
`--fit` prints the weights that come out of either language and how they refuse in the other; the module holds English
ones.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from measuring import arguments, library, report, working_folder
from xquad import Article, articles, questions, write_notes

from rag.evaluation import read_questions
from rag.library import Library
from rag.protocols import Vectors
from rag.retrieval import Retriever
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.refusal import Evidence, terms
from rag.types import Mode

Question = Mapping[str, Any]
Matrix = npt.NDArray[np.float64]
Seen = tuple[Evidence, bool]
MODES: tuple[Mode, ...] = ("hybrid", "dense", "keyword")
LANGUAGES = ("en", "ru")
SMALL_LIBRARIES = (2, 3, 5, 8, 12)
TERMS = ("bias", "surprise", "covered", "strength", "lacking", "coherence", "closeness", "nearness")
BY_WORDS = (0, 2, 3, 4)
BY_MEANING = (1, 5)
COMPARED: Mapping[str, tuple[int, ...]] = {
    "": (),
    " + words": (6,),
    " + words + sentences": (6, 7),
    " + sentences": (7,),
}
LACKING = 4
RIDGE = 1.0
NEAR_MISSES = Path(__file__).parent / "near_misses.jsonl"


def half(found: Sequence[Article]) -> list[Article]:
    """Return every second article."""
    return list(found[::2])


class Part:
    """The store of a library, seen as if it held some of its files only."""

    def __init__(self, opened: Library, files: Sequence[str]) -> None:
        self._index = opened._shelf.load().index
        self._files = files

    def query(self, vector: Vectors, n: int, paths: Sequence[str] | None = None) -> list[tuple[str, float]]:
        return self._index.store.query(vector, n, self._files if paths is None else paths)

    def ids(self) -> set[str]:
        return {i for i, path in self._index.catalog.vector_ids().items() if path in self._files}

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        return self._index.store.vectors(ids)

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, Vectors]:
        return self._index.store.of_chunks(chunk_ids)

    def add(self, ids: Sequence[str], vectors: Vectors, chunk_ids: Sequence[str], paths: Sequence[str]) -> None:
        raise NotImplementedError

    def delete(self, ids: Sequence[str]) -> None:
        raise NotImplementedError


def retriever_over(opened: Library, files: Sequence[str]) -> Retriever:
    """Return a retriever that knows nothing but these files."""
    serving = opened._shelf.load()
    keywords = KeywordIndex(row for row in serving.index.catalog.stems() if row[1] in files)
    late = (serving.words, serving.index.catalog.words_of) if serving.words else None
    return Retriever(
        serving.embedder,
        Part(opened, files),
        keywords,
        serving.index.catalog.chunks,
        late=late,
        nearness=serving.sentences.nearness,
    )


def collect(retriever: Retriever, control: Sequence[Question], mode: Mode, files: Sequence[str]) -> list[Seen]:
    """Return the evidence of each question, and whether its answer is among the files."""
    return [
        (retriever.evidence(str(question["question"]), mode) or Evidence(), question.get("file") in files)
        for question in control
    ]


def matrix(samples: Sequence[Seen], compared: str) -> Matrix:
    """Return a row per question: the terms of the evidence, and 1 if its answer is among the files."""
    rows = []
    for seen, known in samples:
        kept = seen if "words" in compared else replace(seen, closeness=None)
        kept = kept if "sentences" in compared else replace(kept, nearness=None)
        rows.append([*terms(kept), float(known)])
    return np.array(rows)


def in_one_script(samples: Sequence[Seen]) -> list[Seen]:
    """Return the questions whose passage is written in their script."""
    return [(seen, known) for seen, known in samples if seen.same_script]


def fit(rows: Matrix, used: Sequence[int]) -> Matrix:
    """Return the weights of a logistic regression over those terms, both classes weighing the same. A witness that
    would speak against the answer by speaking for it (and the lacking one by the reverse) is left out."""
    while True:
        weights = _regression(rows, used)
        wrong = [i for i in used if i and weights[i] * (-1 if i == LACKING else 1) < 0]
        if not wrong:
            return weights
        worst = max(wrong, key=lambda i: abs(weights[i]))
        used = [i for i in used if i != worst]


def _regression(rows: Matrix, used: Sequence[int]) -> Matrix:
    """Newton's method, with a ridge on the weights of terms of deviation 1."""
    truth, seen = rows[:, -1], rows[:, list(used)]
    importance = np.where(truth > 0, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    ridge = np.diag(RIDGE * seen.var(axis=0))
    weights = np.zeros(len(used))
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(seen @ weights, -30, 30)))
        gradient = seen.T @ (importance * (truth - chance)) - ridge @ weights
        curvature = (seen * (importance * chance * (1 - chance))[:, None]).T @ seen + ridge
        weights = weights + np.linalg.solve(curvature, gradient)
    full = np.zeros(len(TERMS))
    full[list(used)] = weights
    return full


def judged(rows: Matrix, weights: Matrix) -> str:
    """Tell how well weights refuse at confidence 0.5."""
    refused = rows[:, : len(TERMS)] @ weights < 0
    missing = rows[:, -1] == 0
    right, wrong = refused[missing].mean(), refused[~missing].mean()
    return f"refused {right:.3f} of the missing, {wrong:.3f} of the others"


def main() -> None:
    parser = arguments("Refusals: half of XQuAD indexed, all of it asked; near misses.")
    parser.add_argument("--fit", action="store_true", help="fit weights and test them across languages")
    parser.add_argument("--step", type=int, default=1, help="ask every n-th question only")
    options = parser.parse_args()
    samples: dict[tuple[str, Mode], list[Seen]] = {}
    across: dict[str, list[Seen]] = {}
    with working_folder(options) as work:
        for language in LANGUAGES:
            found = articles(options.data / f"xquad.{language}.json")
            notes = work / f"notes.half.{language}"
            write_notes(half(found), notes)
            control = questions(found, {a["title"] for a in half(found)})[:: options.step]
            with library(notes, work / f"index.half.{language}") as opened:
                report(f"Half of XQuAD {language}", opened.evaluate(control, (1, 3), list(MODES)), options.misses)
                if options.fit:
                    files = sorted(path.name for path in notes.iterdir())
                    foreign = _foreign_questions(options.data, language)[:: options.step]
                    for mode in MODES:
                        samples[language, mode] = _samples(opened, control, mode, files)
                    across[language] = collect(retriever_over(opened, files), foreign, "hybrid", files)
            write_notes(found, work / f"notes.{language}")
            near = [q for q in read_questions(NEAR_MISSES) if q["language"] == language]
            with library(work / f"notes.{language}", work / f"index.{language}") as opened:
                report(f"Near misses {language}", opened.evaluate(near, (1, 3), list(MODES)), options.misses)
    if options.fit:
        _show_fits(samples, across)


def _foreign_questions(data: Path, language: str) -> list[Question]:
    """Return the questions in the other language."""
    other = articles(data / f"xquad.{next(one for one in LANGUAGES if one != language)}.json")
    return [*questions(other, {article["title"] for article in half(other)})]


def _samples(opened: Library, control: Sequence[Question], mode: Mode, files: Sequence[str]) -> list[Seen]:
    """Return the evidence in the half library and in small ones, so that ten notes are judged as well."""
    found = collect(retriever_over(opened, files), control, mode, files)
    for seed, size in enumerate(SMALL_LIBRARIES * 2):
        chance = random.Random(seed)
        chosen = chance.sample(list(files), size)
        inside = [q for q in control if q.get("file") in chosen]
        outside = [q for q in control if q.get("file") not in chosen]
        asked = chance.sample(inside, min(20, len(inside))) + chance.sample(outside, 20)
        found += collect(retriever_over(opened, chosen), asked, mode, chosen)
    return found


def _show_fits(samples: Mapping[tuple[str, Mode], list[Seen]], across: Mapping[str, list[Seen]]) -> None:
    """Print the weights that are fitted on either language, and how they refuse in both."""
    print(f"\nweights of {', '.join(TERMS)}; the half that is missing, all sizes of library together")
    in_one = {key: in_one_script(found) for key, found in samples.items()}
    _show_fit("keyword", "", BY_WORDS, {"keyword": {one: in_one[one, "keyword"] for one in LANGUAGES}})
    embedding: Sequence[Mode] = ("hybrid", "dense")
    for compared in COMPARED:
        by_mode = {mode: {one: in_one[one, mode] for one in LANGUAGES} for mode in embedding}
        _show_fit("one script", compared, (*BY_WORDS, *BY_MEANING), by_mode)
    for compared in COMPARED:
        _show_fit("across scripts", compared, (*BY_WORDS, *BY_MEANING), {"hybrid": across})


def _show_fit(
    name: str, compared: str, used: Sequence[int], samples: Mapping[str, Mapping[str, Sequence[Seen]]]
) -> None:
    """Fit on the first mode's samples of either language, and test on all."""
    rows = {(mode, one): matrix(of_one[one], compared) for mode, of_one in samples.items() for one in LANGUAGES}
    first = next(iter(samples))
    for one in LANGUAGES:
        weights = fit(rows[first, one], [*used, *COMPARED[compared]])
        print(f"{name}{compared}: fitted over notes in {one} {weights.round(2).tolist()}")
        for (mode, other), found in rows.items():
            print(f"    tested over notes in {other}, {mode}: {judged(found, weights)}")


if __name__ == "__main__":
    main()
