"""Jupyter notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag.errors import ParsingError
from tests.documents import read, texts


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_cells_are_read_in_order_under_the_headings_of_the_markdown_cells(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "a.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Регрессия\n", "\n", "Формула $a_1$"]},
            {"cell_type": "code", "source": "# не заголовок\nprint(x)", "outputs": [
                {"output_type": "stream", "text": ["42\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "<Figure>", "image/png": "iVBORw0KGgo"}},
                {"output_type": "error", "traceback": ["Traceback"]},
            ]},
            {"cell_type": "raw", "source": "сырой текст"},
            title="Работа 3", authors=[{"name": "Анна Ли"}],
        ),
    )  # fmt: skip
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "Регрессия"),
        ("paragraph", "Формула $a_1$"),
        ("code", "# не заголовок\nprint(x)"),
        ("code", "42"),
        ("paragraph", "сырой текст"),
    ]
    assert {b.heading for b in document.blocks} == {("Регрессия",)}
    assert (document.meta.title, document.meta.author) == ("Работа 3", "Анна Ли")
    assert document.report.dropped["output"] == len("<Figure>Traceback")


def test_an_old_notebook_is_read_too(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Старое"]},
        {"cell_type": "code", "input": ["1 + 1"], "outputs": [{"output_type": "pyout", "text": ["2"]}]},
    ]
    document = read(tmp_path, "a.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3, "metadata": {}}))
    assert texts(document) == ["Старое", "1 + 1", "2"]


def test_a_long_output_is_cut_and_the_rest_counted(tmp_path: Path) -> None:
    output = {"output_type": "stream", "text": "7" * 12_000}
    document = read(tmp_path, "a.ipynb", notebook({"cell_type": "code", "source": "x", "outputs": [output]}))
    assert len(texts(document)[1]) == 5_000
    assert document.report.dropped["output"] == 7_000


@pytest.mark.parametrize("content", ['{"cells": [', '{"a": 1}', "[]", '"x"'])
def test_what_is_no_notebook_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(ParsingError, match="notebook"):
        read(tmp_path, "a.ipynb", content)


def test_halves_of_characters_and_control_characters_do_not_reach_the_text(tmp_path: Path) -> None:
    source = '{"cells": [{"cell_type": "markdown", "source": "a\\ud83d\\u0000b \\ud83d\\ude00"}], "metadata": {}}'
    document = read(tmp_path, "a.ipynb", source)
    assert texts(document) == ["ab 😀"]
