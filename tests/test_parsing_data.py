"""CSV files and Excel workbooks."""

from __future__ import annotations

import datetime
from pathlib import Path

import openpyxl
import pytest

from rag.parsing import parse
from tests.documents import SETTINGS, only_table, put, read, texts


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1251", "utf-16"])
def test_any_separator_and_encoding(tmp_path: Path, separator: str, encoding: str) -> None:
    rows = [["Команда", "Город", "Кубки"], ["Зенит", "Санкт-Петербург", "7"], ["Спартак", "Москва", "10"]]
    document = read(tmp_path, "a.csv", "\r\n".join(separator.join(row) for row in rows).encode(encoding))
    assert only_table(document).rows == tuple(map(tuple, rows))
    assert document.report.encoding == encoding


def test_quoted_cells_may_hold_separators_and_line_breaks(tmp_path: Path) -> None:
    document = read(tmp_path, "a.csv", 'a,b\n"1,5","две\nстроки"\n"с ""кавычками""",\n')
    assert only_table(document).rows == (("a", "b"), ("1,5", "две строки"), ('с "кавычками"', ""))


def test_decimal_commas_do_not_make_the_comma_a_separator(tmp_path: Path) -> None:
    assert only_table(read(tmp_path, "a.csv", "Планета;Масса\nМарс;0,64\nЗемля;5,97\n")).rows[1] == ("Марс", "0,64")


def test_a_line_over_a_table_is_its_caption(tmp_path: Path) -> None:
    table = only_table(read(tmp_path, "a.csv", "Stanley Cups,,\nTeam,Location,Cups\nBlues,STL,1\n"))
    assert (table.caption, table.rows[0]) == ("Stanley Cups", ("Team", "Location", "Cups"))


def test_a_huge_cell_and_a_huge_table_are_survived(tmp_path: Path) -> None:
    document = read(tmp_path, "a.csv", "a,b\n" + "x" * 1_000_000 + ",1\n")
    assert len(only_table(document).rows[1][0]) == 1_000_000
    long = read(tmp_path, "b.csv", "a,b\n" + "1,2\n" * 60_000)
    assert "50000" in str(long.report.warnings[0])


def test_sheets_are_headings_and_tables_apart_are_tables_of_their_own(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Расписание"
    for row in [
        ["Осень", None],
        ["День", "Пара"],
        ["Пн", 2],
        [None, None],
        ["Зачёт", "Дата"],
        ["Физика", datetime.datetime(2024, 12, 20)],
    ]:
        book.active.append(row)
    book.create_sheet("Пусто")
    book.create_sheet("Заметка").append(["одна строка"])
    book.save(tmp_path / "a.xlsx")
    document = parse(tmp_path / "a.xlsx", SETTINGS)
    assert [(b.kind, b.text, b.heading) for b in document.blocks if b.kind != "heading"] == [
        ("table", "Осень\nДень | Пара\nПн | 2", ("Расписание",)),
        ("table", "Зачёт | Дата\nФизика | 2024-12-20", ("Расписание",)),
        ("paragraph", "одна строка", ("Заметка",)),
    ]


def test_merged_cells_percents_and_units_read_as_they_are_seen(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in [["Год", "Выручка", None], [2022, 100, 0.25], [2023, 120.5, 0.1 + 0.2]]:
        sheet.append(row)
    sheet.merge_cells("B1:C1")
    for cell, shape in [("B2", '#,##0 "млн"'), ("B3", "#,##0.0 [$₽-419]"), ("C2", "0%"), ("C3", "0.00%")]:
        sheet[cell].number_format = shape
    book.save(tmp_path / "a.xlsx")
    assert only_table(parse(tmp_path / "a.xlsx", SETTINGS)).rows == (
        ("Год", "Выручка", "Выручка"), ("2022", "100 млн", "25 %"), ("2023", "120.5 ₽", "30 %"),
    )  # fmt: skip


def test_an_empty_workbook_has_no_text(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "a.xlsx")
    assert parse(tmp_path / "a.xlsx", SETTINGS).blocks == ()
    put(tmp_path, "b.csv", ",,\n,,\n")
    assert parse(tmp_path / "b.csv", SETTINGS).blocks == ()


@pytest.mark.timeout(60)
def test_one_stray_cell_far_out_does_not_make_billions_of_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"], book.active["XFD1048576"] = "Планета", "Марс", "потеряно"
    book.save(tmp_path / "a.xlsx")
    document = parse(tmp_path / "a.xlsx", SETTINGS)
    assert "Марс" in texts(document)[0]
    assert "Only the first" in str(document.report.warnings[0])
