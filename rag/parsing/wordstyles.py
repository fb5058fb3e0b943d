"""Word's styles and automatic numbers: what makes a paragraph a heading or an item, and the number it shows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag.parsing.wordtext import W

_NAMED_HEADING = re.compile(r"(?:heading|заголовок|überschrift|titre|título|encabezado)\s*([1-9])")
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


class Styles:
    """The document's styles by id. A property is inherited along the chain of base styles."""

    def __init__(self, root: Any | None) -> None:
        styles = root.findall(W + "style") if root is not None else []
        self._by_id = {style.get(W + "styleId"): style for style in styles}

    def name(self, paragraph: Any) -> str:
        """The style's name, lower case; English for Word's own styles, whatever Word's language."""
        style = self._by_id.get(_value(paragraph, "pPr/pStyle"))
        return (_value(style, "name") or "").lower() if style is not None else ""

    def inherited(self, paragraph: Any, name: str) -> Any | None:
        """The nearest `w:pPr` child of that name: the paragraph's own, its style's, or a base style's."""
        for owner in self._chain(paragraph):
            if (found := owner.find(f"{W}pPr/{W}{name}")) is not None:
                return found
        return None

    def level(self, paragraph: Any) -> int | None:
        """The heading level, 1 = outermost, 0 = the document's title; `None` for body text."""
        outline = self.inherited(paragraph, "outlineLvl")
        if outline is not None:
            number = int(outline.get(W + "val") or 9)
            return number + 1 if number < 9 else None
        name = self.name(paragraph)
        if name in ("title", "название"):
            return 0
        found = _NAMED_HEADING.match(name)
        return int(found.group(1)) if found else None

    def _chain(self, paragraph: Any) -> Iterator[Any]:
        yield paragraph
        seen: set[str] = set()
        style_id = _value(paragraph, "pPr/pStyle")
        while style_id and style_id not in seen and style_id in self._by_id:
            seen.add(style_id)
            yield self._by_id[style_id]
            style_id = _value(self._by_id[style_id], "basedOn")


@dataclass(frozen=True, slots=True)
class Label:
    """A paragraph's automatic number or bullet, and its depth (0 = outermost)."""

    text: str
    depth: int
    bullet: bool


class Numbering:
    """Counts the automatically numbered paragraphs as Word does. Ask for labels in document order."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        abstracts = {a.get(W + "abstractNumId"): a for a in root.findall(W + "abstractNum")} if root is not None else {}
        nums = root.findall(W + "num") if root is not None else []
        self._levels = {n.get(W + "numId"): _levels(abstracts.get(_value(n, "abstractNumId")), n) for n in nums}
        self._counter_of = {n.get(W + "numId"): _value(n, "abstractNumId") for n in nums}
        self._counts: dict[Any, dict[int, int]] = defaultdict(dict)

    def label(self, paragraph: Any) -> Label | None:
        """The label of a numbered paragraph, `None` for others."""
        properties = self._styles.inherited(paragraph, "numPr")
        number = _value(properties, "numId") if properties is not None else None
        levels = self._levels.get(number)
        if not levels or number == "0":
            return None
        depth = min(int(_value(properties, "ilvl") or 0), 8)
        level = levels.get(depth)
        if level is None:
            return None
        if level.form == "bullet":
            return Label("-", depth, bullet=True)
        counts = self._counts[self._counter_of[number]]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [d for d in counts if d > depth]:
            del counts[deeper]
        text = re.sub(r"%([1-9])", lambda m: self._shown(levels, counts, int(m.group(1)) - 1), level.text)
        return Label(text, depth, bullet=False)

    @staticmethod
    def _shown(levels: dict[int, _Level], counts: dict[int, int], depth: int) -> str:
        level = levels.get(depth)
        return _number(counts.get(depth, level.start), level.form) if level else ""


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


def _levels(abstract: Any | None, num: Any) -> dict[int, _Level]:
    nodes = list(abstract.findall(W + "lvl")) if abstract is not None else []
    starts: dict[int, str | None] = {}
    for override in num.findall(W + "lvlOverride"):
        starts[int(override.get(W + "ilvl") or 0)] = _value(override, "startOverride")
        nodes += override.findall(W + "lvl")
    levels = {}
    for node in nodes:
        depth = int(node.get(W + "ilvl") or 0)
        start = starts.get(depth) or _value(node, "start") or "1"
        levels[depth] = _Level(_value(node, "numFmt") or "decimal", _value(node, "lvlText") or "", int(start))
    return levels


def _number(value: int, form: str) -> str:
    if "oman" in form:
        digits = ""
        for size, sign in _ROMAN:
            digits, value = digits + sign * (value // size), value % size
        return digits.upper() if form.startswith("upper") else digits
    if "etter" in form or form.startswith("russian"):
        alphabet = _RUSSIAN if form.startswith("russian") else "abcdefghijklmnopqrstuvwxyz"
        letter = alphabet[(value - 1) % len(alphabet)] * ((value - 1) // len(alphabet) + 1)
        return letter.upper() if "pper" in form else letter
    return "" if form == "none" else str(value).zfill(2 if form == "decimalZero" else 1)


def _value(node: Any, path: str) -> str | None:
    found = node.find("/".join(W + name for name in path.split("/"))) if node is not None else None
    value = found.get(W + "val") if found is not None else None
    return None if value is None else str(value)
