"""Parsing in a process of its own, so that a crash, a hang or a memory blow-up in a parser costs one file.

The child is started as `python -m rag.parsing.child` and spoken to over its pipes: unlike `multiprocessing`'s spawn
it does not run the main script again (a Streamlit page, the command line), and it works from any thread.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import rag
from rag.errors import KonspektError, ParsingError
from rag.messages import msg
from rag.parsing import ParseSettings, Progress
from rag.parsing.pipes import receive, send
from rag.types import ParsedDocument

log = logging.getLogger(__name__)
START_SECONDS = 120.0
TICK = 0.1
WHOLE_FILE = 6
WORN = 1_500_000_000


class ParsingStopped(Exception):
    """The caller asked to stop, or closed the process. Not an error: nothing is wrong with the file."""


class ParserProcess:
    """One parser process, started at its first file and kept for the next ones. Safe to use from several threads,
    which then wait for each other. `module` is what the child runs."""

    def __init__(self, module: str = "rag.parsing.child") -> None:
        self._module = module
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._closing = threading.Event()

    def parse(
        self,
        path: Path,
        settings: ParseSettings,
        seconds: float,
        progress: Progress | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> ParsedDocument:
        """Parse a file in the child process.

        `seconds` is the longest time without a page finished; a whole file may take six times as long. `progress`
        gets (pages done, pages) on this thread. Raises `ParsingError`, also for a crash and a time-out, and
        `ParsingStopped` soon after `stopped()` says true; the child is then gone and the next file gets a new one.
        """
        with self._lock:
            child = self._ready_child()
            try:
                return _converse(child, (path, settings), seconds, progress, lambda: self._is_stopped(stopped))
            except ParsingError as error:
                if self._is_stopped(stopped):
                    raise ParsingStopped from error
                raise
            finally:
                if not child.idle or child.worn:
                    self._discard()

    def close(self) -> None:
        """End the child process at once, also in the middle of a file. A later `parse` starts a new one."""
        self._closing.set()
        with self._lock:
            self._discard()
            self._closing.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _is_stopped(self, stopped: Callable[[], bool] | None) -> bool:
        return self._closing.is_set() or (stopped is not None and stopped())

    def _ready_child(self) -> _Child:
        if self._child and not self._child.alive:
            self._discard()
        if not self._child:
            self._child = _Child(self._module)
        return self._child

    def _discard(self) -> None:
        child, self._child = self._child, None
        if child:
            child.kill()


def _converse(
    child: _Child,
    request: tuple[Path, ParseSettings],
    seconds: float,
    progress: Progress | None,
    stopped: Callable[[], bool],
) -> ParsedDocument:
    child.wait_until_ready(stopped)
    child.ask(request)
    begun = sign = time.monotonic()
    while True:
        if stopped():
            raise ParsingStopped
        now = time.monotonic()
        if now - sign > seconds or now - begun > WHOLE_FILE * seconds:
            raise ParsingError(
                msg(
                    "Reading this file was stopped after {seconds} s. Split it, or raise the limit in the settings.",
                    seconds=round(now - begun),
                )
            )
        match child.answer():
            case None:
                continue
            case ("progress", done, total):
                sign = time.monotonic()
                if progress:
                    progress(done, total)
            case ("document", ParsedDocument() as document, int() as peak):
                child.worn = peak > WORN
                return document
            case ("error", KonspektError() as error, int() as peak):
                child.worn = peak > WORN
                raise error


class _Child:
    """A running child: its pipes, a thread that reads its answers, and a folder for its temporary files.
    `idle`: it waits for a file. `worn`: it has taken so much memory that a new one should replace it."""

    def __init__(self, module: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="konspekt-", ignore_cleanup_errors=True)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=self._environment(),
            start_new_session=os.name == "posix", creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self._answers: queue.Queue[Any] = queue.Queue()
        self._is_ready = False
        self.idle = True
        self.worn = False
        threading.Thread(target=self._listen, name="parser-answers", daemon=True).start()

    def _environment(self) -> dict[str, str]:
        """Where to find this package, wherever it was started from, and where to put temporary files."""
        root = str(Path(rag.__file__).resolve().parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), self._folder.name)
        return {**os.environ, **temporary, "PYTHONPATH": os.pathsep.join(paths)}

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def _listen(self) -> None:
        assert self._process.stdout
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                self._answers.put(receive(self._process.stdout))
        self._answers.put(("gone",))

    def wait_until_ready(self, stopped: Callable[[], bool]) -> None:
        """Wait for the child's imports; they do not count against a file's time."""
        self.idle = False
        end = time.monotonic() + START_SECONDS
        while not self._is_ready:
            if stopped():
                raise ParsingStopped
            if time.monotonic() > end:
                raise ParsingError(msg("The reader of documents did not start. Restart Konspekt."))
            self._is_ready = self.answer() == ("ready",)

    def ask(self, request: tuple[Path, ParseSettings]) -> None:
        """Send a file's path and the settings."""
        assert self._process.stdin
        try:
            send(self._process.stdin, request)
        except OSError as error:
            raise self._crash() from error

    def answer(self) -> Any:
        """The next answer, or `None` after a short wait. Raises `ParsingError` where the child has died."""
        try:
            answer = self._answers.get(timeout=TICK)
        except queue.Empty:
            return None
        if answer == ("gone",):
            raise self._crash()
        self.idle = answer[0] in ("document", "error")
        return answer

    def _crash(self) -> ParsingError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4000))
        log.warning("parser process died: %s", self._log.read().decode("utf-8", "replace"))
        code = self._process.returncode
        reason = signal.Signals(-code).name if code is not None and code < 0 else str(code)
        return ParsingError(
            msg(
                "The reader crashed on this file ({reason}). The file may be damaged or too large: open it in its own "
                "program and save it anew.",
                reason=reason,
            )
        )

    def kill(self) -> None:
        """End the child and what it started (LibreOffice, Tesseract), and remove their temporary files."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._folder.cleanup()
