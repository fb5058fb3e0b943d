"""Tables in PDFs: with and without rules."""

from __future__ import annotations

from pathlib import Path

import pymupdf
from pdf_files import parsed, save, write

from rag.types import Block


def tables(path: Path) -> list[Block]:
    return [block for block in parsed(path).blocks if block.kind == "table"]


def test_a_statement_without_rules_is_read_row_by_row(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 100, "(млн руб.)")
    for x, year in ((400, "2023"), (480, "2022")):
        write(page, x, 120, year)
    rows = [
        ("Активы", "", ""),
        ("Денежные средства", "3 655", "4 564"),
        ("Запасы готовой продукции", "2 497", "2 196"),
        ("Амортизация", "(820)", "(784)"),
        ("Прочее", "—", "12"),
        ("Итого активы", "46 455", "47 072"),
    ]
    for i, row in enumerate(rows):
        for x, cell in zip((72, 400, 480), row, strict=True):
            if cell:
                write(page, x, 140 + 16 * i, cell)
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.caption == "(млн руб.)"
    assert block.table.header_rows == 1
    assert block.table.rows[0] == ("", "2023", "2022")
    assert ("Запасы готовой продукции", "2 497", "2 196") in block.table.rows
    assert ("Прочее", "—", "12") in block.table.rows
    assert block.text.startswith("(млн руб.)\n")
    assert "Амортизация | (820) | (784)" in block.text


def test_currency_signs_join_their_numbers_and_spanning_headers_fill_their_columns(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 348, 84, "Three months ended")
    for x, cell in ((330, "July 2023"), (430, "July 2022")):
        write(page, x, 100, cell)
    for i, (label, a, b) in enumerate(
        [("Revenue", "1,693", "1,760"), ("Profit", "168", "178"), ("Costs", "149", "150")]
    ):
        y = 120 + 15 * i
        write(page, 72, y, label)
        for x, cell in ((330, "$"), (350, a), (430, "$"), (450, b)):
            write(page, x, y, cell)
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "Three months ended July 2023", "Three months ended July 2022")
    assert block.table.rows[1] == ("Revenue", "$1,693", "$1,760")


def test_a_ruled_table_of_words_keeps_its_cells(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    rows = [("Взаимодействие", "Квант поля"), ("Сильное", "глюон"), ("Слабое", "бозон")]
    for i, row in enumerate(rows):
        for x, cell in zip((80, 210), row, strict=True):
            write(page, x, 114 + 20 * i, cell)
    for k in range(4):
        page.draw_line((72, 100 + 20 * k), (320, 100 + 20 * k))
    for x in (72, 200, 320):
        page.draw_line((x, 100), (x, 160))
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows == tuple(rows)
    assert block.page == 1
    assert block.bbox is not None
    assert block.bbox[0] < 75


def test_running_text_with_numbers_is_no_table(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for i, line in enumerate(
        ["В 2021 году было 15 опытов, в 2022 году 18,", "а в 2023 году ещё 20, и каждый занял", "от 3 до 5 часов."]
    ):
        write(page, 72, 100 + 14 * i, line)
    assert tables(save(document, tmp_path)) == []


def test_a_table_stands_between_the_paragraphs_around_it(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 80, "Массы планет в сравнении с Землёй таковы:")
    for i, (planet, mass, radius) in enumerate(
        [("Марс", "0,107", "0,53"), ("Венера", "0,815", "0,95"), ("Земля", "1", "1")]
    ):
        for x, cell in ((72, planet), (250, mass), (330, radius)):
            write(page, x, 110 + 16 * i, cell)
    write(page, 72, 190, "Отсюда видно, что Венера ближе всех к Земле по массе.")
    blocks = parsed(save(document, tmp_path)).blocks
    assert [b.kind for b in blocks] == ["paragraph", "table", "paragraph"]
    assert "Марс | 0,107 | 0,53" in blocks[1].text


def statement(page: pymupdf.Page, y: float, rows: list[tuple[str, ...]]) -> None:
    for i, row in enumerate(rows):
        for x, cell in zip((72, 400, 480), row, strict=True):
            if cell:
                write(page, x, y + 16 * i, cell)


ASSETS = [("Запасы", "2 497", "2 196"), ("Дебиторы", "3 191", "3 384"), ("Прочее", "120", "118")]
DEBTS = [("Займы", "1 120", "1 018"), ("Кредиторы", "4 440", "4 120"), ("Резервы", "730", "690")]


def test_a_table_that_goes_on_on_the_next_page_takes_over_its_header(tmp_path: Path) -> None:
    document = pymupdf.open()
    statement(document.new_page(), 700, [("", "2023", "2022"), *ASSETS])
    statement(document.new_page(), 80, DEBTS)
    first, second = tables(save(document, tmp_path))
    assert second.page == 2
    assert second.table is not None
    assert second.table.header_rows == 1
    assert second.table.rows == (("", "2023", "2022"), *DEBTS)
    assert first.table is not None
    assert len(first.table.rows) == 4


def test_a_table_after_other_text_names_its_own_columns(tmp_path: Path) -> None:
    document = pymupdf.open()
    statement(document.new_page(), 700, [("", "2023", "2022"), *ASSETS])
    page = document.new_page()
    write(page, 72, 80, "Здесь начинается рассказ о том, сколько чего потребили разные города.")
    statement(page, 120, DEBTS)
    second = tables(save(document, tmp_path))[1]
    assert second.table is not None
    assert second.table.header_rows == 0


def test_the_rest_of_a_ruled_table_keeps_the_columns_names(tmp_path: Path) -> None:
    document = pymupdf.open()
    parts = [
        [("Взаимодействие", "Квант поля"), ("Сильное", "глюон")],
        [("Слабое", "бозон"), ("Гравитация", "гравитон")],
    ]
    for top, rows in zip((780, 60), parts, strict=True):
        page = document.new_page()
        for i, row in enumerate(rows):
            for x, cell in zip((80, 210), row, strict=True):
                write(page, x, top + 14 + 20 * i, cell)
        for k in range(3):
            page.draw_line((72, top + 20 * k), (320, top + 20 * k))
        for x in (72, 200, 320):
            page.draw_line((x, top), (x, top + 40))
    second = tables(save(document, tmp_path))[1]
    assert second.table is not None
    assert second.table.rows == (parts[0][0], *parts[1])


def test_a_line_of_three_years_is_a_header_and_no_row(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, year in ((322, "2023"), (402, "2022"), (482, "2021")):
        write(page, x, 100, year)
    for i, row in enumerate([("Выручка", "18 191", "20 693", "19 799"), ("Прибыль", "1 634", "2 795", "2 348")]):
        for x, cell in zip((72, 350, 430, 510), row, strict=True):
            write(page, x, 116 + 14 * i, cell)
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "2023", "2022", "2021")
    assert block.table.rows[1] == ("Выручка", "18 191", "20 693", "19 799")


def test_a_long_label_over_the_first_row_does_not_hide_the_header(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, year in ((440, "2023"), (500, "2022")):
        write(page, x, 100, year, 8)
    write(page, 72, 114, "Сверка чистой прибыли с чистым денежным потоком от операционной деятельности:", 8)
    for i, row in enumerate([("Чистая прибыль", "4 165", "7 898"), ("Амортизация", "4 247", "4 512")]):
        for x, cell in zip((72, 445, 505), row, strict=True):
            write(page, x, 128 + 14 * i, cell, 8)
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "2023", "2022")


def two_rows(page: pymupdf.Page, xs: tuple[int, ...], rows: list[tuple[str, ...]], y: float = 134) -> None:
    for i, row in enumerate(rows):
        for x, cell in zip((72, *xs), row, strict=True):
            if cell:
                write(page, x, y + 15 * i, cell, 9)


def test_the_rule_under_a_name_tells_which_columns_it_names(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    xs = (250, 310, 370, 430, 490)
    write(page, 250, 96, "За квартал", 9)
    page.draw_line((245, 100), (400, 100), width=0.5)
    write(page, 450, 96, "За полгода", 9)
    page.draw_line((425, 100), (530, 100), width=0.5)
    for x, name in zip(xs, ("2023", "2022", "рост", "2023", "2022"), strict=True):
        write(page, x, 116, name, 9)
    two_rows(page, xs, [("Выручка", "118", "109", "8 %", "230", "211"), ("Прибыль", "12", "10", "20 %", "25", "21")])
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == (
        "",
        "За квартал 2023",
        "За квартал 2022",
        "За квартал рост",
        "За полгода 2023",
        "За полгода 2022",
    )


def test_a_name_in_two_lines_over_the_middle_column_is_that_columns_alone(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    xs = (270, 360, 460)
    for x0, x1 in ((255, 310), (345, 410), (445, 510)):
        page.draw_line((x0, 120), (x1, 120), width=0.5)
    write(page, 352, 100, "Европа и", 9)
    for x, name in zip((262, 352, 452), ("Америка", "Африка", "Весь мир"), strict=True):
        write(page, x, 114, name, 9)
    two_rows(page, xs, [("Продажи", "184", "59", "342"), ("Прибыль", "31", "8", "65")])
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "Америка", "Европа и Африка", "Весь мир")


def test_a_day_over_two_years_belongs_to_both(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 380, 100, "На 31 декабря", 9)
    for x, name in ((400, "2021"), (500, "2020")):
        write(page, x, 114, name, 9)
    two_rows(page, (400, 500), [("Запасы", "9 059", "8 020"), ("Налоги", "4 266", "3 264")])
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "На 31 декабря 2021", "На 31 декабря 2020")


def test_a_single_row_under_names_of_columns_is_a_table(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, name in ((380, "июль 2023"), (480, "июль 2022")):
        write(page, x, 120, name, 9)
    two_rows(page, (390, 490), [("Денежные средства", "1 093", "840")])
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows == (("", "июль 2023", "июль 2022"), ("Денежные средства", "1 093", "840"))


def test_a_currency_sign_after_a_percentage_belongs_to_the_next_number(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, name in ((290, "доля"), (350, "доход")):
        write(page, x, 120, name, 9)
    for i, (label, share, income) in enumerate([("Industry", "33.9 % $", "1,199"), ("Health", "24.6 % $", "1,815")]):
        two_rows(page, (290, 350), [(label, share, income)], 140 + 15 * i)
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[1:] == (("Industry", "33.9 %", "$1,199"), ("Health", "24.6 %", "$1,815"))


def test_rows_of_values_between_two_rules_are_rows_each(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    rows = [
        ("Способ", "Число"),
        ("Основа 128", "64 058"),
        ("Основа 256", "32 051"),
        ("Основа 512", "16 046"),
        ("Итог", "20 843"),
    ]
    for i, row in enumerate(rows):
        for x, cell in zip((80, 210), row, strict=True):
            write(page, x, 114 + 20 * i, cell)
    for k in (0, 1, 4, 5):
        page.draw_line((72, 100 + 20 * k), (320, 100 + 20 * k))
    for x in (72, 200, 320):
        page.draw_line((x, 100), (x, 200))
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows == tuple(rows)


def test_notes_marks_stay_with_the_names_of_their_columns(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    font = pymupdf.Font("cjk")
    for x, name in ((290, "Азия"), (390, "Африка")):
        write(page, x, 116, name, 9)
    for x, name in ((290, "Азия"), (390, "Африка")):
        write(page, x + font.text_length(name, 9), 113, "(а)", 5)
    two_rows(page, (295, 395), [("Выручка", "118", "109"), ("Прибыль", "12", "10")])
    [block] = tables(save(document, tmp_path))
    assert block.table is not None
    assert block.table.rows[0] == ("", "Азия(а)", "Африка(а)")
