"""Plain text files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents import read, texts, whole


def test_blank_lines_part_paragraphs_and_lists_keep_their_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "Первый абзац.\n\n   - раз\n   - два\n\n\n1) три\n2) четыре\n")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "Первый абзац."),
        ("list", "- раз\n- два"),
        ("list", "1) три\n2) четыре"),
    ]


def test_underlined_numbered_and_named_lines_are_headings(tmp_path: Path) -> None:
    source = (
        "Механика\n========\nтело\n\nВВЕДЕНИЕ В МЕХАНИКУ\n\nтут\n\nЛекция 5. Импульс\n\nтекст\n\n5.1 Закон "
        "сохранения\n\nещё\n\n§ 3. Удар\n\nконец\n"
    )
    document = read(tmp_path, "a.txt", source)
    assert [b.heading for b in document.blocks if b.kind != "heading"] == [
        ("Механика",),
        ("ВВЕДЕНИЕ В МЕХАНИКУ",),
        ("Лекция 5. Импульс",),
        ("Лекция 5. Импульс", "5.1 Закон сохранения"),
        ("Лекция 5. Импульс", "§ 3. Удар"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "1. Купить хлеба.",
        "2024 год был тёплым",
        "Глава 2 рассказывает о том, что было.",
        "Лекции мне нравились",
        "E = MC",
        "1. Понятие предела",
        "2.5 кг муки",
    ],
)
def test_a_sentence_is_no_heading(tmp_path: Path, line: str) -> None:
    assert texts(read(tmp_path, "a.txt", f"Вступление\n\n{line}\n\nдальше\n"), "heading") == []


def test_code_and_data_keep_their_indentation(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.txt", '{\n  "name": "Иван",\n  "a": [\n    1\n  ]\n}\n')) == [
        '{\n  "name": "Иван",\n  "a": [\n    1\n  ]\n}'
    ]


def test_long_lines_without_blank_ones_between_are_paragraphs_each(tmp_path: Path) -> None:
    lines = ["Первый закон. " * 20, "Второй закон. " * 20, "Третий закон. " * 20]
    assert texts(read(tmp_path, "a.txt", "\n".join(lines))) == [line.strip() for line in lines]


def test_a_wrapped_text_without_blank_lines_is_cut_where_a_sentence_leaves_room(tmp_path: Path) -> None:
    paragraph = ("Сила равна произведению массы на ускорение тела и направлена\n" * 5) + "туда же.\n"
    document = read(tmp_path, "a.txt", paragraph * 2)
    assert [t.endswith("туда же.") for t in texts(document)] == [True, True]


def test_control_characters_are_no_text_and_a_form_feed_ends_a_paragraph(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.txt", "раз\x08 два\x0cтри\n")) == ["раз два", "три"]


def test_a_line_of_a_million_letters_is_kept(tmp_path: Path) -> None:
    assert len(whole(read(tmp_path, "a.txt", "ы" * 1_000_000))) == 1_000_000


def test_a_file_of_white_space_gives_no_blocks(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", " \n\t\n").blocks == ()
