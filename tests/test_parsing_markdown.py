"""Markdown as students write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.types import Meta
from tests.documents import block_with, only_table, read, texts, whole


def test_headings_of_both_styles_make_the_path_and_text_before_them_is_kept(tmp_path: Path) -> None:
    document = read(
        tmp_path, "a.md", "Вступление\n\nМеханика\n========\n\nСила\n----\n\nF = ma\n\n# Оптика ##\n\nСвет\n"
    )
    assert [(b.kind, b.text, b.heading, b.level) for b in document.blocks] == [
        ("paragraph", "Вступление", (), 0),
        ("heading", "Механика", ("Механика",), 1),
        ("heading", "Сила", ("Механика", "Сила"), 2),
        ("paragraph", "F = ma", ("Механика", "Сила"), 0),
        ("heading", "Оптика", ("Оптика",), 1),
        ("paragraph", "Свет", ("Оптика",), 0),
    ]


def test_a_level_that_is_left_out_does_not_leave_a_hole_in_the_path(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "# A\n\n#### B\n\ntext\n\n## C\n\nmore\n")
    assert [b.heading for b in document.blocks if b.kind == "paragraph"] == [("A", "B"), ("A", "C")]
    assert [b.level for b in document.blocks if b.kind == "heading"] == [1, 2, 2]


def test_a_hash_in_a_code_fence_is_no_heading_and_the_fence_stays_whole(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "# Git\n\n```shell\n# комментарий\n\n  git init\n```\n\n    # indented\n")
    assert texts(document, "heading") == ["Git"]
    assert texts(document, "code") == ["# комментарий\n\n  git init", "# indented"]


def test_the_first_heading_behind_a_byte_order_mark_is_a_heading(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "\ufeff# Лекция 1\n\nтекст\n".encode())
    assert texts(document, "heading") == ["Лекция 1"]


def test_front_matter_is_metadata_and_no_text(tmp_path: Path) -> None:
    source = (
        "---\ntitle: Основы\nauthor: [А. Иванов, Б. Петров]\ndate: 2023-05-01\ntags: [физика, ток]\nlang: "
        "ru\n---\n# A\n\nтекст #оптика\n"
    )
    document = read(tmp_path, "physics_2024_09_16.md", source)
    assert document.meta == Meta(
        "Основы", "А. Иванов, Б. Петров", "2023-05-01", "front matter", "ru", ("физика", "ток", "оптика")
    )
    assert "Иванов" not in whole(document)


def test_front_matter_with_a_slip_is_read_line_by_line(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", '---\ntitle: Глава 1: начало\ndate: "7 мая 2022"\n---\nтекст\n')
    assert (document.meta.title, document.meta.date) == ("Глава 1: начало", "2022-05-07")


def test_a_line_of_dashes_in_a_text_is_no_front_matter(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "---\nпросто строка\n---\n\nтекст\n")
    assert "просто строка" in whole(document)


def test_lists_keep_their_markers_numbers_and_nesting(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "3) три\n4) четыре\n    * внутри\n        - глубже\n5) пять\n")
    assert texts(document) == ["3) три\n4) четыре\n   - внутри\n     - глубже\n5) пять"]
    assert document.blocks[0].kind == "list"


def test_each_item_of_a_loose_list_is_a_block_with_its_paragraphs_quotes_and_code(tmp_path: Path) -> None:
    source = "* **Авторитет**\n\n    Если положение\n\n    > цитата\n\n    ```\n    код\n    ```\n\n* Второе\n"
    document = read(tmp_path, "a.md", source)
    assert texts(document, "list") == ["- Авторитет\n\n  Если положение\n\n  > цитата\n\n  код", "- Второе"]


def test_a_table_inside_a_list_item_is_a_table_between_the_items_texts(tmp_path: Path) -> None:
    source = (
        "1. Разность\n\n    даст отношение:\n\n    | ID | Name |\n    | -- | ---- |\n    | 1  | Ball |\n\n   "
        " а потом\n\n2. Ещё\n"
    )
    document = read(tmp_path, "a.md", source)
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("list", "1. Разность\n\n   даст отношение:"),
        ("table", "ID | Name\n1 | Ball"),
        ("list", "а потом"),
        ("list", "2. Ещё"),
    ]


def test_a_table_keeps_its_cells_without_marks_and_an_empty_one_keeps_its_header(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "Год | Выручка\n---|---\n2022 | **100** $\\alpha_1$<br>млн\n")
    assert only_table(document).rows == (("Год", "Выручка"), ("2022", "100 $\\alpha_1$ млн"))
    empty = read(tmp_path, "b.md", "| StudentID | FullName |\n|---|---|\n")
    assert only_table(empty).rows == (("StudentID", "FullName"),)
    assert empty.report.tables == 1


@pytest.mark.parametrize(
    "formula",
    [
        "$a_1 * b_2 * c_3$",
        r"$\{x_1, \dots\} \\ y$",
        "$$\nx_1^2 = \\frac{a}{b}\n- c\n= d\n$$",
        "$|\\psi\\rangle \\ne |\\phi\\rangle$",
    ],
)
def test_latex_stays_as_typed(tmp_path: Path, formula: str) -> None:
    assert formula in whole(read(tmp_path, "a.md", f"Пусть\n\n{formula}\n\nтогда\n"))


def test_money_is_no_formula_and_stays_as_typed(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.md", "Цена $5 and $2, *срочно*\n")) == ["Цена $5 and $2, срочно"]


def test_emphasis_marks_and_link_addresses_go_and_words_stay(tmp_path: Path) -> None:
    source = (
        "**Коммит** — _фиксация_ в `git` ([\\*тык\\*](https://ru.wikipedia.org/wiki/%D0%9A)) ~~нет~~ "
        "<https://git-scm.com/>\n"
    )
    assert texts(read(tmp_path, "a.md", source)) == ["Коммит — фиксация в git (*тык*) нет https://git-scm.com/"]


def test_a_percent_encoded_address_shrinks_to_its_words(tmp_path: Path) -> None:
    url = "https://ru.wikipedia.org/wiki/%D0%9A%D0%BE%D1%82_(%D0%B7%D0%B2%D0%B5%D1%80%D1%8C)"
    for source in (f"см. {url}\n", f"см. <{url}>\n"):
        assert texts(read(tmp_path, "a.md", source)) == ["см. ru.wikipedia.org: Кот (зверь)"]


def test_comments_anchors_and_scripts_are_no_text_but_are_counted(tmp_path: Path) -> None:
    source = (
        '<a name="x"></a>\n\n<!-- тайна -->\n\n<script>\nvar x = 1;\n</script>\n\nТекст <!-- и тут --> '
        'дальше<a id="y"></a>\n'
    )
    document = read(tmp_path, "a.md", source)
    assert texts(document) == ["Текст  дальше"]
    assert document.report.dropped["markup"] > 0


def test_what_merely_looks_like_html_is_kept(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.md", "Тип List<String> и группа `-<>-` студент, <p_0, p_1>\n")) == [
        "Тип List<String> и группа -<>- студент, <p_0, p_1>"
    ]


def test_html_inside_markdown_gives_its_words_and_tables(tmp_path: Path) -> None:
    source = (
        "<details>\n<summary>Ответ</summary>\nСорок два\n</details>\n\n<table><tr><th>a</th></tr><tr><td>"
        "1</td></tr></table>\n"
    )
    document = read(tmp_path, "a.md", source)
    assert texts(document) == ["Ответ\nСорок два", "a\n1"]
    assert only_table(document).rows == (("a",), ("1",))


def test_pictures_leave_their_description_and_inlined_data_goes(tmp_path: Path) -> None:
    data = "data:image/png;base64," + "iVBORw0KGgo" * 30_000
    document = read(tmp_path, "a.md", f"![Схема ЭВМ](a.png)\n\nдо ![]({data}) после\n\n![]({data})\n")
    assert texts(document) == ["[image: Схема ЭВМ]", "до [image] после"]
    assert document.report.dropped["data"] > 300_000


def test_footnotes_follow_as_notes_with_their_numbers(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "Факт[^1] и другой[^лк].\n\n[^1]: Первое *примечание*.\n[^лк]: Второе.\n")
    assert texts(document) == ["Факт[1] и другой[2].", "[1] Первое примечание.", "[2] Второе."]
    assert [b.kind for b in document.blocks] == ["paragraph", "note", "note"]


def test_obsidians_links_embeds_highlights_comments_and_callouts_become_words(tmp_path: Path) -> None:
    source = (
        "[[Лекция 3]] [[Лекция 3#Импульс|про импульс]] [[Файл#Часть]] ![[схема.png|300]] ==важно== %%тайна%% "
        "`[[код]]`\n\n"
        "> [!warning] Внимание\n> не путать\n\n> [!note]-\n> тело\n\nАбзац ^a1b2\n"
    )
    assert texts(read(tmp_path, "a.md", source)) == [
        "Лекция 3 про импульс Файл › Часть [image] важно  [[код]]",
        "> Внимание\n> не путать",
        "> Note\n> тело",
        "Абзац",
    ]


def test_tags_are_found_in_text_but_not_in_code_headings_or_colours(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "# Заголовок\n\n#оптика/линзы и #ток, `#нет`, №1 #2024\n\n```\n#тоже_нет\n```\n")
    assert document.meta.tags == ("оптика/линзы", "ток")


def test_a_paragraph_that_is_all_bold_and_short_names_what_follows(tmp_path: Path) -> None:
    source = "## Лекция 3\n\n**Сетевая модель данных**\n\nтекст\n\n**Это уже целое предложение.**\n\n**Важно** не всё\n"
    document = read(tmp_path, "a.md", source)
    assert block_with(document, "текст").heading == ("Лекция 3", "Сетевая модель данных")
    assert texts(document, "heading") == ["Лекция 3", "Сетевая модель данных"]


def test_hard_wrapped_lines_are_joined_and_meant_line_breaks_stay(tmp_path: Path) -> None:
    wrapped = (
        "The instructions are for pulling in some sample docs that are too big for\nthe repository, which "
        "should stay small, so that everybody can clone it at\nhome.\n"
    )
    assert "\n" not in texts(read(tmp_path, "a.md", wrapped))[0]
    assert texts(read(tmp_path, "b.md", "Стих первый\nи второй\n")) == ["Стих первый\nи второй"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "source", ["x" * 400_000, "[" * 300_000, "> " * 5_000 + "глубоко", "* a\n" + "  " * 300 + "* b", "*_`[](" * 60_000]
)
def test_lines_without_end_and_deep_nesting_are_survived(tmp_path: Path, source: str) -> None:
    assert whole(read(tmp_path, "a.md", source + "\n\nконец\n")).endswith("конец")


def test_front_matter_that_would_unfold_to_gigabytes_does_not(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    source = "\n".join(["---", *lines, "title: *a11", "tags: *a11", "---", "текст", ""])
    document = read(tmp_path, "a.md", source)
    assert (document.meta.title, document.meta.tags) == ("", ())
    assert texts(document) == ["текст"]


def test_headings_in_html_and_with_attributes_are_headings(tmp_path: Path) -> None:
    source = '<h1 align="center">Конспект <b>по</b> физике</h1>\n\n## Сила {#force .x}\n\nтекст 100%% и 50%% роста\n'
    document = read(tmp_path, "a.md", source)
    assert texts(document) == ["Конспект по физике", "Сила", "текст 100%% и 50%% роста"]
    assert document.blocks[-1].heading == ("Конспект по физике", "Сила")
