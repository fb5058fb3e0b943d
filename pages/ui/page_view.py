"""A page of a file as a picture, with the boxes of passages drawn on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _
from pages.ui.notices import notice, show_error
from rag.errors import KonspektError
from rag.types import Chunk, FileStatus, PageBox

if TYPE_CHECKING:
    from rag.library import Library


def has_page_pictures(path: str) -> bool:
    """Tell whether the pages of a file can be shown as pictures."""
    return path.lower().endswith(".pdf")


def page_name(first: int | None, last: int | None, file: FileStatus | None = None) -> str:
    """Say where a passage stands: "p. 3", "pp. 3-4", with the printed number where it is another."""
    if first is None:
        return ""
    if last is not None and last != first:
        return _("pp. {first}–{last}", first=first, last=last)
    labels = file.meta.page_labels if file else ()
    label = labels[first - 1] if first <= len(labels) else ""
    if label and label != str(first):
        return _("p. {page} (printed {label})", page=first, label=label)
    return _("p. {page}", page=first)


@st.cache_data(max_entries=60, show_spinner=False)
def _picture(_library: Library, path: str, page: int, boxes: tuple[PageBox, ...], changed: int) -> bytes:
    return _library.page_image(path, page, boxes=boxes, scale=2.0)


def show_page(library: Library, path: str, page: int, chunks: Sequence[Chunk]) -> None:
    """Draw a page with the passages' boxes on it, or say why it cannot be drawn."""
    boxes = tuple(box for chunk in chunks for box in chunk.boxes if box.page == page)
    try:
        changed = (library.paths.notes / path).stat().st_mtime_ns
        picture = _picture(library, path, page, boxes, changed)
    except FileNotFoundError:
        notice("careful", _("This file is no longer in the notes folder."))
    except KonspektError as error:
        show_error(error)
    else:
        st.image(picture, width="stretch", alt=_("Page {page} of {file}", page=page, file=path))


def turn_pages(page: int, pages: int, key: str) -> int:
    """Draw the buttons that leaf through a file; return the page to show. The place is kept under `key`."""
    here = min(max(int(st.session_state.get(key, page)), 1), max(pages, 1))
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="small"):
        st.button(
            _("Previous page"),
            key=f"{key}-back",
            icon=":material/chevron_left:",
            disabled=here <= 1,
            type="tertiary",
            on_click=_leaf,
            args=(key, here - 1),
        )
        place = _("{page} of {pages}", page=here, pages=pages)
        st.html(f'<div class="k-leaf">{place}</div>', width="content")
        st.button(
            _("Next page"),
            key=f"{key}-next",
            icon=":material/chevron_right:",
            icon_position="right",
            disabled=here >= pages,
            type="tertiary",
            on_click=_leaf,
            args=(key, here + 1),
        )
    return here


def _leaf(key: str, page: int) -> None:
    st.session_state[key] = page


def open_page(library: Library, chunk: Chunk) -> None:
    """Show a passage's page over the current page."""
    key = f"page-of-{chunk.id}"
    st.session_state.pop(key, None)
    st.dialog(_("Page"), width="large")(_page_dialog)(library, chunk, key)


def _page_dialog(library: Library, chunk: Chunk, key: str) -> None:
    file = next((f for f in library.files() if f.path == chunk.path), None)
    pages = max(file.report.pages if file else 0, chunk.page_last or 1)
    st.text(chunk.path)
    page = turn_pages(chunk.page_first or 1, pages, key)
    show_page(library, chunk.path, page, [chunk])
    st.page_link(
        "pages/chunks.py",
        label=_("All passages of this file"),
        icon=":material/article:",
        query_params={"file": chunk.path, "chunk": str(chunk.ordinal)},
    )
