"""Word documents."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from rag.chunking import chunk_document, keyword_text
from rag.parsing import parse
from rag.retrieval.keywords import KeywordIndex, tokens
from rag.types import ParsedDocument
from tests.documents import SETTINGS, block_with, only_table, texts, whole

NS = nsdecls("w")
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def parsed(folder: Path, document: Any, name: str = "a.docx") -> ParsedDocument:
    document.save(str(folder / name))
    return parse(folder / name, SETTINGS)


def append_xml(document: Any, xml: str) -> None:
    document.element.body.insert(len(document.element.body) - 1, parse_xml(xml))


def set_outline(paragraph: Any, level: int) -> None:
    outline = OxmlElement("w:outlineLvl")
    outline.set(qn("w:val"), str(level))
    paragraph._p.get_or_add_pPr().append(outline)


def test_headings_are_told_by_style_and_by_outline_level_whatever_the_styles_name(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("до заголовков")
    document.add_heading("Механика", 1)
    style = document.styles.add_style("Мой подзаголовок", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 2"]
    document.add_paragraph("Сила", style="Мой подзаголовок")
    document.add_paragraph("F = ma")
    own = document.add_paragraph("Оптика")
    set_outline(own, 0)
    document.add_paragraph("свет")
    body = document.add_paragraph("не заголовок", style="Heading 1")
    set_outline(body, 9)
    result = parsed(tmp_path, document)
    assert [(b.text, b.heading) for b in result.blocks if b.kind == "paragraph"] == [
        ("до заголовков", ()),
        ("F = ma", ("Механика", "Сила")),
        ("свет", ("Оптика",)),
        ("не заголовок", ("Оптика",)),
    ]


def test_a_table_between_two_paragraphs_stays_between_them_with_its_caption(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Рассмотрим планеты.")
    document.add_paragraph("Таблица 1. Планеты", style="Caption")
    table = document.add_table(rows=3, cols=2)
    for row, cells in zip(table.rows, [("Планета", "масса"), ("Земля", "5,97"), ("масса Марса", "0,64")], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("Как видно, Марс легче.")
    result = parsed(tmp_path, document)
    assert [b.kind for b in result.blocks] == ["paragraph", "caption", "table", "paragraph"]
    assert only_table(result).caption == "Таблица 1. Планеты"
    assert "масса Марса | 0,64" in block_with(result, "масса Марса").text
    assert result.report.tables == 1


def test_merged_cells_are_filled_and_nested_tables_are_words_of_their_cell(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    for r, row in enumerate(table.rows):
        for c, cell in enumerate(row.cells):
            cell.text = f"{r}{c}"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "широкая"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "высокая"
    table.cell(2, 2).text = "a"
    inner = table.cell(2, 2).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "б", "в"
    assert only_table(parsed(tmp_path, document)).rows == (
        ("00", "широкая", "широкая"),
        ("высокая", "11", "12"),
        ("высокая", "21", "a б в"),
    )


def test_a_frame_made_of_one_cell_is_no_table(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_table(rows=1, cols=1).cell(0, 0).text = "Определение в рамке"
    assert [(b.kind, b.text) for b in parsed(tmp_path, document).blocks] == [("paragraph", "Определение в рамке")]


def test_lists_are_one_block_with_bullets_and_numbers(tmp_path: Path) -> None:
    document = docx.Document()
    for text, style in [
        ("раз", "List Bullet"),
        ("два", "List Bullet"),
        ("первый", "List Number"),
        ("второй", "List Number"),
    ]:
        document.add_paragraph(text, style=style)
    document.add_paragraph("конец")
    assert [(b.kind, b.text) for b in parsed(tmp_path, document).blocks] == [
        ("list", "- раз\n- два\n1. первый\n2. второй"),
        ("paragraph", "конец"),
    ]


def test_automatic_numbers_of_headings_are_part_of_the_title(tmp_path: Path) -> None:
    document = docx.Document()
    numbering = document.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{i}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for i, (form, text) in enumerate([("upperRoman", "Глава %1."), ("decimal", "%1.%2")])
    )
    numbering.insert(0, parse_xml(f'<w:abstractNum {NS} w:abstractNumId="77">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {NS} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for title, level in [("Механика", 1), ("Сила", 2), ("Масса", 2), ("Оптика", 1), ("Линзы", 2)]:
        heading = document.add_heading(title, level)
        heading._p.get_or_add_pPr().append(
            parse_xml(f'<w:numPr {NS}><w:ilvl w:val="{level - 1}"/><w:numId w:val="77"/></w:numPr>')
        )
    assert texts(parsed(tmp_path, document)) == [
        "Глава I. Механика", "I.1 Сила", "I.2 Масса", "Глава II. Оптика", "II.1 Линзы",
    ]  # fmt: skip


def test_footnotes_follow_their_paragraph(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Факт")
    paragraph._p.append(parse_xml(f'<w:r {NS}><w:footnoteReference w:id="5"/></w:r>'))
    document.add_paragraph("Дальше")
    document.save(str(tmp_path / "a.docx"))
    add_part(
        tmp_path / "a.docx",
        "footnotes",
        f'<w:footnotes {NS}><w:footnote w:id="5"><w:p><w:r><w:t>Откуда известно</w:t></w:r></w:p></w:footnote>'
        f"</w:footnotes>",
    )
    result = parse(tmp_path / "a.docx", SETTINGS)
    assert [(b.kind, b.text) for b in result.blocks] == [
        ("paragraph", "Факт[1]"), ("note", "[1] Откуда известно"), ("paragraph", "Дальше"),
    ]  # fmt: skip


def add_part(path: Path, kind: str, xml: str) -> None:
    """Put a part beside a saved document's main one, as Word does."""
    base = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    reference = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    types = f'<Override PartName="/word/{kind}.xml" ContentType="{base}.{kind}+xml"/></Types>'.encode()
    relation = f'<Relationship Id="rId99" Type="{reference}/{kind}" Target="{kind}.xml"/></Relationships>'.encode()
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", types)
    rels = "word/_rels/document.xml.rels"
    parts[rels] = parts[rels].replace(b"</Relationships>", relation)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**parts, f"word/{kind}.xml": xml.encode()}.items():
            archive.writestr(name, content)


def test_comments_headers_footers_and_hidden_text_are_left_out_and_counted(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Видно ").add_run("тайна").font.hidden = True
    document.sections[0].header.paragraphs[0].text = "Колонтитул"
    document.sections[0].footer.paragraphs[0].text = "стр. 1"
    document.add_comment(document.paragraphs[0].runs[0], text="замечание", author="Я")
    result = parsed(tmp_path, document)
    assert texts(result) == ["Видно"]
    assert dict(result.report.dropped) == {"hidden": 5, "header": 10, "footer": 6, "comment": 9}
    assert len(result.report.warnings) == 1


def test_deleted_text_is_gone_and_inserted_text_is_there(tmp_path: Path) -> None:
    document = docx.Document()
    append_xml(
        document,
        f'<w:p {NS}><w:del w:id="1"><w:r><w:delText>старое</w:delText></w:r></w:del><w:ins w:id="2"><w:r><w:t>'
        f"новое</w:t></w:r></w:ins></w:p>",
    )
    assert texts(parsed(tmp_path, document)) == ["новое"]


def test_a_text_box_is_read_once(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>В рамке</w:t></w:r></w:p></w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    document = docx.Document()
    append_xml(
        document,
        f'<w:p {NS} {mc}><w:r><w:t>Снаружи</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires="wps">'
        f"<w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        f"</mc:AlternateContent></w:r></w:p>",
    )
    assert texts(parsed(tmp_path, document)) == ["Снаружи", "В рамке"]


def test_content_controls_links_fields_and_special_characters_are_text(tmp_path: Path) -> None:
    document = docx.Document()
    append_xml(
        document,
        f"<w:sdt {NS}><w:sdtContent><w:p><w:hyperlink><w:r><w:t>ссылка</w:t></w:r></w:hyperlink><w:r><w:tab/>"
        f"<w:t>из</w:t><w:noBreakHyphen/><w:t>за</w:t><w:softHyphen/><w:br/><w:t>дождя</w:t><w:instrText>"
        f"PAGE</w:instrText></w:r></w:p></w:sdtContent></w:sdt>",
    )
    assert texts(parsed(tmp_path, document)) == ["ссылка\tиз-за\nдождя"]


def test_formulas_and_raised_digits_keep_their_meaning(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("E = mc")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run(", H")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run("O,")
    fraction = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    root = "<m:rad><m:deg/><m:e><m:r><m:t>y+1</m:t></m:r></m:e></m:rad>"
    paragraph._p.append(parse_xml(f"<m:oMath {MATH}>{fraction}<m:r><m:t>=</m:t></m:r>{power}{root}</m:oMath>"))
    assert texts(parsed(tmp_path, document)) == ["E = mc², H₂O, (a+b)/c=x^2√(y+1)"]


def test_short_bold_lines_are_the_headings_of_a_document_that_has_no_others(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph().add_run("Закон Ома").bold = True
    document.add_paragraph("Ток пропорционален напряжению.")
    document.add_paragraph().add_run("Это важное предложение.").bold = True
    document.add_paragraph("ПЕРЕМЕННЫЙ ТОК")
    document.add_paragraph("U = IR")
    result = parsed(tmp_path, document)
    assert texts(result, "heading") == ["Закон Ома", "ПЕРЕМЕННЫЙ ТОК"]
    assert block_with(result, "Ток").heading == ("Закон Ома",)


def test_bold_titles_stand_under_each_other_as_their_numbers_say(tmp_path: Path) -> None:
    document = docx.Document()
    for title in ("Лекция 5", "Введение", "1.1 Импульс", "1.1.1 Удар", "2.1 Энергия", "Лекция 6"):
        document.add_paragraph().add_run(title).bold = True
        document.add_paragraph(f"Здесь говорится об этом: {title.lower()}.")
    assert [b.heading for b in parsed(tmp_path, document).blocks if b.kind == "heading"] == [
        ("Лекция 5",),
        ("Лекция 5", "Введение"),
        ("Лекция 5", "Введение", "1.1 Импульс"),
        ("Лекция 5", "Введение", "1.1 Импульс", "1.1.1 Удар"),
        ("Лекция 5", "Введение", "2.1 Энергия"),
        ("Лекция 6",),
    ]


def test_pages_are_known_only_where_word_has_stored_its_page_breaks(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Первая").add_run().add_break(WD_BREAK.PAGE)
    plain = parsed(tmp_path, document)
    assert plain.report.pages == 0
    assert plain.blocks[0].page is None
    append_xml(
        document,
        f"<w:p {NS}><w:r><w:lastRenderedPageBreak/><w:t>Вторая начало </w:t></w:r><w:r>"
        f"<w:lastRenderedPageBreak/><w:t>и третья</w:t></w:r></w:p>",
    )
    document.add_paragraph("Конец")
    paged = parsed(tmp_path, document, "b.docx")
    assert [(b.text, [(r.start, r.page) for r in b.regions]) for b in paged.blocks] == [
        ("Первая", [(0, 1)]), ("Вторая начало и третья", [(0, 2), (14, 3)]), ("Конец", [(0, 3)]),
    ]  # fmt: skip
    assert (paged.report.pages, paged.report.text_pages) == (3, (1, 2, 3))


def test_properties_are_metadata_but_a_programs_own_are_not(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "Курсовая", "Анна Ли"
    document.core_properties.modified = datetime.datetime(2023, 4, 5, tzinfo=datetime.UTC)
    meta = parsed(tmp_path, document).meta
    assert (meta.title, meta.author, meta.date, meta.date_source) == ("Курсовая", "Анна Ли", "2023-04-05", "properties")
    bare = parsed(tmp_path, docx.Document(), "b.docx").meta
    assert (bare.title, bare.author) == ("", "")


@pytest.mark.parametrize(
    "kind",
    [
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    ],
)
def test_documents_with_macros_and_templates_are_read_too(tmp_path: Path, kind: str) -> None:
    document = docx.Document()
    document.add_heading("Заголовок", 1)
    document.add_paragraph("текст")
    document.save(str(tmp_path / "a.docx"))
    with zipfile.ZipFile(tmp_path / "a.docx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    old = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(old, kind.encode())
    with zipfile.ZipFile(tmp_path / "a.docm", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert block_with(parse(tmp_path / "a.docm", SETTINGS), "текст").heading == ("Заголовок",)


def test_a_table_of_contents_is_no_text(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Механика ........ 3", style="toc 1")
    document.add_heading("Механика", 1)
    document.add_paragraph("текст")
    result = parsed(tmp_path, document)
    assert "......" not in whole(result)
    assert result.report.dropped["contents"] > 0


def section_end(start: str) -> str:
    return f'<w:sectPr {NS}><w:type w:val="{start}"/></w:sectPr>'


@pytest.mark.parametrize(("start", "page"), [("oddPage", 3), ("evenPage", 2), ("nextPage", 2)])
def test_a_section_that_begins_on_a_right_page_leaves_the_left_one_empty(tmp_path: Path, start: str, page: int) -> None:
    document = docx.Document()
    append_xml(document, f"<w:p {NS}><w:pPr>{section_end('nextPage')}</w:pPr><w:r><w:t>Титул</w:t></w:r></w:p>")
    append_xml(document, f"<w:p {NS}><w:r><w:lastRenderedPageBreak/><w:t>Введение</w:t></w:r></w:p>")
    document.element.body.replace(document.element.body[-1], parse_xml(section_end(start)))
    result = parsed(tmp_path, document)
    assert [(b.text, b.page) for b in result.blocks] == [("Титул", 1), ("Введение", page)]
    assert result.report.pages == page
    assert result.report.empty_pages == ((2,) if page == 3 else ())


def test_a_tables_row_is_found_by_what_it_says_in_words(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Планеты земной группы малы.")
    table = document.add_table(0, 3)
    for row in (("Планета", "Масса", "Радиус"), ("Марс", "0,107", "0,53"), ("Венера", "0,815", "0,95")):
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph("Дальше идут газовые гиганты.")
    chunks = chunk_document(parsed(tmp_path, document), "a.docx", lambda given: [len(t) // 3 for t in given], 500)
    index = KeywordIndex([(chunk.id, "a.docx", tokens(keyword_text(chunk))) for chunk in chunks])
    [(found, _)] = index.query(tokens("масса Марса"), 1)
    told = next(chunk for chunk in chunks if chunk.id == found)
    assert "Марс, Масса: 0,107; Радиус: 0,53" in told.words
