"""Vectors of the sentences of passages, kept on disk by the passage's text."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.protocols import ModelIdentity, Vectors

log = logging.getLogger(__name__)

_VERSION = 1


class SentenceVectors:
    """What one model made of the sentences of each passage: float16 on disk, some 800 bytes a sentence of 384
    dimensions. It is a cache: what it lacks is made again, and a disk that is full only costs time.
    Safe to call from several threads.
    """

    def __init__(self, folder: Path, identity: ModelIdentity) -> None:
        """Open or make the file of that model in `folder`."""
        key = hashlib.sha256(json.dumps([asdict(identity), _VERSION]).encode()).hexdigest()[:16]
        self._dimension = identity.dimension
        self._lock = threading.Lock()
        self._path = folder / f"sentences-{key}.sqlite"
        self._base = self._open(self._path)

    def get(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return, for those texts that are known, float32 (sentences, dimension), rows of length 1."""
        wanted = {_digest(text): text for text in texts}
        marks = ",".join("?" * len(wanted))
        with self._lock:
            try:
                rows = self._base.execute(f"SELECT digest, parts FROM kept WHERE digest IN ({marks})", list(wanted))
                return {wanted[digest]: self._unpacked(parts) for digest, parts in rows}
            except sqlite3.Error as error:
                log.warning("The kept sentence vectors cannot be read: %s", error)
                return {}

    def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep the vectors of some texts, (sentences, dimension) each."""
        rows = [(_digest(text), v.astype(np.float16).tobytes()) for text, v in vectors.items()]
        with self._lock:
            try:
                with self._base:
                    self._base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
            except sqlite3.Error as error:
                log.warning("Sentence vectors cannot be kept: %s", error)

    def keep_only(self, texts: Sequence[str]) -> None:
        """Forget all texts but these, so that nothing is left of notes that were deleted."""
        kept = {_digest(text) for text in texts}
        with self._lock:
            try:
                with self._base:
                    known = [row[0] for row in self._base.execute("SELECT digest FROM kept")]
                    self._base.executemany("DELETE FROM kept WHERE digest = ?", [(d,) for d in known if d not in kept])
            except sqlite3.Error as error:
                log.warning("Sentence vectors of notes that are gone cannot be deleted: %s", error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def discard(self) -> None:
        """Close the file and delete it."""
        self.close()
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("Sentence vectors of another model cannot be deleted: %s", error)

    def _unpacked(self, parts: bytes) -> Vectors:
        return as_kept(np.frombuffer(parts, np.float16).reshape(-1, self._dimension))

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(path, check_same_thread=False, timeout=10)
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("PRAGMA synchronous=NORMAL")
            base.execute("CREATE TABLE IF NOT EXISTS kept (digest BLOB PRIMARY KEY, parts BLOB) WITHOUT ROWID")
        except (OSError, sqlite3.Error) as error:
            log.warning("Sentence vectors are kept in memory only: %s", error)
            base = sqlite3.connect(":memory:", check_same_thread=False)
            base.execute("CREATE TABLE kept (digest BLOB PRIMARY KEY, parts BLOB) WITHOUT ROWID")
        return base


def as_kept(vectors: npt.NDArray[np.floating[Any]]) -> Vectors:
    """Return vectors as they come back from the disk: rounded to float16, rows of length 1."""
    rounded = vectors.astype(np.float16).astype(np.float32)
    return np.asarray(rounded / np.linalg.norm(rounded, axis=1, keepdims=True), np.float32)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
