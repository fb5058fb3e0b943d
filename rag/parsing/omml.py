"""Office's formulas (OMML) as one line of text: fractions as a/b, powers as a^b, indices as a_b."""

from __future__ import annotations

from typing import Any

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def formula_text(node: Any) -> str:
    """The formula under an `m:oMath`, with a space before and after."""
    text = " ".join(_text(node).split())
    return f" {text} " if text else ""


def _text(node: Any) -> str:  # noqa: PLR0911
    if not isinstance(node.tag, str) or not node.tag.startswith(_M):
        return (node.text or "") if isinstance(node.tag, str) and node.tag.endswith("}t") else _inside(node)
    match node.tag.removeprefix(_M):
        case "t":
            return str(node.text or "")
        case "f":
            return f"{_group(_part(node, 'num'))}/{_group(_part(node, 'den'))}"
        case "sSup":
            return f"{_part(node, 'e')}^{_group(_part(node, 'sup'))}"
        case "sSub":
            return f"{_part(node, 'e')}_{_group(_part(node, 'sub'))}"
        case "sSubSup":
            return f"{_part(node, 'e')}_{_group(_part(node, 'sub'))}^{_group(_part(node, 'sup'))}"
        case "rad":
            return f"{_part(node, 'deg')}√{_group(_part(node, 'e'))}"
        case "d":
            inner = "; ".join(_inside(e).strip() for e in node.findall(_M + "e"))
            return _property(node, "dPr", "begChr", "(") + inner + _property(node, "dPr", "endChr", ")")
        case "nary":
            return _nary(node)
        case "mr":
            return "  ".join(_inside(cell) for cell in node if cell.tag == _M + "e") + "; "
    return "" if node.tag.endswith("Pr") else _inside(node)


def _inside(node: Any) -> str:
    return "".join(_text(child) for child in node)


def _part(node: Any, name: str) -> str:
    part = node.find(_M + name)
    return _inside(part).strip() if part is not None else ""


def _group(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _nary(node: Any) -> str:
    sign = _property(node, "naryPr", "chr", "∫")
    low, high = _part(node, "sub"), _part(node, "sup")
    limits = (f"_{_group(low)}" if low else "") + (f"^{_group(high)}" if high else "")
    return f"{sign}{limits} {_part(node, 'e')}"


def _property(node: Any, group: str, name: str, default: str) -> str:
    found = node.find(f"{_M}{group}/{_M}{name}")
    value = found.get(_M + "val") if found is not None else None
    return default if value is None else str(value)
