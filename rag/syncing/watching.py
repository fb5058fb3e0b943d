"""Folder events into passes: one observer and one worker thread per library."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler

from rag.errors import KonspektError, SettingsError
from rag.messages import Message, msg

SETTLE = 1.0
_COALESCE = 0.3
_RESCAN = 60.0
_AFTER_FAILURE = 15.0

log = logging.getLogger(__name__)


class _Handler(FileSystemEventHandler):
    def __init__(self, changed: threading.Event, removed: threading.Event) -> None:
        self._changed = changed
        self._removed = removed

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("deleted", "moved"):
            self._removed.set()
        if event.event_type not in ("opened", "closed_no_write"):
            self._changed.set()


class Worker:
    """Runs `work` in a thread when poked, again soon while it returns false, and once a minute all the same:
    some network drives send no events. `removed` runs in a second thread soon after something was deleted or
    moved, so that a deletion need not wait until the work in hand is done."""

    def __init__(self, work: Callable[[], bool], removed: Callable[[], None]) -> None:
        self._work = work
        self._removed = removed
        self._poked = threading.Event()
        self._removal = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._folder = Path()
        self._observer: Any = None
        self.error: Message | None = None

    @property
    def running(self) -> bool:
        """Whether the thread is alive."""
        return any(thread.is_alive() for thread in self._threads)

    @property
    def poked(self) -> bool:
        """Whether something has happened that the pass under way may not have seen."""
        return self._poked.is_set()

    @property
    def stopping(self) -> bool:
        """Whether the work should be dropped."""
        return self._stopping.is_set()

    def start(self, folder: Path) -> None:
        """Watch `folder` and work. Once; a second call does nothing."""
        if self.running:
            return
        self._folder = folder
        self._stopping.clear()
        self._poked.set()
        self._threads = [
            threading.Thread(target=self._loop, name="konspekt-indexer", daemon=True),
            threading.Thread(target=self._remove, name="konspekt-remover", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def poke(self) -> None:
        """Ask for a pass, now."""
        self._poked.set()

    def stop(self) -> None:
        """Stop watching and wait until the work in hand has been dropped."""
        self._stopping.set()
        self._poked.set()
        self._removal.set()
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _watch(self) -> None:
        """Watch the folder, as soon as there is one."""
        from watchdog.observers import Observer

        if self._observer is not None or not self._folder.is_dir():
            return
        observer = Observer()
        try:
            observer.schedule(_Handler(self._poked, self._removal), str(self._folder), recursive=True)
            observer.start()
        except OSError as error:
            # The minute's rescan finds changes all the same; Linux's limit on watches is the usual cause.
            log.warning("The notes folder cannot be watched: %s. It is looked at once a minute.", error)
            return
        self._observer = observer

    def _remove(self) -> None:
        while not self._stopping.is_set():
            self._removal.wait()
            # Deleting a folder sends an event for each file: one look at the folder serves them all.
            self._stopping.wait(_COALESCE)
            self._removal.clear()
            if not self._stopping.is_set():
                try:
                    self._removed()
                except KonspektError as error:
                    log.warning("%s", error)

    def _loop(self) -> None:
        wait = _RESCAN
        while not self._stopping.is_set():
            self._poked.wait(wait)
            if self._stopping.is_set():
                return
            self._poked.clear()
            self._watch()
            wait = self._attempt()

    def _attempt(self) -> float:
        try:
            complete = self._work()
        except SettingsError as error:
            self.error = error.message
            return _RESCAN
        except KonspektError as error:
            self.error = error.message
            return _AFTER_FAILURE
        except Exception as error:
            # A defect of ours must not end the thread unseen: it is shown, logged and tried again.
            log.exception("The indexer failed")
            self.error = msg("An unexpected error while indexing: {reason}. It is tried again.", reason=repr(error))
            return _AFTER_FAILURE
        self.error = None
        return _RESCAN if complete else SETTLE
