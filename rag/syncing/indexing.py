"""One file into the index, or out of it: parse, chunk, embed what is new, replace the old version as one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag.chunking import CHUNKER_VERSION, chunk_document, embedding_texts, keyword_text
from rag.errors import KonspektError, PasswordNeeded
from rag.messages import Message, msg
from rag.parsing import PARSER_VERSION, ParseSettings
from rag.parsing.worker import ParsingStopped
from rag.protocols import Embedder
from rag.retrieval import late_interaction
from rag.retrieval.late_interaction import LateInteraction
from rag.storage.index import Embedded, EmbeddedChunk, Index, IndexIdentity, text_digest
from rag.types import Chunk, FileProgress, FileState, FileStatus, Fingerprint, ParsedDocument

Progress = Callable[[FileProgress], None]

log = logging.getLogger(__name__)


class Stopped(Exception):
    """The work was told to stop; the file keeps its old version."""


class Parser(Protocol):
    """What `rag.parsing.worker.ParserProcess` offers."""

    def parse(
        self,
        path: Path,
        settings: ParseSettings,
        seconds: float,
        progress: Callable[[int, int], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> ParsedDocument:
        """Parse a file or raise `ParsingError`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: its state, and how many of its passages went through the model."""

    status: FileStatus
    embedded: int = 0


def index_identity(name: str, embedder: Embedder) -> IndexIdentity:
    """Return what an index built now with this embedder would be made by."""
    versions = [CHUNKER_VERSION, PARSER_VERSION]
    if LateInteraction.of(embedder):
        versions.append(late_interaction.VERSION)
    return IndexIdentity(name, embedder.identity, "/".join(versions))


@dataclass(frozen=True, slots=True)
class Indexer:
    """Puts files into one index with one embedder. `words` compares words with it, where it can. `donor` is an older
    index whose vectors may be reused: it must come from the same model."""

    index: Index
    embedder: Embedder
    parser: Parser
    parse_settings: ParseSettings
    parse_seconds: float
    stopped: Callable[[], bool] = lambda: False
    donor: Index | None = None
    words: LateInteraction | None = None

    def index_file(self, path: str, real: Path, fingerprint: Fingerprint, progress: Progress) -> Outcome:
        """Index one file. What is wrong with the file becomes its state; what is wrong with the model or
        the store is raised, and the file keeps its old version."""
        status, chunks = self._read(path, real, fingerprint.size, progress)
        if not chunks:
            self.index.replace(status, fingerprint)
            return Outcome(status)
        embedded_chunks, embedded = self._embed(path, chunks, progress)
        progress(FileProgress(path, "storing"))
        self.index.replace(status, fingerprint, embedded_chunks)
        return Outcome(status, embedded)

    def _read(self, path: str, real: Path, size: int, progress: Progress) -> tuple[FileStatus, list[Chunk]]:
        try:
            document = self._parse(path, real, progress)
            chunks = chunk_document(document, path, self.embedder.count_tokens, self.embedder.window)
        except PasswordNeeded as error:
            return FileStatus(path, "password needed", size, error=error.message), []
        except KonspektError as error:
            return FileStatus(path, "failed", size, error=error.message), []
        except Stopped:
            raise
        except Exception as error:
            # A defect of ours that one file brings out must not keep all the others from being indexed.
            log.exception("%s could not be read", path)
            return FileStatus(path, "failed", size, error=_defect(error)), []
        state: FileState = "indexed" if chunks else "no text"
        reason = None if chunks else _no_text(document)
        return FileStatus(path, state, size, len(chunks), reason, document.meta, document.report), chunks

    def _parse(self, path: str, real: Path, progress: Progress) -> ParsedDocument:
        progress(FileProgress(path, "parsing"))

        def pages(done: int, total: int) -> None:
            progress(FileProgress(path, "parsing", done, total))

        try:
            return self.parser.parse(real, self.parse_settings, self.parse_seconds, pages, self.stopped)
        except ParsingStopped as error:
            raise Stopped from error

    def _embed(self, path: str, chunks: Sequence[Chunk], progress: Progress) -> tuple[list[EmbeddedChunk], int]:
        texts = [embedding_texts(chunk, self.embedder.count_tokens, self.embedder.window) for chunk in chunks]
        kept = late_interaction.VERSION if self.words else ""
        digests = [tuple(text_digest(text, kept) for text in windows) for windows in texts]
        by_digest = {d: t for ds, ts in zip(digests, texts, strict=True) for d, t in zip(ds, ts, strict=True)}
        known = self._known(list(by_digest))
        missing = [digest for digest in by_digest if digest not in known]

        def count(done: int) -> None:
            progress(FileProgress(path, "embedding", done, len(missing)))
            if self.stopped():
                raise Stopped

        if missing:
            count(0)
            known.update(zip(missing, self._made([by_digest[digest] for digest in missing], count), strict=True))
        fresh = set(missing)
        new = sum(not fresh.isdisjoint(ds) for ds in digests)
        chunks_with_vectors = [
            EmbeddedChunk(chunk, keyword_text(chunk), ds, tuple(known[d] for d in ds))
            for chunk, ds in zip(chunks, digests, strict=True)
        ]
        return chunks_with_vectors, new

    def _made(self, texts: Sequence[str], progress: Callable[[int], None]) -> list[Embedded]:
        if self.words is None:
            return [Embedded(vector) for vector in self.embedder.embed_passages(texts, progress)]
        return [Embedded(vector, words) for vector, words in zip(*self.words.embed(texts, progress), strict=True)]

    def _known(self, digests: Sequence[str]) -> dict[str, Embedded]:
        known = self.index.embedded(digests)
        if self.donor and len(known) < len(digests):
            known |= self.donor.embedded([digest for digest in digests if digest not in known])
        return known


def _defect(error: Exception) -> Message:
    return msg("Konspekt failed on this file, please report it: {reason}.", reason=repr(error))


def _no_text(document: ParsedDocument) -> Message:
    if document.report.warnings:
        return document.report.warnings[0]
    return msg("No readable text in this file.")
