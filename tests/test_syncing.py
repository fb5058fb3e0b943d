"""Passes over the notes folder: the index holds exactly what the folder holds."""

from __future__ import annotations

import os
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.errors import EmbeddingError, SettingsError
from rag.messages import msg
from rag.parsing import ParseSettings, parse
from rag.protocols import Vectors
from rag.storage.catalog import Catalog
from rag.storage.index import Index, IndexIdentity
from rag.syncing.indexing import Indexer
from rag.syncing.passes import Synchronizer
from rag.syncing.scanning import known_as
from rag.types import FileProgress, ParsedDocument, SyncResult
from tests.fakes import MemoryStore, WordEmbedder


class InProcess:
    """The real parsers, without their process."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def parse(
        self,
        path: Path,
        settings: ParseSettings,
        seconds: float,
        progress: Callable[[int, int], None] | None = None,
        stopped: Callable[[], bool] | None = None,
    ) -> ParsedDocument:
        self.parsed.append(path.name)
        return parse(path, settings, progress)


class Bench:
    """A notes folder with an index of it, made of real parts and a quick embedder."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes"
        self.notes.mkdir()
        self.embedder = WordEmbedder()
        self.parser = InProcess()
        identity = IndexIdentity("words", self.embedder.identity, "1")
        self.index = Index(identity, Catalog(folder / "a.sqlite3"), MemoryStore())
        self.stop = False
        self.indexer = Indexer(self.index, self.embedder, self.parser, ParseSettings(), 60, lambda: self.stop)
        self.synchronizer = Synchronizer(self.notes, folder / "data")

    def write(self, name: str, text: str) -> Path:
        file = self.notes / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def sync(self) -> SyncResult:
        return self.synchronizer.run(self.indexer).result

    def find(self, word: str) -> list[str]:
        ids = [chunk for chunk, _ in self.index.store.query(self.embedder.embed_question(word), 50)]
        return sorted({c.path for c in self.index.catalog.chunks(ids).values() if word in c.text})


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def long_note(paragraphs: int) -> str:
    return "\n\n".join(f"# Глава {n}\n\nПервое предложение главы {n}. Второе предложение." for n in range(paragraphs))


def test_new_files_are_indexed_and_a_second_pass_does_nothing(bench: Bench) -> None:
    bench.write("a.md", "# Оптика\n\nСвет преломляется.")
    bench.write("курс/b.txt", "Звук отражается.")
    first = bench.sync()
    assert (first.files, first.indexed, first.unchanged, first.failed) == (2, 2, 0, ())
    assert first.embedded == first.chunks == 2
    second = bench.sync()
    assert (second.indexed, second.unchanged, second.embedded) == (0, 2, 0)
    assert bench.find("преломляется") == ["a.md"]


def test_editing_one_paragraph_embeds_only_that_passage(bench: Bench) -> None:
    text = long_note(200)
    bench.write("a.md", text)
    assert bench.sync().chunks == 200
    bench.write("a.md", text.replace("главы 77.", "главы 77 изменилось."))
    after = bench.sync()
    assert (after.indexed, after.chunks, after.embedded) == (1, 200, 1)
    assert bench.find("изменилось") == ["a.md"]


def test_a_deleted_file_is_not_found_any_more(bench: Bench) -> None:
    file = bench.write("a.md", "Свет преломляется.")
    bench.sync()
    file.unlink()
    assert bench.sync().removed == 1
    assert bench.find("преломляется") == []


def test_a_deleted_file_leaves_at_once_while_another_is_being_indexed(bench: Bench) -> None:
    file = bench.write("a.md", "Свет преломляется.")
    bench.sync()
    file.unlink()
    bench.synchronizer.remove_gone(bench.index)
    assert bench.find("преломляется") == []


def test_a_moved_file_keeps_its_vectors(bench: Bench) -> None:
    file = bench.write("a.md", "# Оптика\n\nСвет преломляется.")
    bench.sync()
    file.rename(bench.notes / "b.md")
    bench.synchronizer.remove_gone(bench.index)
    result = bench.sync()
    assert (result.indexed, result.removed, result.embedded) == (1, 1, 0)
    assert bench.find("преломляется") == ["b.md"]


def test_a_copied_file_needs_no_model(bench: Bench) -> None:
    bench.write("a.md", "Свет преломляется.")
    bench.sync()
    bench.write("b.md", "Свет преломляется.")
    assert bench.sync().embedded == 0
    assert bench.find("преломляется") == ["a.md", "b.md"]


def test_a_file_that_became_unreadable_is_told_and_its_old_text_is_gone(bench: Bench) -> None:
    bench.write("a.md", "Свет преломляется.")
    bench.sync()
    bench.write("a.md", "")
    result = bench.sync()
    assert [f.file for f in result.failed] == ["a.md"]
    assert bench.find("преломляется") == []


def test_every_bad_file_is_told_with_its_reason_and_the_good_ones_are_indexed(bench: Bench) -> None:
    bench.write("good.md", "Свет преломляется.")
    bench.write("empty.md", "")
    bench.write("data.xyz", "???")
    (bench.notes / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (bench.notes / "broken.docx").write_bytes(b"PK\x03\x04 nothing")
    result = bench.sync()
    assert (result.files, result.indexed) == (5, 1)
    assert sorted(f.file for f in result.failed) == ["broken.docx", "broken.pdf", "data.xyz", "empty.md"]
    assert all(len(str(f.error).split()) > 2 for f in result.failed)


def test_a_file_named_like_another_is_told_and_indexed_once_it_is_renamed(bench: Bench) -> None:
    bench.write("йод.md", "Свет преломляется.")
    second = bench.write(unicodedata.normalize("NFD", "йод.md"), "Звук отражается.")
    for _ in range(2):
        result = bench.sync()
        assert (result.files, [known_as(f.file) for f in result.failed]) == (1, ["йод.md"])
        assert (bench.find("преломляется"), bench.find("отражается")) == (["йод.md"], [])
    second.rename(bench.notes / "йод второй.md")
    assert bench.sync().failed == ()
    assert bench.find("отражается") == ["йод второй.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.timeout(60)
def test_a_pipe_holds_up_nothing(bench: Bench) -> None:
    bench.write("a.md", "Свет преломляется.")
    os.mkfifo(bench.notes / "pipe.md")
    result = bench.sync()
    assert (result.files, result.indexed, result.failed) == (1, 1, ())


def test_what_cannot_be_taken_in_is_known_before_the_first_pass(bench: Bench) -> None:
    for form in ("NFC", "NFD"):
        bench.write(unicodedata.normalize(form, "йод.md"), form)  # type: ignore[arg-type]
    assert len(bench.synchronizer.unreadable) == 1
    bench.notes.rename(bench.notes.with_name("away"))
    assert bench.synchronizer.unreadable == ()


def test_a_failed_file_is_not_tried_again_until_it_changes(bench: Bench) -> None:
    file = bench.write("empty.md", "")
    bench.sync()
    result = bench.sync()
    assert (bench.parser.parsed, [f.file for f in result.failed]) == (["empty.md"], ["empty.md"])
    file.write_text("Теперь есть текст.")
    assert bench.sync().indexed == 1


def test_a_defect_of_ours_costs_one_file(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.md", "Свет.")
    bench.write("b.md", "Звук.")
    parse_one = bench.parser.parse

    def fail(path: Path, *args: object) -> ParsedDocument:
        if path.name == "a.md":
            raise ZeroDivisionError("ours")
        return parse_one(path, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(bench.parser, "parse", fail)
    result = bench.sync()
    assert result.indexed == 1
    assert "please report it" in str(result.failed[0].error)


def test_a_model_that_fails_stops_the_pass_and_keeps_the_old_version(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("a.md", "Свет преломляется.")
    bench.sync()
    bench.write("a.md", "Звук отражается.")

    def fail(*_: object) -> Vectors:
        raise EmbeddingError(msg("The model is gone."))

    with monkeypatch.context() as patch:
        patch.setattr(bench.embedder, "embed_passages", fail)
        with pytest.raises(EmbeddingError):
            bench.sync()
    assert bench.find("преломляется") == ["a.md"]
    bench.sync()
    assert bench.find("отражается") == ["a.md"]


def test_stopping_in_the_middle_of_a_file_keeps_its_old_version(bench: Bench) -> None:
    bench.write("a.md", "Свет преломляется.")
    bench.sync()
    bench.write("a.md", "Звук отражается.")

    def stop(now: FileProgress) -> None:
        bench.stop = now.stage == "embedding"

    done = bench.synchronizer.run(bench.indexer, stop)
    assert not done.complete
    assert bench.find("преломляется") == ["a.md"]


def test_a_file_that_still_grows_is_left_for_the_next_pass(bench: Bench) -> None:
    file = bench.write("a.md", "Свет.")
    young = bench.synchronizer.run(bench.indexer, settle=60)
    assert (young.complete, young.result.chunks) == (False, 0)
    past = time.time_ns() - 120 * 10**9
    os.utime(file, ns=(past, past))
    settled = bench.synchronizer.run(bench.indexer, settle=60)
    assert (settled.complete, settled.result.chunks) == (True, 1)


def test_a_pass_gives_way_between_files_when_the_folder_changes(bench: Bench) -> None:
    for n in range(3):
        bench.write(f"{n}.md", f"Слово{n}.")
    done = bench.synchronizer.run(bench.indexer, interrupted=lambda: True)
    assert (done.complete, done.result.indexed) == (False, 1)


def test_a_missing_notes_folder_empties_nothing(bench: Bench) -> None:
    bench.write("a.md", "Свет преломляется.")
    bench.sync()
    bench.notes.rename(bench.notes.with_name("away"))
    with pytest.raises(SettingsError, match="does not exist"):
        bench.sync()
    assert bench.find("преломляется") == ["a.md"]


def test_a_pass_tells_what_waits_and_how_far_it_is(bench: Bench) -> None:
    bench.write("a.md", "Свет.")
    bench.write("b.md", "Звук.")
    seen: list[tuple[str, str, int]] = []

    def watch(now: FileProgress) -> None:
        seen.append((now.path, now.stage, len(bench.synchronizer.work.queued)))

    bench.synchronizer.run(bench.indexer, watch)
    assert ("a.md", "parsing", 2) in seen
    assert ("b.md", "embedding", 1) in seen
    assert bench.synchronizer.work.queued == ()
