"""Word: paragraphs, lists and tables in their order, headings by style or outline level, footnotes, text boxes.

Read from the document's XML through python-docx's package. `unstructured` reads Word too, but knows neither footnotes,
text boxes, formulas nor headings by outline level.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.messages import msg
from rag.parsing.draft import BOLD_LEVEL, Draft, is_fake_heading, make_table
from rag.parsing.numbering import depth_of
from rag.parsing.properties import zipped_properties
from rag.parsing.wordstyles import Numbering, Styles
from rag.parsing.wordtext import HARD_BREAK, ParagraphText, W, read_paragraph
from rag.types import BlockKind

if TYPE_CHECKING:
    from docx.opc.part import Part

MAX_COLUMNS = 64
_CONTAINERS = {W + "sdt", W + "sdtContent", W + "ins", W + "moveTo", W + "customXml", W + "smartTag"}


def parse_word(path: Path) -> Draft:
    """Read a .docx, .docm or .dotx. Pages are known only where Word has stored its page breaks."""
    from docx.opc.package import OpcPackage

    package = OpcPackage.open(str(path))
    main = package.main_document_part
    draft = Draft(meta=zipped_properties(path, "docProps/core.xml"))
    reader = _Reader(draft, main)
    reader.read(_xml(main).find(W + "body"))
    reader.end_list()
    draft.pages = reader.page or 0
    _count_left_out(draft, main)
    return draft


def _xml(part: Part) -> Any:
    """A part's root element; parts of macro-enabled documents and templates come as bare bytes."""
    from docx.oxml.parser import parse_xml

    element = getattr(part, "element", None)
    return element if element is not None else parse_xml(part.blob)


def _related(main: Part, kind: str) -> list[Any]:
    """The roots of the parts of that kind ("styles", "footnotes", ...)."""
    relations = (r for r in main.rels.values() if r.reltype.rsplit("/", 1)[-1] == kind and not r.is_external)
    return [_xml(relation.target_part) for relation in relations]


def _count_left_out(draft: Draft, main: Part) -> None:
    for kind in ("header", "footer", "comments"):
        for root in _related(main, kind):
            draft.drop("comment" if kind == "comments" else kind, "".join(root.itertext(W + "t")))
    if draft.dropped["comment"]:
        draft.warn(msg("The comments in this document are left out."))


def _start_of(section: Any) -> str:
    """How a section begins: "nextPage", "oddPage", "continuous", ..."""
    kind = section.find(W + "type")
    return str(kind.get(W + "val") or "") if kind is not None else "nextPage"


class _Reader:
    """Walks the body in order and joins the paragraphs of a list into one block."""

    def __init__(self, draft: Draft, main: Part) -> None:
        root = _xml(main)
        self.draft = draft
        self.styles = Styles(next(iter(_related(main, "styles")), None))
        self.numbering = Numbering(next(iter(_related(main, "numbering")), None), self.styles)
        self.notes = {(kind, note.get(W + "id") or ""): note for kind in ("footnotes", "endnotes")
                      for part in _related(main, kind) for note in part}  # fmt: skip
        self.labels: dict[tuple[str, str], str] = {}
        self.items: list[str] = []
        self.caption = ""
        self.page = 1 if next(root.iter(W + "lastRenderedPageBreak"), None) is not None else None
        self.after_hard_break = False
        changed = {old for change in root.iter(W + "sectPrChange") for old in change}
        self.sections = [_start_of(section) for section in root.iter(W + "sectPr") if section not in changed]
        self.next_page = ""  # "oddPage" or "evenPage" where only such a page can follow
        self.has_headings = any(self.styles.level(p) for p in root.iter(W + "p"))

    def read(self, container: Any) -> None:
        for child in container:
            if child.tag == W + "p":
                self._paragraph(child)
            elif child.tag == W + "tbl":
                self._table(child)
            elif child.tag in _CONTAINERS:
                self.read(child)

    def _label(self, kind: str, note_id: str) -> str:
        return self.labels.setdefault((kind, note_id), str(len(self.labels) + 1))

    def _paragraph(self, node: Any) -> None:
        found = read_paragraph(node, self._label)
        self.draft.drop("hidden", found.hidden)
        style = self.styles.name(node)
        label = self.numbering.label(node) if found.text.strip() else None
        level = self._level(node, found)
        if style.startswith("toc ") or style.startswith("оглавление"):
            self.draft.drop("contents", found.text)
        elif level is not None:
            self.end_list()
            number = f"{label.text} " if label and not label.bullet else ""
            self.draft.heading(number + self._paged(found.text), level, self.page)
        elif label:
            self.items.append("  " * label.depth + f"{label.text} {found.text.strip()}")
        elif found.text.strip() or not self.items:
            self.end_list()
            self._add(found.text, _kind(style))
        for box in found.boxes:
            self.end_list()
            self.read(box)
        self._notes(found)
        if node.find(f"{W}pPr/{W}sectPr") is not None:
            self.end_list()
            self.sections = self.sections[1:]
            self.next_page = next(iter(self.sections), "")

    def _level(self, node: Any, found: ParagraphText) -> int | None:
        """In a document without any styled heading, short lines in bold or in capitals are its headings."""
        level = self.styles.level(node)
        if level is None and not self.has_headings and is_fake_heading(found.text, found.bold):
            in_cell = any(a.tag in (W + "tc", W + "txbxContent") for a in node.iterancestors())
            return None if in_cell else BOLD_LEVEL + depth_of(found.text)
        return level

    def _add(self, text: str, kind: BlockKind) -> None:
        page = self.page
        marked = self._paged(text, keep=True)
        if kind == "caption":
            self.caption = marked.replace("\f", "").strip()
        elif marked.strip():
            self.caption = ""
        self.draft.add(marked, kind, page)

    def _paged(self, text: str, keep: bool = False) -> str:
        """Count the page breaks in a text. Word notes an author's page break again where the new page begins."""
        if self.page is None:
            return text.replace("\f", "").replace(HARD_BREAK, "\n")
        kept = ""
        for char in text:
            if char == HARD_BREAK or (char == "\f" and not self.after_hard_break):
                kept += "\f" * self._turn_page() if keep else self._turn_page() * " "
            elif char != "\f":
                kept += char
            if not char.isspace() or char == HARD_BREAK:
                self.after_hard_break = char == HARD_BREAK
        return kept

    def _turn_page(self) -> int:
        """Count one page, and the empty one before a section that begins on a right or a left page."""
        assert self.page is not None
        unwanted = {"oddPage": 0, "evenPage": 1}.get(self.next_page)
        turned = 2 if (self.page + 1) % 2 == unwanted else 1
        self.page, self.next_page = self.page + turned, ""
        return turned

    def end_list(self) -> None:
        """Close the list that the last paragraphs made, if any."""
        if self.items:
            items, self.items = self.items, []
            self._add("\n".join(items), "list")

    def _notes(self, found: ParagraphText) -> None:
        for key in found.notes:
            if (note := self.notes.get(key)) is not None:
                text = "\n".join(read_paragraph(p, self._label).text.strip() for p in note.iter(W + "p"))
                self.end_list()
                self.draft.add(f"[{self.labels[key]}] {text}", "note", self.page)

    def _table(self, node: Any) -> None:
        self.end_list()
        rows = list(_children(node, "tr"))
        cells = [cell for row in rows for cell in _children(row, "tc")]
        if len(cells) == 1:
            self.read(cells[0])
            self.end_list()
            return
        page, notes = self.page, ParagraphText()
        grid: list[list[str]] = []
        for row in rows:
            grid.append(self._row(row, grid[-1] if grid else [], notes))
        headers = sum(row.find(f"{W}trPr/{W}tblHeader") is not None for row in rows)
        self.draft.add_table(make_table(grid, max(headers, 1), self.caption), page)
        self.caption = ""
        self._notes(notes)

    def _row(self, row: Any, above: list[str], notes: ParagraphText) -> list[str]:
        """A row's cells, one a column of the grid: merged cells repeat their text."""
        texts = [""] * _number(row, "trPr/gridBefore")
        for cell in _children(row, "tc"):
            merge = cell.find(f"{W}tcPr/{W}vMerge")
            if merge is not None and merge.get(W + "val") != "restart" and len(texts) < len(above):
                text = above[len(texts)]
            else:
                text = self._cell_text(cell, notes)
            texts += [text] * min(max(_number(cell, "tcPr/gridSpan"), 1), MAX_COLUMNS)
        return texts

    def _cell_text(self, cell: Any, notes: ParagraphText) -> str:
        """A cell's words, nested tables' and text boxes' among them."""
        texts = []
        for paragraph in cell.iter(W + "p"):
            if not any(a.tag.endswith("}Fallback") for a in paragraph.iterancestors()):
                found = read_paragraph(paragraph, self._label)
                notes.notes += found.notes
                label = self.numbering.label(paragraph) if found.text.strip() else None
                texts.append((f"{label.text} " if label else "") + self._paged(found.text))
        return " ".join(" ".join(texts).split())


def _kind(style: str) -> BlockKind:
    if style in ("caption", "название объекта"):
        return "caption"
    return "quote" if style in ("quote", "intense quote") else "paragraph"


def _children(node: Any, name: str) -> Iterator[Any]:
    """A table's rows or a row's cells, also those inside content controls."""
    for child in node:
        if child.tag == W + name:
            yield child
        elif child.tag in _CONTAINERS:
            yield from _children(child, name)


def _number(node: Any, path: str) -> int:
    found = node.find("/".join(W + name for name in path.split("/")))
    return int(found.get(W + "val") or 0) if found is not None else 0
