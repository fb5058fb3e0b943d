"""One file: its passages in order on the left, the page they stand on at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, ngettext, tell
from pages.ui.notices import notice
from pages.ui.page_view import has_page_pictures, show_page, turn_pages
from pages.ui.passages import card_html
from rag.types import Chunk, FileStatus

if TYPE_CHECKING:
    from rag.library import Library

_SHOWN = 20
_SHOW_CHOSEN = """<script>
setTimeout(() => document.querySelector('[class*="st-key-chosen-"]')?.scrollIntoView({ block: "nearest" }), 300);
</script>"""


def choose_file(library: Library) -> FileStatus | None:
    """Draw the choice of a file; the page's address names it, so that it can be linked to."""
    files = {file.path: file for file in library.files() if file.chunks}
    asked = st.query_params.get("file", "")
    if asked and asked not in files:
        notice("careful", _("{file} is not in the library, or nothing could be read from it.", file=asked))
    if not files:
        return None
    if asked in files and st.session_state.get("_file-asked") != asked:
        st.session_state["file-chosen"] = asked
    elif st.session_state.get("file-chosen") not in files:
        st.session_state["file-chosen"] = next(iter(files))
    path = st.selectbox(
        _("File"), list(files), key="file-chosen", label_visibility="collapsed", on_change=_forget_passage
    )
    st.query_params["file"] = st.session_state["_file-asked"] = path
    return files[path]


def _forget_passage() -> None:
    st.query_params.pop("chunk", None)


def file_view(library: Library, file: FileStatus) -> None:
    """Draw a file's passages and, where it has page pictures, the page beside them."""
    chunks = library.chunks(file.path)
    chosen = _chosen(chunks)
    _warnings(file)
    if not has_page_pictures(file.path):
        _passages(file, chunks, chosen)
        return
    left, right = st.columns([6, 5], gap="medium")
    with right, st.container(key="page-beside"):
        key = f"page-{file.path}"
        if chosen and st.session_state.get("_shown-chunk") != chosen.id:
            st.session_state["_shown-chunk"] = chosen.id
            st.session_state[key] = chosen.page_first or 1
        page = turn_pages(1, max(file.report.pages, 1), key)
        here = [c for c in chunks if c.page_first and c.page_first <= page <= (c.page_last or c.page_first)]
        only = [chosen] if chosen in here else here
        show_page(library, file.path, page, only)
        st.caption(ngettext("{n} passage on this page", "{n} passages on this page", len(here)))
    with left:
        _passages(file, chunks, chosen)


def _chosen(chunks: list[Chunk]) -> Chunk | None:
    asked = st.query_params.get("chunk", "")
    return next((c for c in chunks if str(c.ordinal) == asked), None)


def _warnings(file: FileStatus) -> None:
    for warning in file.report.warnings:
        notice("careful", tell(warning))


def _passages(file: FileStatus, chunks: list[Chunk], chosen: Chunk | None) -> None:
    pages = max(1, -(-len(chunks) // _SHOWN))
    key = f"passages-{file.path}"
    if chosen and st.session_state.get("_listed-chunk") != chosen.id:
        st.session_state["_listed-chunk"] = chosen.id
        st.session_state[key] = chunks.index(chosen) // _SHOWN + 1
        st.html(_SHOW_CHOSEN, unsafe_allow_javascript=True)
    st.caption(ngettext("{n} passage", "{n} passages", len(chunks)))
    part = st.pagination(pages, key=key) if pages > 1 else 1
    for chunk in chunks[(part - 1) * _SHOWN : part * _SHOWN]:
        _passage(file, chunk, chunk == chosen)


def _passage(file: FileStatus, chunk: Chunk, is_chosen: bool) -> None:
    name = f"{'chosen' if is_chosen else 'passage'}-{chunk.ordinal}"
    with st.container(border=True, key=name, gap="xsmall"):
        tokens = ngettext("{n} token", "{n} tokens", chunk.tokens)
        st.html(card_html(chunk, file, n=chunk.ordinal + 1, foot=f"<span>{tokens}</span>", whole=is_chosen))
        if has_page_pictures(file.path) and chunk.page_first is not None:
            st.button(
                _("Show on the page"),
                key=f"show-{chunk.id}",
                type="tertiary",
                icon=":material/crop_free:",
                on_click=_choose,
                args=(chunk,),
            )


def _choose(chunk: Chunk) -> None:
    st.query_params["chunk"] = str(chunk.ordinal)
