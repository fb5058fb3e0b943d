"""The vector store: one Chroma collection per index identity, cosine distance, vectors and ids only.

Texts stay in the catalogue: Chroma adds vectors three times as fast without documents and needs a fifth of the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from rag.errors import StoreError
from rag.messages import msg
from rag.protocols import Vectors

# Chroma's defaults (ef_search 100) lose 2-3 % of the true top 100; these lose next to none.
_HNSW = {"space": "cosine", "ef_construction": 200, "ef_search": 400, "max_neighbors": 32}


def open_client(folder: Path, url: str = "") -> Any:
    """Return a Chroma client: embedded under `folder`, or that of the server at `url`. Telemetry is off."""
    import chromadb
    from chromadb.config import Settings as ChromaSettings

    quiet = ChromaSettings(anonymized_telemetry=False)
    try:
        if not url:
            folder.mkdir(parents=True, exist_ok=True)
            return chromadb.PersistentClient(path=str(folder), settings=quiet)
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=parts.hostname or url, port=port, ssl=secure, settings=quiet)
    except Exception as error:
        where = url or str(folder)
        raise StoreError(
            msg("The vector store at {where} cannot be opened: {reason}.", where=where, reason=str(error))
        ) from error


class ChromaStore:
    """Implements `ChunkStore` over one collection, made on first use."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._collection = self._call(
            client.get_or_create_collection, name=name, configuration={"hnsw": _HNSW}, embedding_function=None
        )
        self._batch = int(client.get_max_batch_size())

    def add(self, ids: Sequence[str], vectors: Vectors, chunk_ids: Sequence[str], paths: Sequence[str]) -> None:
        """Add or replace vectors (n, dimension), in batches within the client's own limit."""
        metadatas = [{"chunk": c, "file": p} for c, p in zip(chunk_ids, paths, strict=True)]
        for part in _slices(len(ids), self._batch):
            self._call(
                self._collection.upsert, ids=list(ids[part]), embeddings=vectors[part], metadatas=metadatas[part]
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; unknown ids are ignored."""
        for part in _slices(len(ids), self._batch):
            self._call(self._collection.delete, ids=list(ids[part]))

    def query(self, vector: Vectors, n: int, paths: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """Return at most n (chunk id, best cosine), best first. `paths` restricts to those files."""
        if n < 1 or (paths is not None and not paths):
            return []
        where = None if paths is None else {"file": {"$in": list(paths)}}
        wanted = n
        while True:
            found, searched = self._nearest(vector, wanted, where)
            best = _best_by_chunk(found)
            if len(best) >= n or searched < wanted:
                return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:n]
            wanted *= 2

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the stored vectors of those ids that exist."""
        found: dict[str, Vectors] = {}
        for part in _slices(len(ids), self._batch):
            rows = self._call(self._collection.get, ids=list(ids[part]), include=["embeddings"])
            found.update((i, np.asarray(v, np.float32)) for i, v in zip(rows["ids"], rows["embeddings"], strict=True))
        return found

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors, (n, dimension), of each of those chunks that has any; in the order of their ids."""
        if not chunk_ids:
            return {}
        where = {"chunk": {"$in": list(chunk_ids)}}
        rows = self._call(self._collection.get, where=where, include=["embeddings", "metadatas"])
        found: dict[str, list[Vectors]] = {}
        for _, vector, about in sorted(
            zip(rows["ids"], rows["embeddings"], rows["metadatas"], strict=True), key=lambda row: str(row[0])
        ):
            if about is None or vector is None:
                continue  # deleted while Chroma read
            found.setdefault(str(about["chunk"]), []).append(np.asarray(vector, np.float32))
        return {chunk_id: np.stack(vectors) for chunk_id, vectors in found.items()}

    def ids(self) -> set[str]:
        """Return the ids of all vectors."""
        return set(self._call(self._collection.get, include=[])["ids"])

    def drop(self) -> None:
        """Delete the whole collection."""
        self._call(self._client.delete_collection, self._name)

    def _nearest(self, vector: Vectors, n: int, where: dict[str, Any] | None) -> tuple[list[tuple[str, float]], int]:
        """Return what is nearest, and how many vectors came up. One that is deleted while Chroma searches comes up
        without metadata."""
        rows = self._call(
            self._collection.query,
            query_embeddings=np.asarray(vector, np.float32)[None, :],
            n_results=n,
            where=where,
            include=["metadatas", "distances"],
        )
        pairs = list(zip(rows["metadatas"][0], rows["distances"][0], strict=True))
        return [(str(meta["chunk"]), 1.0 - float(distance)) for meta, distance in pairs if meta], len(pairs)

    def _call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise StoreError(msg("The vector store failed: {reason}.", reason=str(error))) from error


def _slices(total: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, total, size))


def _best_by_chunk(found: Iterable[tuple[str, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for chunk_id, cosine in found:
        best[chunk_id] = max(cosine, best.get(chunk_id, -1.0))
    return best
