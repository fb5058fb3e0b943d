"""Jupyter notebooks: Markdown cells, code cells and what they printed, in order."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag.errors import ParsingError
from rag.messages import msg
from rag.parsing.draft import Draft
from rag.parsing.markdown import markdown_blocks
from rag.parsing.text import read_text

MAX_OUTPUT = 5_000


def parse_notebook(path: Path) -> Draft:
    """Read an .ipynb of format 3 or 4. Pictures, widgets and error traces among the outputs are left out."""
    text, draft = read_text(path)
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else [c for sheet in book["worksheets"] for c in sheet["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ParsingError(msg("This is not a whole Jupyter notebook. Open it in Jupyter and save it anew.")) from error
    about = book.get("metadata") or {}
    names = [str(a.get("name", "")) if isinstance(a, dict) else str(a) for a in about.get("authors") or []]
    draft.meta = replace(draft.meta, title=str(about.get("title") or ""), author=", ".join(filter(None, names)))
    for cell in cells:
        _cell(cell, draft)
    return draft


def _cell(cell: dict[str, Any], draft: Draft) -> None:
    source = _joined(cell.get("source", cell.get("input", "")))
    match cell.get("cell_type"):
        case "markdown":
            markdown_blocks(source, draft)
        case "heading":
            draft.heading(source, int(cell.get("level") or 1))
        case "code":
            draft.add(source, "code")
            for output in cell.get("outputs") or []:
                _output(output, draft)
        case _:
            draft.add(source)


def _output(output: dict[str, Any], draft: Draft) -> None:
    data = output.get("data") or output
    text = _joined(data.get("text/plain", data.get("text", "")))
    if output.get("output_type") in ("error", "pyerr"):
        draft.drop("output", _joined(output.get("traceback") or ""))
    elif any(kind.startswith("image/") for kind in data):
        draft.drop("output", text)
    else:
        draft.add(text[:MAX_OUTPUT], "code")
        draft.drop("output", text[MAX_OUTPUT:])


def _joined(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)
