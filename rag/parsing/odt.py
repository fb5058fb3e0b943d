"""OpenDocument text (.odt): headings by outline level, lists, tables with merged cells, notes, frames.

Read from its XML: pandoc, which `unstructured` calls for it, drops text frames and weighs 160 MB.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.errors import PasswordNeeded
from rag.messages import msg
from rag.parsing.draft import Draft, make_table
from rag.parsing.properties import zipped_properties

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _OFFICE, _DRAW, _STYLE = (_NS % name for name in ("text", "table", "office", "drawing", "style"))
_SIGNS = {_TEXT + "tab": "\t", _TEXT + "line-break": "\n", _TEXT + "soft-page-break": "\f"}
_NOTHING = {_TEXT + "tracked-changes", _OFFICE + "annotation", _TEXT + "sequence-decls", _OFFICE + "forms",
            _OFFICE + "annotation-end", _TEXT + "bookmark-ref-source"}  # fmt: skip
_INDEXES = {_TEXT + name for name in ("table-of-content", "illustration-index", "alphabetical-index")}
MAX_REPEATED = 64


def parse_odt(path: Path) -> Draft:
    """Read an .odt. Pages are known only where the program has stored its page breaks."""
    from lxml import etree

    with zipfile.ZipFile(path) as archive:
        if b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise PasswordNeeded(
                msg("This file is protected by a password. Save a copy without the password and put that here.")
            )
        root = etree.fromstring(archive.read("content.xml"), etree.XMLParser(resolve_entities=False, no_network=True))
    draft = Draft(meta=zipped_properties(path, "meta.xml"))
    reader = _Reader(draft, root)
    reader.read(root.find(f"{_OFFICE}body/{_OFFICE}text"))
    draft.pages = reader.page or 0
    return draft


class _Reader:
    """Walks the text in order. Notes follow the paragraph that refers to them, and so do frames."""

    def __init__(self, draft: Draft, root: Any) -> None:
        self.draft = draft
        self.page = 1 if next(root.iter(_TEXT + "soft-page-break"), None) is not None else None
        self.after: list[Any] = []
        self.numbers = _number_formats(root)

    def read(self, container: Any) -> None:
        for node in container:
            if node.tag == _TEXT + "h":
                self._heading(node)
            elif node.tag == _TEXT + "p":
                self._add(self._line(node))
            elif node.tag == _TEXT + "list":
                self._add("\n".join(self._items(node, 0, node.get(_TEXT + "style-name"))), "list")
            elif node.tag == _TABLE + "table":
                self._table(node)
            elif node.tag == _TEXT + "soft-page-break" and self.page:
                self.page += 1
            elif node.tag in _INDEXES:
                self.draft.drop("contents", "".join(node.itertext()))
            elif node.tag not in _NOTHING and isinstance(node.tag, str):
                self.read(node)

    def _heading(self, node: Any) -> None:
        title, level = self._line(node), int(node.get(_TEXT + "outline-level") or 1)
        self.draft.heading(title.replace("\f", ""), level, self.page)
        self._turn(title)
        self._append_after()

    def _add(self, text: str, kind: Any = "paragraph") -> None:
        self.draft.add(text if self.page else text.replace("\f", ""), kind, self.page)
        self._turn(text)
        self._append_after()

    def _turn(self, text: str) -> None:
        if self.page:
            self.page += text.count("\f")

    def _append_after(self) -> None:
        waiting, self.after = self.after, []
        for node in waiting:
            if node.tag == _TEXT + "note":
                mark = "".join(node.find(_TEXT + "note-citation").itertext())
                body = "\n".join(self._line(p) for p in node.find(_TEXT + "note-body").iter(_TEXT + "p"))
                self.draft.add(f"[{mark}] {body}", "note", self.page)
            else:
                self.read(node)

    def _line(self, node: Any) -> str:
        """A paragraph's text. White space is folded as ODF says; spaces, tabs and breaks are elements."""
        text = _fold(node.text)
        for child in node:
            text += self._inline(child) + _fold(child.tail)
        return text.strip(" ") if node.tag in (_TEXT + "p", _TEXT + "h") else text

    def _inline(self, node: Any) -> str:
        if node.tag == _TEXT + "s":
            return " " * min(int(node.get(_TEXT + "c") or 1), MAX_REPEATED)
        if node.tag in _SIGNS:
            return _SIGNS[node.tag]
        if node.tag == _TEXT + "note":
            self.after.append(node)
            return f"[{''.join(node.find(_TEXT + 'note-citation').itertext())}]"
        if isinstance(node.tag, str) and node.tag.startswith(_DRAW):
            self.after += node.iter(_DRAW + "text-box")
            return ""
        if node.tag == _OFFICE + "annotation":
            self.draft.drop("comment", "".join(node.itertext()))
            self.draft.warn(msg("The comments in this document are left out."))
            return ""
        return "" if node.tag in _NOTHING or not isinstance(node.tag, str) else self._line(node)

    def _items(self, node: Any, depth: int, style: str | None) -> Iterator[str]:
        formats = self.numbers.get(style or "", {})
        number = 0
        for item in node.iterchildren(_TEXT + "list-item", _TEXT + "list-header"):
            number += item.tag == _TEXT + "list-item"
            mark = f"{number}{formats[depth]} " if depth in formats else "- "
            for child in item:
                if child.tag == _TEXT + "list":
                    yield from self._items(child, depth + 1, child.get(_TEXT + "style-name") or style)
                elif child.tag in (_TEXT + "p", _TEXT + "h"):
                    yield "  " * depth + mark + self._line(child)
                    mark = " " * len(mark)

    def _table(self, node: Any) -> None:
        rows: list[list[str]] = []
        heads = 0
        for row in node.iter(_TABLE + "table-row"):
            if next(a for a in row.iterancestors() if a.tag == _TABLE + "table") is node:
                heads += row.getparent().tag == _TABLE + "table-header-rows"
                rows.append(self._row(row, rows))
        self.draft.add_table(make_table(rows, max(heads, 1)), self.page)
        self._append_after()

    def _row(self, row: Any, above: list[list[str]]) -> list[str]:
        """A row's cells; a covered cell repeats what covers it, from the left or from above."""
        texts: list[str] = []
        across = 0
        for cell in row.iterchildren(_TABLE + "table-cell", _TABLE + "covered-table-cell"):
            repeated = min(int(cell.get(_TABLE + "number-columns-repeated") or 1), MAX_REPEATED)
            for _ in range(repeated):
                if cell.tag == _TABLE + "table-cell":
                    across = int(cell.get(_TABLE + "number-columns-spanned") or 1) - 1
                    texts.append(" ".join(self._line(p) for p in cell.iter(_TEXT + "p", _TEXT + "h")))
                elif across > 0:
                    across -= 1
                    texts.append(texts[-1] if texts else "")
                else:
                    texts.append(above[-1][len(texts)] if above and len(above[-1]) > len(texts) else "")
        return texts


def _fold(text: str | None) -> str:
    if not text:
        return ""
    words = " ".join(text.split())
    return (" " if text[0].isspace() else "") + words + (" " if words and text[-1].isspace() else "")


def _number_formats(root: Any) -> dict[str, dict[int, str]]:
    """For each list style, the sign after the number by depth; levels with bullets are not in it."""
    formats: dict[str, dict[int, str]] = {}
    for style in root.iter(_TEXT + "list-style"):
        levels = style.iterchildren(_TEXT + "list-level-style-number")
        formats[style.get(_STYLE + "name")] = {
            int(level.get(_TEXT + "level") or 1) - 1: level.get(_STYLE + "num-suffix") or "." for level in levels
        }
    return formats
