"""Files that are broken, locked, empty, too large, or not what their name says."""

from __future__ import annotations

import contextlib
import os
import random
import zipfile
from pathlib import Path

import docx
import pytest

from rag.errors import ParsingError, PasswordNeeded
from rag.parsing import SUPPORTED, ParseSettings, parse, supported
from tests.documents import SETTINGS, put, put_zip, texts, whole


def refused(path: Path, settings: ParseSettings = SETTINGS) -> str:
    """The sentence that a refused file gets."""
    with pytest.raises(ParsingError) as caught:
        parse(path, settings)
    return str(caught.value)


def test_an_unknown_type_is_named_with_what_can_be_read(tmp_path: Path) -> None:
    said = refused(put(tmp_path, "a.xyz", b"\x00\x01\x02\x03" * 50))
    assert ".xyz" in said
    assert "PDF, Word" in said


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    for name in ("a.txt", "a.docx", "a.pdf"):
        assert "empty" in refused(put(tmp_path, name, b""))


def test_a_file_over_the_limit_is_told_its_size_and_the_limit(tmp_path: Path) -> None:
    said = refused(put(tmp_path, "a.txt", b"a" * 2_400_000), ParseSettings(max_file_mb=1))
    assert "2 MB" in said
    assert "1 MB" in said


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.epub", "a.odt", "a.doc", "a.ppt"])
@pytest.mark.parametrize(
    "data", [b"PK\x03\x04" + b"rubbish" * 50, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"rubbish" * 99, b"just words"]
)
def test_a_corrupt_document_is_called_damaged(tmp_path: Path, name: str, data: bytes) -> None:
    assert "damaged" in refused(put(tmp_path, name, data))


def test_a_document_cut_off_in_the_middle_is_called_damaged(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("текст " * 2_000)
    document.save(str(tmp_path / "whole.docx"))
    data = (tmp_path / "whole.docx").read_bytes()
    assert "damaged" in refused(put(tmp_path, "a.docx", data[: len(data) // 2]))


def test_a_part_of_a_document_that_is_no_xml_is_called_damaged(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "whole.docx"))
    with zipfile.ZipFile(tmp_path / "whole.docx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    said = refused(put_zip(tmp_path, "a.docx", {**parts, "word/document.xml": b"<w:document"}))
    assert "damaged" in said


def test_a_password_is_asked_for_and_nothing_else_is_said(tmp_path: Path) -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    locked = put_zip(
        tmp_path, "a.odt", {"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest}
    )
    with pytest.raises(PasswordNeeded, match="password"):
        parse(locked, SETTINGS)


def test_an_archive_is_to_be_unpacked(tmp_path: Path) -> None:
    assert "Unpack" in refused(put_zip(tmp_path, "a.zip", {"notes.txt": "привет"}))


def test_a_zip_bomb_is_not_opened(tmp_path: Path) -> None:
    bomb = put_zip(tmp_path, "a.docx", {"[Content_Types].xml": "<a/>", "word/document.xml": b"\0" * 150_000_000})
    assert bomb.stat().st_size < 1_000_000
    assert "150 MB" in refused(bomb)


def test_old_office_files_need_libreoffice_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.parsing.sniffing._in_ole", lambda path: "old word")
    monkeypatch.setattr("rag.parsing.legacy.find_libreoffice", lambda: None)
    said = refused(put(tmp_path, "a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600))
    assert "LibreOffice" in said
    assert ".docx" in said


def test_a_file_is_read_as_what_it_is_whatever_its_name_says(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Это документ Word.")
    document.save(str(tmp_path / "word.docx"))
    as_pdf = put(tmp_path, "a.pdf", (tmp_path / "word.docx").read_bytes())
    assert texts(parse(as_pdf, SETTINGS)) == ["Это документ Word."]
    rtf = put(tmp_path, "old.doc", rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2\par}")
    assert texts(parse(rtf, SETTINGS)) == ["Привет"]
    page = put(tmp_path, "web.doc", "<html><body><p>Это страница, сохранённая как Word.</p></body></html>")
    assert "сохранённая" in whole(parse(page, SETTINGS))


def test_binary_data_named_as_text_is_refused(tmp_path: Path) -> None:
    refused(put(tmp_path, "a.txt", bytes(range(256)) * 40))


def test_a_folder_or_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    assert "cannot be opened" in refused(tmp_path / "missing.txt")
    (tmp_path / "folder.txt").mkdir()
    refused(tmp_path / "folder.txt")


def test_supported_names_are_told_without_opening_and_lock_files_are_not_among_them() -> None:
    assert all(supported(f"Лекция 1{ending}") and supported(f"A{ending.upper()}") for ending in SUPPORTED)
    assert not any(map(supported, ["a.exe", "a", "~$report.docx", ".hidden.md", "a.png"]))


@pytest.mark.skipif(os.name != "posix", reason="a script stands for LibreOffice")
def test_old_office_files_go_through_libreoffice_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = docx.Document()
    document.add_heading("Старый реферат", 1)
    document.save(str(tmp_path / "new.docx"))
    office = put(
        tmp_path,
        "soffice",
        f'#!/bin/sh\nwhile [ "$1" != --outdir ]; do shift; done\ncp {tmp_path}/new.docx "$2/old.docx"\n',
    )
    office.chmod(0o755)
    monkeypatch.setattr("rag.parsing.sniffing._in_ole", lambda path: "old word")
    monkeypatch.setattr("rag.parsing.legacy.find_libreoffice", lambda: str(office))
    old = put(tmp_path, "old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    assert texts(parse(old, SETTINGS)) == ["Старый реферат"]
    office.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    assert "could not convert" in refused(old)


def test_damage_to_any_byte_of_a_document_is_an_error_of_ours_or_none(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Механика", 1)
    document.add_table(2, 2).cell(0, 0).text = "масса"
    document.save(str(tmp_path / "whole.docx"))
    data = (tmp_path / "whole.docx").read_bytes()
    chance = random.Random(7)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(chance.choice([1, 20])):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        with contextlib.suppress(ParsingError):
            parse(put(tmp_path, "a.docx", bytes(broken)), SETTINGS)


def test_a_page_cut_off_inside_a_tag_is_read_so_far(tmp_path: Path) -> None:
    for page in ("<!DOCTYPE html", "<!-- ", "<p>текст</p><!-- ", "<html><body><p>текст<"):
        document = parse(put(tmp_path, "a.html", page), SETTINGS)
        assert ("текст" in whole(document)) == ("текст" in page)


def test_documents_of_kinds_that_are_not_read_are_no_archives(tmp_path: Path) -> None:
    slides = put_zip(tmp_path, "a.odp", {"mimetype": "application/vnd.oasis.opendocument.presentation"})
    assert "cannot read this type of file (.odp)" in refused(slides)


def test_a_note_about_pdf_files_is_no_pdf(tmp_path: Path) -> None:
    assert texts(parse(put(tmp_path, "a.md", "Файл начинается с %PDF-1.7\n"), SETTINGS)) == [
        "Файл начинается с %PDF-1.7"
    ]
