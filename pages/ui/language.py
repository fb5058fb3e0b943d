"""What the pages say, in the language of the person who looks at them."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from rag.messages import Message
from rag.translations import best_language, catalogue

_CODE = re.compile(r"(`[^`\n]+`)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&=^])")


def choose_language(setting: str) -> str:
    """Fix the language of this run: the setting, else the browser's first. Returns it."""
    language = best_language(setting or st.context.locale)
    st.session_state["_language"] = language
    return language


def language() -> str:
    """Return the language of this run ("en", "ru")."""
    return str(st.session_state.get("_language") or best_language(st.context.locale))


def _(template: str, **values: Any) -> str:
    """Translate a template and fill it in."""
    text = catalogue(language()).gettext(template)
    return text.format(**values) if values else text


def ngettext(one: str, many: str, n: int, **values: Any) -> str:
    """Translate a template that counts, `{n}`; thousands are set apart."""
    return catalogue(language()).ngettext(one, many, n).format(n=number(n), **values)


def number(n: float) -> str:
    """Write a number as the language does: 12,345 or 12 345."""
    from babel.numbers import format_decimal

    return format_decimal(n, locale=language())


def day(iso: str) -> str:
    """Write an ISO date (a day, a month or a year) as the language does."""
    from datetime import date

    from babel.dates import format_date, format_skeleton

    parts = iso[:10].split("-")
    try:
        moment = date(*(int(part) for part in [*parts, "1", "1"][:3]))
    except ValueError:
        return iso
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        return format_skeleton("yMMMM", moment, locale=language())
    return format_date(moment, format="long", locale=language())


def tell(message: Message) -> str:
    """Return a message from `rag` in the person's language, as plain text."""
    return message.text(catalogue(language()).gettext)


def markdown(text: str) -> str:
    """Return Markdown that shows the text to the letter, but for `code` between backticks."""
    return "".join(part if _CODE.fullmatch(part) else _MARKDOWN.sub(r"\\\1", part) for part in _CODE.split(text))
