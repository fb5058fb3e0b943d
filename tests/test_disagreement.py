"""Where notes of different dates give different figures for the same thing, the reader and the model are told."""

from __future__ import annotations

import pytest
from scripted_chat import ScriptedChat

from rag.answering import answer
from rag.answering.disagreement import disagreements
from rag.types import Chunk, Hit, SearchResult

EXAM = "Экзамен по алгебре состоится {} в аудитории 301."


def hits(*rows: tuple[str | None, str], headings: tuple[str, ...] = ()) -> tuple[Hit, ...]:
    return tuple(
        Hit(Chunk(str(n), f"{n}.md", n, text, headings[n - 1 : n], date=date), 1 / n)
        for n, (date, text) in enumerate(rows, 1)
    )


@pytest.mark.parametrize(
    ("question", "older", "newer", "figures"),
    [
        ("Когда экзамен?", EXAM.format("5 июня"), EXAM.format("7 июня"), ("5 июня", "7 июня")),
        ("Когда зачёт?", "Зачёт: 15 мая", "Зачёт: 20 мая.", ("15 мая", "20 мая")),
        ("Сколько планет?", "В Солнечной системе девять планет.", "В Солнечной системе 8 планет.", ("девять", "8")),
        ("When was it proved?", "It was proved by Lynch in 2002.", "It was proved by Lynch in 2003.", ("2002", "2003")),
        ("Сколько баллов за первую?", "Работа | Баллы\nПервая | 10", "Работа | Баллы\nПервая | 15", ("10", "15")),
    ],
)  # fmt: skip
def test_two_dates_with_two_figures_for_one_thing_are_found(
    question: str, older: str, newer: str, figures: tuple[str, str]
) -> None:
    for row in ((("2023-05-01", older), ("2024", newer)), (("2024", newer), ("2023-05-01", older))):
        (found,) = disagreements(hits(*row), question)
        assert (found.older_figures, found.newer_figures) == figures
        assert row[found.newer - 1][1] == newer


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("Какая выручка?", ("2023", "В 2022 году выручка — 100 млн."), ("2024", "В 2023 году выручка — 110 млн.")),
        ("Когда экзамен?", ("2023", EXAM.format("5 июня")), ("2024", EXAM.format("5 июня"))),
        ("Когда экзамен?", ("2023", EXAM.format("5 июня")), ("2023-05", EXAM.format("7 июня"))),
        ("Когда экзамен?", ("2023", EXAM.format("5 июня")), (None, EXAM.format("7 июня"))),
        ("Когда экзамен?", ("2023", EXAM.format("5 июня")), ("2024", "Лекция о кольцах состоится 7 июня онлайн.")),
        ("Что такое кольцо?", ("2023", EXAM.format("5 июня")), ("2024", EXAM.format("7 июня"))),
        ("Когда экзамен?", ("2023", EXAM.format("05.06")), ("2024", EXAM.format("5 июня"))),
    ],
)  # fmt: skip
def test_other_years_other_subjects_and_the_same_figures_are_no_disagreement(
    question: str, one: tuple[str | None, str], other: tuple[str | None, str]
) -> None:
    assert disagreements(hits(one, other), question) == []


def test_the_same_words_under_headings_that_share_nothing_speak_of_two_things() -> None:
    rows = (("2023", "Экзамен состоится 5 июня."), ("2024", "Экзамен состоится 7 июня."))
    assert disagreements(hits(*rows, headings=("Физика", "Химия")), "Когда экзамен?") == []
    assert disagreements(hits(*rows, headings=("Физика", "Физика, 2 курс")), "Когда экзамен?")


@pytest.mark.parametrize("with_model", [False, True])
def test_the_answer_names_both_figures_with_their_dates(with_model: bool) -> None:
    found = hits(("2023-05-01", EXAM.format("5 июня")), ("2024-05-02", EXAM.format("7 июня")))
    chat = ScriptedChat("Экзамен по алгебре состоится 7 июня [2].") if with_model else None
    result = SearchResult("q", found, False, 0.9, 0.5)
    reply = answer(result, "Когда экзамен по алгебре?", chat=chat, embedder=None).finish(20)
    told = " ".join(map(str, reply.warnings))
    assert "[2] (2024-05-02) has 7 июня, [1] (2023-05-01) has 5 июня" in told
    if chat is not None:
        assert "7. Отрывки [2], [1] расходятся" in chat.asked[0]


def test_without_a_disagreement_the_model_is_told_nothing_of_it() -> None:
    chat = ScriptedChat("Экзамен по алгебре состоится 7 июня [1].")
    result = SearchResult("q", hits(("2024", EXAM.format("7 июня"))), False, 0.9, 0.5)
    reply = answer(result, "Когда экзамен по алгебре?", chat=chat, embedder=None).finish(20)
    assert "расходятся" not in chat.asked[0]
    assert reply.warnings == ()
