"""Earlier answers: kept in the data folder, found again, saved as a document, deleted for good."""

from __future__ import annotations

import logging
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, day, language, markdown, tell
from pages.ui.notices import notice
from rag.errors import KonspektError
from rag.translations import catalogue
from rag.types import Meta

if TYPE_CHECKING:
    from rag.answering.history import History
    from rag.answering.record import RunRecord
    from rag.answering.reply import Reply
    from rag.library import Library

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def record(library: Library, reply: Reply) -> RunRecord:
    """Make the record of a finished answer."""
    from rag.answering.record import record_of

    about = {file.path: file.meta for file in library.files()}
    return record_of(reply, asdict(library.settings), meta=lambda path: about.get(path, Meta()))


def remember(library: Library, reply: Reply) -> None:
    """Add a finished answer to the history. Where that fails the answer stands all the same."""
    try:
        _history(library).add(record(library, reply))
    except KonspektError:
        logging.getLogger(__name__).warning("the answer is not in the history", exc_info=True)


def save_buttons(kept: RunRecord, key: str) -> None:
    """Draw the buttons that save an answer with its sources as a document."""
    from rag.answering.export import to_markdown, to_word

    translate = catalogue(language()).gettext
    name = "".join(c if c.isalnum() else " " for c in kept.question).strip()[:60] or "answer"
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Markdown",
            lambda: to_markdown(kept, translate),
            f"{name}.md",
            "text/markdown",
            key=f"md-{key}",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Word",
            lambda: to_word(kept, translate),
            f"{name}.docx",
            _WORD,
            key=f"docx-{key}",
            icon=":material/download:",
            on_click="ignore",
        )


def open_history(library: Library) -> None:
    """Show the history over the page."""
    st.session_state.pop("_past", None)
    st.dialog(_("History"), width="large")(_history_dialog)(library)


def _history(library: Library) -> History:
    from rag.answering.history import History

    return History(library.paths.data)


def _history_dialog(library: Library) -> None:
    try:
        chosen = st.session_state.get("_past")
        kept = _history(library).get(chosen) if chosen is not None else None
        if chosen is not None and kept is not None:
            _one(library, chosen, kept)
        else:
            _list(library)
    except KonspektError as error:
        notice("wrong", tell(error.message))


def _list(library: Library) -> None:
    words = st.text_input(
        _("Find a question or an answer"),
        key="past-words",
        placeholder=_("Find a question or an answer"),
        label_visibility="collapsed",
        icon=":material/search:",
    )
    entries = _history(library).search(words)
    if not entries:
        st.caption(_("Nothing yet.") if not words.strip() else _("Nothing holds these words."))
    with st.container(gap="xsmall", key="past-list"):
        for entry in entries:
            st.button(
                f"{markdown(entry.question)} · {markdown(day(entry.asked))}",
                key=f"past-{entry.id}",
                type="tertiary",
                on_click=_open,
                args=(entry.id,),
            )
    if entries and not words.strip():
        sure = st.checkbox(_("Delete the whole history"), key="past-sure")
        if sure:
            st.button(_("Delete for good"), key="past-clear", type="primary", on_click=_history(library).clear)


def _one(library: Library, entry: int, kept: RunRecord) -> None:
    from rag.answering.export import described
    from rag.answering.record import changed_sources

    st.button(_("Back"), key="past-back", icon=":material/arrow_back:", type="tertiary", on_click=_open, args=(None,))
    st.html(f'<h2 class="k-question">{escape(kept.question)}</h2><div class="k-text">{escape(kept.text)}</div>')
    now = {file.path for file in library.files()}
    for warning in changed_sources(kept, lambda path: [c.id for c in library.chunks(path)] if path in now else None):
        notice("careful", tell(warning))
    sources = "".join(
        f"<div>[{source.n}] {escape(described(kept, source))}</div>"
        for source in kept.sources
        if not kept.cited or source.n in kept.cited
    )
    st.html(f'<div class="k-facts">{sources}</div>')
    with st.container(horizontal=True, gap="small"):
        save_buttons(kept, f"past-{entry}")
        st.button(
            _("Delete"), key="past-delete", icon=":material/delete:", on_click=_history(library).delete, args=(entry,)
        )


def _open(entry: int | None) -> None:
    st.session_state["_past"] = entry
