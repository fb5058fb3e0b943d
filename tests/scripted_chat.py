"""A chat model that says what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence

from rag.protocols import ChatPiece


class ScriptedChat:
    """A chat model that says what it is told to; an exception among the pieces is raised."""

    name = "ollama:script"
    revision = "abc"
    context_limit = 4096

    def __init__(
        self, *script: str | ChatPiece | Exception, counts: tuple[int | None, int | None] = (None, None)
    ) -> None:
        self.script = script
        self.counts = counts
        self.asked: list[str] = []
        self.closed = threading.Event()

    def stream(self, messages: Sequence[Mapping[str, str]], *, num_ctx: int, num_predict: int) -> Iterator[ChatPiece]:
        self.asked.append("\n".join(message["content"] for message in messages))
        try:
            for step in self.script:
                if isinstance(step, Exception):
                    raise step
                yield ChatPiece(step) if isinstance(step, str) else step
            yield ChatPiece(done=True, prompt_tokens=self.counts[0], answer_tokens=self.counts[1])
        finally:
            self.closed.set()
