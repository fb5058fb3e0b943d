"""Questions and the answers to them. Each is worked on by a thread of its own, so that a page change, a reload or a
closed tab neither loses an answer nor stops it; the pages only look at how far it has come."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import streamlit as st

from pages.ui.past import remember
from rag.errors import KonspektError
from rag.messages import Message, msg
from rag.types import Filters

if TYPE_CHECKING:
    from rag.answering.reply import Reply
    from rag.library import Library

_KEPT = 50
_LOCK = threading.Lock()


class Turn:
    """One question and its answer as it grows. Written by its own thread, read by the pages."""

    def __init__(self, question: str, filters: Filters | None = None) -> None:
        self.question = question
        self.filters = filters
        self.reply: Reply | None = None
        self.error: Message | None = None
        self.stopped = False
        self.finished = threading.Event()

    def start(self, library: Library, history: tuple[tuple[str, str], ...] = ()) -> None:
        """Begin searching and answering; returns at once."""
        threading.Thread(target=self._work, args=(library, history), name="answer", daemon=True).start()

    def stop(self) -> None:
        """End the answer where it is, before its first word too."""
        self.stopped = True
        if self.reply is not None:
            self.reply.stop()

    @property
    def ended(self) -> bool:
        """Whether there is nothing to wait for: it is complete, or was stopped while passages were still looked for."""
        return self.finished.is_set() or (self.stopped and self.reply is None)

    def _work(self, library: Library, history: tuple[tuple[str, str], ...]) -> None:
        try:
            reply = library.ask(
                self.question, use_llm=not library.settings.quotes_only, filters=self.filters, history=history
            )
            self.reply = reply
            if self.stopped:
                reply.stop()
            reply.finish()
            remember(library, reply)
        except KonspektError as error:
            self.error = error.message
        except Exception:
            logging.getLogger(__name__).exception("answering failed")
            self.error = msg("Something unexpected went wrong. The details are in the terminal window.")
        finally:
            self.finished.set()


@dataclass
class Conversation:
    """The questions of one tab, oldest first."""

    id: str = field(default_factory=lambda: uuid4().hex[:12])
    turns: list[Turn] = field(default_factory=list)

    def ask(self, library: Library, question: str, filters: Filters | None = None) -> Turn:
        """Add a question and start answering it. A question still being answered is stopped."""
        history = tuple((t.question, t.reply.text) for t in self.turns if t.reply is not None and t.finished.is_set())
        for turn in self.turns:
            if not turn.finished.is_set():
                turn.stop()
        turn = Turn(question, filters)
        self.turns.append(turn)
        turn.start(library, history)
        return turn


@st.cache_resource(show_spinner=False)
def _conversations() -> OrderedDict[str, Conversation]:
    return OrderedDict()


def conversation() -> Conversation:
    """Return this tab's conversation: the one it is in, or that its address names after a reload, or a new one."""
    wanted = st.session_state.get("_conversation") or st.query_params.get("c", "")
    with _LOCK:
        known = _conversations()
        found = known.get(wanted) or Conversation()
        known[found.id] = found
        known.move_to_end(found.id)
        while len(known) > _KEPT:
            known.popitem(last=False)
    st.session_state["_conversation"] = found.id
    st.session_state["_talk"] = found
    if found.turns:
        st.query_params["c"] = found.id
    return found


def leave_conversation() -> None:
    """Begin a new, empty conversation in this tab."""
    st.session_state.pop("_conversation", None)
    st.query_params.pop("c", None)
