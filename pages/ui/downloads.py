"""Downloading a language model to Ollama, with its progress, from whichever tab it was begun."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, markdown, number, tell
from pages.ui.notices import notice
from rag.errors import KonspektError
from rag.messages import Message, msg

if TYPE_CHECKING:
    from rag.chat.ollama_chat import PullProgress
    from rag.chat.streams import ClosableStream

SUGGESTED = "qwen3:4b"


class Download:
    """One model on its way. Written by its own thread, read by the pages."""

    def __init__(self, url: str, model: str) -> None:
        from rag.chat.ollama_chat import pull_model

        self.model = model
        self.progress: PullProgress | None = None
        self.error: Message | None = None
        self.finished = threading.Event()
        self._stream: ClosableStream[PullProgress] = pull_model(url, model)

    def start(self) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._work, name="download", daemon=True).start()

    def stop(self) -> None:
        """Break it off; Ollama goes on from there when it is begun again."""
        self._stream.close()

    def _work(self) -> None:
        try:
            for progress in self._stream:
                self.progress = progress
        except KonspektError as error:
            self.error = error.message
        except Exception:
            logging.getLogger(__name__).exception("the download failed")
            self.error = msg("Something unexpected went wrong. The details are in the terminal window.")
        finally:
            self.finished.set()


@st.cache_resource(show_spinner=False)
def downloads() -> dict[str, Download]:
    """The downloads of this process, by Ollama's address: one at a time for each."""
    return {}


def model_download(url: str) -> None:
    """Draw the field that begins a download, or the bar of the one that runs."""
    current = downloads().get(url)
    running = current is not None and not current.finished.is_set()
    st.fragment(run_every=1.0 if running else None, key="download")(_download)(url, running)


def _download(url: str, drawn_running: bool) -> None:
    current = downloads().get(url)
    if current is not None and not current.finished.is_set():
        _bar(current)
        return
    if drawn_running:
        st.rerun()
    if current is not None and current.error:
        notice("wrong", tell(current.error))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = st.text_input(_("Download another model"), key="download-name", placeholder=SUGGESTED)
        st.button(_("Download"), key="download-start", icon=":material/download:", on_click=_begin, args=(url, model))


def _begin(url: str, model: str) -> None:
    download = Download(url, model.strip() or SUGGESTED)
    downloads()[url] = download
    download.start()


def _bar(current: Download) -> None:
    progress = current.progress
    share = progress.done / progress.total if progress and progress.total else 0.0
    text = _("Downloading {model}", model=current.model)
    if progress and progress.total:
        done, total = number(round(progress.done / 1e6)), number(round(progress.total / 1e6))
        text += " · " + _("{done} of {total} MB", done=done, total=total)
    st.progress(min(share, 1.0), text=markdown(text))
    st.button(_("Stop"), key="download-stop", icon=":material/stop_circle:", on_click=current.stop)
