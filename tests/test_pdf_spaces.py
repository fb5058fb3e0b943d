"""PDF: spaces that the file does not hold, and those that it only seems to hold."""

from __future__ import annotations

from pathlib import Path

import pymupdf
from pdf_files import parsed, save, text_of, write

from rag.parsing.pdf_spaces import with_true_spaces

FONT = pymupdf.Font("cjk")


def test_an_underscore_drawn_as_a_stroke_is_an_underscore(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 100, "Команда")
    write(page, 130, 100, "pg")
    end = 130 + FONT.text_length("pg", 11)
    page.draw_line((end + 0.2, 101), (end + 4.2, 101), width=0.4)
    write(page, end + 4.4, 100, "dump пишет копию базы.")
    assert "Команда pg_dump пишет копию базы." in text_of(parsed(save(document, tmp_path)))


def test_a_line_under_a_word_is_no_underscore(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 100, "два слова")
    page.draw_line((72, 101), (72 + FONT.text_length("два", 11), 101), width=0.4)
    assert "два слова" in text_of(parsed(save(document, tmp_path)))


def test_letters_set_at_one_distance_are_words_still(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    x = 72.0
    for letter in "Testing initial limits":
        if letter != " ":
            page.insert_text((x, 100), letter, fontname="helv", fontsize=12)
        x += 7 if letter != " " else 5
    assert "Testing initial limits" in text_of(parsed(save(document, tmp_path)))


def test_words_that_are_only_placed_apart_stay_apart(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    x = 72.0
    for word in ["Свойства", "плотности", "абсолютно", "непрерывного", "распределения"]:
        write(page, x, 100, word)
        x += FONT.text_length(word, 11) + 3
    assert "Свойства плотности абсолютно непрерывного распределения" in text_of(parsed(save(document, tmp_path)))


def test_a_matrix_keeps_its_columns(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, cell in zip(range(72, 200, 9), "abcabcabc", strict=False):
        page.insert_text((x, 100), cell, fontname="helv", fontsize=12)
    assert "a b c a b c" in text_of(parsed(save(document, tmp_path)))


def test_spaces_put_in_at_a_lines_end_or_beside_each_other_are_kept() -> None:
    def span(text: str, x: float, flags: int = 0) -> dict[str, object]:
        return {"text": text, "origin": (x, 100.0), "font": "Arial", "size": 12.0, "char_flags": flags}

    texts, x, spans = ["te", "i", "on", "l", "ad", "i"], 72.0, []
    for text in texts:
        spans += [span(text, x), span(" ", x + 5 * len(text), 512)]
        x += 7 * len(text)
    spans.append(span(" ", x, 512))
    assert "".join(str(s["text"]) for s in with_true_spaces(spans)) == "teionladi  "
