"""Fakes for the seams: quick, deterministic, and held to the same contracts as the real parts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from rag.protocols import ModelIdentity, Vectors
from rag.retrieval.words import tokens


class WordEmbedder:
    """A bag of stems, each a fixed random direction: texts that share words are near each other."""

    def __init__(self, name: str = "words", dimension: int = 64, window: int = 200) -> None:
        self._identity = ModelIdentity(name, hashlib.sha256(name.encode()).hexdigest()[:12], dimension, "", "")
        self._window = window
        self.embedded: list[str] = []

    @property
    def identity(self) -> ModelIdentity:
        return self._identity

    @property
    def window(self) -> int:
        return self._window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        self.embedded.extend(texts)
        if progress:
            progress(len(texts))
        return np.stack([self._vector(text) for text in texts])

    def embed_question(self, text: str) -> Vectors:
        return self._vector(text)

    def _vector(self, text: str) -> Vectors:
        total = np.full(self._identity.dimension, 1e-3)
        for word in tokens(text):
            seed = int.from_bytes(hashlib.sha256((self._identity.name + word).encode()).digest()[:8])
            total += np.random.default_rng(seed).standard_normal(self._identity.dimension)
        return np.asarray(total / np.linalg.norm(total), np.float32)


class MemoryStore:
    """A `ChunkStore` in a dictionary, exact."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[Vectors, str, str]] = {}

    def add(self, ids: Sequence[str], vectors: Vectors, chunk_ids: Sequence[str], paths: Sequence[str]) -> None:
        for row in zip(ids, vectors, chunk_ids, paths, strict=True):
            self.rows[row[0]] = (np.asarray(row[1], np.float32), row[2], row[3])

    def delete(self, ids: Sequence[str]) -> None:
        for vector_id in ids:
            self.rows.pop(vector_id, None)

    def query(self, vector: Vectors, n: int, paths: Sequence[str] | None = None) -> list[tuple[str, float]]:
        best: dict[str, float] = {}
        for stored, chunk, path in self.rows.values():
            if paths is None or path in paths:
                best[chunk] = max(float(stored @ vector), best.get(chunk, -1.0))
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[: max(n, 0)]

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        return {vector_id: self.rows[vector_id][0] for vector_id in ids if vector_id in self.rows}

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, Vectors]:
        found: dict[str, list[Vectors]] = {}
        for vector_id in sorted(self.rows):
            stored, chunk, _ = self.rows[vector_id]
            if chunk in chunk_ids:
                found.setdefault(chunk, []).append(stored)
        return {chunk: np.stack(vectors) for chunk, vectors in found.items()}

    def ids(self) -> set[str]:
        return set(self.rows)
