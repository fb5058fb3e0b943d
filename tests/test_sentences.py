"""Sentences of Russian and English notes, as a reader would part them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.sentences import sentences

PARTED = [
    ["Это верно, т. е. доказано.", "Далее пример."],
    ["Рассмотрим языки, методы и т. д. и продолжим.", "Дальше."],
    ["Бывают кошки, собаки и т. д.", "Они живут дома."],
    ["См. рис. 3 и табл. 2.", "Там всё видно."],
    ["А. С. Пушкин родился в 1799 г. в Москве.", "Он писал стихи."],
    ["Метод им. Н. Э. Баумана хорош.", "Да."],
    ["Стихи писал Пушкин А. С.", "Проза тоже была."],
    ["J. R. R. Tolkien wrote it.", "It is long."],
    ["Число π ≈ 3.14 и e ≈ 2.71.", "Они иррациональны."],
    ["Цена 1 000 руб. за шт. без НДС.", "Скидок нет."],
    ["Это было в XVIII в. до н. э. в Египте.", "Позже пришли греки."],
    ["Закон принят в 1999 г.", "В нём три главы."],
    ["Он жил в г. Москве на ул. Ленина, д. 5, кв. 3.", "Потом уехал."],
    ["По ст. 105 УК РФ и п. 3 ч. 1 того же закона.", "Иное наказуемо."],
    ["«Кто там?» — спросил он.", "Никто не ответил."],
    ["Почему?", "Потому что!", "Ясно..."],
    ["Он сказал: да... и ушёл.", "Конец."],
    ['Он сказал "Да."', "Потом ушёл."],
    ["Пусть $f(x) = x^2. y$ дано.", "Тогда всё."],
    ["Тогда $$a = b.$$", "Отсюда следует."],
    ["Вызовите `x.y. Z` и ждите.", "Готово."],
    ["1. Первый пункт списка."],
    ["Рис. 5. Схема прибора."],
    ["Теорема 1.2. Пусть дано число."],
    ["Dr. Smith met Mr. Jones at 5 p.m. on Monday.", "They talked."],
    ["See Fig. 3, e.g. the U.S. market.", "It grew."],
    ["Version 3.1.2 of the file main.py is out.", "Use it."],
    ["Пишите на a.b@mail.ru или сайт example.com/page.", "Ждём."],
    ["Сила тока — I.", "Напряжение — U."],
    ["Напряжение равно 5 В.", "Ток равен 2 А.", "Мощность 10 Вт."],
    ["Рассмотрим класс P.", "Он замкнут."],
    ["Это показано.[12]", "Далее спорят."],
]


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize("expected", PARTED, ids=lambda case: case[0][:30])
def test_a_paragraph_is_parted_where_a_reader_would(expected: list[str]) -> None:
    assert parts(" ".join(expected)) == expected


def test_money_is_no_formula() -> None:
    assert parts("It costs $5. Then it cost $2.") == ["It costs $5.", "Then it cost $2."]


def test_list_items_and_line_breaks_end_sentences() -> None:
    assert parts("Свойства:\n- быстрый\n- надёжный\n\nИтог") == ["Свойства:", "- быстрый", "- надёжный", "Итог"]


def test_a_line_broken_by_the_page_width_goes_on() -> None:
    text = "Распределённая система хранения данных состоит из\nмногих узлов. Узлы отказывают."
    assert parts(text) == ["Распределённая система хранения данных состоит из\nмногих узлов.", "Узлы отказывают."]


def test_a_display_formula_over_several_lines_stays_whole() -> None:
    assert parts("Тогда\n$$\na = b.\nc = d\n$$\nКонец.") == ["Тогда", "$$\na = b.\nc = d\n$$", "Конец."]


def test_a_space_lost_after_a_full_stop_still_parts() -> None:
    assert parts("Это конец.Начало нового.") == ["Это конец.", "Начало нового."]


@given(st.text(alphabet=st.sampled_from('аБвXy .!?…\n«»"()[]$`\\1-—•:т.д'), max_size=80) | st.text(max_size=60))
def test_no_character_is_lost_and_spans_never_overlap(text: str) -> None:
    spans = sentences(text)
    at = 0
    for start, end in spans:
        assert start < end and not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("piece", ["a", ".", " ", "$", "\\(", "\\[", "`", '"', "a@", "\n", "$$ a ", ". ", "А. "])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started = time.perf_counter()
    sentences(piece * (100_000 // len(piece)))
    assert time.perf_counter() - started < 5
