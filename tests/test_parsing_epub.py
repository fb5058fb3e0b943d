"""Books in EPUB."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import ParsingError, PasswordNeeded
from rag.parsing import parse
from tests.documents import SETTINGS, block_with, put_zip, texts, whole

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
    'full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Оптика</dc:title><dc:creator>Анна Ли</dc:creator><dc:creator>Пётр Ом</dc:creator><dc:date>2019-03-01</dc:date>
<dc:language>ru-RU</dc:language>
</metadata><manifest><item id="b" href="text/b.xhtml"/><item id="a" href="text/a%20a.xhtml"/>
<item id="c" href="text/c.xhtml"/><item id="n" href="nav.xhtml" properties="nav"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>"""
NAV = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="text/a%20a.xhtml">Глава '
    'первая</a></li><li><a href="text/b.xhtml">Глава вторая</a></li></ol></nav></body></html>'
)


def page(body: str) -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>'
        f"x</title></head><body>{body}</body></html>"
    )


def book(**changed: str) -> dict[str, str]:
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/text/b.xhtml": page("<h1>Вторая</h1><p>Линзы преломляют.</p>"),
        "OEBPS/text/a a.xhtml": page("<p>Свет прямолинеен.</p><ul><li>луч</li></ul>"),
        "OEBPS/text/c.xhtml": page("<p>Без названия.</p>"),
        **changed,
    }


def test_chapters_come_in_the_order_of_the_spine_named_by_the_contents_where_they_have_no_heading(
    tmp_path: Path,
) -> None:
    document = parse(put_zip(tmp_path, "a.epub", book()), SETTINGS)
    assert [(b.text, b.heading) for b in document.blocks if b.kind != "heading"] == [
        ("Свет прямолинеен.", ("Глава первая",)),
        ("- луч", ("Глава первая",)),
        ("Линзы преломляют.", ("Вторая",)),
        ("Без названия.", ()),
    ]


def test_the_books_own_data_are_metadata(tmp_path: Path) -> None:
    meta = parse(put_zip(tmp_path, "a.epub", book()), SETTINGS).meta
    assert (meta.title, meta.author, meta.date, meta.date_source, meta.language) == (
        "Оптика", "Анна Ли, Пётр Ом", "2019-03-01", "properties", "ru",
    )  # fmt: skip


def test_a_missing_chapter_costs_that_chapter_and_is_told(tmp_path: Path) -> None:
    parts = book()
    del parts["OEBPS/text/b.xhtml"]
    document = parse(put_zip(tmp_path, "a.epub", parts), SETTINGS)
    assert "Без названия." in texts(document)
    assert "b.xhtml" in str(document.report.warnings[0])


def test_a_book_locked_by_its_shop_is_said_to_be_locked(tmp_path: Path) -> None:
    lock = (
        '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text/b.xhtml"/></CipherData>'
        "</EncryptedData></encryption>"
    )
    with pytest.raises(PasswordNeeded, match="locked"):
        parse(put_zip(tmp_path, "a.epub", book(**{"META-INF/encryption.xml": lock})), SETTINGS)
    fonts = lock.replace("text/b.xhtml", "font.otf")
    assert "Линзы" in whole(parse(put_zip(tmp_path, "b.epub", book(**{"META-INF/encryption.xml": fonts})), SETTINGS))


def test_a_book_without_its_list_of_contents_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(ParsingError, match="damaged"):
        parse(put_zip(tmp_path, "a.epub", {"mimetype": "application/epub+zip"}), SETTINGS)


def test_an_older_books_contents_name_its_chapters_too(tmp_path: Path) -> None:
    ncx = (
        '<ncx><navMap><navPoint><navLabel><text>Пролог</text></navLabel><content src="text/c.xhtml#x"/>'
        "</navPoint></navMap></ncx>"
    )
    package = PACKAGE.replace(
        "</manifest>", '<item id="t" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
    )
    parts = book(**{"OEBPS/book.opf": package, "OEBPS/toc.ncx": ncx})
    assert block_with(parse(put_zip(tmp_path, "a.epub", parts), SETTINGS), "Без названия").heading == ("Пролог",)
