"""Earlier answers: kept in the data folder, found again, saved as a document, deleted for good."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, day, language, markdown, tell
from pages.ui.notices import notice
from rag.errors import KonspektError
from rag.translations import catalogue
from rag.types import Meta

if TYPE_CHECKING:
    from rag.answering.record import RunRecord, Source
    from rag.answering.reply import Reply
    from rag.library import Library

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_COPY_HEIGHT = 160


def record(library: Library, reply: Reply) -> RunRecord:
    """Make the record of a finished answer."""
    from rag.answering.record import record_of

    about = {file.path: file.meta for file in library.files()}
    return record_of(reply, asdict(library.settings), meta=lambda path: about.get(path, Meta()))


def remember(library: Library, reply: Reply) -> None:
    """Add a finished answer to the history. Where that fails the answer stands all the same."""
    try:
        library.history.add(record(library, reply))
    except KonspektError:
        logging.getLogger(__name__).warning("the answer is not in the history", exc_info=True)


def save_buttons(kept: RunRecord, key: str) -> None:
    """Draw the buttons that save an answer with its sources as a document, and its text to be copied."""
    from rag.answering.export import to_markdown, to_text, to_word

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
    st.caption(_("To copy it, press the button in the corner of the text."))
    st.code(to_text(kept), language=None, wrap_lines=True, height=_COPY_HEIGHT)


def open_history(library: Library) -> None:
    """Show the history over the page."""
    st.session_state.pop("_past", None)
    st.dialog(_("History"), width="large")(_history_dialog)(library)


def _history_dialog(library: Library) -> None:
    failed = st.session_state.pop("_past-failed", None)
    if failed is not None:
        notice("wrong", tell(failed))
    try:
        chosen = st.session_state.get("_past")
        kept = library.history.get(chosen) if chosen is not None else None
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
    entries = library.history.search(words)
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
            st.button(
                _("Delete for good"), key="past-clear", type="primary", on_click=_forget, args=(library.history.clear,)
            )


def _one(library: Library, entry: int, kept: RunRecord) -> None:
    from rag.answering.record import changed_sources

    st.button(_("Back"), key="past-back", icon=":material/arrow_back:", type="tertiary", on_click=_open, args=(None,))
    st.html(f'<h2 class="k-question">{escape(kept.question)}</h2><div class="k-text">{escape(kept.text)}</div>')
    st.html(f'<div class="k-about">{escape(_made(kept))}</div>')
    now = {file.path for file in library.files()}
    changed = changed_sources(kept, lambda path: [c.id for c in library.chunks(path)] if path in now else None)
    for warning in (*changed, *kept.warnings):
        notice("careful", tell(warning))
    st.html("".join(_source_html(kept, source) for source in kept.shown_sources))
    with st.container(horizontal=True, gap="small"):
        delete = partial(library.history.delete, entry)
        st.button(_("Delete"), key="past-delete", icon=":material/delete:", on_click=_forget, args=(delete,))
    save_buttons(kept, f"past-{entry}")


def _made(kept: RunRecord) -> str:
    by = {"quotes": _("Exact quotes"), "refusal": _("Not answered")}.get(kept.answered_by, kept.answered_by)
    return f"{day(kept.when)} · {by}"


def _source_html(kept: RunRecord, source: Source) -> str:
    """The passage as it was when it was cited: the file may have changed since, or be gone."""
    from rag.answering.export import described

    about = f"[{source.n}] {escape(described(kept, source))}"
    return (
        f'<details><summary class="k-facts">{about}</summary><div class="k-text">{escape(source.text)}</div></details>'
    )


def _forget(delete: Callable[[], None]) -> None:
    """Run as a button's callback, where an error would reach nobody: the dialog shows it when it is drawn again."""
    try:
        delete()
        _open(None)
    except KonspektError as error:
        st.session_state["_past-failed"] = error.message


def _open(entry: int | None) -> None:
    st.session_state["_past"] = entry
