"""From a folder to what is known of its files: states, coverage, metadata with every passage."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import save, write

from rag.parsing import ocr
from rag.reports import files
from rag.types import FileStatus
from tests.test_syncing import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def known(bench: Bench) -> dict[str, FileStatus]:
    return {status.path: status for status in bench.index.catalog.files()}


def pdf(bench: Bench, name: str, *pages: str, user: str = "", owner: str = "") -> Path:
    document = pymupdf.open()
    for text in pages:
        page = document.new_page()
        if text:
            write(page, 72, 100, text)
        else:
            picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 300))
            picture.clear_with(200)
            page.insert_image(page.rect, pixmap=picture)
    lock = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": user, "owner_pw": owner} if owner else {}
    return save(document, bench.notes, name, **lock)


def test_of_a_locked_an_owner_locked_and_two_open_files_three_are_indexed(bench: Bench) -> None:
    pdf(bench, "a.pdf", "Первый открытый текст")
    locked = pdf(bench, "b.pdf", "Текст под паролем", user="secret", owner="owner")
    pdf(bench, "c.pdf", "Текст с замком владельца", owner="owner")
    bench.write("d.md", "Четвёртый текст")
    assert bench.sync().indexed == 3
    assert {path: status.state for path, status in known(bench).items()} == {
        "a.pdf": "indexed",
        "b.pdf": "password needed",
        "c.pdf": "indexed",
        "d.md": "indexed",
    }
    assert "password" in str(known(bench)["b.pdf"].error)
    bench.parser.parsed.clear()
    bench.sync()
    assert bench.parser.parsed == []
    locked.unlink()
    pdf(bench, "b.pdf", "Пароль снят")
    assert bench.sync().indexed == 1
    assert known(bench)["b.pdf"].state == "indexed"


def test_five_pages_of_seven_have_text_and_the_others_are_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "program", lambda: None)
    pdf(bench, "a.pdf", *(f"Лист {n} с обычным текстом из слов" for n in range(5)), "", "")
    bench.sync()
    status = known(bench)["a.pdf"]
    assert status.state == "indexed"
    assert (status.report.pages, status.report.text_pages) == (7, (1, 2, 3, 4, 5))
    assert status.report.suspect_pages == (6, 7)
    assert "6-7" in str(status.report.warnings[0])
    [told] = files([status])["files"]
    assert (told["pages"], told["text_pages"], told["ocr_pages"], told["suspect_pages"]) == (7, 5, 0, 2)
    assert "6-7" in told["warnings"][0]


def test_a_file_without_readable_text_is_never_indexed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "program", lambda: None)
    pdf(bench, "scan.pdf", "", "")
    bench.write("blank.txt", " \n\n")
    assert bench.sync().indexed == 0
    assert {status.state for status in known(bench).values()} == {"no text"}
    assert all(status.error for status in known(bench).values())


def test_every_passage_carries_its_documents_date_and_stands_on_one_of_its_pages(bench: Bench) -> None:
    document = pymupdf.open()
    for number in range(1, 4):
        page = document.new_page()
        for i in range(40):
            write(page, 72, 80 + 16 * i, f"Строка {i} листа {number} говорит о движении тел и о силах.")
    document.set_metadata({"title": "Механика", "author": "Анна Ли", "creationDate": "D:20240302100000Z"})
    save(document, bench.notes, "a.pdf")
    bench.sync()
    status = known(bench)["a.pdf"]
    assert (status.meta.title, status.meta.author, status.meta.date) == ("Механика", "Анна Ли", "2024-03-02")
    chunks = bench.index.catalog.chunks_of("a.pdf")
    assert len(chunks) > 2
    assert {chunk.date for chunk in chunks} == {"2024-03-02"}
    assert all(1 <= (c.page_first or 0) <= (c.page_last or 0) <= 3 for c in chunks)
