"""The Passages page: a file's passages in order, beside its pages."""

import streamlit as st

from pages.ui.file_view import choose_file, file_view
from pages.ui.frame import frame
from pages.ui.language import _
from pages.ui.notices import notice

with frame("Passages") as library:
    file = choose_file(library)
    if file is None:
        notice("info", _("Once files have been read, their passages are shown here."))
        st.page_link("pages/library.py", label=_("To the Library"), icon=":material/folder_open:")
    else:
        file_view(library, file)
