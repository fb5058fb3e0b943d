"""The Library page: put files in, see how each was read, take files out."""

import streamlit as st

from pages.ui.files import files_view
from pages.ui.frame import frame, is_busy
from pages.ui.language import _
from pages.ui.uploads import uploader

with frame("Library") as library:
    uploader(library, "library")
    with st.container(key="folder", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(_("Files dropped into this folder are read by themselves:"))
        st.code(str(library.paths.notes), language=None, wrap_lines=True, width="content")
    beat = 1.0 if is_busy(library.status()) else 4.0
    st.fragment(run_every=beat, key="files")(files_view)(library)
