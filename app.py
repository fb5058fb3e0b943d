"""The Ask page, where Konspekt opens: a question, its answer, and the passages it rests on."""

import streamlit as st

from pages.ui.ask import first_step, question_box, show_conversation
from pages.ui.frame import frame
from pages.ui.turns import conversation

with frame("Ask", heading=False) as library:
    talk = conversation()
    if library.status().chunks or talk.turns:
        question_box(library, talk)
        show_conversation(library, talk)
    else:
        beat = 1.0
        st.fragment(run_every=beat, key="first-step")(first_step)(library)
