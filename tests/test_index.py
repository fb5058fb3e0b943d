"""One index: a file's versions change as one, and a crash at any moment leaves the old or the new one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.messages import msg
from rag.storage.catalog import Catalog
from rag.storage.index import Embedded, EmbeddedChunk, Index, IndexIdentity, text_digest
from rag.types import Chunk, FileStatus, Filters, Fingerprint, Meta, PageBox, Report
from tests.fakes import MemoryStore, WordEmbedder

EMBEDDER = WordEmbedder()
IDENTITY = IndexIdentity("words", EMBEDDER.identity, "1")


class Crash(BaseException):
    """The process dies here."""


def embedded(path: str, *texts: str) -> list[EmbeddedChunk]:
    chunks = [Chunk(f"{path}#{text}", path, n, text) for n, text in enumerate(texts)]
    windows = [Embedded(EMBEDDER.embed_question(text), text.encode()) for text in texts]
    return [
        EmbeddedChunk(chunk, chunk.text, (text_digest(chunk.text),), (window,))
        for chunk, window in zip(chunks, windows, strict=True)
    ]


def put(index: Index, path: str, *texts: str) -> None:
    index.replace(FileStatus(path, "indexed"), Fingerprint(1, 1, " ".join(texts)), embedded(path, *texts))


def found(index: Index, question: str) -> list[str]:
    """Return the texts that a search by meaning and one by words would show."""
    ids = [chunk for chunk, _ in index.store.query(EMBEDDER.embed_question(question), 10)]
    ids += [chunk for chunk, _ in index.keywords.query([question], 10)]
    return sorted({chunk.text for chunk in index.catalog.chunks(ids).values()})


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def reopen(tmp_path: Path, store: MemoryStore) -> Callable[[], Index]:
    return lambda: Index(IDENTITY, Catalog(tmp_path / "a.sqlite3"), store)


def test_everything_about_a_file_survives_a_restart(reopen: Callable[[], Index]) -> None:
    boxes = (PageBox(3, (1.5, 2.0, 30.0, 40.0)),)
    chunk = Chunk("id", "a.pdf", 0, "текст", ("Глава 1", "§ 2"), 3, 4, boxes, "2024-09-16", 7, "слова", "properties")
    report = Report(pages=5, text_pages=(1, 2), dropped={"header": 3}, warnings=(msg("{n} pages", n=2),))
    meta = Meta("Заглавие", "Автор", "2024", "properties", "ru", ("физика",), ("i", "ii"))
    status = FileStatus("a.pdf", "indexed", 10, 1, None, meta, report)
    vector = EMBEDDER.embed_question("текст")
    reopen().replace(status, Fingerprint(10, 20, "s"), [EmbeddedChunk(chunk, "текст", ("d",), (Embedded(vector),))])
    again = reopen()
    assert again.catalog.files() == [status]
    assert again.catalog.chunks_of("a.pdf") == [chunk]
    assert again.catalog.fingerprints() == {"a.pdf": Fingerprint(10, 20, "s")}


def test_a_new_version_replaces_the_old_one_whole(reopen: Callable[[], Index]) -> None:
    index = reopen()
    put(index, "a.md", "старое", "общее")
    put(index, "a.md", "общее", "новое")
    assert found(index, "старое") == ["новое", "общее"]
    assert len(index.store.ids()) == 2


def test_a_removed_file_is_not_found_and_leaves_no_vectors(reopen: Callable[[], Index]) -> None:
    index = reopen()
    put(index, "a.md", "слово")
    index.remove("a.md")
    assert (found(index, "слово"), index.store.ids(), index.catalog.files()) == ([], set(), [])


def test_a_file_that_failed_has_a_row_and_no_passages(reopen: Callable[[], Index]) -> None:
    index = reopen()
    put(index, "a.md", "слово")
    status = FileStatus("a.md", "failed", 1, error=msg("It is broken."))
    index.replace(status, Fingerprint(1, 1, "x"))
    assert index.catalog.files() == [status]
    assert found(index, "слово") == []


@pytest.mark.parametrize("step", ["add", "catalog", "delete"])
def test_a_crash_leaves_the_old_or_the_new_version(
    step: str, reopen: Callable[[], Index], store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = reopen()
    put(index, "a.md", "старое")
    target: Any = index.catalog if step == "catalog" else store
    name = "replace" if step == "catalog" else step

    def die(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(target, name, die)
        with pytest.raises(Crash):
            put(index, "a.md", "новое")
    after = reopen()
    after.repair()
    expected = ["новое"] if step == "delete" else ["старое"]
    assert found(after, "новое") == expected
    assert len(store.ids()) == 1


def test_a_crash_in_the_middle_of_adding_leaves_no_orphans(reopen: Callable[[], Index], store: MemoryStore) -> None:
    put(reopen(), "a.md", "слово")
    store.add(["orphan"], EMBEDDER.embed_passages(["сирота"]), ["nobody"], ["a.md"])
    index = reopen()
    assert index.repair() == []
    assert "orphan" not in store.ids()
    assert found(index, "слово") == ["слово"]


def test_a_file_whose_vectors_are_lost_is_forgotten_so_that_it_is_indexed_anew(
    reopen: Callable[[], Index], store: MemoryStore
) -> None:
    index = reopen()
    put(index, "a.md", "слово")
    put(index, "b.md", "другое")
    store.delete([vector for vector, path in index.catalog.vector_ids().items() if path == "a.md"])
    assert index.repair() == ["a.md"]
    assert list(index.catalog.fingerprints()) == ["b.md"]


def test_vectors_and_words_are_found_again_by_the_text_they_were_made_from(reopen: Callable[[], Index]) -> None:
    index = reopen()
    put(index, "a.md", "слово")
    known = index.embedded([text_digest("слово"), text_digest("нет")])
    assert list(known) == [text_digest("слово")]
    assert known[text_digest("слово")].words == "слово".encode()
    assert (known[text_digest("слово")].vector == EMBEDDER.embed_question("слово")).all()


def test_a_text_whose_words_are_kept_otherwise_is_read_anew(reopen: Callable[[], Index]) -> None:
    index = reopen()
    put(index, "a.md", "слово")
    assert index.embedded([text_digest("слово", "2")]) == {}


def test_words_are_kept_window_by_window_and_go_with_their_file(reopen: Callable[[], Index]) -> None:
    index = reopen()
    chunk = Chunk("id", "a.md", 0, "один два")
    windows = (Embedded(EMBEDDER.embed_question("один"), b"1"), Embedded(EMBEDDER.embed_question("два"), b"2"))
    status = FileStatus("a.md", "indexed")
    index.replace(status, Fingerprint(1, 1, "s"), [EmbeddedChunk(chunk, "один два", ("d", "e"), windows)])
    assert reopen().catalog.words_of(["id", "unknown"]) == {"id": [b"1", b"2"]}
    put(index, "a.md", "другое")
    assert index.catalog.words_of(["id"]) == {}
    index.remove("a.md")
    assert index.catalog.words_of(["a.md#другое"]) == {}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), ["other.md", "physics/a.md"]),
        (Filters(folders=("physics",)), ["physics/a.md"]),
        (Filters(files=("other.md",)), ["other.md"]),
        (Filters(tags=("ОПТИКА",)), ["physics/a.md"]),
        (Filters(languages=("en",)), ["other.md"]),
        (Filters(date_from="2024-09"), ["physics/a.md"]),
        (Filters(date_to="2023"), ["other.md"]),
        (Filters(date_from="2024-09-16", date_to="2024-09-16"), ["physics/a.md"]),
        (Filters(folders=("phys",)), []),
    ],
)
def test_files_can_be_filtered(reopen: Callable[[], Index], filters: Filters, expected: list[str]) -> None:
    index = reopen()
    physics = Meta(date="2024-09-16", language="ru", tags=("оптика",))
    index.replace(FileStatus("physics/a.md", "indexed", meta=physics), Fingerprint(1, 1, "a"))
    index.replace(FileStatus("other.md", "indexed", meta=Meta(date="2023", language="en")), Fingerprint(1, 1, "b"))
    assert index.catalog.paths(filters) == expected


def test_an_identity_is_the_same_after_storing_and_differs_by_weights() -> None:
    assert IndexIdentity.from_json(IDENTITY.to_json()) == IDENTITY
    other = IndexIdentity("words", WordEmbedder("others").identity, "1")
    assert other.model.dimension == IDENTITY.model.dimension
    assert other.key != IDENTITY.key
