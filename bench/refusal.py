"""Does Konspekt know when the notes hold no answer?

Half of the XQuAD articles are indexed (every second title in sorted order) and all questions are asked. The weights
of rag/retrieval/refusal.py are judged as they stand, and weights fitted on one language are tested on the other.

python bench/refusal.py [--data ../shared/data] [--work DIR] [--fit] [--step 1]
`--fit` prints the weights that come out of both languages together, for every mode: those in the module.
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
from rag.retrieval.refusal import Evidence
from rag.types import Mode

Question = Mapping[str, Any]
Matrix = npt.NDArray[np.float64]
MODES: tuple[Mode, ...] = ("hybrid", "dense", "keyword")
LANGUAGES = ("en", "ru")
SMALL_LIBRARIES = (2, 3, 5, 8, 12)
TERMS = ("surprise", "covered", "strength", "lacking", "coherence", "closeness")
USED = {"dense": (1, 2, 6, 7), "keyword": (1, 3, 4, 5)}
# A wrong refusal weighs this much heavier: the bias is raised by its logarithm.
DEARER = 1.5
# Students ask in their own words, XQuAD's authors in those of the text. Questions in the other language, which share
# no word with the notes, stand for the former and weigh this much.
OWN_WORDS = 0.05
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
    return Retriever(serving.embedder, Part(opened, files), keywords, serving.index.catalog.chunks)


def collect(retriever: Retriever, control: Sequence[Question], mode: Mode, files: Sequence[str]) -> Matrix:
    """Return a row per question: 1 if its answer is among the files, the bias, the terms of the evidence, and 1 if
    question and passage are written in one script."""
    rows = []
    for question in control:
        seen = retriever.evidence(str(question["question"]), mode) or Evidence()
        if not seen.same_script:
            seen = replace(seen, covered=0.0, strength=0.0, lacking=0.0)
        known = float(question.get("file") in files)
        rows.append([known, 1.0, *(getattr(seen, term) for term in TERMS), float(seen.same_script)])
    return np.array(rows)


def fit(rows: Matrix, mode: Mode) -> Matrix:
    """Return the weights of a logistic regression with both classes weighing the same (Newton's method, a light
    ridge on all but the bias). Questions across scripts weigh `OWN_WORDS`."""
    used = list(USED.get(mode, range(1, 7)))
    truth, terms = rows[:, 0], rows[:, used]
    own = np.where(rows[:, -1] > 0, 1.0, OWN_WORDS)
    share = (own * truth).sum() / own.sum()
    importance = own * np.where(truth > 0, 0.5 / share, 0.5 / (1 - share))
    ridge = np.diag([0.0] + [1.0] * (len(used) - 1))
    weights = np.zeros(len(used))
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(terms @ weights, -30, 30)))
        gradient = terms.T @ (importance * (truth - chance)) - ridge @ weights
        curvature = (terms * (importance * chance * (1 - chance))[:, None]).T @ terms + ridge
        weights = weights + np.linalg.solve(curvature, gradient)
    full = np.zeros(len(TERMS) + 1)
    full[[i - 1 for i in used]] = weights
    full[0] += np.log(DEARER)
    return full


def judged(rows: Matrix, weights: Matrix) -> str:
    """Tell how well weights refuse at confidence 0.5, where question and passage are in one script."""
    rows = rows[rows[:, -1] > 0]
    refused = rows[:, 1:-1] @ weights < 0
    missing = rows[:, 0] == 0
    right, wrong = refused[missing].mean(), refused[~missing].mean()
    return f"refused {right:.3f} of the missing, {wrong:.3f} of the others"


def main() -> None:
    parser = arguments("Refusals: half of XQuAD indexed, all of it asked; near misses.")
    parser.add_argument("--fit", action="store_true", help="fit weights and test them across languages")
    parser.add_argument("--step", type=int, default=1, help="ask every n-th question only")
    options = parser.parse_args()
    samples: dict[tuple[str, Mode], Matrix] = {}
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
                        if mode != "keyword":
                            rows = collect(retriever_over(opened, files), foreign, mode, files)
                            samples[language, mode] = np.concatenate([samples[language, mode], rows])
            write_notes(found, work / f"notes.{language}")
            near = [q for q in read_questions(NEAR_MISSES) if q["language"] == language]
            with library(work / f"notes.{language}", work / f"index.{language}") as opened:
                report(f"Near misses {language}", opened.evaluate(near, (1, 3), list(MODES)), options.misses)
    if options.fit:
        _across_languages(samples)


def _foreign_questions(data: Path, language: str) -> list[Question]:
    """Return the questions in the other language."""
    other = articles(data / f"xquad.{next(one for one in LANGUAGES if one != language)}.json")
    return [*questions(other, {article["title"] for article in half(other)})]


def _samples(opened: Library, control: Sequence[Question], mode: Mode, files: Sequence[str]) -> Matrix:
    """Return the evidence in the half library and in small ones, so that ten notes are judged as well."""
    parts = [collect(retriever_over(opened, files), control, mode, files)]
    for seed, size in enumerate(SMALL_LIBRARIES * 2):
        chance = random.Random(seed)
        chosen = chance.sample(list(files), size)
        inside = [q for q in control if q.get("file") in chosen]
        outside = [q for q in control if q.get("file") not in chosen]
        asked = chance.sample(inside, min(20, len(inside))) + chance.sample(outside, 20)
        parts.append(collect(retriever_over(opened, chosen), asked, mode, chosen))
    return np.concatenate(parts)


def _across_languages(samples: dict[tuple[str, Mode], Matrix]) -> None:
    for mode in MODES:
        for one, other in (("en", "ru"), ("ru", "en")):
            weights = fit(samples[one, mode], mode)
            print(f"{mode}: fitted on {one}, tested on {other}: {judged(samples[other, mode], weights)}")
        both = fit(np.concatenate([samples[language, mode] for language in LANGUAGES]), mode)
        print(f"{mode}: bias, {', '.join(TERMS)}: {both.round(3).tolist()}")
    foreign = np.concatenate([samples[language, "dense"] for language in LANGUAGES])
    foreign = foreign[foreign[:, -1] == 0]
    print(f"across scripts: bias, {', '.join(TERMS)}: {fit(foreign, 'dense').round(3).tolist()}")


if __name__ == "__main__":
    main()
