"""The answer as it grows: made before generation starts, safe to read from any thread, never lost on a page change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from rag.answering.quotes import Quote
from rag.chat.streams import close_stream
from rag.errors import KonspektError
from rag.messages import Message, msg
from rag.types import Citation, SearchResult

Verdict = Literal["supported", "partly", "not found"]
Stage = Literal["new", "waiting", "reading", "thinking", "writing", "checking", "done"]
AnsweredBy = str  # "ollama:MODEL" (or another server's name), "quotes", "refusal"

UNSUPPORTED = " (?)"  # put after a number or name that no cited passage holds


@dataclass(frozen=True, slots=True)
class Mark:
    """The characters [start, end) of the text are a link to the n-th hit. Other numbers in brackets are plain text."""

    start: int
    end: int
    n: int


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of the answer, [start, end) of its text, the passages it cites and how well they support it (0..1).
    `missing` are its numbers, dates, formulas and names that no cited passage holds, as the answer writes them."""

    start: int
    end: int
    citations: tuple[int, ...]
    verdict: Verdict
    support: float
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request to the first piece and to the last one, and from the start to the end of all work,
    waiting and checking included; `tokens` of the answer as the server counts them."""

    first_token: float | None = None
    last_token: float | None = None
    total: float | None = None
    tokens: int | None = None

    @property
    def tokens_per_second(self) -> float | None:
        """How fast the model wrote, once it had begun."""
        if (
            self.first_token is None
            or self.last_token is None
            or not self.tokens
            or self.last_token <= self.first_token
        ):
            return None
        return self.tokens / (self.last_token - self.first_token)


@dataclass(frozen=True, slots=True)
class Answer:
    """A snapshot of the reply. `text` grows while it streams and may be cleaned at the end; then `marks` and
    `sentences` tell its links and verdicts. `ahead` counts the answers that the same model has to give first.
    `cut_off` tells that the text is not complete; `generated` is what the model wrote, before any cleaning. `model`
    is the language model that was asked, `revision` the digest of its weights and `context` the tokens that prompt and
    answer could take; they are empty where none was asked."""

    text: str = ""
    answered_by: AnsweredBy = ""
    stage: Stage = "new"
    ahead: int = 0
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()
    sentences: tuple[AnswerSentence, ...] = ()
    quotes: tuple[Quote, ...] = ()
    warnings: tuple[Message, ...] = ()
    timing: Timing = Timing()
    cut_off: bool = False
    progress: tuple[int, int] = (0, 0)
    generated: str = ""
    model: str = ""
    revision: str = ""
    context: int = 0

    @property
    def supported(self) -> float | None:
        """The share of sentences that are supported; `None` where none were checked."""
        if not self.sentences:
            return None
        return sum(s.verdict == "supported" for s in self.sentences) / len(self.sentences)


class Reply:
    """A growing answer. Iterating starts the work (once, in its own thread) and yields the text in pieces; a second
    iteration, in another thread or after a page change, yields the same pieces from the beginning.
    After the end `text` is what is to be shown: it may differ from the pieces, since citations are mended and
    unsupported facts marked once the sentence is complete."""

    def __init__(self, result: SearchResult, question: str, work: Callable[[Reply], None]) -> None:
        self.result = result
        self.question = question
        self._work = work
        self._changed = threading.Condition()
        self._answer = Answer(warnings=result.warnings)
        self._pieces: list[str] = []
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._stream: object | None = None
        self._started = 0.0

    @property
    def reading(self) -> str:
        """The question as it was read: mended where it was typed in another layout or alphabet."""
        return self.result.reading or self.question

    @property
    def answer(self) -> Answer:
        """The state at this moment."""
        return self._answer

    @property
    def text(self) -> str:
        """The text so far; the final text once `done`."""
        return self._answer.text

    @property
    def answered_by(self) -> AnsweredBy:
        """ "ollama:MODEL", "quotes" or "refusal"; known at the latest when `done`."""
        return self._answer.answered_by

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The passages that the answer cites, by number."""
        return self._answer.citations

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Where the text links to passages."""
        return self._answer.marks

    @property
    def sentences(self) -> tuple[AnswerSentence, ...]:
        """The sentences with their verdicts; empty until `done`, and for quotes and refusals."""
        return self._answer.sentences

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The quotes that make up the answer, if it is made of quotes."""
        return self._answer.quotes

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What the reader should know about this answer."""
        return self._answer.warnings

    @property
    def timing(self) -> Timing:
        """How long it took."""
        return self._answer.timing

    @property
    def done(self) -> bool:
        """Whether nothing more will change."""
        return self._answer.stage == "done"

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it."""
        return self._stopped.is_set()

    def start(self) -> None:
        """Begin the work in the background; harmless when it has begun."""
        with self._changed:
            if self._thread is None and not self.done:
                self._started = time.monotonic()
                self._thread = threading.Thread(target=self._run, name="answer", daemon=True)
                self._thread.start()

    def __iter__(self) -> Iterator[str]:
        self.start()
        at = 0
        while True:
            with self._changed:
                while at == len(self._pieces) and not self.done:
                    self._changed.wait()
                fresh, at = self._pieces[at:], len(self._pieces)
            if not fresh:
                return
            yield from fresh

    def finish(self, seconds: float | None = None) -> Reply:
        """Work to the end (at most `seconds`) and return the reply itself."""
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: self.done, seconds)
        return self

    def stop(self) -> None:
        """End it now, keeping the text so far. The model's server is freed. Harmless when it is done."""
        with self._changed:
            if self.done:
                return
            self._stopped.set()
            stream = self._stream
            self.warn(msg("Stopped: the answer is not complete."))
            self.update(stage="done", cut_off=True)
        if stream is not None:
            close_stream(stream)

    # What follows is for the code that makes the answer.

    def update(self, **changes: Any) -> None:
        """Replace fields of the snapshot and wake the readers. A stopped or finished reply stays as it is."""
        with self._changed:
            if not self.done:
                self._answer = replace(self._answer, **changes)
                self._changed.notify_all()

    def add(self, piece: str) -> None:
        """Append a piece of text."""
        with self._changed:
            if piece and not self.done:
                self._pieces.append(piece)
                self.update(text=self._answer.text + piece)

    def replace_text(self, text: str, **changes: Any) -> None:
        """Put another text in the place of what was streamed; readers who join later get it as one piece."""
        with self._changed:
            if not self.done:
                if not self._pieces:
                    self._pieces.append(text)
                self.update(text=text, **changes)

    def warn(self, *warnings: Message) -> None:
        """Add warnings, each once."""
        with self._changed:
            for warning in warnings:
                if warning not in self.warnings:
                    self.update(warnings=(*self.warnings, warning))

    def hold(self, stream: object) -> None:
        """Name the stream that `stop` is to close, from its own thread."""
        self._stream = stream
        if self.stopped:
            close_stream(stream)

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def _run(self) -> None:
        try:
            self._work(self)
        except KonspektError as error:
            self.warn(error.message)
            self.update(cut_off=True)
        except Exception as error:
            self.warn(msg("The answer failed through a fault in Konspekt: {reason}.", reason=repr(error)))
            self.update(cut_off=True)
            raise
        finally:
            self.update(stage="done", timing=replace(self.timing, total=self.seconds()))
