"""A pass over the notes folder: what changed goes into the index, what is gone leaves it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rag.errors import SettingsError
from rag.storage.catalog import Catalog
from rag.storage.index import Index
from rag.syncing.indexing import Indexer, Progress, Stopped
from rag.syncing.scanning import Found, Plan, Scan, gone, plan, scan
from rag.types import FileProgress, SyncFailure, SyncResult


@dataclass(frozen=True, slots=True)
class Work:
    """A snapshot of a pass: the files that wait for it, and the one in hand."""

    queued: tuple[str, ...] = ()
    active: FileProgress | None = None


@dataclass(frozen=True, slots=True)
class Pass:
    """How a pass ended. `complete` is false when files were left for the next one: still growing,
    or because the folder changed meanwhile."""

    result: SyncResult
    complete: bool


class Synchronizer:
    """Runs passes, one at a time, and tells how they go."""

    def __init__(self, notes: Path, excluded: Path) -> None:
        self._notes = notes
        self._excluded = excluded
        self._running = threading.Lock()
        self.work = Work()
        self._unreadable: tuple[SyncFailure, ...] | None = None

    @property
    def unreadable(self) -> tuple[SyncFailure, ...]:
        """What the last pass could not take in; before the first one, what a look at the folder tells."""
        if self._unreadable is not None:
            return self._unreadable
        try:
            return scan(self._notes, self._excluded).unreadable
        except SettingsError:
            return ()

    def run(
        self,
        indexer: Indexer,
        progress: Progress | None = None,
        settle: float = 0.0,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Pass:
        """Bring the index to what the folder holds.

        Files written within the last `settle` seconds are left for the next pass, since they may still grow.
        `interrupted` is asked between files: true ends the pass early, for a new look at the folder.
        Raises `SettingsError` where the folder is missing, `EmbeddingError` and `StoreError` as they come.
        """
        with self._running:
            try:
                return self._run(indexer, progress or _ignore, settle, interrupted)
            finally:
                self.work = Work()

    def preview(self, catalog: Catalog | None) -> None:
        """Tell which files wait for the first pass, while the model still loads."""
        known = catalog.fingerprints() if catalog else {}
        scanned = scan(self._notes, self._excluded)
        self._unreadable = scanned.unreadable
        self.work = Work(tuple(sorted(scanned.files.keys() - known.keys())))

    def remove_gone(self, index: Index) -> None:
        """Remove deleted files at once, while a pass may be busy with another file.

        A file that may merely have been moved (an unknown one has its size) is left to the next pass.
        """
        known = index.catalog.fingerprints()
        scanned = scan(self._notes, self._excluded)
        sizes = {found.size for path, found in scanned.files.items() if path not in known}
        for path in gone(scanned, known):
            if known[path].size not in sizes:
                index.remove(path)

    def _run(self, indexer: Indexer, progress: Progress, settle: float, interrupted: Callable[[], bool]) -> Pass:
        start = time.monotonic()
        scanned = scan(self._notes, self._excluded)
        self._unreadable = scanned.unreadable
        growing = _young(scanned, settle)
        todo = plan(scanned, indexer.index.catalog.fingerprints(), growing)
        self._apply_removals(indexer, todo)
        indexed, embedded, cut_short = self._index(indexer, todo, scanned.files, progress, interrupted)
        if not cut_short:
            for path in todo.removed_last:
                indexer.index.remove(path)
        result = self._result(indexer, scanned, indexed, embedded, len(todo.removed_first) + len(todo.removed_last))
        complete = not (growing or cut_short)
        return Pass(replace(result, seconds=round(time.monotonic() - start, 3)), complete)

    def _apply_removals(self, indexer: Indexer, todo: Plan) -> None:
        for path in todo.removed_first:
            indexer.index.remove(path)
        for path, fingerprint in todo.touched:
            indexer.index.catalog.touch(path, fingerprint)

    def _index(
        self,
        indexer: Indexer,
        todo: Plan,
        files: Mapping[str, Found],
        progress: Progress,
        interrupted: Callable[[], bool],
    ) -> tuple[int, int, bool]:
        indexed = embedded = 0
        names = [path for path, _ in todo.changed]
        for n, (path, fingerprint) in enumerate(todo.changed):
            if n and interrupted():
                return indexed, embedded, True
            self.work = Work(tuple(names[n:]), FileProgress(path, "queued"))
            try:
                outcome = indexer.index_file(path, files[path].real, fingerprint, self._watched(progress))
            except Stopped:
                return indexed, embedded, True
            indexed += outcome.status.state == "indexed"
            embedded += outcome.embedded
        return indexed, embedded, False

    def _watched(self, progress: Progress) -> Progress:
        def tell(now: FileProgress) -> None:
            self.work = Work(self.work.queued, now)
            progress(now)

        return tell

    @staticmethod
    def _result(indexer: Indexer, scanned: Scan, indexed: int, embedded: int, removed: int) -> SyncResult:
        statuses = indexer.index.catalog.files()
        failures = [SyncFailure(s.path, s.error) for s in statuses if s.error is not None and s.path in scanned.files]
        unchanged = sum(s.state == "indexed" for s in statuses) - indexed
        _, chunks = indexer.index.catalog.counts()
        failed = (*failures, *scanned.unreadable)
        return SyncResult(len(scanned.files), indexed, unchanged, removed, failed, chunks, 0.0, embedded)


def _ignore(_: FileProgress) -> None:
    return None


def _young(scanned: Scan, seconds: float) -> set[str]:
    """Return the files written within the last `seconds`."""
    now = time.time_ns()
    return {path for path, found in scanned.files.items() if 0 <= now - found.mtime_ns < seconds * 1e9}
