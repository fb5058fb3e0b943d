"""Dates, languages and titles of documents."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag.parsing import parse
from rag.parsing.metadata import iso_date, language_of
from tests.documents import SETTINGS, put, read


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("physics1_2024_09_16", "2024-09-16"),
        ("20240916 лекция", "2024-09-16"),
        ("Лекция 16.09.2024", "2024-09-16"),
        ("16 сентября 2024 г.", "2024-09-16"),
        ("5 мая 2023", "2023-05-05"),
        ("September 2, 16 sep 2024", "2024-09-16"),
        ("3 Mar 2021", "2021-03-03"),
        ("2024-09", "2024-09"),
        ("экзамен 2024", "2024"),
        ("2023-02-30", "2023-02"),
        ("лекция 12", None),
        ("номер 120240916777", None),
        ("1234567", None),
    ],
)
def test_dates_in_names_and_texts(text: str, date: str | None) -> None:
    assert iso_date(text) == date


def test_a_day_in_the_files_name_is_its_date(tmp_path: Path) -> None:
    meta = read(tmp_path, "physics1_2024_09_16.md", "текст").meta
    assert (meta.date, meta.date_source) == ("2024-09-16", "name")


def test_a_day_in_the_folders_name_is_the_date_too(tmp_path: Path) -> None:
    meta = read(tmp_path, "2023-02-01 семинар/a.md", "текст").meta
    assert (meta.date, meta.date_source) == ("2023-02-01", "name")


def test_without_any_other_the_time_of_the_file_is_its_date(tmp_path: Path) -> None:
    path = put(tmp_path, "notes/a.txt", "текст")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    meta = parse(path, SETTINGS).meta
    assert (meta.date, meta.date_source) == ("2020-09-13", "file time")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Термодинамика изучает тепло и работу, entropy растёт.", "ru"),
        ("Термодинаміка вивчає тепло і роботу, її закони прості.", "uk"),
        ("Thermodynamics is about heat and work, and about how they turn into each other.", "en"),
        ("Die Thermodynamik handelt von Wärme und Arbeit und davon, wie sie ineinander übergehen.", "de"),
        ("x = 5", ""),
        ("HTML Example XML Example Example Docs", ""),
    ],
)
def test_the_language_is_told_by_the_letters(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_first_heading_is_the_title_of_a_document_that_names_none(tmp_path: Path) -> None:
    assert read(tmp_path, "a.md", "до\n\n## Лекция 3\n\nтекст").meta.title == "Лекция 3"
