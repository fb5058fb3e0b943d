"""The metadata at the head of a Markdown file, between two lines of dashes."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rag.parsing.metadata import iso_date
from rag.types import Meta

_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
MAX_CHARS = 65_536
MAX_ITEMS = 100
DATES = ("date", "дата", "created", "published", "updated", "modified")


def split_front_matter(text: str, meta: Meta) -> tuple[Meta, str]:
    """Take the front matter off a text. What is no mapping is no front matter and stays text."""
    found = _BLOCK.match(text[:MAX_CHARS])
    fields = _fields(found.group(1)) if found else None
    if not found or fields is None:
        return meta, text
    date = next((d for key in DATES if (d := _date(fields.get(key)))), None)
    meta = replace(
        meta,
        title=_string(fields.get("title") or fields.get("название")) or meta.title,
        author=_string(fields.get("author") or fields.get("authors") or fields.get("автор")) or meta.author,
        date=date or meta.date,
        date_source="front matter" if date else meta.date_source,
        language=_string(fields.get("lang") or fields.get("language"))[:2].lower() or meta.language,
        tags=_tags(fields.get("tags") or fields.get("tag") or fields.get("keywords")),
    )
    return meta, text[found.end() :]


def _fields(source: str) -> dict[str, Any] | None:
    import yaml

    try:
        loaded = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        # Titles with a colon and other small slips are common in notes: read such lines one by one.
        pairs = re.findall(r"^([^\s:#][^:\n]*):[ \t]*(.*)$", source, re.MULTILINE)
        loaded = {key: value.strip().strip("\"'") for key, value in pairs} or None
    return {str(k).strip().lower(): v for k, v in loaded.items()} if isinstance(loaded, dict) else None


def _string(value: Any) -> str:
    """One value, or a list of them, as text. Deeper nesting is no name; expanding it could fill the memory."""
    if isinstance(value, list):
        return ", ".join(text for item in value[:MAX_ITEMS] if not isinstance(item, list) and (text := _string(item)))
    if isinstance(value, dict):
        value = value.get("name")
    return " ".join(str(value).split()) if isinstance(value, str | int | float | datetime.date) else ""


def _date(value: Any) -> str | None:
    if isinstance(value, datetime.date):
        return value.strftime("%Y-%m-%d")
    return iso_date(_string(value))


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    items: Iterable[Any] = value[:MAX_ITEMS] if isinstance(value, list) else ()
    return tuple(dict.fromkeys(tag for item in items if (tag := _string(item).lstrip("#"))))
