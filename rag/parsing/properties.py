"""The properties that Office formats and ODF keep in a part of their own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from rag.parsing.metadata import iso_date
from rag.types import Meta

# What programs write by themselves says nothing of the document.
_NO_AUTHOR = {"python-docx", "openpyxl", "user", "admin", "administrator", "unknown", "microsoft office user",
              "пользователь", "админ", "студент", "student"}  # fmt: skip
_NO_TITLE = {"powerpoint presentation", "презентация powerpoint", "слайд 1", "slide 1", "untitled", "без названия",
             "document", "документ microsoft word", "title", "название"}  # fmt: skip


def zipped_properties(path: Path, part: str) -> Meta:
    """Read title, author and date from "docProps/core.xml" (Office) or "meta.xml" (ODF). No part, no properties."""
    from lxml import etree

    with zipfile.ZipFile(path) as archive:
        if part not in archive.namelist():
            return Meta()
        root = etree.fromstring(
            archive.read(part), etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
        )
    author = _text(root, "initial-creator") or _text(root, "creator")
    return make_meta(
        _text(root, "title"), author, *(_text(root, n) for n in ("created", "creation-date", "modified", "date"))
    )


def make_meta(title: str, author: str, *dates: str) -> Meta:
    """Meta of what a file's properties say. Its date is the latest: a copied file keeps the first one's creation."""
    days = [day for text in dates if (day := iso_date(text)) and day > "1981"]
    return Meta(
        title="" if title.strip().lower() in _NO_TITLE else " ".join(title.split()),
        author="" if author.strip().lower() in _NO_AUTHOR else " ".join(author.split()),
        date=max(days, default=None),
        date_source="properties" if days else "",
    )


def _text(root: Any, name: str) -> str:
    found = root.xpath(f".//*[local-name()='{name}']") if root is not None else []
    return str(found[0].text or "") if found else ""
