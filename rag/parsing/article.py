"""From a web page to its article: menus, banners, scripts and what is hidden go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rag.parsing.draft import Draft

NEVER_TEXT = ("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "audio", "video",
              "select", "textarea", "input", "button", "dialog", "head")  # fmt: skip
FURNITURE = ("nav", "aside", "footer", "header", "form")
ROLES = ("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog", "alert")
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|breadcrumbs?|sidebar|banner|cookies?|consent|footer|masthead|social|share|sharing"
    r"|related|advert(?:s|isement)?|ads|promo|popup|modal|subscribe|newsletter|comments?|skip-link|toolbar|pagination|pager"
    r"|\w*menu\d*|mw-editsection|noprint|mw-jump-link|navbox|catlinks)(?:$|[\s_-])", re.IGNORECASE,
)  # fmt: skip
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DISPLAY = re.compile(r"^\{\\(?:displaystyle|textstyle)\s*(.*)\}$", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)[^<>]*?(/?)>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p",
         "li", "dt", "dd", "tr", "td", "th", "option"}  # fmt: skip
_FLAT = {
    "html", "head", "title", "meta", "body", "p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "script",
    "style",
}  # fmt: skip
_INLINE = {"a", "b", "i", "em", "strong", "span", "font", "u", "code", "sup", "sub", "small", "big", "mark", "tt"}
MAX_DEPTH = 200
MIN_SHARE = 0.25
MAX_SHARE = 0.4
MIN_CHARS = 200


def parse_page(html: str) -> Any:
    """The root element of a page's tree; scripts, styles and comments are gone."""
    from lxml import etree
    from lxml import html as lxml_html

    html = flatten(html.replace("\0", ""))
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, huge_tree=False, encoding="utf-8")
    try:
        # A page without an element is no error: a comment, or nothing but white space.
        root = lxml_html.document_fromstring(f"{html}<p></p>".encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        # Cut off inside a declaration or a comment, so that no element is left: what is not a tag is the text.
        root = lxml_html.document_fromstring("<html><body><p></p></body></html>")
        root.find(".//p").text = _TAG.sub(" ", html)
    keep_formulas(root)
    etree.strip_elements(root, *(t for t in NEVER_TEXT if t != "head"), with_tail=False)
    return root


def keep_formulas(root: Any) -> None:
    """Put the LaTeX that a formula was made from in its place: pages hide it beside a picture, or in a script."""
    for node in list(root.iter("math", "script")):
        if node.tag == "math":
            sources = node.xpath('.//annotation[contains(@encoding, "tex") or contains(@encoding, "TeX")]/text()')
            latex = str(node.get("alttext") or next(iter(sources), ""))
        else:
            latex = str(node.text or "") if str(node.get("type") or "").startswith("math/tex") else ""
        if latex := _DISPLAY.sub(r"\1", latex.strip()).strip():
            for outer in node.iterancestors("span"):
                outer.attrib.pop("style", None)
            node.tail = f"${latex}${node.tail or ''}"
            node.drop_tree()
    for image in root.xpath('//img[contains(@class, "mwe-math-fallback")]'):
        image.drop_tree()


def flatten(html: str) -> str:
    """Undo nesting that is deeper than any page needs: the parser would silently drop what lies below 256 levels."""
    depth = deepest = 0
    for tag in _TAG.finditer(html):
        if tag.group(2).lower() not in _VOID and not tag.group(3):
            depth = max(0, depth - 1) if tag.group(1) else depth + 1
            deepest = max(deepest, depth)
    if deepest <= MAX_DEPTH:
        return html

    def flat(tag: re.Match[str]) -> str:
        name = tag.group(2).lower()
        return tag.group() if name in _FLAT else " " if name in _INLINE else "<p>"

    return _TAG.sub(flat, html)


def find_article(root: Any, draft: Draft) -> Any:
    """The element that holds the article. Where leaving out the furniture leaves too little, the whole body stays."""
    body = root.find("body")
    body = root if body is None else body
    for node in list(_hidden(body)):
        _drop(node, draft, "hidden")
    whole = len(_words(body))
    for name in ("main", "article"):
        nodes = [n for n in body.iter(name) if not any(a.tag == name for a in n.iterancestors())]
        nodes = nodes or [n for n in body.iter() if isinstance(n.tag, str) and n.get("role") == name]
        if len(nodes) == 1 and _is_enough(len(_words(nodes[0])), whole):
            draft.drop_count("furniture", whole - len(_words(nodes[0])))
            _strip(nodes[0], draft, inside=True)
            return nodes[0]
    kept = whole - sum(len(_words(node)) for node in _furniture(body, inside=False))
    if _is_enough(kept, whole):
        _strip(body, draft, inside=False)
    return body


def _is_enough(kept: int, whole: int) -> bool:
    return kept >= MIN_CHARS or kept >= MIN_SHARE * whole


def _hidden(body: Any) -> Iterator[Any]:
    for node in body.iter():
        if isinstance(node.tag, str) and (
            node.get("hidden") is not None
            or _HIDDEN.search(node.get("style") or "")
            or node.get("aria-hidden") == "true"
        ):
            yield node


def _furniture(root: Any, inside: bool) -> list[Any]:
    """The outermost elements that are no part of an article. Inside one, a header holds its title. What holds much of
    the page's text is no furniture, whatever its name: "has-sidebar" is often the class of the article itself."""
    found: dict[Any, None] = {}
    largest = MAX_SHARE * len(_words(root))
    tags = [tag for tag in FURNITURE if not (inside and tag in ("header", "form"))]
    for node in root.iter():
        if not isinstance(node.tag, str) or node is root or node.tag in ("html", "body", "main", "article"):
            continue
        names = f"{node.get('class') or ''} {node.get('id') or ''}"
        is_menu = node.tag == "nav" or node.get("role") == "navigation"
        if not (is_menu or node.tag in tags or node.get("role") in ROLES or _NAMES.search(names)):
            continue
        if any(a in found or a.tag in ("pre", "code") for a in node.iterancestors()) or _holds_article(node):
            continue
        if is_menu or len(_words(node)) <= largest:
            found[node] = None
    return list(found)


def _holds_article(node: Any) -> bool:
    return next(node.iter("main", "article", "h1"), None) is not None


def _strip(root: Any, draft: Draft, inside: bool) -> None:
    for node in _furniture(root, inside):
        _drop(node, draft, "furniture")


def _drop(node: Any, draft: Draft, reason: str) -> None:
    if node.getparent() is not None:
        draft.drop(reason, _words(node))
        node.drop_tree()


def _words(node: Any) -> str:
    return " ".join(node.text_content().split())
