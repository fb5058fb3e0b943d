"""What every page stands in: title, menu, style, and one plain sentence where something cannot be done."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.built_in import own_words
from pages.ui.language import _, choose_language, markdown, ngettext, tell
from pages.ui.notices import notice, show_error
from pages.ui.opened import shared_library
from rag.errors import KonspektError
from rag.types import IndexStatus

if TYPE_CHECKING:
    from rag.library import Library

_STYLE = Path(__file__).with_name("style.css")
_ICON = Path(__file__).with_name("icon.png")
_BUSY_BEAT, _IDLE_BEAT = 1.0, 5.0


@contextmanager
def frame(title: str, heading: bool = True) -> Iterator[Library]:
    """Draw a page's frame and hand over the library. `title` is a template that is translated here.

    An error of ours inside becomes one sentence on the page; the rest of the app goes on.
    """
    st.set_page_config(page_title="Konspekt", page_icon=_ICON, layout="wide")
    library = _library_or_stop()
    choose_language(library.settings.language)
    _style()
    with st.sidebar:
        _menu(library)
    if heading:
        st.header(_(title), anchor=False)
    try:
        yield library
    except KonspektError as error:
        show_error(error)
    except Exception:
        logging.getLogger(__name__).exception("page %s", title)
        notice("wrong", _("Something unexpected went wrong on this page. The details are in the terminal window."))


def is_busy(status: IndexStatus) -> bool:
    """Tell whether the index is being worked on."""
    return bool(status.queued or status.active or status.rebuilding is not None or status.model == "loading")


def _style() -> None:
    st.html(f"<style>{_STYLE.read_text(encoding='utf-8')}{own_words()}</style>")


def _library_or_stop() -> Library:
    try:
        return shared_library()
    except KonspektError as error:
        choose_language("")
        _style()
        st.header(_("Konspekt cannot start"), anchor=False)
        show_error(error)
        st.button(_("Try again"), key="try-again", type="primary")
        st.stop()


def _menu(library: Library) -> None:
    st.html('<div class="k-brand"><span class="k-logo" aria-hidden="true"></span>Konspekt</div>')
    st.page_link("app.py", label=_("Ask"), icon=":material/chat_bubble:", width="stretch")
    st.page_link("pages/library.py", label=_("Library"), icon=":material/folder_open:", width="stretch")
    st.page_link("pages/chunks.py", label=_("Passages"), icon=":material/article:", width="stretch")
    st.page_link("pages/settings.py", label=_("Settings"), icon=":material/tune:", width="stretch")
    beat = _BUSY_BEAT if is_busy(library.status()) else _IDLE_BEAT
    st.fragment(run_every=beat, key="status")(_status)(library)


def _status(library: Library) -> None:
    status = library.status()
    with st.container(key="status", gap="xsmall"):
        files = ngettext("{n} file", "{n} files", status.files)
        passages = ngettext("{n} passage", "{n} passages", status.chunks)
        st.caption(f"{files} · {passages}")
        if status.model == "loading":
            st.caption(markdown(tell(status.loading) if status.loading else _("The search model is warming up…")))
        if status.rebuilding is not None:
            st.progress(
                status.rebuilding,
                text=_("Preparing a new index: {percent} %", percent=round(status.rebuilding * 100)),
            )
        elif status.queued or status.active:
            left = status.queued + len(status.active)
            st.caption(ngettext("Reading: {n} file left", "Reading: {n} files left", left))
        if status.error:
            notice("careful", tell(status.error))
    promise = escape(_("Everything stays on this computer."))
    st.html(f'<div class="k-private">{promise}</div>')
