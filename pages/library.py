"""The Library page: put files in, see how each was read, take files out."""

from html import escape

import streamlit as st

from pages.ui.files import files_view
from pages.ui.frame import frame, is_busy
from pages.ui.language import _
from pages.ui.uploads import uploader

with frame("Library") as library:
    uploader(library, "library")
    folder = escape(_("Files in this folder are read by themselves:"))
    st.html(f'<div class="k-facts">{folder} <code>{escape(str(library.paths.notes))}</code></div>')
    beat = 1.0 if is_busy(library.status()) else 4.0
    st.fragment(run_every=beat, key="files")(files_view)(library)
