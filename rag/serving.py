"""Which index answers, with which model: loading, building a successor beside it, and the swap."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rag.errors import EmbeddingError, KonspektError
from rag.messages import Message
from rag.models.sentence_reader import SentenceReader
from rag.protocols import Embedder, ModelIdentity
from rag.retrieval import Retriever
from rag.retrieval.late_interaction import LateInteraction
from rag.settings import Settings
from rag.storage.catalog import Catalog
from rag.storage.index import Index, IndexIdentity
from rag.storage.indexes import Indexes
from rag.syncing.indexing import index_identity

ModelState = Literal["idle", "loading", "ready", "failed"]
LoadEmbedder = Callable[[str, Path, str, Callable[[Message], None] | None], Embedder]


@dataclass(eq=False)
class Serving:
    """An index, the embedder that made it and the retriever over both."""

    index: Index
    embedder: Embedder
    retriever: Retriever
    sentences: SentenceReader
    words: LateInteraction | None = None
    users: int = field(default=0)


class Shelf:
    """Holds the index that answers and, while the settings ask for another model, its successor.

    The old index answers with its own model until the successor is complete; then they swap.
    """

    def __init__(self, data: Path, settings: Callable[[], Settings], embedders: LoadEmbedder) -> None:
        self._data = data
        self._load_embedder = embedders
        self._settings = settings
        self._indexes = Indexes(data, settings().chroma_url)
        self._loading = threading.Lock()
        self._users = threading.Condition()
        self._serving: Serving | None = None
        self._successor: Serving | None = None
        self._wanted: str | None = None
        self._embedders: dict[str, Embedder] = {}
        self._sentences: dict[ModelIdentity, SentenceReader] = {}
        self.state: ModelState = "idle"
        self.error: Message | None = None
        self.loading: Message | None = None

    @property
    def serving(self) -> Serving | None:
        """The index that answers, once it is loaded."""
        return self._serving

    @property
    def successor(self) -> Serving | None:
        """The index being built to take over, if any."""
        return self._successor

    def catalog(self) -> Catalog | None:
        """Return the catalogue of the index that answers, without loading a model."""
        serving = self._serving
        return serving.index.catalog if serving else self._indexes.active_catalog()

    def all(self) -> list[Serving]:
        """Return every index that must follow the folder."""
        return [s for s in (self._serving, self._successor) if s is not None]

    def load(self) -> Serving:
        """Return the index that answers; the first call loads its model. Raises `KonspektError`."""
        return self._serving or self.prepare()

    def prepare(self) -> Serving:
        """Do what the settings ask for: load their model, and open its index as the one that answers or as the
        successor of the one that does. Raises `KonspektError` only where no index can answer."""
        with self._loading:
            if self._serving is None or self._wanted != self._settings().embedder:
                self._load(self._settings().embedder)
            assert self._serving is not None
            return self._serving

    @contextmanager
    def use(self) -> Iterator[Serving]:
        """Keep the index that answers from being discarded while it is searched."""
        self.load()
        with self._users:
            serving = self._serving
            assert serving is not None
            serving.users += 1
        try:
            yield serving
        finally:
            with self._users:
                serving.users -= 1
                self._users.notify_all()

    def swap(self) -> None:
        """Let the successor take over, and delete the old index once nobody searches it."""
        with self._loading:
            new, old = self._successor, self._serving
            if new is None or old is None:
                return
            self._indexes.activate(new.index.identity)
            with self._users:
                self._serving, self._successor = new, None
                self._users.wait_for(lambda: old.users == 0)
            self._sweep()

    def close(self) -> None:
        """Close the catalogues."""
        with self._loading:
            for sentences in self._sentences.values():
                sentences.close()
            self._serving = self._successor = None
            self._indexes.close()

    def _load(self, name: str) -> None:
        self.state = "loading"
        try:
            self._open(name)
        except KonspektError as error:
            self.error = error.message
            self.state = "failed"
            if self._serving is None:
                raise
        else:
            self.state, self.error = "ready", None
        finally:
            self.loading = None
        self._wanted = name

    def _open(self, name: str) -> None:
        active = self._indexes.active()
        if self._serving is None and active is not None and active.embedder != name:
            self._serving = self._revive(active)
        embedder = self._embedder(name)
        identity = index_identity(name, embedder)
        if self._serving is None and active is not None and active.key != identity.key:
            self._serving = self._revive(active)
        if self._serving is None:
            self._serving = self._make(identity, embedder)
            self._indexes.activate(identity)
        elif self._serving.index.identity.key != identity.key:
            self._successor = self._make(identity, embedder)
        else:
            self._successor = None
        self._sweep()

    def _sweep(self) -> None:
        """Let go of the indexes, models and sentences that nothing answers from and nothing is to."""
        kept = self.all()
        self._indexes.sweep([serving.index.identity.key for serving in kept])
        self._embedders = {serving.index.identity.embedder: serving.embedder for serving in kept}
        for identity in self._sentences.keys() - {serving.index.identity.model for serving in kept}:
            self._sentences.pop(identity).discard()

    def _revive(self, identity: IndexIdentity) -> Serving | None:
        """Open an index with the model that made it; `None` where that model is no longer to be had."""
        try:
            embedder = self._embedder(identity.embedder)
        except EmbeddingError:
            return None
        return self._make(identity, embedder) if embedder.identity == identity.model else None

    def _make(self, identity: IndexIdentity, embedder: Embedder) -> Serving:
        index = self._indexes.open(identity)
        words = LateInteraction.of(embedder)
        late = (words, index.catalog.words_of) if words else None
        if embedder.identity not in self._sentences:
            self._sentences[embedder.identity] = SentenceReader(embedder, self._data / "sentences")
        sentences = self._sentences[embedder.identity]
        retriever = Retriever(
            embedder, index.store, index.keywords, index.catalog.chunks, late=late, nearness=sentences.nearness
        )
        return Serving(index, embedder, retriever, sentences, words)

    def _embedder(self, name: str) -> Embedder:
        if name not in self._embedders:
            self._embedders[name] = self._load_embedder(name, self._data, self._settings().ollama_url, self._tell)
        return self._embedders[name]

    def _tell(self, message: Message) -> None:
        self.loading = message
