"""Later first: where notes of different dates say different things about the same, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pytest

from rag.library import Library
from rag.retrieval import Retriever
from rag.retrieval.asking import Asked
from rag.retrieval.freshness import later_first
from rag.retrieval.fusion import Candidate
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import tokens
from rag.settings import Paths
from rag.types import MODES, Chunk, Mode
from tests.fakes import MemoryStore, WordEmbedder

OLD = "Академическая стипендия составляет 2500 рублей в месяц и выплачивается студентам 25 числа."
NEW = "Академическая стипендия составляет 3100 рублей в месяц и выплачивается студентам 20 числа."


def chunk(name: str, text: str, date: str | None, source: str = "front matter", heading: str = "") -> Chunk:
    return Chunk(name, f"{name}.md", 0, text, (heading,) if heading else (), date=date, date_source=source)


def order(question: str, *chunks: Chunk, gap: float = 0.02) -> list[str]:
    """The ids as they stand after candidates with these chunks, each `gap` below the one before, were looked at."""
    candidates = [Candidate(c.id, round(0.9 - n * gap, 6)) for n, c in enumerate(chunks)]
    asked = Asked(question, question, dict.fromkeys(tokens(question), 1.0))
    found = later_first(candidates, {c.id: c for c in chunks}, asked)
    assert [c.score for c in found] == [c.score for c in candidates]
    assert sorted(c.chunk_id for c in found) == sorted(c.id for c in chunks)
    return [c.chunk_id for c in found]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        ("Какая академическая стипендия?", OLD, NEW),
        ("What is the scholarship?", OLD, NEW),
        (
            "Кто куратор группы?",
            "Куратор учебной группы третьего курса теперь Иванова.",
            "Куратор учебной группы третьего курса теперь Петрова.",
        ),
        (
            "Можно ли пересдать экзамен?",
            "Экзамен по курсу разрешается пересдать в течение сессии.",
            "Экзамен по курсу не разрешается пересдать в течение сессии.",
        ),
        (
            "When is the library open?",
            "The reading room of the library opens at 9 and closes at 18 on weekdays.",
            "The reading room of the library opens at 10 and closes at 20 on weekdays.",
        ),
        (
            "Which format does the report need?",
            "The laboratory report is handed in printed before the exam.",
            "The laboratory report is handed in online before the exam.",
        ),
    ],
)
def test_the_later_of_two_that_differ_stands_first(question: str, old: str, new: str) -> None:
    early, late = chunk("early", old, "2023-09-01"), chunk("late", new, "2024-09-01")
    assert order(question, early, late) == ["late", "early"]
    assert order(question, late, early) == ["late", "early"]


def test_of_three_versions_the_latest_stands_first_and_others_keep_their_places() -> None:
    texts = [OLD.replace("2500", number) for number in ("2100", "2500", "3100")]
    first, second, third = (chunk(f"v{n}", t, f"202{n}") for n, t in enumerate(texts))
    other = chunk("other", "Стипендия бывает академическая и социальная, её назначает комиссия.", "2019")
    assert order("академическая стипендия", first, other, third, second) == ["v2", "other", "v1", "v0"]


@pytest.mark.parametrize(
    ("early", "late"),
    [
        (chunk("a", OLD, "2023"), chunk("b", NEW, None)),
        (chunk("a", OLD, None), chunk("b", NEW, "2024")),
        (chunk("a", OLD, "2023", "file time"), chunk("b", NEW, "2024", "file time")),
        (chunk("a", OLD, "2023"), chunk("b", NEW, "2024", "file time")),
        (chunk("a", OLD, "2024"), chunk("b", NEW, "2024-09-01")),
        (chunk("a", OLD, "2024-09-01"), chunk("b", NEW, "2024-09-01")),
    ],
)
def test_dates_that_are_missing_equal_or_only_file_times_decide_nothing(early: Chunk, late: Chunk) -> None:
    assert order("академическая стипендия", early, late) == ["a", "b"]


@pytest.mark.parametrize(
    "later",
    [
        OLD,  # the same
        "Повышенная стипендия назначается за отличную учёбу, спорт и общественную работу по решению комиссии.",
        "Стипендия составляет в Казани 3100 рублей в месяц и выплачивается студентам 20 числа.",
    ],
)
def test_a_later_passage_that_tells_something_else_gains_nothing(later: str) -> None:
    assert order("академическая стипендия", chunk("a", OLD, "2023"), chunk("b", later, "2024")) == ["a", "b"]


def test_the_same_sentence_about_somebody_else_gains_nothing() -> None:
    one = chunk("a", "At the end of the year the company Boeing had 156 thousand employees worldwide.", "2022")
    other = chunk("b", "At the end of the year the company Pfizer had 83 thousand employees worldwide.", "2023")
    assert order("How many employees did the company have?", one, other) == ["a", "b"]


@pytest.mark.parametrize(
    "question",
    [
        "Какой раньше была академическая стипендия?",
        "Назови прошлую академическую стипендию",
        "What was the old scholarship?",
        "What was the scholarship originally?",
        "Какой была старая академическая стипендия?",
        "What was the academic scholarship last year?",
    ],
)
def test_a_question_about_the_past_is_left_alone(question: str) -> None:
    assert order(question, chunk("a", OLD, "2023"), chunk("b", NEW, "2024")) == ["a", "b"]


@pytest.mark.parametrize(
    "question", ["Какая академическая стипендия на старте учёбы?", "When is the last academic scholarship paid?"]
)
def test_what_merely_sounds_like_the_past_is_not(question: str) -> None:
    assert order(question, chunk("a", OLD, "2023"), chunk("b", NEW, "2024")) == ["b", "a"]


@pytest.mark.parametrize(
    "question", ["Какая академическая стипендия была в 2023 году?", "What was the scholarship in FY2023?"]
)
def test_a_passage_of_the_year_that_is_asked_for_stands_first(question: str) -> None:
    early, late = chunk("a", OLD, "2023-09-01"), chunk("b", NEW, "2024-09-01")
    assert order(question, late, early) == order(question, early, late) == ["a", "b"]
    assert order(question.replace("2023", "2019"), late, early) == ["b", "a"]


def test_the_year_in_a_file_s_name_counts_before_its_date() -> None:
    report, earlier = chunk("x_2022_10K", NEW, "2023-02-01"), chunk("x_2021_10K", OLD, "2022-02-01", "properties")
    assert order("Какая академическая стипендия в 2022 году?", earlier, report) == ["x_2022_10K", "x_2021_10K"]


def test_a_much_better_passage_keeps_its_place() -> None:
    assert order("академическая стипендия", chunk("a", OLD, "2023"), chunk("b", NEW, "2024"), gap=0.2) == ["a", "b"]


def retriever(chunks: Sequence[Chunk]) -> Retriever:
    embedder, store, keywords = WordEmbedder(), MemoryStore(), KeywordIndex()
    for c in chunks:
        store.add([c.id], embedder.embed_passages([c.text]), [c.id], [c.path])
        keywords.replace(c.path, [(c.id, tokens(c.text))])
    known = {c.id: c for c in chunks}
    return Retriever(embedder, store, keywords, lambda ids: {i: known[i] for i in ids if i in known})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("others", [0, 2])
def test_every_mode_puts_the_later_first(mode: Mode, others: int) -> None:
    texts = ["Закон Ома для цепи.", "Опера «Князь Игорь»."][:others]
    found = retriever(
        [chunk("a", OLD, "2023"), chunk("b", NEW, "2024"), *(chunk(f"o{n}", t, "2022") for n, t in enumerate(texts))]
    )
    hits = found.search("Сколько рублей в месяц составляет академическая стипендия?", mode=mode).hits
    assert [hit.chunk.id for hit in hits[:2]] == ["b", "a"]
    assert [hit.chunk.date for hit in hits[:2]] == ["2024", "2023"]


def test_dates_and_their_origin_reach_the_hits_of_a_library(paths: Paths) -> None:
    (paths.notes / "old.md").write_text(f"---\ndate: 2023-09-01\n---\n{OLD}", encoding="utf-8")
    (paths.notes / "new.md").write_text(f"---\ndate: 2024-09-01\n---\n{NEW}", encoding="utf-8")
    (paths.notes / "plain.md").write_text("Стипендию назначает комиссия факультета.", encoding="utf-8")
    with closing(Library.open(paths, embedders=lambda *how: WordEmbedder())) as library:
        library.sync()
        hits = library.search("Сколько рублей в месяц составляет академическая стипендия?", k=3).hits
    told = {hit.chunk.path: (hit.chunk.date, hit.chunk.date_source) for hit in hits}
    assert hits[0].chunk.path == "new.md"
    assert told["old.md"] == ("2023-09-01", "front matter")
    assert told["plain.md"][1] == "file time"
