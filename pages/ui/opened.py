"""The one Library of this process, shared by all tabs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from rag.settings import Paths

if TYPE_CHECKING:
    from rag.library import Library


def _open_for_real(paths: Paths) -> Library:
    from rag.library import Library

    return Library.open(paths)


_open: Callable[[Paths], Library] = _open_for_real


def open_with(opener: Callable[[Paths], Library] | None) -> None:
    """Have `opener` make the Library from now on (`None`: the real one). For tests."""
    global _open  # noqa: PLW0603 - the pages are scripts: there is no other place to hand them a part
    _open = opener or _open_for_real
    shared_library.clear()


@st.cache_resource(show_spinner=False, on_release=lambda library: library.close())
def shared_library() -> Library:
    """Open the library, start watching its folder, load its models in the background. Raises `KonspektError`."""
    library = _open(Paths.from_environment())
    library.start_watching()
    library.warm_up()
    return library
