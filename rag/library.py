"""The library: the notes folder, its index and what can be asked of it. Pages and the command line hold only this."""

from __future__ import annotations

import io
import logging
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from rag.answering import FindChat, answer
from rag.answering.history import History
from rag.answering.prompts import standalone
from rag.answering.reply import Reply
from rag.answering.synthesis import OVERVIEW_PASSAGES, wants_breadth
from rag.answering.tidying import printable
from rag.chat.choosing import chat_models, load_chat
from rag.doctor import doctor
from rag.errors import KonspektError, QuestionError, SettingsError, StoreError
from rag.evaluation import evaluate
from rag.messages import msg
from rag.models.embedding import load_embedder
from rag.models.reranking import load_reranker
from rag.protocols import Reranker
from rag.retrieval import passage_text
from rag.retrieval.splitting import Splitter, may_have_parts
from rag.serving import LoadEmbedder, Serving, Shelf
from rag.settings import SENTENCE_RERANKER, Paths, Settings
from rag.syncing.indexing import Progress
from rag.syncing.keeping import Keeper
from rag.syncing.scanning import known_as, on_disk
from rag.syncing.uploads import UploadResult, add_file, throw_away
from rag.types import Check, Chunk, FileStatus, Filters, IndexStatus, Mode, PageBox, SearchResult, SyncResult

log = logging.getLogger(__name__)


class Library:
    """One notes folder and its data folder. Safe to use from several threads; one process at a time."""

    def __init__(self, paths: Paths, settings: Settings, lock: FileLock, embedders: LoadEmbedder) -> None:
        self.paths = paths
        self._settings = settings
        self._lock = lock
        self._shelf = Shelf(paths.data, lambda: self._settings, embedders)
        self._keeper = Keeper(paths, lambda: self._settings, self._shelf, self._tend_sentences)
        self._warming: threading.Thread | None = None
        self._reranking = threading.Lock()
        self._rerankers: tuple[tuple[str, str], Reranker | None] | None = None
        self._prepared: tuple[str, int, bool] | None = None
        self._splitter = Splitter()

    @classmethod
    def open(cls, paths: Paths, settings: Settings | None = None, embedders: LoadEmbedder = load_embedder) -> Self:
        """Open a library, quickly: models load later. `embedders` loads one by its name in the settings.
        Raises `SettingsError`, `StoreError`."""
        _make_folder(paths.data)
        if paths.notes_is_default:
            _make_folder(paths.notes)
        lock = FileLock(paths.data / "lock")
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise StoreError(
                msg(
                    "Konspekt is already running with the data folder {folder}. Use its window, or close it first.",
                    folder=str(paths.data),
                )
            ) from error
        try:
            return cls(paths, settings or Settings.load(paths.data), lock, embedders)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Stop all work and release the data folder."""
        self._keeper.stop()
        if self._warming is not None:
            self._warming.join()
        self._shelf.close()
        self._lock.release()

    @property
    def history(self) -> History:
        """The questions asked so far, with their answers."""
        return History(self.paths.data)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    def change_settings(self, settings: Settings) -> None:
        """Save and apply. Another embedder gets an index of its own, which takes over when it is complete."""
        settings.save(self.paths.data)
        self._settings = settings
        self._keeper.poke()

    def warm_up(self) -> None:
        """Load the models in the background."""
        if self._warming is None:
            self._warming = threading.Thread(target=self._load_quietly, name="konspekt-warm-up", daemon=True)
            self._warming.start()

    def start_watching(self) -> None:
        """Keep the index at what the folder holds, in the background, from now on."""
        self._keeper.start()

    def rescan(self) -> None:
        """Look at the folder again, now."""
        self._keeper.poke()

    def status(self) -> IndexStatus:
        """Return a snapshot; cheap."""
        catalog, work, successor = self._shelf.catalog(), self._keeper.work, self._shelf.successor
        files, chunks = catalog.counts() if catalog else (0, 0)
        serving = self._shelf.serving
        return IndexStatus(
            files=files,
            chunks=chunks,
            queued=len(work.queued),
            active=(work.active,) if work.active else (),
            model=self._shelf.state,
            embedder=serving.index.identity.embedder if serving else self._settings.embedder,
            error=self._shelf.error or self._keeper.error,
            rebuilding=successor.index.catalog.counts()[0] / max(files, 1) if successor else None,
            watching=self._keeper.watching,
            loading=self._shelf.loading,
        )

    def sync(self, progress: Progress | None = None) -> SyncResult:
        """Bring the index to what the folder holds, once, in the foreground. Raises `KonspektError`."""
        return self._keeper.sync(progress)

    def files(self) -> list[FileStatus]:
        """Return every file known, by path, those waiting to be indexed included."""
        catalog = self._shelf.catalog()
        known = {status.path: status for status in catalog.files()} if catalog else {}
        for failure in self._keeper.unreadable:
            known[failure.file] = FileStatus(failure.file, "failed", error=failure.error)
        for path in self._keeper.work.queued:
            known[path] = replace(known.get(path, FileStatus(path, "waiting")), state="waiting", error=None)
        return [known[path] for path in sorted(known)]

    def chunks(self, path: str) -> list[Chunk]:
        """Return a file's passages in order. Raises `QuestionError` for a file that is not known."""
        path = known_as(path)
        catalog = self._shelf.catalog()
        if catalog is None or path not in catalog.fingerprints():
            raise QuestionError(msg("There is no file “{file}” in the index. See “files” for their names.", file=path))
        return catalog.chunks_of(path)

    def neighbours(self, chunk: Chunk) -> list[Chunk]:
        """Return the passages before and after this one in its file."""
        return [c for c in self.chunks(chunk.path) if abs(c.ordinal - chunk.ordinal) == 1]

    def search(
        self,
        query: str,
        k: int | None = None,
        mode: Mode | None = None,
        rerank: bool | None = None,
        filters: Filters | None = None,
        parts: Sequence[str] = (),
    ) -> SearchResult:
        """Find passages. What is not given is taken from the settings; `parts` of the question are found by rules.
        Raises `QuestionError`, `KonspektError`."""
        query = printable(query)
        if not query.strip():
            raise QuestionError(msg("The question is empty. Type what you want to know."))
        k = self._settings.top_k if k is None else k
        if k < 1:
            raise QuestionError(msg("The number of passages must be at least 1."))
        rerank = bool(self._settings.reranker) if rerank is None else rerank
        with self._shelf.use() as serving:
            paths = serving.index.catalog.paths(filters) if filters and filters != Filters() else None
            retriever = serving.retriever.with_reranker(self._reranker(serving)) if rerank else serving.retriever
            return retriever.search(query, k, mode or self._settings.mode, rerank, paths, self._settings.refusal, parts)

    def ask(
        self,
        question: str,
        k: int | None = None,
        use_llm: bool = True,
        filters: Filters | None = None,
        history: Sequence[tuple[str, str]] = (),
    ) -> Reply:
        """Search and answer. The passages are there at once, the text streams as the reply is iterated.
        `history` are earlier questions and answers; they count only where the question refers back. Where `k` is not
        given and a model answers, a summary of the notes takes more passages than the settings say."""
        question = printable(question)
        chat: FindChat | None = None
        if use_llm and not self._settings.quotes_only:
            chat = cache(partial(load_chat, self._settings))
        if k is None and chat is not None and wants_breadth(question) and chat() is not None:
            k = max(self._settings.top_k, OVERVIEW_PASSAGES)
        whole = standalone(question, history)
        model = chat() if chat is not None and may_have_parts(whole) else None
        parts = self._splitter.parts(whole, model) if model is not None else ()
        result = self.search(whole, k, filters=filters, parts=parts)
        return answer(result, question, chat=chat, embedder=self._shelf.load().embedder, history=history)

    def add_file(self, name: str, data: BinaryIO | bytes, replace: bool = False) -> UploadResult:
        """Put an uploaded file into the notes folder. Raises `UploadError`."""
        stream = io.BytesIO(data) if isinstance(data, bytes) else data
        result = add_file(self.paths.notes, name, stream, self._settings.max_file_mb * 1_000_000, replace=replace)
        self._keeper.poke()
        return result

    def delete_file(self, path: str) -> None:
        """Move a file to the trash in the data folder, and its passages out of the index. Raises `UploadError`."""
        throw_away(self.paths.notes, self.paths.data, path)
        self._keeper.remove_gone()

    def retry(self, path: str) -> None:
        """Index a file again, as if it had changed."""
        self._keeper.forget(path)

    def page_image(self, path: str, page: int, boxes: Sequence[PageBox] = (), scale: float = 2.0) -> bytes:
        """Return a page as PNG, with boxes drawn. Raises `ParsingError` where the file has no pages to show."""
        from rag.parsing.page_image import page_image

        return page_image(self.real_path(path), page, boxes, scale)

    def real_path(self, path: str) -> Path:
        """Return where a file lies on disk."""
        return on_disk(self.paths.notes, path)

    def chat_models(self) -> list[str]:
        """Return the chat models of the configured server. Raises `ChatError`."""
        return chat_models(self._settings)

    def evaluate(
        self,
        questions: Sequence[Mapping[str, Any]],
        ks: Sequence[int] = (1, 3, 5),
        modes: Sequence[Mode] = ("hybrid",),
        by: str | None = None,
        rerank: bool | None = None,
    ) -> dict[str, Any]:
        """Measure retrieval on control questions, as the command-line contract says; loading is not timed."""
        with self._shelf.use() as serving:
            serving.retriever.warm_up()
            if self._settings.reranker if rerank is None else rerank:
                self._reranker(serving)

        def search(query: str, k: int, mode: Mode) -> SearchResult:
            return self.search(query, k, mode, rerank)

        return evaluate(search, questions, ks, modes, by)

    def doctor(self) -> list[Check]:
        """Tell what works here and what does not."""
        return doctor(self.paths, self._settings)

    def _reranker(self, serving: Serving) -> Reranker | None:
        """Return the reranker of the settings, or the one that needs no download; loaded once for each index."""
        name = self._settings.reranker or SENTENCE_RERANKER
        key = (name, serving.index.identity.key)
        with self._reranking:
            if self._rerankers is None or self._rerankers[0] != key:
                self._rerankers = (key, load_reranker(name, self.paths.data, serving.sentences))
            return self._rerankers[1]

    def _tend_sentences(self, serving: Serving) -> None:
        """Read sentences ahead of questions, where sentences rerank, and forget those of notes that are gone."""
        version = (serving.index.identity.key, serving.index.keywords.version)
        ahead = self._settings.reranker == SENTENCE_RERANKER
        if self._prepared == (*version, ahead):
            return
        texts = [passage_text(chunk) for chunk in serving.index.catalog.all_chunks()]
        if ahead:
            serving.sentences.prepare(texts, stopped=lambda: self._keeper.stopping)
        serving.sentences.keep_only(texts)
        self._prepared = (*version, ahead)

    def _load_quietly(self) -> None:
        try:
            self._shelf.load().retriever.warm_up()
        except KonspektError:
            # The shelf keeps the message for `status`; the first question raises it again.
            log.warning("The model could not be loaded", exc_info=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SettingsError(
            msg(
                "Cannot write to the folder {folder}: {reason}. Choose another folder or change its permissions.",
                folder=str(folder),
                reason=error.strerror or str(error),
            )
        ) from error
