"""Files dropped on a page, or picked, into the notes folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui.language import _, markdown, ngettext, tell
from pages.ui.notices import notice
from rag.errors import KonspektError

if TYPE_CHECKING:
    from rag.library import Library

# A browser tells the folder of a picked file. Of a dropped one only the uploader itself knows it, and it
# does not send it on: without this, the "lecture1.pdf" of two courses would clash.
_FOLDERS_OF_DROPPED_FILES = """<script>
(() => {
  const name = "webkitRelativePath";
  if (File.prototype.konspekt) return;
  const picked = Object.getOwnPropertyDescriptor(File.prototype, name).get;
  File.prototype.konspekt = true;
  Object.defineProperty(File.prototype, name, {
    configurable: true,
    get() {
      const path = picked.call(this) || (this.relativePath || "").replace(/^\\.?\\/+/, "");
      return path.includes("/") ? path : "";
    },
  });
})();
</script>"""


@dataclass
class _Taken:
    """What became of the files of one drop."""

    added: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    conflicts: dict[str, Any] = field(default_factory=dict)


def uploader(library: Library, key: str) -> None:
    """Draw the place to drop files and folders, take in what was dropped, and say what became of it."""
    st.html(_FOLDERS_OF_DROPPED_FILES, unsafe_allow_javascript=True)
    round_ = st.session_state.setdefault(f"_{key}-round", 0)
    with st.container(key=f"{key}-drop", gap="xsmall"):
        with st.container(key=f"{key}-files"):
            files = st.file_uploader(
                _("Drop files and folders here"),
                accept_multiple_files=True,
                key=f"{key}-{round_}",
                label_visibility="collapsed",
            )
        with st.container(key=f"{key}-folder"):
            folder = st.file_uploader(
                _("Choose a folder"),
                accept_multiple_files="directory",
                key=f"{key}-folder-{round_}",
                label_visibility="collapsed",
            )
    if files or folder:
        _take_in(library, [*files, *folder], key)
        st.session_state[f"_{key}-round"] = round_ + 1
        st.rerun()
    _tell_what_became(library, key)


def _take_in(library: Library, files: list[Any], key: str) -> None:
    taken = _Taken()
    bar = st.progress(0.0)
    for done, file in enumerate(files):
        bar.progress(done / len(files), text=markdown(_("Taking in {file}", file=file.name)))
        _take_in_one(library, file, taken, in_folder="/" in file.name)
    bar.empty()
    st.session_state[f"_{key}-taken"] = taken


def _take_in_one(library: Library, file: Any, taken: _Taken, in_folder: bool) -> None:
    from rag.parsing import supported

    if in_folder and (not supported(file.name) or any(part.startswith(".") for part in file.name.split("/"))):
        taken.skipped.append(file.name)
        return
    try:
        result = library.add_file(file.name, file)
    except KonspektError as error:
        taken.failed.append((file.name, tell(error.message)))
        return
    if result.state == "conflict":
        taken.conflicts[file.name] = file
    elif result.state == "already there":
        taken.known.append(result.path)
    else:
        taken.added.append(result.path)


def _tell_what_became(library: Library, key: str) -> None:
    taken: _Taken | None = st.session_state.get(f"_{key}-taken")
    if taken is None:
        return
    with st.container(key=f"{key}-taken", gap="xsmall"):
        if taken.added:
            n = len(taken.added)
            notice(
                "done",
                ngettext("{n} file added. It is being read now.", "{n} files added. They are being read now.", n),
            )
        if taken.known:
            n = len(taken.known)
            notice("info", ngettext("{n} file was already here.", "{n} files were already here.", n))
        if taken.skipped:
            n = len(taken.skipped)
            text = ngettext(
                "{n} file of another kind was left out: {names}",
                "{n} files of other kinds were left out: {names}",
                n,
                names=_names(taken.skipped),
            )
            notice("info", text)
        for _name, reason in taken.failed:
            notice("wrong", reason)
        for name in list(taken.conflicts):
            _ask_about(library, taken, name, key)


def _names(names: list[str], most: int = 5) -> str:
    shown = ", ".join(name.rpartition("/")[2] for name in names[:most])
    return shown + (", …" if len(names) > most else "")


def _ask_about(library: Library, taken: _Taken, name: str, key: str) -> None:
    with st.container(border=True, key=f"{key}-conflict-{name}"):
        notice("careful", _("A different file named {file} is already here.", file=name))
        with st.container(horizontal=True):
            st.button(_("Replace it"), key=f"{key}-replace-{name}", on_click=_settle, args=(library, taken, name, True))
            st.button(_("Keep both"), key=f"{key}-both-{name}", on_click=_keep_both, args=(library, taken, name))
            st.button(_("Keep the old one"), key=f"{key}-keep-{name}", on_click=taken.conflicts.pop, args=(name, None))


def _settle(library: Library, taken: _Taken, name: str, replace: bool) -> None:
    file = taken.conflicts.pop(name)
    file.seek(0)
    try:
        taken.added.append(library.add_file(name, file, replace=replace).path)
    except KonspektError as error:
        taken.failed.append((name, tell(error.message)))


def _keep_both(library: Library, taken: _Taken, name: str) -> None:
    file = taken.conflicts.pop(name)
    stem, dot, extension = name.rpartition(".")
    try:
        for n in range(2, 1000):
            file.seek(0)
            result = library.add_file(f"{stem} ({n}){dot}{extension}", file)
            if result.state != "conflict":
                taken.added.append(result.path)
                return
    except KonspektError as error:
        taken.failed.append((name, tell(error.message)))
