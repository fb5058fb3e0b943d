"""OpenDocument texts."""

from __future__ import annotations

from pathlib import Path

from rag.errors import ParsingError
from rag.parsing import parse
from rag.types import ParsedDocument
from tests.documents import SETTINGS, only_table, put_zip, texts

NAMES = ("office", "text", "table", "style", "drawing")
SPACES = " ".join(
    f'xmlns:{"draw" if n == "drawing" else n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in NAMES
)
META = f"""<office:document-meta {SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="m">
<office:meta><dc:title>Реферат</dc:title>
<meta:initial-creator>Анна Ли</meta:initial-creator><dc:date>2021-05-06T10:00:00</dc:date></office:meta>
</office:document-meta>"""


def parsed(folder: Path, body: str, styles: str = "") -> ParsedDocument:
    content = (
        f"<office:document-content {SPACES}>{styles}<office:body><office:text>{body}</office:text>"
        f"</office:body></office:document-content>"
    )
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": content,
        "meta.xml": META,
    }
    return parse(put_zip(folder, "a.odt", parts), SETTINGS)


def test_headings_by_level_and_paragraphs_with_their_spaces_tabs_and_breaks(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        '<text:p>до</text:p><text:h text:outline-level="1">Механика</text:h><text:h text:outline-level="2">'
        "Сила</text:h>"
        '<text:p>a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d <text:span>e\n  f</text:span></text:p>',
    )
    assert [(b.text, b.heading) for b in document.blocks if b.kind == "paragraph"] == [
        ("до", ()),
        ("a  b\tc\nd e f", ("Механика", "Сила")),
    ]


def test_lists_keep_their_bullets_numbers_and_nesting(tmp_path: Path) -> None:
    styles = (
        '<office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number '
        'text:level="1" style:num-suffix=")"/></text:list-style></office:automatic-styles>'
    )
    items = (
        "<text:list-item><text:p>раз</text:p><text:list><text:list-item><text:p>внутри</text:p>"
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>два</text:p></text:list-item>"
    )
    document = parsed(tmp_path, f'<text:list text:style-name="L1">{items}</text:list>', styles)
    assert texts(document) == ["1) раз\n  - внутри\n2) два"]


def test_merged_cells_are_filled(tmp_path: Path) -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    rows = [
        cell("a", 'table:number-rows-spanned="2"') + cell("bc", 'table:number-columns-spanned="2"') + covered,
        covered + cell("d") + cell("e"),
        cell("f", 'table:number-columns-repeated="3"'),
    ]
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    document = parsed(tmp_path, f"<table:table>{table}</table:table>")
    assert only_table(document).rows == (("a", "bc", "bc"), ("a", "d", "e"), ("f", "f", "f"))


def test_notes_and_frames_follow_and_deleted_text_comments_and_contents_do_not(tmp_path: Path) -> None:
    document = parsed(
        tmp_path,
        "<text:tracked-changes><text:p>удалено</text:p></text:tracked-changes><text:table-of-content><text:p>"
        "Механика 3</text:p></text:table-of-content>"
        "<text:p>Факт<text:note><text:note-citation>7</text:note-citation><text:note-body><text:p>"
        "источник</text:p></text:note-body></text:note>"
        "<office:annotation><text:p>замечание</text:p></office:annotation><draw:frame><draw:text-box><text:p>"
        "в рамке</text:p></draw:text-box></draw:frame></text:p>",
    )
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("paragraph", "Факт[7]"), ("note", "[7] источник"), ("paragraph", "в рамке"),
    ]  # fmt: skip
    assert dict(document.report.dropped) == {"contents": 10, "comment": 9}


def test_stored_page_breaks_give_pages(tmp_path: Path) -> None:
    document = parsed(tmp_path, "<text:p>первая <text:soft-page-break/>вторая</text:p><text:p>там же</text:p>")
    assert [[(r.start, r.page) for r in b.regions] for b in document.blocks] == [[(0, 1), (7, 2)], [(0, 2)]]
    assert document.report.pages == 2


def test_properties_are_metadata(tmp_path: Path) -> None:
    meta = parsed(tmp_path, "<text:p>текст</text:p>").meta
    assert (meta.title, meta.author, meta.date, meta.date_source) == ("Реферат", "Анна Ли", "2021-05-06", "properties")


def test_entities_that_would_unfold_to_gigabytes_do_not(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 9}">' for i in range(1, 12))
    content = (
        f'<!DOCTYPE x [<!ENTITY e0 "ха">{entities}]><office:document-content {SPACES}><office:body>'
        f"<office:text><text:p>до &e11; после</text:p></office:text></office:body></office:document-content>"
    )
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": content,
    }
    try:
        document = parse(put_zip(tmp_path, "a.odt", parts), SETTINGS)
    except ParsingError:
        return
    assert len(texts(document)[0]) < 100
