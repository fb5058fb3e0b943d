"""RTF files, as Word, WordPad and LibreOffice write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import ParsingError
from rag.types import ParsedDocument
from tests.documents import only_table, read, texts


def escaped(text: str, encoding: str = "cp1251") -> str:
    return "".join(
        char if char < "\x80" else "".join(f"\\'{byte:02x}" for byte in char.encode(encoding)) for char in text
    )


def parsed(
    folder: Path,
    body: str,
    head: str = r"\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Times;}{\f1\fcharset0 Arial;}}",
) -> ParsedDocument:
    return read(folder, "a.rtf", "{\\rtf1" + head + body + "}")


def test_russian_in_a_code_page_in_unicode_and_with_no_code_page_declared(tmp_path: Path) -> None:
    assert texts(parsed(tmp_path, escaped("Сила и масса") + r"\par")) == ["Сила и масса"]
    unicode = "".join(f"\\u{ord(c)}?" for c in "Сила и масса")
    assert texts(parsed(tmp_path, unicode + r"\par")) == ["Сила и масса"]
    assert texts(parsed(tmp_path, escaped("Сила и масса") + r"\par", r"\ansi\deff0{\fonttbl{\f0 Times;}}")) == [
        "Сила и масса"
    ]
    assert texts(
        parsed(tmp_path, escaped("Сила и масса", "mac-cyrillic") + r"\par", r"\mac\deff0{\fonttbl{\f0 Times;}}")
    ) == ["Сила и масса"]


def test_characters_beyond_the_basic_plane_and_skipped_replacements(tmp_path: Path) -> None:
    assert texts(parsed(tmp_path, r"\uc2 \u-10179\'3f\'3f\u-8704\'3f\'3f\uc0 \u8212 \uc1{\u1078 ?}x\par")) == ["😀—жx"]


def test_headings_by_outline_level_and_by_style(tmp_path: Path) -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 " + escaped("Мой стиль") + r";}{\s2 heading 2;}}"
    body = (
        r"\pard\s1 "
        + escaped("Механика")
        + r"\par\pard\s2 "
        + escaped("Сила")
        + r"\par\pard "
        + escaped("текст")
        + r"\par\pard\outlinelevel0 "
        + escaped("Оптика")
        + r"\par\pard "
        + escaped("свет")
        + r"\par"
    )
    document = parsed(tmp_path, styles + body)
    assert [(b.text, b.heading) for b in document.blocks if b.kind == "paragraph"] == [
        ("текст", ("Механика", "Сила")),
        ("свет", ("Оптика",)),
    ]


def test_a_table_stays_between_its_paragraphs_row_by_row_with_merged_cells_filled(tmp_path: Path) -> None:
    row = r"\trowd{}\cellx1000{}\cellx2000 \pard\intbl {}\cell {}\cell\row"
    body = (
        r"\pard before\par" + row.format("", "", "Planet", "Mass") + row.format(r"\clvmgf", "", "Mars", "0.64")
        + row.format(r"\clvmrg", "", "", "0.65") + r"\trowd\clmgf\cellx1000\clmrg\cellx2000\pard\intbl "
        + r"wide\cell\cell\row\pard after\par"
    )  # fmt: skip
    document = parsed(tmp_path, body)
    assert [b.kind for b in document.blocks] == ["paragraph", "table", "paragraph"]
    assert only_table(document).rows == (("Planet", "Mass"), ("Mars", "0.64"), ("Mars", "0.65"), ("wide", "wide"))


def test_rows_that_share_one_definition_are_rows_still(tmp_path: Path) -> None:
    body = r"{\trowd\cellx3000\cellx6000\pard\intbl a\cell b\cell\row\pard\intbl c\cell d\cell\row}"
    assert only_table(parsed(tmp_path, body)).rows == (("a", "b"), ("c", "d"))


def test_lists_keep_their_labels(tmp_path: Path) -> None:
    body = (
        r"\pard{\listtext 1.\tab}\ls1 one\par\pard{\listtext\f2\'b7\tab}\ilvl1 inner\par\pard{\pntext 2.\tab}"
        r"two\par\pard end\par"
    )
    assert [(b.kind, b.text) for b in parsed(tmp_path, body).blocks] == [
        ("list", "1. one\n  - inner\n2. two"),
        ("paragraph", "end"),
    ]


def test_footnotes_follow_and_headers_comments_pictures_and_hidden_text_do_not(tmp_path: Path) -> None:
    body = (
        r"{\header Faculty}{\pict 89504e47}{\*\annotation remark}\pard fact{\footnote source of it} {\v "
        r"secret}here{\*\unknown x}\par next\par"
    )
    document = parsed(tmp_path, body)
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "fact[1] here"),
        ("note", "[1] source of it"),
        ("paragraph", "next"),
    ]
    assert dict(document.report.dropped) == {"header": 7, "comment": 6, "hidden": 6}


def test_signs_fields_raised_digits_and_line_breaks(tmp_path: Path) -> None:
    body = r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}} x{\super 2}\line a\emdash b\~c\_d\-e \{f\}\\\par"
    assert texts(parsed(tmp_path, body)) == ["link x²\na—b\xa0c-de {f}\\"]


def test_binary_data_is_jumped_over(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.rtf", b"{\\rtf1\\ansi{\\pict\\bin5 }}}}}}ok\\par}")) == ["ok"]


def test_information_is_metadata(tmp_path: Path) -> None:
    info = (
        r"{\info{\title "
        + escaped("Курсовая")
        + r"}{\author "
        + escaped("Анна Ли")
        + r"}{\creatim\yr2019\mo5\dy6}{\revtim\yr2020\mo1\dy2\hr3}}"
    )
    meta = parsed(tmp_path, info + r"text\par").meta
    assert (meta.title, meta.author, meta.date, meta.date_source) == ("Курсовая", "Анна Ли", "2020-01-02", "properties")


def test_a_file_cut_off_at_its_start_is_damaged_and_deep_nesting_is_survived(tmp_path: Path) -> None:
    with pytest.raises(ParsingError, match="damaged"):
        read(tmp_path, "a.rtf", r"{\rtf1\ansi{\fonttbl{\f0 Ti")
    assert texts(parsed(tmp_path, "{" * 100_000 + "deep" + "}" * 100_000 + r"\par")) == ["deep"]
