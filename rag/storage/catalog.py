"""The catalogue: what one index holds, in SQLite. Its transactions are the moments at which a file changes versions.

Chunks and their texts live here; Chroma holds only vectors. A vector whose id no row names is an orphan of a
crash and is never shown.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag.errors import StoreError
from rag.messages import Message, msg
from rag.retrieval.filtering import passes
from rag.types import Chunk, FileStatus, Filters, Fingerprint, Meta, PageBox, Report

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, state TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL,
    chunks INTEGER NOT NULL, error TEXT, meta TEXT NOT NULL, report TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
    id TEXT PRIMARY KEY, path TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL, heading TEXT NOT NULL,
    page_first INTEGER, page_last INTEGER, boxes TEXT NOT NULL, date TEXT, tokens INTEGER NOT NULL,
    words TEXT NOT NULL, stems TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_by_path ON chunks (path, ordinal);
CREATE TABLE IF NOT EXISTS vectors (id TEXT PRIMARY KEY, path TEXT NOT NULL, chunk TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_by_path ON vectors (path);
CREATE INDEX IF NOT EXISTS vectors_by_digest ON vectors (digest);
CREATE TABLE IF NOT EXISTS words (vector TEXT PRIMARY KEY, path TEXT NOT NULL, chunk TEXT NOT NULL, bits BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS words_by_path ON words (path);
CREATE INDEX IF NOT EXISTS words_by_chunk ON words (chunk);
"""
_CHUNK = (
    "SELECT c.id, path, c.ordinal, c.text, c.heading, c.page_first, c.page_last, c.boxes, c.date, c.tokens, c.words, "
    "json_extract(f.meta, '$.date_source') FROM chunks c JOIN files f USING (path)"
)
_MANY = 500


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector of a chunk: its id in the store, the digest of the text that was embedded, and the words of that text as
    late interaction keeps them."""

    id: str
    chunk: str
    digest: str
    words: bytes = b""


class Catalog:
    """One SQLite file. Safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.RLock()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                msg("The catalogue {file} cannot be opened: {reason}.", file=str(file), reason=str(error))
            ) from error

    def close(self) -> None:
        """Close the file; nothing may be called afterwards."""
        with self._lock:
            self._db.close()

    def about(self, key: str) -> str | None:
        """Return a value that `set_about` stored."""
        rows = self._rows("SELECT value FROM about WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_about(self, key: str, value: str) -> None:
        """Store a fact about the whole index."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return every known file's fingerprint by path."""
        rows = self._rows("SELECT path, size, mtime_ns, sha256 FROM files")
        return {path: Fingerprint(*rest) for path, *rest in rows}

    def files(self) -> list[FileStatus]:
        """Return every known file, by path."""
        rows = self._rows("SELECT path, state, size, chunks, error, meta, report FROM files ORDER BY path")
        return [_file_status(row) for row in rows]

    def counts(self) -> tuple[int, int]:
        """Return how many files and chunks there are."""
        files, chunks = self._rows("SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks)")[0]
        return int(files), int(chunks)

    def replace(
        self,
        status: FileStatus,
        fingerprint: Fingerprint,
        chunks: Sequence[Chunk] = (),
        stems: Sequence[str] = (),
        vectors: Sequence[VectorRow] = (),
    ) -> list[str]:
        """Put a file's new version in the place of its old one, in one transaction.

        Returns the ids of vectors that no row names any more.
        """
        with self._transaction() as db:
            old = {str(row[0]) for row in db.execute("SELECT id FROM vectors WHERE path = ?", (status.path,))}
            self._clear(db, status.path)
            db.execute(
                "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _file_row(status, fingerprint, len(chunks))
            )
            rows = (_chunk_row(chunk, words) for chunk, words in zip(chunks, stems, strict=True))
            db.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)", ((v.id, status.path, v.chunk, v.digest) for v in vectors)
            )
            db.executemany(
                "INSERT INTO words VALUES (?, ?, ?, ?)",
                ((v.id, status.path, v.chunk, v.words) for v in vectors if v.words),
            )
        return sorted(old - {v.id for v in vectors})

    def remove(self, path: str) -> list[str]:
        """Forget a file. Returns the ids of its vectors."""
        with self._transaction() as db:
            old = [str(row[0]) for row in db.execute("SELECT id FROM vectors WHERE path = ?", (path,))]
            self._clear(db, path)
        return old

    def touch(self, path: str, fingerprint: Fingerprint) -> None:
        """Note that a file was written anew with the same bytes."""
        with self._transaction() as db:
            db.execute("UPDATE files SET mtime_ns = ? WHERE path = ?", (fingerprint.mtime_ns, path))

    def chunks_of(self, path: str) -> list[Chunk]:
        """Return a file's chunks in order."""
        return [_chunk(row) for row in self._rows(f"{_CHUNK} WHERE path = ? ORDER BY ordinal", (path,))]

    def chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return those of the chunks that exist, by id."""
        found: dict[str, Chunk] = {}
        for part in _parts(ids):
            rows = self._rows(f"{_CHUNK} WHERE c.id IN ({_marks(part)})", part)
            found.update((row[0], _chunk(row)) for row in rows)
        return found

    def all_chunks(self) -> Iterator[Chunk]:
        """Yield every chunk, in a fixed order."""
        for row in self._rows(f"{_CHUNK} ORDER BY path, ordinal"):
            yield _chunk(row)

    def stems(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield (chunk id, path, stems) of every chunk, in a fixed order."""
        for chunk_id, path, stems in self._rows("SELECT id, path, stems FROM chunks ORDER BY path, ordinal"):
            yield chunk_id, path, stems.split()

    def vector_ids(self) -> dict[str, str]:
        """Return the file of every vector that some chunk needs."""
        return dict(self._rows("SELECT id, path FROM vectors"))

    def vectors_by_digest(self, digests: Sequence[str]) -> dict[str, str]:
        """Return for each digest of an embedded text, where there is one, the id of a vector made from it."""
        found: dict[str, str] = {}
        for part in _parts(digests):
            found.update(self._rows(f"SELECT digest, id FROM vectors WHERE digest IN ({_marks(part)})", part))
        return found

    def words(self, vector_ids: Sequence[str]) -> dict[str, bytes]:
        """Return the words of the embedded texts behind those vectors, where they are kept."""
        found: dict[str, bytes] = {}
        for part in _parts(vector_ids):
            found.update(self._rows(f"SELECT vector, bits FROM words WHERE vector IN ({_marks(part)})", part))
        return found

    def words_of(self, chunk_ids: Sequence[str]) -> dict[str, list[bytes]]:
        """Return, window by window, the words of those chunks for which they are kept."""
        found: dict[str, list[bytes]] = {}
        for part in _parts(chunk_ids):
            query = f"SELECT chunk, bits FROM words WHERE chunk IN ({_marks(part)}) ORDER BY vector"
            for chunk, bits in self._rows(query, part):
                found.setdefault(chunk, []).append(bits)
        return found

    def paths(self, filters: Filters) -> list[str]:
        """Return the files that pass the filters, by path."""
        rows = self._rows("SELECT path, meta FROM files ORDER BY path")
        return [path for path, meta in rows if passes(path, _meta(meta), filters)]

    @staticmethod
    def _clear(db: sqlite3.Connection, path: str) -> None:
        for table in ("words", "vectors", "chunks", "files"):
            db.execute(f"DELETE FROM {table} WHERE path = ?", (path,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _ours():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, query: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock, _ours():
            return self._db.execute(query, tuple(values)).fetchall()


@contextmanager
def _ours() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(msg("The catalogue failed: {reason}.", reason=str(error))) from error


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + _MANY] for start in range(0, len(values), _MANY))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _file_row(status: FileStatus, fingerprint: Fingerprint, chunks: int) -> tuple[Any, ...]:
    error = _json(status.error.to_json()) if status.error else None
    report = {**asdict(status.report), "warnings": [w.to_json() for w in status.report.warnings]}
    where = (fingerprint.size, fingerprint.mtime_ns, fingerprint.sha256)
    return (status.path, status.state, *where, chunks, error, _json(asdict(status.meta)), _json(report))


def _file_status(row: Sequence[Any]) -> FileStatus:
    path, state, size, chunks, error, meta, report = row
    return FileStatus(
        path=path,
        state=state,
        size=size,
        chunks=chunks,
        error=Message.from_json(json.loads(error)) if error else None,
        meta=_meta(meta),
        report=_report(json.loads(report)),
    )


def _meta(text: str) -> Meta:
    return Meta(**_tuples(json.loads(text)))


def _report(data: Mapping[str, Any]) -> Report:
    return Report(**{**_tuples(data), "warnings": tuple(Message.from_json(w) for w in data["warnings"])})


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}


def _chunk_row(chunk: Chunk, stems: str) -> tuple[Any, ...]:
    boxes = [[box.page, *box.bbox] for box in chunk.boxes]
    place = (_json(chunk.heading), chunk.page_first, chunk.page_last, _json(boxes))
    return (chunk.id, chunk.path, chunk.ordinal, chunk.text, *place, chunk.date, chunk.tokens, chunk.words, stems)


def _chunk(row: Sequence[Any]) -> Chunk:
    chunk_id, path, ordinal, text, heading, first, last, boxes, date, tokens, words, source = row
    places = tuple(PageBox(page, (x0, y0, x1, y1)) for page, x0, y0, x1, y1 in json.loads(boxes))
    where = (tuple(json.loads(heading)), first, last, places)
    return Chunk(chunk_id, path, ordinal, text, *where, date, tokens, words, source)
