"""One plain sentence on the page: what happened and what to do. Shown to the letter, whatever a file is called."""

from __future__ import annotations

import re
from html import escape
from typing import Literal

import streamlit as st

from pages.ui.language import tell
from rag.errors import KonspektError

Kind = Literal["info", "done", "careful", "wrong"]

_ICONS: dict[Kind, str] = {"info": "info", "done": "check_circle", "careful": "warning", "wrong": "error"}
_CODE = re.compile(r"`([^`\n]+)`")


def notice(kind: Kind, text: str) -> None:
    """Draw a sentence; what stands between backticks is something to type."""
    role = "alert" if kind == "wrong" else "status"
    body = _CODE.sub(r"<code>\1</code>", escape(text))
    icon = f'<span class="k-icon" aria-hidden="true">{_ICONS[kind]}</span>'
    st.html(f'<div class="k-notice k-{kind}" role="{role}">{icon}<div>{body}</div></div>')


def show_error(error: KonspektError) -> None:
    """Say what went wrong."""
    notice("wrong", tell(error.message))
