"""The text of one Word paragraph, with what stands inside it: notes' marks, formulas, page breaks, text boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rag.parsing.omml import formula_text
from rag.parsing.scripts import lowered, raised

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TRANSPARENT = {W + n for n in ("hyperlink", "ins", "moveTo", "smartTag", "fldSimple", "customXml", "bdo", "dir", "sdt",
                                "sdtContent", "subDoc")}  # fmt: skip
_SIGNS = {W + "tab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-", W + "lastRenderedPageBreak": "\f"}
_SCRIPTS = {"superscript": raised, "subscript": lowered}
HARD_BREAK = "\v"


@dataclass
class ParagraphText:
    """`text` has "\\f" where Word broke the page, and "\\v" where the author did. `boxes` are text boxes' contents,
    `notes` the ids of the notes that it refers to, `hidden` its hidden text. `bold`: all of its words are."""

    text: str = ""
    boxes: list[Any] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    hidden: str = ""
    bold: bool = True


def read_paragraph(paragraph: Any, note_label: Callable[[str, str], str]) -> ParagraphText:
    """Collect a `w:p`'s text. Deleted text is not read. `note_label(kind, id)` gives the mark of a note."""
    found = ParagraphText()
    _walk(paragraph, found, note_label)
    return found


def _walk(node: Any, found: ParagraphText, note_label: Callable[[str, str], str]) -> None:
    for child in node:
        if child.tag == W + "r":
            _read_run(child, found, note_label)
        elif child.tag in _TRANSPARENT:
            _walk(child, found, note_label)
        elif child.tag in (_MATH + "oMath", _MATH + "oMathPara"):
            found.text += formula_text(child)


def _read_run(run: Any, found: ParagraphText, note_label: Callable[[str, str], str]) -> None:
    properties = run.find(W + "rPr")
    if properties is not None and _is_on(properties.find(W + "vanish")):
        found.hidden += "".join(run.itertext(W + "t"))
        return
    before = len(found.text)
    place = properties.find(W + "vertAlign") if properties is not None else None
    script = _SCRIPTS.get(place.get(W + "val"), str) if place is not None else str
    for child in run:
        if child.tag == W + "t":
            found.text += script(child.text or "")
        elif child.tag == W + "br" and child.get(W + "type") == "page":
            found.text += HARD_BREAK
        elif child.tag in _SIGNS:
            found.text += _SIGNS[child.tag]
        elif child.tag == W + "sym":
            found.text += _symbol(child)
        elif child.tag in (W + "footnoteReference", W + "endnoteReference"):
            note = child.tag.removeprefix(W).removesuffix("Reference") + "s", child.get(W + "id") or ""
            found.notes.append(note)
            found.text += f"[{note_label(*note)}]"
        elif child.tag in (W + "drawing", W + "pict", W + "object", _MC + "AlternateContent"):
            _collect_boxes(child, found)
    if found.text[before:].strip() and not (properties is not None and _is_on(properties.find(W + "b"))):
        found.bold = False


def _collect_boxes(node: Any, found: ParagraphText) -> None:
    """Word stores a text box twice, for new and old readers: only the first is taken."""
    choice = node.find(_MC + "Choice") if node.tag == _MC + "AlternateContent" else node
    if choice is not None:
        boxes = choice.iter(W + "txbxContent")
        found.boxes += [b for b in boxes if not any(a.tag == _MC + "Fallback" for a in b.iterancestors())]


def _symbol(node: Any) -> str:
    """A character of a symbol font; those fonts' private codes stand for no letter that could be searched."""
    code = int(node.get(W + "char") or "0", 16)
    return chr(code) if 0x20 < code < 0xE000 else ""


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(W + "val") not in ("0", "false", "none", "off")
