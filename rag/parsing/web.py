"""HTML: the article of a page as blocks, partitioned by `unstructured` after what it would lose has been marked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag.parsing.article import find_article, parse_page
from rag.parsing.draft import BOLD_LEVEL, Draft, is_fake_heading
from rag.parsing.encodings import decode
from rag.parsing.inline import image_text
from rag.parsing.links import cut_data_uris, shrink_links
from rag.parsing.metadata import iso_date
from rag.parsing.partition import html_elements
from rag.parsing.scripts import lowered, raised
from rag.parsing.text import warn_if_doubtful
from rag.parsing.webtables import read_table, undo_layout
from rag.types import Meta, Table

# Private characters that carry through partitioning what it would drop.
_TABLE, _QUOTE, _CAPTION, _BREAK, _NUMBER, _PAD = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\u200b"
_CHARSET = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]+encoding\s*=\s*["']([\w-]+)""", re.IGNORECASE
)
_RENAMED = {"figure": "div", "figcaption": "p", "details": "div", "summary": "p", "form": "div", "label": "span",
            "fieldset": "div", "legend": "p", "nav": "div", "main": "div", "article": "div"}  # fmt: skip
_BLOCKS = (
    "p", "div", "dt", "dd", "section", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6",
    "header",
)  # fmt: skip
_TWO_BREAKS = re.compile(r"(?:<br\s*/?>\s*){2,}", re.IGNORECASE)


def parse_web(path: Path) -> Draft:
    """Read a saved web page in any encoding, declared rightly, wrongly or not at all."""
    data = path.read_bytes()
    declared = _CHARSET.search(data[:4096])
    found = decode(data, next(filter(None, declared.groups()), b"").decode("ascii", "replace") if declared else "")
    draft = Draft(encoding=found.encoding)
    warn_if_doubtful(found, draft)
    html_blocks(found.text, draft)
    return draft


def html_blocks(html: str, draft: Draft, article: bool = True) -> None:
    """Add a page's blocks to a draft. With `article` menus, banners and the like are left out."""
    html, cut = cut_data_uris(html)
    draft.drop_count("data", cut)
    if not html.strip():
        return
    root = parse_page(_TWO_BREAKS.sub("<p>", html))
    if article:
        draft.meta = _meta(root, draft.meta)
    body = find_article(root, draft) if article else root
    tables = _prepare(body)
    _add_elements(body, tables, draft)


def fragment_pieces(html: str) -> list[str | Table]:
    """The texts and tables of a piece of HTML inside another format. Comments, anchors and scripts give none."""
    root = parse_page(html)
    _replace_images(root)
    tables = []
    for table in [t for t in root.iter("table") if not any(a.tag == "table" for a in t.iterancestors())]:
        tables.append(read_table(table))
        _replace(table, f"\n{_TABLE}\n")
    for node in list(
        root.iter("br", "p", "div", "li", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "center")
    ):
        node.tail = "\n" + (node.tail or "")
    pieces: list[str | Table] = []
    for part in re.split(f"({_TABLE})", root.text_content()):
        lines = (" ".join(line.split()) for line in part.split("\n"))
        text = "\n".join(line for line in lines if line)
        if part == _TABLE:
            pieces.append(tables.pop(0))
        elif text:
            pieces.append(shrink_links(text))
    return pieces


def _meta(root: Any, meta: Meta) -> Meta:
    named = {
        str(n.get("name") or n.get("property") or "").lower(): str(n.get("content") or "") for n in root.iter("meta")
    }
    title = root.find(".//title")
    date = next((d for key in ("article:published_time", "date", "dc.date", "dcterms.created", "article:modified_time")
                 if (d := iso_date(named.get(key, "")))), None)  # fmt: skip
    return replace(
        meta,
        title=meta.title
        or " ".join((named.get("og:title") or (title.text_content() if title is not None else "")).split()),
        author=meta.author or " ".join((named.get("author") or named.get("dc.creator") or "").split()),
        date=meta.date or date,
        date_source=meta.date_source or ("properties" if date else ""),
        language=meta.language or str(root.get("lang") or "")[:2].lower(),
    )


def _prepare(root: Any) -> list[Table]:
    """Make an article ready for `unstructured`, which drops figures, disclosures and forms, list numbers, line breaks,
    raised and lowered characters, quotes' marks and one-letter paragraphs, and forgets merged cells.
    Tables are taken out; each leaves a paragraph with its number."""
    for node in list(root.iter(*_RENAMED)):
        if node.tag == "figcaption":
            node.text = _CAPTION + (node.text or "")
        node.tag = _RENAMED[node.tag]
    for node in list(root.iter("sup", "sub")):
        if not len(node):
            node.text = (raised if node.tag == "sup" else lowered)(node.text or "")
    _replace_images(root)
    undo_layout(root)
    tables = []
    for table in [t for t in root.iter("table") if not any(a.tag == "table" for a in t.iterancestors())]:
        tables.append(read_table(table))
        mark = table.makeelement("p")
        mark.text, mark.tail = f"{_TABLE}{len(tables) - 1}{_TABLE}", table.tail
        table.getparent().replace(table, mark)
    for node in list(root.iter("br")):
        _replace(node, _BREAK)
    _mark_lists(root)
    _mark_quotes(root)
    for node in root.iter():
        if len((node.text or "").strip()) == 1 and not len(node) and node.tag in _BLOCKS:
            node.text = (node.text or "") + _PAD
        if len((node.tail or "").strip()) == 1 and node.tag in _BLOCKS:
            node.tail = (node.tail or "") + _PAD
    return tables


def _replace_images(root: Any) -> None:
    for node in list(root.iter("img")):
        alt = (node.get("alt") or "").strip()
        _replace(node, image_text(alt) if alt else "")


def _replace(node: Any, text: str) -> None:
    """Put text in an element's place."""
    node.tail = text + (node.tail or "")
    node.drop_tree()


def _mark_lists(root: Any) -> None:
    for item in list(root.iter("li")):
        first = item[0] if len(item) and not (item.text or "").strip() else None
        if first is not None and first.tag in ("p", "div"):
            first.drop_tag()
        parent = item.getparent()
        if parent is not None and parent.tag == "ol":
            start = str(parent.get("start") or "1")
            own = str(item.get("value") or "")
            number = int(own) if own.isdigit() else (int(start) if start.isdigit() else 1) + parent.index(item)
            item.text = f"{number}.{_NUMBER} {item.text or ''}"


def _mark_quotes(root: Any) -> None:
    for quote in root.iter("blockquote"):
        for node in quote.iter("blockquote", "p", "div"):
            if (node.text or "").strip() and not (node.text or "").startswith(_QUOTE):
                node.text = _QUOTE + (node.text or "")


def _add_elements(root: Any, tables: list[Table], draft: Draft) -> None:
    from lxml import html as lxml_html

    items: list[str] = []
    for element in html_elements(f"<html><body>{lxml_html.tostring(root, encoding='unicode')}</body></html>"):
        text = re.sub(rf" ?{_BREAK} ?", "\n", element.text.replace(_PAD, ""))
        kind = type(element).__name__
        if kind == "ListItem":
            mark = "" if _NUMBER in text else "- "
            depth = max((element.metadata.category_depth or 1) - 1, 0)
            items.append("  " * depth + mark + text.replace(_NUMBER, "").strip())
            continue
        draft.add("\n".join(items), "list")
        items = []
        if element.metadata.emphasized_text_contents == [text] and element.metadata.emphasized_text_tags == ["b"]:
            kind = "Title" if is_fake_heading(text) and kind != "CodeSnippet" else kind
            element.metadata.category_depth = BOLD_LEVEL - 1
        _add(kind, text, element.metadata.category_depth, tables, draft)
    draft.add("\n".join(items), "list")


def _add(kind: str, text: str, depth: int | None, tables: list[Table], draft: Draft) -> None:
    if text.startswith(_TABLE):
        draft.add_table(tables[int(text.strip(_TABLE))])
    elif kind == "Title":
        draft.heading(text, (depth or 0) + 1)
    elif kind == "CodeSnippet":
        draft.add(text, "code")
    elif text.startswith(_QUOTE):
        draft.add("> " + text.strip(_QUOTE).replace("\n", "\n> "), "quote")
    elif text.startswith(_CAPTION):
        draft.add(text.strip(_CAPTION), "caption")
    else:
        draft.add(shrink_links(text))
