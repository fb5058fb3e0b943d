"""The worker: folder events become passes, and nothing that fails ends it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.errors import SettingsError, StoreError
from rag.messages import msg
from rag.syncing import watching
from rag.syncing.watching import Worker
from tests.waiting import eventually


class Passes:
    """Counts what the worker calls."""

    def __init__(self) -> None:
        self.done = 0
        self.removals = 0
        self.answers: list[bool | Exception] = []
        self.running = 0
        self.most_at_once = 0
        self.lock = threading.Lock()

    def work(self) -> bool:
        with self.lock:
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
        answer = self.answers.pop(0) if self.answers else True
        with self.lock:
            self.running -= 1
            self.done += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    def removed(self) -> None:
        self.removals += 1


@pytest.fixture
def passes() -> Passes:
    return Passes()


@pytest.fixture
def worker(passes: Passes) -> Iterator[Worker]:
    worker = Worker(passes.work, passes.removed)
    yield worker
    worker.stop()


def settled(passes: Passes, worker: Worker) -> int:
    """Wait until the first pass is done, and return the count of passes."""
    assert eventually(lambda: passes.done >= 1 and not worker.poked)
    return passes.done


def test_starting_runs_a_first_pass(passes: Passes, worker: Worker, tmp_path: Path) -> None:
    worker.start(tmp_path)
    assert settled(passes, worker) >= 1


def test_a_new_file_in_a_new_folder_starts_a_pass(passes: Passes, worker: Worker, tmp_path: Path) -> None:
    worker.start(tmp_path)
    before = settled(passes, worker)
    (tmp_path / "курс").mkdir()
    (tmp_path / "курс" / "a.md").write_text("текст")
    assert eventually(lambda: passes.done > before)


def test_reading_a_file_starts_none(passes: Passes, worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("текст")
    worker.start(tmp_path)
    before = settled(passes, worker)
    (tmp_path / "a.md").read_text()
    (tmp_path / "b.md").write_text("знак")
    assert eventually(lambda: passes.done > before)
    assert passes.done <= before + 3


def test_a_deletion_is_told_at_once_even_while_a_pass_is_running(tmp_path: Path) -> None:
    begin, release, removed = threading.Event(), threading.Event(), threading.Event()

    def work() -> bool:
        begin.set()
        return release.wait(30)

    (tmp_path / "a.md").write_text("текст")
    worker = Worker(work, removed.set)
    worker.start(tmp_path)
    try:
        assert begin.wait(30)
        (tmp_path / "a.md").unlink()
        assert removed.wait(30)
    finally:
        release.set()
        worker.stop()


def test_a_pass_that_left_something_is_run_again_soon(
    passes: Passes, worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SETTLE", 0.05)
    passes.answers = [False, False, True]
    worker.start(tmp_path)
    assert eventually(lambda: passes.done == 3)


@pytest.mark.parametrize("error", [StoreError(msg("The disk is full.")), ZeroDivisionError("ours")])
def test_a_failure_is_shown_and_tried_again(
    error: Exception, passes: Passes, worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_AFTER_FAILURE", 600)
    passes.answers = [error]
    worker.start(tmp_path)
    assert eventually(lambda: worker.error is not None)
    assert str(error) in str(worker.error)
    worker.poke()
    assert eventually(lambda: worker.error is None)
    assert worker.running


def test_a_folder_that_appears_later_is_watched_from_then_on(passes: Passes, worker: Worker, tmp_path: Path) -> None:
    passes.answers = [SettingsError(msg("There is no folder."))]
    worker.start(tmp_path / "notes")
    assert eventually(lambda: worker.error is not None)
    (tmp_path / "notes").mkdir()
    worker.poke()
    assert eventually(lambda: worker.error is None)
    before = passes.done
    (tmp_path / "notes" / "a.md").write_text("текст")
    assert eventually(lambda: passes.done > before)


def test_starting_twice_makes_one_worker(passes: Passes, worker: Worker, tmp_path: Path) -> None:
    names = {"konspekt-indexer", "konspekt-remover"}
    for _ in range(3):
        worker.start(tmp_path)
    assert sorted(t.name for t in threading.enumerate() if t.name in names) == sorted(names)
    settled(passes, worker)
    assert passes.most_at_once == 1


def test_stopping_ends_the_threads(passes: Passes, tmp_path: Path) -> None:
    worker = Worker(passes.work, passes.removed)
    worker.start(tmp_path)
    worker.stop()
    assert not worker.running
    assert not [t for t in threading.enumerate() if t.name.startswith("konspekt-")]
