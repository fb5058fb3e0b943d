"""The parser process: whatever a file does to it costs that file only."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.errors import ParsingError, PasswordNeeded
from rag.parsing import parse
from rag.parsing.worker import ParserProcess, ParsingStopped
from tests.documents import SETTINGS, put
from tests.waiting import eventually

ROOT = Path(__file__).parent.parent


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ParserProcess]:
    """A process whose parser obeys the text of the file."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with ParserProcess("tests.faulty_parser") as process:
        yield process


def obey(process: ParserProcess, folder: Path, order: str, seconds: float = 60) -> list[str]:
    """Let it parse a file of that text; returns the child's process id, the text, and its temporary folder."""
    return process.parse(put(folder, f"{order}.txt", order), SETTINGS, seconds).blocks[0].text.split(" ")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_document_comes_back_as_if_parsed_here(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "a.md",
        "---\ntitle: Т\n---\n# Лекция\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nтекст [^1]\n\n[^1]: note\n",
    )
    with ParserProcess() as process:
        assert process.parse(path, SETTINGS, 60) == parse(path, SETTINGS)


def test_one_process_reads_file_after_file(faulty: ParserProcess, tmp_path: Path) -> None:
    assert obey(faulty, tmp_path, "a")[0] == obey(faulty, tmp_path, "b")[0] != str(os.getpid())


def test_a_hang_costs_one_file_and_its_temporary_files_go(faulty: ParserProcess, tmp_path: Path) -> None:
    pid, _, folder = obey(faulty, tmp_path, "a")
    begun = time.monotonic()
    with pytest.raises(ParsingError, match="stopped after"):
        obey(faulty, tmp_path, "hang", seconds=1)
    assert time.monotonic() - begun < 20
    assert not is_running(int(pid))
    assert not Path(folder).exists()
    assert obey(faulty, tmp_path, "b")[1] == "b"


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("order", "reason"), [("segfault", "SIGSEGV"), ("kill", "SIGKILL"), ("exit", "3")])
def test_a_crash_costs_one_file_and_is_named(faulty: ParserProcess, tmp_path: Path, order: str, reason: str) -> None:
    with pytest.raises(ParsingError, match=rf"crashed on this file \({reason}\)"):
        obey(faulty, tmp_path, order)
    assert obey(faulty, tmp_path, "after")[1] == "after"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_eating_memory_costs_one_file(faulty: ParserProcess, tmp_path: Path) -> None:
    with pytest.raises(ParsingError):
        obey(faulty, tmp_path, "memory")
    assert obey(faulty, tmp_path, "after")[1] == "after"


def test_what_a_library_prints_does_not_get_between_the_answers(faulty: ParserProcess, tmp_path: Path) -> None:
    assert obey(faulty, tmp_path, "print")[1] == "print"


def test_an_error_keeps_its_kind_and_its_words_and_the_process_goes_on(faulty: ParserProcess, tmp_path: Path) -> None:
    pid = obey(faulty, tmp_path, "a")[0]
    with pytest.raises(PasswordNeeded, match=r"Locked: password\.txt") as caught:
        obey(faulty, tmp_path, "password")
    assert caught.value.message.params == {"name": "password.txt"}
    assert obey(faulty, tmp_path, "b")[0] == pid


def test_pages_done_are_told_here_and_a_slow_file_that_goes_on_is_not_stopped(
    faulty: ParserProcess, tmp_path: Path
) -> None:
    seen: list[tuple[int, int, str]] = []

    def note(done: int, total: int) -> None:
        seen.append((done, total, threading.current_thread().name))

    faulty.parse(put(tmp_path, "p.txt", "pages"), SETTINGS, 1.5, note)
    assert seen == [(page, 8, threading.current_thread().name) for page in range(1, 9)]


def test_stopping_ends_the_work_soon_and_is_no_error_of_the_file(faulty: ParserProcess, tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    begun = time.monotonic()
    with pytest.raises(ParsingStopped):
        faulty.parse(put(tmp_path, "h.txt", "hang"), SETTINGS, 60, stopped=stop.is_set)
    assert time.monotonic() - begun < 20
    assert obey(faulty, tmp_path, "after")[1] == "after"


def test_closing_ends_the_work_of_another_thread(faulty: ParserProcess, tmp_path: Path) -> None:
    ends: list[BaseException] = []

    def work() -> None:
        try:
            obey(faulty, tmp_path, "hang")
        except ParsingStopped as end:
            ends.append(end)

    thread = threading.Thread(target=work)
    thread.start()
    assert eventually(lambda: faulty._child is not None)
    faulty.close()
    thread.join(20)
    assert len(ends) == 1


def test_threads_take_turns(faulty: ParserProcess, tmp_path: Path) -> None:
    got: list[str] = []
    threads = [threading.Thread(target=lambda i=i: got.append(obey(faulty, tmp_path, f"n{i}")[1])) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(got) == ["n0", "n1", "n2", "n3", "n4"]


SCRIPT = """
import sys, threading
from pathlib import Path
with open(sys.argv[1] + ".runs", "a") as runs:
    runs.write("run\\n")
from rag.parsing import ParseSettings
from rag.parsing.worker import ParserProcess
process = ParserProcess(sys.argv[2])
def work():
    document = process.parse(Path(sys.argv[1]), ParseSettings(), 60)
    print(document.blocks[0].text, flush=True)
    {after}
thread = threading.Thread(target=work)
thread.start()
thread.join()
process.close()
"""


def start_script(folder: Path, module: str, order: str, after: str = "pass") -> subprocess.Popen[str]:
    script = put(folder, "app.py", SCRIPT.format(after=after))
    note = put(folder, "note.txt", order)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(script), str(note), module], stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
    )


def test_the_main_script_is_not_run_again_and_a_background_thread_will_do(tmp_path: Path) -> None:
    with start_script(tmp_path, "rag.parsing.child", "текст заметки") as process:
        assert process.stdout
        assert process.stdout.read().strip() == "текст заметки"
    assert (tmp_path / "note.txt.runs").read_text(encoding="utf-8") == "run\n"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_child_ends_when_its_parent_is_killed_even_in_the_middle_of_a_file(tmp_path: Path) -> None:
    hang = 'process.parse(Path(sys.argv[1]).with_name("hang.txt"), ParseSettings(), 600)'
    put(tmp_path, "hang.txt", "hang")
    with start_script(tmp_path, "tests.faulty_parser", "first", hang) as process:
        assert process.stdout
        pid = int(process.stdout.readline().split()[0])
        assert is_running(pid)
        process.kill()
    assert eventually(lambda: not is_running(pid))


def test_a_child_does_not_answer_for_its_parent_s_memory() -> None:
    child = "from rag.parsing.child import peak_memory; print(peak_memory())"
    code = (
        "import subprocess, sys; held = bytearray(400_000_000); held[::4096] = b'x' * len(held[::4096]); "
        f"subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert int(out) < 300_000_000
