"""OCR: which pages need it, what a picture is made of, how words become lines, and a scan read end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pymupdf
import pytest
from pdf_files import parsed, save, text_of, write, write_lines
from PIL import Image

from rag.parsing import ocr
from rag.parsing.ocr import Word
from rag.parsing.ocr_image import evenly_lit, otsu, prepared, skew
from rag.parsing.ocr_layout import fragments_of
from rag.parsing.pdf_layout import laid_out
from rag.parsing.pdf_text import PageText
from rag.parsing.quality import is_readable

needs_tesseract = pytest.mark.skipif(ocr.missing("rus+eng") is not None, reason="Tesseract with rus and eng is needed")
TEXT = ["Энтропия замкнутой системы не убывает,", "и это есть второе начало термодинамики."]


def picture_of(lines: list[str]) -> pymupdf.Pixmap:
    document = pymupdf.open()
    page = document.new_page(width=420, height=200)
    write_lines(page, 40, 60, lines, size=13, step=24)
    return page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY)


def scan(document: pymupdf.Document, lines: list[str]) -> None:
    page = document.new_page(width=420, height=200)
    page.insert_image(page.rect, stream=picture_of(lines).tobytes("png"))


def grey(lines: list[str]) -> np.ndarray:
    drawn = picture_of(lines)
    return np.frombuffer(drawn.samples, np.uint8).reshape(drawn.height, drawn.stride)[:, : drawn.width].copy()


@pytest.mark.parametrize(
    "text", ["\ufffd\ufffd\ufffd \ufffd\ufffd", "Ð¤Ð¸Ð·Ð¸ÐºÐ°", "/HFWXUH 1RWHV", "\ue001\ue002\ue003 \ue004"]
)
def test_a_damaged_text_layer_is_called_unreadable(text: str) -> None:
    assert not is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "Лекция о термодинамике",
        "Lecture notes",
        "∑ᵢ₌₁ⁿ xᵢ² = ∫ f(x) dx, Δφ ≤ ε, ∀x ∈ R: P(A|B) = P(AB)/P(B)",
        "할인점 주유 온라인쇼핑몰",
        "1 234 567,89 — 12 %",
        "",
        "HTTP TCP/IP",
        "Übungsblatt für Analysis",
    ],
)
def test_clean_text_in_any_script_and_formulas_are_readable(text: str) -> None:
    assert is_readable(text)


def test_otsu_finds_the_level_between_ink_and_paper() -> None:
    picture = np.full((40, 40), 200, np.uint8)
    picture[10:20] = 60
    assert 60 <= otsu(picture) < 200


def test_a_shadow_over_the_page_does_not_swallow_its_ink() -> None:
    picture = grey(TEXT).astype(np.float32)
    shade = np.linspace(0.35, 1.0, picture.shape[1])[None, :]
    clean, even = grey(TEXT), evenly_lit((picture * shade).astype(np.uint8))
    assert ((clean > otsu(clean)) != (even > otsu(even))).mean() < 0.01


def test_an_evenly_lit_page_is_left_as_it_is() -> None:
    picture = grey(TEXT)
    assert prepared(picture)[0] is picture


@pytest.mark.parametrize("angle", [-3.0, 1.6])
def test_a_tilted_page_is_set_straight(angle: float) -> None:
    picture = grey(TEXT * 3)
    tilted = np.asarray(Image.fromarray(picture).rotate(angle, fillcolor=255))
    assert skew(tilted) == pytest.approx(-angle, abs=0.3)
    assert prepared(picture)[1] == 0.0


def word(text: str, x: float, y: float, line: int, confidence: float = 95) -> Word:
    return Word(text, x, y, x + 12 * len(text), y + 20, confidence, (1, 1, line))


def test_stretches_of_one_physical_line_are_joined_and_specks_dropped() -> None:
    words = [
        word("Ария", 100, 100, 1),
        word("весёлого", 160, 101, 1),
        word("князя", 275, 103, 2),
        word("который", 100, 140, 3),
        word("поёт", 195, 140, 3),
        word("|", 20, 141, 4, 50),
        word("ee", 700, 180, 5, 40),
    ]
    page = laid_out(PageText(800, 600, tuple(fragments_of(words, 1.0)), (), ()), 1, ocr=True)
    assert [line.text for line in page.lines] == ["Ария весёлого князя", "который поёт"]


@needs_tesseract
def test_only_scanned_pages_are_read_by_ocr(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(5):
        write(document.new_page(width=420, height=200), 40, 60, f"Лист {number} с обычным текстом из слов")
    scan(document, TEXT)
    scan(document, ["Работа силы равна изменению энергии тела."])
    result = parsed(save(document, tmp_path))
    assert result.report.text_pages == (1, 2, 3, 4, 5)
    assert result.report.ocr_pages == (6, 7)
    block = next(b for b in result.blocks if "второе начало термодинамики" in b.text)
    assert block.page == 6
    assert block.bbox is not None
    assert 25 < block.bbox[0] < 60 < block.bbox[2] < 420


@needs_tesseract
def test_an_unreadable_layer_is_replaced_by_what_the_page_shows(tmp_path: Path) -> None:
    document = pymupdf.open()
    scan(document, TEXT)
    for y in (60, 84):
        writer = pymupdf.TextWriter(document[0].rect)
        writer.append((40, y), "/HFWXUH 1RWHV RQ 7KHUPRG\\QDPLFV", fontsize=11)
        writer.write_text(document[0], render_mode=3)
    result = parsed(save(document, tmp_path))
    assert result.report.ocr_pages == (1,)
    assert "Энтропия замкнутой системы" in text_of(result)
    assert "HFWXUH" not in text_of(result)


@needs_tesseract
def test_a_scan_that_stands_on_its_side_is_read(tmp_path: Path) -> None:
    drawn = Image.fromarray(np.rot90(grey(TEXT * 2)))
    document = pymupdf.open()
    page = document.new_page(width=200, height=420)
    path = tmp_path / "side.png"
    drawn.save(path)
    page.insert_image(page.rect, filename=path)
    result = parsed(save(document, tmp_path))
    assert "второе начало" in text_of(result)
    x0, y0, x1, y1 = result.blocks[0].bbox or (0, 0, 0, 0)
    assert 0 <= x0 < x1 <= 200
    assert y1 - y0 > x1 - x0


def test_without_tesseract_the_file_says_what_is_missing_and_which_pages_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = pymupdf.open()
    write(document.new_page(), 72, 100, "Лист с текстом")
    scan(document, TEXT)
    scan(document, TEXT)
    path = save(document, tmp_path)
    monkeypatch.setattr(ocr, "program", lambda: None)
    report = parsed(path).report
    assert report.text_pages == (1,)
    assert report.suspect_pages == (2, 3)
    assert "2-3" in str(report.warnings[0])
    assert "Tesseract is not installed" in str(report.warnings[0])


def test_a_language_that_tesseract_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "program", lambda: "tesseract")
    monkeypatch.setattr(ocr, "languages", lambda _: frozenset({"eng"}))
    assert "“rus”" in str(ocr.missing("rus+eng"))
    assert ocr.missing("eng") is None


def test_a_page_without_text_or_picture_is_empty(tmp_path: Path) -> None:
    document = pymupdf.open()
    write(document.new_page(), 72, 100, "Лист с текстом")
    document.new_page()
    assert parsed(save(document, tmp_path)).report.empty_pages == (2,)
