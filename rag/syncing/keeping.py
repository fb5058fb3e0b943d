"""Keeps the indexes at what the notes folder holds: once in the foreground, or in the background from now on."""

from __future__ import annotations

from collections.abc import Callable

from rag.errors import SettingsError
from rag.messages import Message
from rag.parsing import ParseSettings
from rag.parsing.worker import ParserProcess
from rag.serving import Serving, Shelf
from rag.settings import Paths, Settings
from rag.syncing.indexing import Indexer, Progress
from rag.syncing.passes import Pass, Synchronizer, Work
from rag.syncing.watching import SETTLE, Worker
from rag.types import SyncFailure, SyncResult


class Keeper:
    """One worker, one watcher and one parser process for a library. `settled` is called with the index that answers
    after every pass that left nothing to do."""

    def __init__(
        self, paths: Paths, settings: Callable[[], Settings], shelf: Shelf, settled: Callable[[Serving], None]
    ) -> None:
        self._notes = paths.notes
        self._settings = settings
        self._shelf = shelf
        self._settled = settled
        self._parser = ParserProcess()
        self._worker = Worker(self._work, self.remove_gone)
        self._synchronizer = Synchronizer(paths.notes, paths.data)

    @property
    def watching(self) -> bool:
        """Whether the folder is being followed."""
        return self._worker.running

    @property
    def error(self) -> Message | None:
        """Why the last pass in the background failed, if it did."""
        return self._worker.error

    @property
    def stopping(self) -> bool:
        """Whether the work in hand should be dropped."""
        return self._worker.stopping

    @property
    def work(self) -> Work:
        """What waits and what is in hand."""
        return self._synchronizer.work

    @property
    def unreadable(self) -> tuple[SyncFailure, ...]:
        """The folders and files that could not be taken in."""
        return self._synchronizer.unreadable

    def start(self) -> None:
        """Follow the folder from now on."""
        self._worker.start(self._notes)

    def poke(self) -> None:
        """Ask for a pass in the background, now."""
        self._worker.poke()

    def stop(self) -> None:
        """Drop the work in hand; every file keeps its old or its new version."""
        self._worker.stop()
        self._parser.close()

    def sync(self, progress: Progress | None) -> SyncResult:
        """Run one pass in the foreground; where a successor is being built, complete it and let it take over."""
        serving = self._shelf.prepare()
        if self._shelf.error:
            raise SettingsError(self._shelf.error)
        successor = self._shelf.successor
        indexer = self._indexer(serving) if successor is None else self._indexer(successor, serving)
        result = self._synchronizer.run(indexer, progress).result
        self._shelf.swap()
        self._settled(self._shelf.load())
        return result

    def remove_gone(self) -> None:
        """Remove the passages of deleted files at once."""
        for serving in self._shelf.all():
            self._synchronizer.remove_gone(serving.index)

    def forget(self, path: str) -> None:
        """Forget a file, so that the next pass indexes it anew."""
        for serving in self._shelf.all():
            serving.index.remove(path)
        self.poke()

    def _work(self) -> bool:
        """One pass in the background over the index that answers, then over its successor."""
        if self._shelf.serving is None:
            self._synchronizer.preview(self._shelf.catalog())
        serving = self._shelf.prepare()
        done = self._pass(self._indexer(serving))
        successor = self._shelf.successor
        if done.complete and successor is not None:
            done = self._pass(self._indexer(successor, serving))
        if done.complete:
            self._shelf.swap()
            self._settled(self._shelf.load())
        return done.complete

    def _pass(self, indexer: Indexer) -> Pass:
        return self._synchronizer.run(indexer, settle=SETTLE, interrupted=lambda: self._worker.poked)

    def _indexer(self, target: Serving, donor: Serving | None = None) -> Indexer:
        same_model = donor is not None and donor.index.identity.model == target.index.identity.model
        settings = self._settings()
        return Indexer(
            index=target.index,
            embedder=target.embedder,
            parser=self._parser,
            parse_settings=ParseSettings(settings.ocr_languages, settings.max_file_mb),
            parse_seconds=settings.parse_seconds,
            stopped=lambda: self._worker.stopping,
            donor=donor.index if donor is not None and same_model else None,
            words=target.words,
        )
