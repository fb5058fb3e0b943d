"""Markdown's inline tokens as plain text: links are their words, emphasis marks go, formulas stay as typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag.parsing.links import link_words, shrink_links

if TYPE_CHECKING:
    from markdown_it.token import Token

_TAG = re.compile(r"</?([A-Za-z][\w-]*)")
# Anything else in angle brackets is text that a student typed, such as List<String>.
HTML_TAGS = {
    "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "big", "blockquote", "body", "br",
    "button", "canvas", "caption", "center", "cite", "code", "col", "colgroup", "data", "dd", "del", "details",
    "dfn", "div", "dl", "dt", "em", "embed", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "label", "li",
    "link", "main", "mark", "meta", "nav", "noscript", "object", "ol", "p", "param", "picture", "pre", "q", "rp",
    "rt", "ruby", "s", "samp", "script", "section", "select", "small", "source", "span", "strike", "strong",
    "style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "time",
    "title", "tr", "track", "tt", "u", "ul", "var", "video", "wbr",
}  # fmt: skip


def inline_text(tokens: Sequence[Token] | None) -> str:
    """The words of a run of inline tokens. Line breaks stay line breaks."""
    return "".join(_piece(token) for token in tokens or ())


def _piece(token: Token) -> str:  # noqa: PLR0911
    match token.type:
        case "text":
            return shrink_links(token.content)
        case "code_inline" | "wikilink" | "text_special":
            return token.content
        case "math_inline" | "math_inline_double":
            return f"{token.markup}{token.content}{token.markup}"
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return image_text(inline_text(token.children) or str(token.attrs.get("title") or ""))
        case "html_inline":
            return _html_piece(token.content)
        case "footnote_ref":
            return f"[{note_number(token.meta)}]"
    return ""


def note_number(meta: Mapping[str, Any]) -> str:
    """A footnote's mark: its own number, else its place among the notes."""
    label = str(meta.get("label") or "")
    return label if label.isdigit() else str(meta["id"] + 1)


def image_text(alt: str) -> str:
    """What stands for a picture: its description, if it has one."""
    alt = " ".join(alt.split())
    return f"[image: {alt}]" if alt else "[image]"


def _html_piece(html: str) -> str:
    tag = _TAG.match(html)
    if html.startswith("<!") or html.startswith("<?"):
        return ""
    if not tag or tag.group(1).lower() not in HTML_TAGS:
        return html
    name = tag.group(1).lower()
    if name == "br":
        return "\n"
    if name == "img":
        alt = re.search(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", html)
        return image_text(unescape((alt.group(1) or alt.group(2) or "") if alt else ""))
    return ""


def autolink_text(tokens: Sequence[Token]) -> None:
    """Turn the text of links that show their own address into words, in place."""
    for before, token in pairwise(tokens):
        if before.type == "link_open" and token.type == "text" and "://" in token.content:
            href = str(before.attrs.get("href") or "")
            token.content = link_words(href) if "%" in href else token.content


def reflow(text: str) -> str:
    """Join the lines of a hard-wrapped paragraph; keep line breaks that somebody meant.

    Wrapped lines are nearly equally long, save the last: each could not have taken the next line's first word.
    """
    lines = [line.rstrip() for line in text.strip("\n").split("\n")]
    if len(lines) < 2:
        return text.strip()
    longest = max(len(line) for line in lines)
    wrapped = longest >= 50 and all(
        len(line) + 1 + len(after.split(" ")[0]) > longest - 3 for line, after in pairwise(lines)
    )
    return " ".join(line.strip() for line in lines) if wrapped else "\n".join(lines)
