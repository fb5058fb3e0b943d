"""E-mail messages."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from rag.errors import ParsingError
from rag.types import ParsedDocument
from tests.documents import read, texts


def message(body: str = "Здравствуйте!\n\nЗачёт в пятницу.\n") -> EmailMessage:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = "Зачёт по физике", "Анна Ли <anna@example.org>", "группа@пример.рф"
    made["Date"] = "Mon, 16 Sep 2024 10:00:00 +0300"
    made.set_content(body)
    return made


def parsed(folder: Path, mail: EmailMessage) -> ParsedDocument:
    return read(folder, "a.eml", bytes(mail))


def test_subject_is_the_heading_and_sender_and_date_are_kept(tmp_path: Path) -> None:
    document = parsed(tmp_path, message())
    assert texts(document, "heading") == ["Зачёт по физике"]
    assert document.blocks[1].text.startswith("From: Анна Ли <anna@example.org>\nTo: ")
    assert texts(document)[2:] == ["Здравствуйте!", "Зачёт в пятницу."]
    meta = document.meta
    assert (meta.title, meta.author, meta.date, meta.date_source) == (
        "Зачёт по физике", "Анна Ли <anna@example.org>", "2024-09-16", "properties",
    )  # fmt: skip


def test_the_plain_alternative_is_read_and_a_page_where_there_is_no_other(tmp_path: Path) -> None:
    both = message("простой текст\n")
    both.add_alternative("<p>страница</p>", subtype="html")
    assert texts(parsed(tmp_path, both))[2:] == ["простой текст"]
    page = message()
    page.set_content("<html><body><p>Только <b>страница</b></p><ul><li>пункт</li></ul></body></html>", subtype="html")
    assert texts(parsed(tmp_path, page))[2:] == ["Только страница", "- пункт"]


def test_attachments_are_named_and_a_forwarded_message_is_read(tmp_path: Path) -> None:
    mail = message()
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="план.pdf")
    inner = message("внутри\n")
    inner.replace_header("Subject", "Переслано")
    mail.add_attachment(inner)
    document = parsed(tmp_path, mail)
    assert ("note", "план.pdf") in [(b.kind, b.text) for b in document.blocks]
    assert "план.pdf" in str(document.report.warnings[0])
    assert document.blocks[-1].heading == ("Зачёт по физике", "Переслано")


def test_a_body_in_another_encoding_than_it_says(tmp_path: Path) -> None:
    raw = (
        b"Subject: x\nContent-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 8bit\n\n"
        + "Съешь ещё этих булок".encode("koi8-r")
    )
    assert texts(read(tmp_path, "a.eml", raw))[-1] == "Съешь ещё этих булок"


def test_what_is_no_message_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParsingError, match="e-mail"):
        read(tmp_path, "a.eml", "просто текст\n\nбез заголовков\n")


def test_a_page_saved_as_a_web_archive_is_read_like_a_message(tmp_path: Path) -> None:
    archive = (
        "From: <Saved by Blink>\nSubject: Optics\nDate: Mon, 16 Sep 2024 10:00:00 -0000\nMIME-Version: 1.0\n"
        'Content-Type: multipart/related; type="text/html"; boundary="B"\n\n--B\nContent-Type: text/html\n'
        "Content-Transfer-Encoding: quoted-printable\n\n<html><body><h1>Lenses</h1><p>A lens bends "
        "li=\nght.</p></body></html>\n"
        "--B\nContent-Type: image/png\nContent-Location: x.png\n\nAAAA\n--B--\n"
    )
    document = read(tmp_path, "a.mhtml", archive)
    assert texts(document)[-2:] == ["Lenses", "A lens bends light."]
    assert document.report.warnings == ()


def test_headers_in_an_encoding_that_is_not_told(tmp_path: Path) -> None:
    raw = "Subject: Зачёт по физике\nFrom: Анна Ли <anna@example.org>\n\nтело письма\n".encode("cp1251")
    document = read(tmp_path, "a.eml", raw)
    assert (document.meta.title, document.meta.author) == ("Зачёт по физике", "Анна Ли <anna@example.org>")
