"""One index: catalogue, vectors and keyword index that were made by one embedder, kept in step.

A file's new version is put in place in an order that survives a crash at any moment: first its new vectors
(ids that no row names yet), then the catalogue's transaction, then the vectors that nobody needs any more.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

import numpy as np

from rag.protocols import ChunkStore, ModelIdentity, Vectors
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import tokens
from rag.storage.catalog import Catalog, VectorRow
from rag.types import Chunk, FileStatus, Fingerprint


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What made an index. `embedder` is the name in the settings, by which the model can be loaded again."""

    embedder: str
    model: ModelIdentity
    chunker: str

    @property
    def key(self) -> str:
        """Names the index's files and its collection; equal only for equal identities of model and chunker."""
        facts = json.dumps([asdict(self.model), self.chunker], ensure_ascii=False)
        return hashlib.sha256(facts.encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """Return what `from_json` reads back."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild what `to_json` wrote."""
        data = json.loads(text)
        return cls(data["embedder"], ModelIdentity(**data["model"]), data["chunker"])


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a model made of a text: its vector, and its words as late interaction keeps them (none: b"")."""

    vector: Vectors
    words: bytes = b""


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk, and for each of its windows the digest of the embedded text and what the model made of it."""

    chunk: Chunk
    keyword_text: str
    digests: tuple[str, ...]
    windows: tuple[Embedded, ...]


class Index:
    """Readers may search while one writer replaces files."""

    def __init__(self, identity: IndexIdentity, catalog: Catalog, store: ChunkStore) -> None:
        self.identity = identity
        self.catalog = catalog
        self.store = store
        self._writing = threading.Lock()
        self.keywords = KeywordIndex(self.catalog.stems())

    def embedded(self, digests: Sequence[str]) -> dict[str, Embedded]:
        """Return what was already made of texts with these digests."""
        ids = self.catalog.vectors_by_digest(digests)
        stored = self.store.vectors(list(ids.values()))
        words = self.catalog.words(list(ids.values()))
        return {
            digest: Embedded(stored[vector_id], words.get(vector_id, b""))
            for digest, vector_id in ids.items()
            if vector_id in stored
        }

    def replace(self, status: FileStatus, fingerprint: Fingerprint, chunks: Sequence[EmbeddedChunk] = ()) -> None:
        """Put a file's new version in the place of the old one. No chunks: only the file's state is kept."""
        stems = [tokens(c.keyword_text) for c in chunks]
        rows = [
            VectorRow(f"{c.chunk.id}-{n}-{digest[:12]}", c.chunk.id, digest, window.words)
            for c in chunks
            for n, (digest, window) in enumerate(zip(c.digests, c.windows, strict=True))
        ]
        vectors = [window.vector for c in chunks for window in c.windows]
        with self._writing:
            if rows:
                paths = [status.path] * len(rows)
                self.store.add([r.id for r in rows], np.stack(vectors), [r.chunk for r in rows], paths)
            stale = self.catalog.replace(
                status, fingerprint, [c.chunk for c in chunks], [" ".join(s) for s in stems], rows
            )
            self.keywords.replace(status.path, [(c.chunk.id, s) for c, s in zip(chunks, stems, strict=True)])
            self.store.delete(stale)

    def remove(self, path: str) -> None:
        """Forget a file and all of its passages."""
        with self._writing:
            stale = self.catalog.remove(path)
            self.keywords.remove(path)
            self.store.delete(stale)

    def repair(self) -> list[str]:
        """Undo what a crash may have left: delete orphaned vectors, forget files whose vectors are missing.

        Returns the files forgotten; the next scan indexes them anew.
        """
        with self._writing:
            stored, needed = self.store.ids(), self.catalog.vector_ids()
            self.store.delete(sorted(stored - needed.keys()))
            broken = sorted({path for vector_id, path in needed.items() if vector_id not in stored})
        for path in broken:
            self.remove(path)
        return broken


def text_digest(text: str, words: str = "") -> str:
    """Return the digest by which what was made of a text is found again. `words` is the version in which its words
    are kept, if they are."""
    return hashlib.sha256(f"{words}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
