"""The parts of the Ask page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.answers import answer_view
from pages.ui.files import work_view
from pages.ui.filters import described, filter_box
from pages.ui.frame import is_busy
from pages.ui.language import _, markdown, ngettext, tell
from pages.ui.literal import stems
from pages.ui.notices import notice
from pages.ui.passages import hit_cards
from pages.ui.past import open_history
from pages.ui.turns import Conversation, Turn, leave_conversation
from pages.ui.uploads import uploader
from rag.types import Filters

if TYPE_CHECKING:
    from rag.library import Library

_LONGEST_QUESTION = 5000


def first_step(library: Library) -> None:
    """Draw what to do when there are no notes yet; the page goes on by itself once the first file has been read."""
    status = library.status()
    if status.chunks:
        st.rerun()
    with st.container(key="welcome", gap="small"):
        st.header(_("Ask your own notes"), anchor=False)
        st.markdown(
            _(
                "Drop lecture notes, textbooks or slides here. Konspekt reads them on this computer and then answers "
                "your questions from them, with the passages it took each answer from."
            )
        )
        uploader(library, "first")
        if is_busy(status):
            work_view(status)
        st.caption(
            _(
                "PDF, Word, PowerPoint, Markdown, plain text, HTML, EPUB and more. Scans are read too where Tesseract "
                "is installed."
            )
        )
    if status.files and not is_busy(status):
        notice("info", _("Nothing could be read from the files so far. The Library page says why, file by file."))
        st.page_link("pages/library.py", label=_("To the Library"), icon=":material/folder_open:")


def question_box(library: Library, talk: Conversation) -> None:
    """Draw the box for questions; a question begins to be answered at once."""
    with st.bottom, st.container(key="question", gap="xsmall"):
        filters = _tools(library, talk)
        question = st.chat_input(_("Ask your notes"), key="question-box", max_chars=_LONGEST_QUESTION)
    if question and question.strip():
        talk.ask(library, question.strip(), filters)
        st.rerun()


def _tools(library: Library, talk: Conversation) -> Filters | None:
    with st.container(horizontal=True, vertical_alignment="center", key="question-tools"):
        filters = filter_box(library)
        if talk.turns:
            st.button(
                _("New conversation"),
                key="new",
                icon=":material/add_comment:",
                type="tertiary",
                on_click=leave_conversation,
            )
        if st.button(_("History"), key="history", icon=":material/history:", type="tertiary"):
            open_history(library)
    return filters


def show_conversation(library: Library, talk: Conversation) -> None:
    """Draw the latest question in full, earlier ones folded under it."""
    if not talk.turns:
        _greeting(library)
        return
    latest = len(talk.turns) - 1
    _turn(library, talk.turns[latest], f"{talk.id}-{latest}")
    if latest:
        earlier = escape(_("Earlier in this conversation"))
        st.html(f'<div class="k-earlier">{earlier}</div>')
    for at in range(latest - 1, -1, -1):
        turn = talk.turns[at]
        fold = st.expander(markdown(turn.question), key=f"fold-{talk.id}-{at}", on_change="rerun")
        if fold.open:
            with fold:
                _turn(library, turn, f"{talk.id}-{at}", title=False)


def _greeting(library: Library) -> None:
    status = library.status()
    with st.container(key="welcome", gap="small"):
        st.header(_("What would you like to know?"), anchor=False)
        files = ngettext("{n} file", "{n} files", status.files)
        passages = ngettext("{n} passage", "{n} passages", status.chunks)
        st.markdown(_("{files}, {passages}: each answer names the place it stands in.", files=files, passages=passages))
        st.caption(
            _(
                "Whole questions work best: “How does a semaphore differ from a mutex?” Words in “quotes” must stand "
                "in the passage as they are."
            )
        )


def _turn(library: Library, turn: Turn, key: str, title: bool = True) -> None:
    if title:
        st.html(f'<h2 class="k-question">{escape(turn.question)}</h2>')
    if turn.filters is not None:
        only = _("Looked for only here: {places}", places=" · ".join(described(turn.filters)))
        st.html(f'<div class="k-sub">{escape(only)}</div>')
    if turn.error:
        notice("wrong", tell(turn.error))
        return
    left, right = st.columns([5, 6], gap="large")
    with left, st.container(key=f"answer-{key}"):
        beat = None if turn.ended else 0.4
        st.fragment(run_every=beat, key=f"answer-{key}")(answer_view)(library, turn, key, _stage(turn))
    with right:
        if turn.reply is not None and turn.reply.result.hits:
            result = turn.reply.result
            if result.reading:
                st.caption(markdown(_("Read as: {question}", question=result.reading)))
            heading = _("Nearest passages. They are not an answer.") if result.refused else _("From your notes")
            st.html(f'<div class="k-label">{escape(heading)}</div>')
            hit_cards(library, result.hits, stems(turn.reply.reading), turn.reply.quotes, key)


def _stage(turn: Turn) -> tuple[bool, bool]:
    return turn.reply is not None, turn.ended
