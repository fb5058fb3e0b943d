"""OCR: straight lines and staves leave the picture, borders make tables, look-alike letters go with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest
from pdf_files import parsed, save, text_of, write

from rag.parsing import ocr
from rag.parsing.ocr import Word
from rag.parsing.ocr_image import Grey
from rag.parsing.ocr_rules import staves, without_rules
from rag.parsing.ocr_scripts import in_one_script

needs_tesseract = pytest.mark.skipif(ocr.missing("rus+eng") is not None, reason="Tesseract with rus and eng is needed")
SCALE = 3.0


def drawn(page: pymupdf.Page, dpi: int = 216) -> Grey:
    picture = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
    return np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.stride)[:, : picture.width].copy()


def as_scan(page: pymupdf.Page, folder: Path) -> Path:
    document = pymupdf.open()
    scanned = document.new_page(width=page.rect.width, height=page.rect.height)
    scanned.insert_image(scanned.rect, stream=page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY).tobytes("png"))
    return save(document, folder)


def lettered() -> pymupdf.Page:
    page = pymupdf.open().new_page(width=420, height=240)
    for i, line in enumerate(["Энтропия замкнутой системы", "не убывает с течением времени"]):
        write(page, 60, 90 + 60 * i, line, 13)
    return page


def stave(page: pymupdf.Page, y: float) -> None:
    for k in range(5):
        page.draw_line((50, y + 4 * k), (380, y + 4 * k), width=0.4)
    for k in range(12):
        x, note = 70 + 25 * k, y + 2 + 4 * (k * 7 % 5)
        page.draw_circle((x, note), 2.2, fill=(0, 0, 0))
        page.draw_line((x + 2, note), (x + 2, note - 12), width=0.6)


def test_a_page_without_lines_is_left_as_it_is() -> None:
    picture = drawn(lettered())
    assert without_rules(picture, SCALE)[0] is picture


def test_borders_go_and_letters_that_touch_them_stay() -> None:
    page = lettered()
    plain = drawn(page)
    for y in (70, 92, 130):
        page.draw_line((50, y), (380, y), width=0.7)
    page.draw_line((50, 70), (50, 130), width=0.7)
    cleaned, rules = without_rules(drawn(page), SCALE)
    assert sorted(rule.horizontal for rule in rules) == [False, True, True, True]
    assert [rule.y0 for rule in rules if rule.horizontal] == pytest.approx([70, 92, 130], abs=1)
    letters = (plain < 128).sum()
    assert abs(int((cleaned < 128).sum()) - int(letters)) < 0.02 * letters


def test_black_areas_are_no_lines() -> None:
    page = lettered()
    page.draw_rect((60, 180, 300, 200), fill=(0, 0, 0))
    assert without_rules(drawn(page), SCALE)[1] == ()


def test_a_stave_goes_with_its_notes_and_the_words_under_it_stay() -> None:
    page = lettered()
    plain = drawn(page)
    for y in (55, 115):
        stave(page, y)
    cleaned, rules = without_rules(drawn(page), SCALE)
    assert [found.step for found in staves(rules)] == pytest.approx([4, 4], abs=0.1)
    changed = (cleaned < 128) != (plain < 128)
    assert changed.sum() < 0.05 * (plain < 128).sum()


def test_lines_to_write_on_are_no_stave() -> None:
    page = pymupdf.open().new_page(width=420, height=240)
    for k in range(8):
        page.draw_line((50, 40 + 22 * k), (380, 40 + 22 * k), width=0.4)
    assert staves(without_rules(drawn(page), SCALE)[1]) == []


@needs_tesseract
def test_a_ruled_table_on_a_scan_keeps_its_cells(tmp_path: Path) -> None:
    page = pymupdf.open().new_page(width=420, height=240)
    rows = [
        ("Планета", "Масса", "Спутники"),
        ("Марс", "0,107", "2"),
        ("Земля", "1,000", "1"),
        ("Юпитер", "317,8", "95"),
    ]
    for i, row in enumerate(rows):
        for x, cell in zip((62, 170, 280), row, strict=True):
            write(page, x, 75 + 26 * i, cell, 13)
    for k in range(5):
        page.draw_line((55, 57 + 26 * k), (370, 57 + 26 * k), width=0.6)
    for x in (55, 160, 270, 370):
        page.draw_line((x, 57), (x, 57 + 26 * 4), width=0.6)
    result = parsed(as_scan(page, tmp_path))
    assert result.report.ocr_pages == (1,)
    [table] = [block.table for block in result.blocks if block.table]
    assert table.rows == tuple(rows)


@needs_tesseract
def test_the_words_of_a_song_are_read_without_its_music(tmp_path: Path) -> None:
    page = lettered()
    for y in (55, 115):
        stave(page, y)
    assert text_of(parsed(as_scan(page, tmp_path))) == "Энтропия замкнутой системы\nне убывает с течением времени"


def line(text: str) -> list[Word]:
    return [Word(part, 0, 0, 10, 10, 90, (1, 1, 1)) for part in text.split()]


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("После смерти ero работа была забыта", "После смерти его работа была забыта"),
        ("known as ап archetypal scientist", "known as an archetypal scientist"),
        ("died оп 7 January 1943, а friend said", "died on 7 January 1943, a friend said"),
        ("протокол ARP спрашивает адрес в сети", "протокол ARP спрашивает адрес в сети"),
        ("здесь x и y произвольные числа", "здесь x и y произвольные числа"),
        ("кэш cache хранит строки памяти", "кэш cache хранит строки памяти"),
        ("по ero", "по ero"),
    ],
)
def test_short_words_are_written_in_the_letters_of_their_line(read: str, meant: str) -> None:
    assert " ".join(word.text for word in in_one_script(line(read))) == meant
