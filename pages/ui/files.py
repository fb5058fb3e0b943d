"""The table of files: how each stands, what was read of it, and what can be done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, day, markdown, ngettext, number, tell
from pages.ui.notices import notice, show_error
from rag.errors import KonspektError
from rag.types import FileProgress, FileState, FileStatus, IndexStatus, Report

if TYPE_CHECKING:
    from rag.library import Library

_ROWS = 25
_MARKS: dict[FileState, str] = {
    "waiting": "k-waiting",
    "indexed": "k-ok",
    "no text": "k-warn",
    "failed": "k-bad",
    "password needed": "k-warn",
}


def files_view(library: Library) -> None:
    """Draw the work going on, then the files; redrawn on its own while work goes on."""
    status = library.status()
    files = library.files()
    if error := st.session_state.pop("_went-wrong", None):
        show_error(error)
    work_view(status)
    if not files and not status.queued and not status.active:
        notice("info", _("No files yet. Drop PDFs and notes above, or copy them into the folder."))
        return
    shown = _filtered(files)
    pages = max(1, -(-len(shown) // _ROWS))
    page = st.pagination(pages, key="files-page") if pages > 1 else 1
    first = (min(page, pages) - 1) * _ROWS
    active = {progress.path for progress in status.active}
    with st.container(key="files-table", gap=None):
        for file in shown[first : first + _ROWS]:
            _row(library, file, file.path in active)


def state_name(state: FileState) -> str:
    """Return a file's state in plain words."""
    return {
        "waiting": _("waiting"),
        "indexed": _("ready"),
        "no text": _("no text"),
        "failed": _("cannot be read"),
        "password needed": _("needs a password"),
    }[state]


def work_view(status: IndexStatus) -> None:
    """Draw a bar for each file that is being read."""
    for progress in status.active:
        share = progress.done / progress.total if progress.total else 0.0
        st.progress(min(share, 1.0), text=markdown(_progress_text(progress)))
    waiting = status.queued
    if waiting:
        st.caption(ngettext("{n} more file is waiting.", "{n} more files are waiting.", waiting))


def _progress_text(progress: FileProgress) -> str:
    stage = {
        "queued": _("waiting"),
        "parsing": _("reading pages"),
        "embedding": _("learning passages"),
        "storing": _("saving"),
    }.get(progress.stage, progress.stage)
    count = f" {number(progress.done)} / {number(progress.total)}" if progress.total else ""
    return f"{progress.path} · {stage}{count}"


def _filtered(files: list[FileStatus]) -> list[FileStatus]:
    counts = Counter(file.state for file in files)
    with st.container(horizontal=True, vertical_alignment="center", key="files-filter"):
        words = st.text_input(
            _("Find a file"),
            key="files-find",
            placeholder=_("Find a file"),
            label_visibility="collapsed",
            icon=":material/search:",
            width=280,
        )
        state = None
        if len(counts) > 1:
            state = st.pills(
                _("State"),
                sorted(counts),
                key="files-state",
                label_visibility="collapsed",
                format_func=lambda s: f"{state_name(s)} {number(counts[s])}",
            )
    wanted = words.casefold().split()
    return [
        file
        for file in files
        if (state is None or file.state == state) and all(word in file.path.casefold() for word in wanted)
    ]


def _row(library: Library, file: FileStatus, active: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"row-{file.path}"):
        st.html(_row_html(file, active))
        options = ["open", "retry", "delete"] if file.chunks else ["retry", "delete"]
        choice = st.menu_button(
            _("Actions"),
            options,
            key=f"menu-{file.path}",
            type="tertiary",
            icon=":material/more_horiz:",
            format_func=lambda option: {"open": _("Open"), "retry": _("Read again"), "delete": _("Delete")}[option],
        )
    if choice == "open":
        st.switch_page("pages/chunks.py", query_params={"file": file.path})
    elif choice == "retry":
        _try(library.retry, file.path)
        st.rerun()
    elif choice == "delete":
        st.dialog(_("Delete this file?"))(_confirm_delete)(library, file.path)


def _row_html(file: FileStatus, active: bool) -> str:
    folder, _slash, name = file.path.rpartition("/")
    state = _("being read") if active else state_name(file.state)
    mark = "k-busy" if active else _MARKS[file.state]
    folder_html = f'<i class="k-folder">{escape(folder)}/</i>' if folder else ""
    facts = (
        [passages] if (passages := ngettext("{n} passage", "{n} passages", file.chunks) if file.chunks else "") else []
    )
    facts += _read_facts(file.report)
    if file.meta.date:
        facts.append(day(file.meta.date))
    notes = [tell(warning) for warning in file.report.warnings]
    if file.error and tell(file.error) not in notes:
        notes.insert(0, tell(file.error))
    notes_html = "".join(f'<div class="k-note">{escape(note)}</div>' for note in notes)
    return (
        f'<div class="k-row"><div class="k-name">{folder_html}<b>{escape(name)}</b></div>'
        f'<span class="k-state {mark}">{escape(state)}</span>'
        f'<div class="k-facts">{escape(" · ".join(facts))}</div>{notes_html}</div>'
    )


def _read_facts(report: Report) -> list[str]:
    facts = []
    if report.pages:
        facts.append(ngettext("{n} page", "{n} pages", report.pages))
    if report.ocr_pages:
        facts.append(ngettext("{n} by text recognition", "{n} by text recognition", len(report.ocr_pages)))
    if report.empty_pages:
        facts.append(ngettext("{n} empty", "{n} empty", len(report.empty_pages)))
    if report.suspect_pages:
        facts.append(_("doubtful: {pages}", pages=page_list(report.suspect_pages)))
    return facts


def page_list(pages: tuple[int, ...]) -> str:
    """Write sorted page numbers shortly: 1–3, 7."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _try(action: Callable[[str], None], path: str) -> None:
    """Do it; what goes wrong is told when the page is drawn."""
    try:
        action(path)
    except KonspektError as error:
        st.session_state["_went-wrong"] = error


def _confirm_delete(library: Library, path: str) -> None:
    st.text(path)
    st.caption(
        _("It leaves the notes folder and is no longer found. A copy stays in the trash of Konspekt's data folder.")
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(_("Keep it"), key="delete-no"):
            st.rerun()
        if st.button(
            _("Delete"),
            key="delete-yes",
            type="primary",
            icon=":material/delete:",
            on_click=_try,
            args=(library.delete_file, path),
        ):
            st.rerun()
