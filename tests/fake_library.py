"""A library in memory with the methods of `rag.library.Library`: no models, no index, no threads of its own."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from rag.answering.history import History
from rag.answering.phrases import refusal_text
from rag.answering.quotes import Quote
from rag.answering.reply import Reply
from rag.errors import ChatError, KonspektError, QuestionError, UploadError
from rag.messages import msg
from rag.settings import Paths, Settings
from rag.syncing.uploads import UploadResult
from rag.types import (
    Check,
    Chunk,
    Citation,
    FileStatus,
    Filters,
    Hit,
    IndexStatus,
    PageBox,
    Report,
    SearchResult,
)


def picture(width: int = 40, height: int = 56) -> bytes:
    """Return a white PNG."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff" * width for _ in range(height))
    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


@dataclass
class FakeLibrary:
    """Passages are paragraphs, found by words they share with the question by their first five letters.

    `work` makes the answer (default: the first passage, quoted); `problems` are raised by the method they name.
    """

    paths: Paths
    settings: Settings = field(default_factory=Settings)
    models: list[str] | None = None
    work: Callable[[Reply], None] | None = None
    problems: dict[str, KonspektError] = field(default_factory=dict)
    current: IndexStatus | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    retried: list[str] = field(default_factory=list)
    closed: bool = False
    warmed: bool = False
    _files: dict[str, FileStatus] = field(default_factory=dict)
    _chunks: dict[str, list[Chunk]] = field(default_factory=dict)
    _bytes: dict[str, bytes] = field(default_factory=dict)

    def note(self, path: str, text: str, heading: tuple[str, ...] = ("Heading",), pages: int = 0, **about: Any) -> None:
        """Put a file in, as if it had been read; with `pages`, the n-th paragraph stands on page n."""
        self.paths.notes.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        self.paths.notes.joinpath(path).write_text(text, encoding="utf-8")
        chunks = []
        for n, paragraph in enumerate(text.split("\n\n")):
            page = min(n + 1, pages) if pages else None
            boxes = (PageBox(page, (50.0, 50.0, 300.0, 120.0)),) if page else ()
            chunks.append(
                Chunk(f"{path}#{n}", path, n, paragraph, heading, page, page, boxes, tokens=len(paragraph) // 4)
            )
        self._chunks[path] = chunks
        report = Report(pages, tuple(range(1, pages + 1)))
        status = FileStatus(path, "indexed", len(text), len(chunks), report=report)
        self._files[path] = replace(status, **about) if about else status
        if self._files[path].state != "indexed":
            self._chunks[path] = []

    def _may(self, name: str) -> None:
        if name in self.problems:
            raise self.problems[name]

    @property
    def history(self) -> History:
        return History(self.paths.data)

    def change_settings(self, settings: Settings) -> None:
        self._may("change_settings")
        self.settings = settings

    def warm_up(self) -> None:
        self.warmed = True

    def start_watching(self) -> None:
        self._may("start_watching")

    def close(self) -> None:
        self.closed = True

    def rescan(self) -> None:
        self._may("rescan")

    def status(self) -> IndexStatus:
        chunks = sum(len(chunks) for chunks in self._chunks.values())
        now = IndexStatus(len(self._files), chunks, 0, (), "ready", "bundled", watching=True)
        return replace(self.current, files=now.files, chunks=now.chunks) if self.current else now

    def files(self) -> list[FileStatus]:
        return sorted(self._files.values(), key=lambda file: file.path)

    def chunks(self, path: str) -> list[Chunk]:
        return list(self._chunks.get(path, ()))

    def neighbours(self, chunk: Chunk) -> list[Chunk]:
        return [c for c in self.chunks(chunk.path) if abs(c.ordinal - chunk.ordinal) == 1]

    def search(self, query: str, k: int | None = None, filters: Filters | None = None, **_how: Any) -> SearchResult:
        self._may("search")
        if not query.strip():
            raise QuestionError(msg("Type a question first."))
        wanted = {word[:5] for word in re.findall(r"\w{4,}", query.casefold())}
        files = filters.files if filters else ()
        found = []
        for chunk in [c for chunks in self._chunks.values() for c in chunks if not files or c.path in files]:
            words = {word[:5] for word in re.findall(r"\w{4,}", chunk.text.casefold())}
            found.append(
                Hit(chunk, len(words & wanted) / (len(wanted) or 1), 0.8, float(len(words & wanted)), None, 1, 1)
            )
        found = sorted((hit for hit in found if hit.score), key=lambda hit: -hit.score)[: k or self.settings.top_k]
        confidence = found[0].score if found else 0.0
        return SearchResult(query, tuple(found), confidence < self.settings.refusal, confidence, self.settings.refusal)

    def ask(
        self,
        question: str,
        k: int | None = None,
        use_llm: bool = True,
        filters: Filters | None = None,
        history: Sequence[Any] = (),
    ) -> Reply:
        self._may("ask")
        self.asked.append({"question": question, "use_llm": use_llm, "filters": filters, "history": list(history)})
        result = self.search(question, k, filters)
        return Reply(result, question, self._refuse if result.refused else self.work or self._quote)

    def _refuse(self, reply: Reply) -> None:
        reply.add(refusal_text(reply.question, bool(reply.result.hits)))
        reply.update(answered_by="refusal")

    def _quote(self, reply: Reply) -> None:
        chunk = reply.result.hits[0].chunk
        reply.add(f"{chunk.text} [1]")
        quotes = (Quote(1, ((0, len(chunk.text)),), chunk.text, 1.0),)
        reply.update(answered_by="quotes", quotes=quotes, citations=(Citation(1, chunk.path, chunk.page_first),))

    def add_file(self, name: str, data: BinaryIO | bytes, replace: bool = False) -> UploadResult:
        self._may("add_file")
        data = data if isinstance(data, bytes) else data.read()
        if not name.endswith((".md", ".txt", ".pdf")):
            raise UploadError(msg("“{name}” is of a type that cannot be read.", name=name))
        if name in self._bytes and self._bytes[name] == data:
            return UploadResult(name, "already there")
        if name in self._bytes and not replace:
            return UploadResult(name, "conflict")
        state = "replaced" if name in self._bytes else "added"
        self._bytes[name] = data
        self.note(name, BytesIO(data).read().decode("utf-8", "replace"))
        return UploadResult(name, state)

    def delete_file(self, path: str) -> None:
        self._may("delete_file")
        self.deleted.append(path)
        for kept in (self._files, self._chunks, self._bytes):
            kept.pop(path, None)

    def retry(self, path: str) -> None:
        self._may("retry")
        self.retried.append(path)

    def page_image(self, path: str, page: int, boxes: Sequence[Any] = (), scale: float = 2.0) -> bytes:
        self._may("page_image")
        return picture()

    def chat_models(self) -> list[str]:
        if self.models is None:
            raise ChatError(
                msg(
                    "Ollama does not answer at {url}. Start it (open the Ollama app, or run `ollama serve`).",
                    url=self.settings.ollama_url,
                )
            )
        return self.models

    def doctor(self) -> list[Check]:
        return [
            Check("Tesseract", False, msg("not installed"), msg("Install Tesseract to read scans.")),
            Check("Store", True, msg("works")),
        ]


def fake(folder: Path, **about: Any) -> FakeLibrary:
    """Make an empty fake whose folders lie in `folder`."""
    return FakeLibrary(Paths(folder / "notes", folder / "data"), **about)
