"""Text from files becomes HTML that shows it to the letter, with the words that matter marked."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.ui.language import markdown
from pages.ui.literal import is_long, marked, matches, passage_html, stems


def shown(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300), st.text(max_size=40))
def test_whatever_the_text_its_characters_are_all_shown(text: str, question: str) -> None:
    assert "|" in text or shown(passage_html(text, stems(question), fold=False)) == text


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("тепловые двигатели", "КПД теплового двигателя", ["теплового", "двигателя"]),
        ("ёлка", "Под елкой", ["елкой"]),
        ("как работают семафоры?", "Семафор работает как счётчик", ["Семафор", "работает"]),
        ("What is a mutex?", "The mutex is what it is", ["mutex"]),
        ("что это", "Что такое это", ["Что", "это"]),
        ("", "Любой текст", []),
    ],
)
def test_words_match_by_their_stems_and_function_words_do_not(question: str, text: str, found: list[str]) -> None:
    assert [text[a:b] for a, b in matches(text, stems(question))] == found


def test_marks_and_quotes_may_overlap() -> None:
    html = marked("a < b & c", [(0, 1)], [(0, 5)])
    assert shown(html) == "a < b & c"
    assert html.startswith('<span class="k-quoted"><mark>a</mark></span>')


def test_rows_of_cells_are_drawn_as_a_table_with_matching_words_marked() -> None:
    html = passage_html("Итог:\nГод | Выручка\n2021 | 100\n2022 | 120\nКонец", stems("выручка 2022"), fold=False)
    assert html.count("<tr>") == 3 and html.count("<td>") == 6
    assert "<td><mark>Выручка</mark></td>" in html and "<td><mark>2022</mark></td>" in html
    assert shown(html).startswith("Итог:\n") and shown(html).endswith("Конец")


def test_one_line_with_a_bar_is_no_table() -> None:
    assert "<table>" not in passage_html("a | b", fold=False)


def test_a_long_passage_opens_where_its_words_match() -> None:
    text = "Вступление без дела. " * 40 + "Семафор — это счётчик. " + "Дальше другое. " * 10
    html = passage_html(text, stems("что такое семафор"))
    lead, rest = html.split('<span class="k-cut">')
    assert "Вступление" in lead and "Семафор" in rest
    assert shown(html).replace("… ", "") == text


def test_a_long_passage_opens_at_what_was_quoted_before_what_matches() -> None:
    text = "Семафор назван. " + "Пусто. " * 100 + "Ответ стоит здесь."
    start = text.index("Ответ")
    html = passage_html(text, stems("семафор"), [(start, len(text))])
    assert html.split('<span class="k-cut">… </span>')[1].startswith('<span class="k-quoted">Ответ')


def test_a_short_passage_is_never_folded() -> None:
    assert not is_long("Коротко.")
    assert "k-lead" not in passage_html("Коротко о семафоре.", stems("семафор"))


@pytest.mark.parametrize(
    "text", ["a*b*_c_", "$5 and $2", "[x](http://e.x)", "# no title", "1. no list", "<b>", ":red[x]", "~~x~~"]
)
def test_markdown_in_a_label_is_escaped(text: str) -> None:
    escaped = markdown(text)
    assert re.sub(r"\\([^A-Za-z0-9\s])", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)[*_$\[\]#<>~:]", escaped)


def test_what_is_to_be_typed_stays_code_in_a_label() -> None:
    assert markdown("Run `ollama pull a_b`.") == "Run `ollama pull a_b`\\."
