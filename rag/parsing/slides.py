"""PowerPoint: a slide is a page, its title a heading; boxes, groups, tables and charts in reading order, then notes.

Read with python-pptx: `unstructured` takes short lines of any box for titles and does not tell notes from the slide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.messages import msg
from rag.parsing.draft import Draft, make_table
from rag.parsing.omml import formula_text
from rag.parsing.properties import zipped_properties

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "/diagramData"
SAME_ROW = 0.5


def parse_slides(path: Path) -> Draft:
    """Read a .pptx, .pptm or .ppsx. A slide that cannot be read costs that slide."""
    from pptx.api import Presentation

    presentation = Presentation(str(path))
    draft = Draft(meta=zipped_properties(path, "docProps/core.xml"))
    for number, slide in enumerate(presentation.slides, start=1):
        draft.pages = number
        try:
            _slide(slide, number, draft)
        except (KeyError, ValueError, AttributeError, TypeError):
            draft.warn(msg("Slide {number} is damaged: a part of it could not be read.", number=number))
    return draft


def _slide(slide: Any, number: int, draft: Draft) -> None:
    title = slide.shapes.title
    words = _frame_text(title).replace("\n", " ") if title is not None and title.has_text_frame else ""
    draft.close_headings()
    draft.heading(words, 1, number)
    for shape in _in_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id or not words:
            _shape(shape, number, draft)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        draft.add(_paragraphs(frame), "note", number)
    if slide.element.get("show") == "0":
        draft.warn(msg("Hidden slides were read as well."))


def _in_order(shapes: Iterable[Any]) -> Iterator[Any]:
    """Shapes from top to bottom, those of one row from left to right; the shapes of a group stay together."""
    placed = sorted(((s.top or 0, s.left or 0, i, s) for i, s in enumerate(shapes)), key=lambda p: p[:3])
    row: list[tuple[int, int, int, Any]] = []
    for item in placed:
        if row and item[0] > row[0][0] + SAME_ROW * (row[0][3].height or 0):
            yield from _left_to_right(row)
            row = []
        row.append(item)
    yield from _left_to_right(row)


def _left_to_right(row: list[tuple[int, int, int, Any]]) -> Iterator[Any]:
    for _, _, _, shape in sorted(row, key=lambda item: (item[1], item[0], item[2])):
        if hasattr(shape, "shapes"):
            yield from _in_order(shape.shapes)
        else:
            yield shape


def _shape(shape: Any, number: int, draft: Draft) -> None:
    if getattr(shape, "has_table", False):
        _table(shape.table, number, draft)
    elif getattr(shape, "has_chart", False):
        _chart(shape.chart, number, draft)
    elif shape.has_text_frame:
        if _is_field(shape):
            draft.drop("footer", shape.text_frame.text)
        else:
            text = _frame_text(shape)
            draft.add(text, "list" if "\n" in text and "- " in text else "paragraph", number)
    else:
        draft.add(_diagram_text(shape), "list", number)


def _is_field(shape: Any) -> bool:
    """Slide number, date and footer of the template, repeated on each slide."""
    if not shape.is_placeholder:
        return False
    return shape.placeholder_format.type is not None and shape.placeholder_format.type.name in (
        "SLIDE_NUMBER", "DATE", "FOOTER", "HEADER")  # fmt: skip


def _frame_text(shape: Any) -> str:
    bulleted = shape.is_placeholder and (kind := shape.placeholder_format.type) and kind.name in ("BODY", "OBJECT")
    return _paragraphs(shape.text_frame, bool(bulleted))


def _paragraphs(frame: Any, bulleted: bool = False) -> str:
    """A frame's paragraphs, one a line. Body placeholders have bullets by their template, others where they say so."""
    paragraphs = [(p, text) for p in frame.paragraphs if (text := _paragraph_text(p._p).strip())]
    several = len(paragraphs) > 1
    lines = []
    for paragraph, text in paragraphs:
        properties = paragraph._p.pPr
        own = properties is not None and any(
            properties.find(_A + n) is not None for n in ("buChar", "buAutoNum", "buBlip")
        )
        none = properties is not None and properties.find(_A + "buNone") is not None
        mark = "- " if own or (bulleted and several and not none) or paragraph.level else ""
        lines.append("  " * paragraph.level + mark + text)
    return "\n".join(lines)


def _paragraph_text(paragraph: Any) -> str:
    """Runs, fields, line breaks and formulas of an `a:p` in their order."""
    text = ""
    for node in paragraph.iter():
        if node.tag == _A + "t":
            text += node.text or ""
        elif node.tag == _A + "br":
            text += "\n"
        elif isinstance(node.tag, str) and node.tag.endswith("/math}oMath"):
            text += formula_text(node)
    return text


def _table(table: Any, number: int, draft: Draft) -> None:
    rows = []
    for r, row in enumerate(table.rows):
        cells = []
        for c, cell in enumerate(row.cells):
            origin = cell if not cell.is_spanned else _merge_origin(table, r, c)
            cells.append(_paragraphs(origin.text_frame))
        rows.append(cells)
    draft.add_table(make_table(rows, 1), number)


def _merge_origin(table: Any, row: int, column: int) -> Any:
    """The cell that covers a spanned one: the nearest merge origin up and to the left that reaches so far."""
    for r in range(row, -1, -1):
        for c in range(column, -1, -1):
            cell = table.cell(r, c)
            if cell.is_merge_origin and r + cell.span_height > row and c + cell.span_width > column:
                return cell
    return table.cell(row, column)


def _chart(chart: Any, number: int, draft: Draft) -> None:
    """A chart's numbers as a table: categories down, series across."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    for plot in chart.plots:
        series = list(plot.series)
        rows = [["", *(s.name or "" for s in series)]]
        for i, category in enumerate(plot.categories):
            rows.append([str(category), *(_value(s.values, i) for s in series)])
        draft.add_table(make_table(rows, 1, title), number)


def _value(values: Any, index: int) -> str:
    value = values[index] if index < len(values) else None
    return "" if value is None else f"{value:g}"


def _diagram_text(shape: Any) -> str:
    """The words of a SmartArt diagram, one node a line."""
    for relation in shape.part.rels.values():
        if relation.reltype.endswith(_DIAGRAM) and not relation.is_external and relation.rId in _ids(shape):
            from lxml import etree

            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
            texts = ("".join(p.itertext(_A + "t")).strip() for p in root.iter(_A + "p"))
            return "\n".join(f"- {text}" for text in texts if text)
    return ""


def _ids(shape: Any) -> set[str]:
    return {value for node in shape._element.iter() for value in node.attrib.values()}
