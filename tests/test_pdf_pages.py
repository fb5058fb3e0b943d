"""PDF: what stands on a page beside its text, pages that say nothing, and what goes on from one page to the next."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import parsed, save, text_of, write, write_lines

LONG = [
    "Производная произведения двух функций равна сумме произведений каждой",
    "из них на производную другой, и это правило верно для любой такой пары",
]
END = ["функций одного переменного."]


def written_upside_down(page: pymupdf.Page, text: str, y: float) -> None:
    page.insert_htmlbox((72, y, 400, y + 20), f"<p>{text}</p>", rotate=180)


@pytest.mark.parametrize(
    "notice", ["This page intentionally left blank.", "Эта страница намеренно оставлена пустой", "— page left blank —"]
)
def test_a_page_that_only_says_that_it_is_blank_is_empty_and_names_nothing(tmp_path: Path, notice: str) -> None:
    document = pymupdf.open()
    write(document.new_page(), 72, 100, "Глава 1. Пределы", 18)
    write(document.new_page(), 100, 300, notice, 18)
    write_lines(document.new_page(), 72, 100, ["Предел суммы равен сумме пределов, если оба есть."])
    result = parsed(save(document, tmp_path))
    assert result.report.empty_pages == (2,)
    assert result.report.dropped["blank page"] == len(notice)
    assert [b.text for b in result.blocks if b.kind == "heading"] == ["Глава 1. Пределы"]
    assert result.blocks[-1].heading == ("Глава 1. Пределы",)


def test_a_page_about_blank_pages_is_text(tmp_path: Path) -> None:
    document = pymupdf.open()
    write(document.new_page(), 72, 100, "A blank page holds no text.")
    assert parsed(save(document, tmp_path)).report.text_pages == (1,)


def test_answers_printed_upside_down_are_read_the_right_way(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write_lines(page, 72, 100, ["Задача 7. Найдите заряд и ток в цепи,", "если сопротивление равно 2 Ом."])
    written_upside_down(page, "Ответ: 48 Кл, 12 А.", 200)
    block = next(b for b in parsed(save(document, tmp_path)).blocks if "Ответ" in b.text)
    assert block.text == "Ответ: 48 Кл, 12 А."
    x0, y0, x1, y1 = block.bbox or (0, 0, 0, 0)
    assert 72 <= x0 < x1 <= 400
    assert 195 < y0 < y1 < 225


def test_a_stamp_at_the_margin_stands_after_the_paragraph_that_goes_on_over_the_page(tmp_path: Path) -> None:
    document = pymupdf.open()
    first = document.new_page()
    write_lines(first, 72, 760, LONG)
    first.insert_htmlbox((20, 200, 40, 600), "<p>arXiv:2004.04906v3 30 Sep 2020</p>", rotate=90)
    write_lines(document.new_page(), 72, 80, END)
    text = text_of(parsed(save(document, tmp_path)))
    assert "для любой такой пары функций одного" in text
    assert text.index("arXiv:2004.04906v3 30 Sep 2020") > text.index("переменного")


def test_a_stamp_on_every_page_is_no_text(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(1, 5):
        page = document.new_page()
        write(page, 72, 300, f"Содержание листа {number} иное.")
        page.insert_htmlbox((20, 200, 40, 600), "<p>Скачано из библиотеки</p>", rotate=90)
    result = parsed(save(document, tmp_path))
    assert "Скачано" not in text_of(result)
    assert result.report.dropped["header"] == 4 * len("Скачано из библиотеки")


def test_a_word_cut_at_the_pages_end_is_joined_over_header_and_footer(tmp_path: Path) -> None:
    document = pymupdf.open()
    parts = [
        [*LONG, "при условии, что в каждой точке промежутка обе они диффе-"],
        ["ренцируемы, а значит, и непрерывны, что мы с вами до-"],
        ["казали на прошлой лекции."],
    ]
    for number, lines in enumerate(parts, start=1):
        page = document.new_page()
        write(page, 56, 40, "Математический анализ")
        write(page, 420, 40, "Лекции Иванова И. И.")
        write_lines(page, 72, 820 - 100 - 14 * len(lines) if number == 1 else 90, lines)
        write(page, 72, 800, "https://vk.com/konspekty_lekcij")
        write(page, 300, 815, str(number))
    result = parsed(save(document, tmp_path))
    text = text_of(result)
    assert "обе они дифференцируемы, а значит, и непрерывны, что мы с вами доказали на прошлой лекции." in text
    assert "vk.com" not in text
    assert "Лекции Иванова" not in text
    assert [r.page for b in result.blocks if "дифференц" in b.text for r in b.regions] == [1, 2, 3]


def test_the_last_line_alone_on_the_last_page_belongs_to_its_section(tmp_path: Path) -> None:
    document = pymupdf.open()
    first = document.new_page()
    write(first, 72, 80, "Лекция 5. Ряды", 18)
    write_lines(first, 72, 120, ["Ряд сходится, если сходится последовательность его частичных сумм."])
    write(document.new_page(), 72, 80, "Признак Даламбера разберём на следующей лекции.")
    last = parsed(save(document, tmp_path)).blocks[-1]
    assert last.text == "Признак Даламбера разберём на следующей лекции."
    assert (last.page, last.heading) == (2, ("Лекция 5. Ряды",))


@pytest.mark.parametrize("title", ["Module Two: Planning and Step 1:", "Модуль второй. Планирование", "Глава третья"])
def test_a_number_written_as_a_word_numbers_a_heading(tmp_path: Path, title: str) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write_lines(
        page, 72, 80, ["Вводные слова занимают здесь целую строку текста, чтобы она была длинной", "и ещё одну."]
    )
    write(page, 72, 140, title)
    write_lines(
        page, 72, 170, ["Этот раздел рассказывает о том, с чего начинают, и занимает две строки,", "а то и три."]
    )
    blocks = parsed(save(document, tmp_path)).blocks
    assert [b.text for b in blocks if b.kind == "heading"] == ([] if title.endswith(":") else [title])


def test_a_bold_title_of_a_page_with_few_lines_is_a_heading(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Energy and Work", fontname="hebo", fontsize=11)
    page.insert_text((72, 128), "Work is done when a force moves a body.", fontname="helv", fontsize=11)
    blocks = parsed(save(document, tmp_path)).blocks
    assert [(b.kind, b.heading) for b in blocks] == [
        ("heading", ("Energy and Work",)),
        ("paragraph", ("Energy and Work",)),
    ]


def test_bold_names_of_columns_and_units_are_no_headings(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Net revenues", fontname="hebo", fontsize=11)
    page.insert_text((72, 96), "(In thousands)", fontname="hebo", fontsize=11)
    for x, cell in ((330, "Three months"), (440, "Twelve months")):
        page.insert_text((x, 112), cell, fontname="hebo", fontsize=11)
    for i, row in enumerate([("Resorts", "2,297", "8,398"), ("Other", "991", "3,815")]):
        for x, cell in zip((72, 350, 460), row, strict=True):
            page.insert_text((x, 128 + 14 * i), cell, fontname="helv", fontsize=11)
    blocks = parsed(save(document, tmp_path)).blocks
    assert [b.text for b in blocks if b.kind == "heading"] == ["Net revenues"]
    assert blocks[-1].table is not None
    assert blocks[-1].table.caption == "(In thousands)"
    assert blocks[-1].table.rows[0] == ("", "Three months", "Twelve months")


def test_bold_beginnings_of_paragraphs_name_the_topics_of_a_lecture(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Lecture 3", fontname="hebo", fontsize=18)
    y = 120
    for title in ("Work of a force", "Kinetic energy"):
        page.insert_text((72, y), f"{title}.", fontname="hebo", fontsize=10)
        page.insert_text(
            (72 + 7 * len(title), y), "It is told at length what this is, and why", fontname="helv", fontsize=10
        )
        for k in range(1, 7):
            text = "it is used, with every step of the proof written out for those who ask for it"
            page.insert_text((72, y + 13 * k), text, fontname="helv", fontsize=10)
        y += 13 * 9
    blocks = [block for block in parsed(save(document, tmp_path)).blocks if block.kind != "heading"]
    assert [block.heading for block in blocks] == [("Lecture 3", "Work of a force"), ("Lecture 3", "Kinetic energy")]


def test_pages_of_one_line_each_keep_it_though_the_lines_are_alike(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(1, 6):
        page = document.new_page()
        write(page, 72, 100, f"Билет {number}")
        write(page, 300, 815, str(number))
    assert text_of(parsed(save(document, tmp_path))).split("\n") == [f"Билет {number}" for number in range(1, 6)]
