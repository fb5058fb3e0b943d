"""A page as a picture with its marks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pymupdf
import pytest
from pdf_files import save, write

from rag.errors import ParsingError
from rag.parsing.page_image import page_image
from rag.types import PageBox


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    document = pymupdf.open()
    page = document.new_page(width=300, height=400)
    write(page, 30, 50, "Отметить")
    document.new_page(width=300, height=400).set_rotation(90)
    return save(document, tmp_path)


def pixel(png: bytes, x: int, y: int) -> tuple[int, ...]:
    return tuple(pymupdf.Pixmap(png).pixel(x, y))


def test_a_page_has_scale_pixels_a_point_and_its_boxes_are_marked(page_file: Path) -> None:
    png = page_image(page_file, 1, [PageBox(1, (100, 100, 200, 150))], 2.0)
    picture = pymupdf.Pixmap(png)
    assert (picture.width, picture.height) == (600, 800)
    assert pixel(png, 300, 250) != (255, 255, 255)
    assert pixel(png, 300, 350) == (255, 255, 255)


def test_a_box_on_a_rotated_page_is_marked_where_it_is_seen(page_file: Path) -> None:
    png = page_image(page_file, 2, [PageBox(2, (300, 20, 380, 60))], 1.0)
    assert pymupdf.Pixmap(png).width == 400
    assert pixel(png, 340, 40) != (255, 255, 255)
    assert pixel(png, 60, 40) == (255, 255, 255)


def test_boxes_of_other_pages_are_left_out(page_file: Path) -> None:
    assert page_image(page_file, 1, [PageBox(2, (100, 100, 200, 150))], 1.0) == page_image(page_file, 1, (), 1.0)


def test_a_page_that_is_not_there_and_a_file_that_is_no_pdf_are_told(page_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ParsingError, match="no page 9"):
        page_image(page_file, 9)
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"nothing")
    with pytest.raises(ParsingError, match="cannot be shown"):
        page_image(broken, 1)


def test_pages_can_be_drawn_from_several_threads(page_file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        pictures = set(pool.map(lambda _: page_image(page_file, 1, (), 1.0), range(40)))
    assert len(pictures) == 1
