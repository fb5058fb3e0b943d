"""PowerPoint presentations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from rag.parsing import parse
from rag.types import ParsedDocument
from tests.documents import SETTINGS, block_with, only_table, texts

TITLE_ONLY, TITLE_AND_CONTENT, BLANK = 5, 1, 6


def parsed(folder: Path, presentation: Any) -> ParsedDocument:
    presentation.save(str(folder / "a.pptx"))
    return parse(folder / "a.pptx", SETTINGS)


def box(shapes: Any, text: str, left: float, top: float) -> None:
    shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5)).text_frame.text = text


def test_title_boxes_nested_groups_table_and_notes_are_all_there_and_apart(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY])
    box(slide.shapes, "правая рамка", 5, 2)
    box(slide.shapes, "левая рамка", 1, 2)
    slide.shapes.title.text = "Планеты"
    outer = slide.shapes.add_group_shape()
    box(outer.shapes, "в группе", 1, 3)
    inner = outer.shapes.add_group_shape()
    box(inner.shapes, "в группе в группе", 1, 4)
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for i, text in enumerate(["Планета", "Масса", "Марс", "0,64"]):
        table.cell(i // 2, i % 2).text = text
    slide.notes_slide.notes_text_frame.text = "сказать про спутники"
    result = parsed(tmp_path, presentation)
    assert [(b.kind, b.text) for b in result.blocks] == [
        ("heading", "Планеты"),
        ("paragraph", "левая рамка"),
        ("paragraph", "правая рамка"),
        ("paragraph", "в группе"),
        ("paragraph", "в группе в группе"),
        ("table", "Планета | Масса\nМарс | 0,64"),
        ("note", "сказать про спутники"),
    ]
    assert {b.heading for b in result.blocks} == {("Планеты",)}
    assert {b.page for b in result.blocks} == {1}


def test_a_slides_number_is_its_page_and_a_slide_without_title_has_no_heading(tmp_path: Path) -> None:
    presentation = Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY])
    first.shapes.title.text = "Первый"
    presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    third = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    box(third.shapes, "без заглавия", 1, 1)
    result = parsed(tmp_path, presentation)
    assert [(b.text, b.page, b.heading) for b in result.blocks] == [("Первый", 1, ("Первый",)), ("без заглавия", 3, ())]
    assert (result.report.pages, result.report.text_pages, result.report.empty_pages) == (3, (1, 3), (2,))


def test_a_body_of_points_is_a_list_with_its_levels(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[TITLE_AND_CONTENT])
    slide.shapes.title.text = "Свойства"
    frame = slide.placeholders[1].text_frame
    frame.text = "атомарность"
    for text, level in [("всё или ничего", 1), ("изоляция", 0)]:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    found = block_with(parsed(tmp_path, presentation), "атомарность")
    assert (found.kind, found.text) == ("list", "- атомарность\n  - всё или ничего\n- изоляция")


def test_merged_cells_of_a_table_are_filled(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    table = slide.shapes.add_table(2, 3, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for i in range(6):
        table.cell(i // 3, i % 3).text = str(i)
    table.cell(0, 1).merge(table.cell(1, 2))
    assert only_table(parsed(tmp_path, presentation)).rows[1][0] == "3"
    assert (
        only_table(parsed(tmp_path, presentation)).rows[1][2] == only_table(parsed(tmp_path, presentation)).rows[0][1]
    )


def test_a_charts_numbers_are_a_table(tmp_path: Path) -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[BLANK])
    data = CategoryChartData()
    data.categories = ["2022", "2023"]
    data.add_series("Выручка", (100, 120.5))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data)
    assert only_table(parsed(tmp_path, presentation)).rows == (("", "Выручка"), ("2022", "100"), ("2023", "120.5"))


def test_the_templates_slide_numbers_and_footers_are_left_out_and_counted(tmp_path: Path) -> None:
    presentation = Presentation()
    layout = presentation.slide_layouts[TITLE_ONLY]
    slide = presentation.slides.add_slide(layout)
    slide.shapes.title.text = "Тема"
    for placeholder in layout.placeholders:
        if placeholder.placeholder_format.type is not None and placeholder.placeholder_format.type.name == "FOOTER":
            slide.shapes.clone_placeholder(placeholder)
    footer = next(p for p in slide.placeholders if p.placeholder_format.type.name == "FOOTER")
    footer.text_frame.text = "Кафедра физики"
    result = parsed(tmp_path, presentation)
    assert texts(result) == ["Тема"]
    assert result.report.dropped == {"footer": 14}


def test_properties_that_powerpoint_fills_in_by_itself_are_no_metadata(tmp_path: Path) -> None:
    presentation = Presentation()
    presentation.core_properties.title = "PowerPoint Presentation"
    presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY]).shapes.title.text = "Введение"
    assert parsed(tmp_path, presentation).meta.title == "Введение"
