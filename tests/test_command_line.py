"""The command line's contract, with the bundled model and real files."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.messages import Message
from rag.models.embedding import load_embedder
from rag.protocols import Embedder
from rag.settings import Paths

ROOT = Path(__file__).parent.parent
NOTES = {
    "физика/оптика.md": "# Оптика\n\n## Преломление\n\nПоказатель преломления воды равен 1,33.\n\n"
    "## Дисперсия\n\nПризма разлагает белый свет на цвета радуги.\n",
    "physics/sound.md": "# Sound\n\nThe speed of sound in air is 343 metres per second.\n",
    "биология.txt": "Митохондрия вырабатывает энергию клетки. Рибосома собирает белок.",
}


@cache
def loaded(name: str, data: Path, url: str) -> Embedder:
    """Load the real model once for all commands of this file: each would take seconds for it."""
    return load_embedder(name, data, url)


def embedders(name: str, data: Path, url: str, progress: Callable[[Message], None] | None = None) -> Embedder:
    return loaded(name, (data / "models").resolve().parent, url)


def written(paths: Paths, models: Path) -> Paths:
    """Put the notes there, and the run's unpacked model into the data folder."""
    for name, text in NOTES.items():
        file = paths.notes / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    paths.data.mkdir()
    (paths.data / "models").symlink_to(models, target_is_directory=True)
    return paths


@pytest.fixture
def folder(paths: Paths, models: Path) -> Paths:
    """Notes in two languages, not indexed yet."""
    return written(paths, models)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Paths:
    """The same notes, indexed once for all tests that only read."""
    root = tmp_path_factory.mktemp("indexed")
    paths = written(Paths(root / "notes", root / "data"), models)
    assert main(["sync", "--quiet", "--notes", str(paths.notes), "--data", str(paths.data)], embedders) == 0
    return paths


class Run:
    """Runs commands in this process and reads what they print."""

    def __init__(self, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
        self.where = ["--notes", str(paths.notes), "--data", str(paths.data)]
        self._capsys = capsys

    def text(self, *arguments: str, code: int = 0) -> str:
        assert main([*arguments, *self.where], embedders) == code
        return self._capsys.readouterr().out

    def json(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        document = json.loads(self.text(*arguments, "--json", code=code))
        assert isinstance(document, dict)
        return document


@pytest.fixture
def run(folder: Paths, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(folder, capsys)


@pytest.fixture
def synced(indexed: Paths, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(indexed, capsys)


def test_sync_tells_what_it_did(run: Run) -> None:
    first = run.json("sync")
    assert set(first) == {"files", "indexed", "unchanged", "removed", "failed", "chunks", "seconds", "embedded"}
    assert (first["files"], first["indexed"], first["failed"]) == (3, 3, [])
    assert first["embedded"] == first["chunks"] == 4
    second = run.json("sync")
    assert (second["unchanged"], second["embedded"]) == (3, 0)


def test_sync_fails_where_a_file_does_and_names_it(run: Run, folder: Paths) -> None:
    (folder.notes / "пусто.md").write_text("")
    failed = run.json("sync", code=1)["failed"]
    assert [set(f) for f in failed] == [{"file", "error"}]
    assert failed[0]["file"] == "пусто.md"


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword", "keyword-then-dense"])
def test_search_gives_ranked_passages_with_their_places(synced: Run, mode: str) -> None:
    found = synced.json("search", "показатель преломления воды", "-k", "2", "--mode", mode)
    best = found["hits"][0]
    fields = {"rank", "file", "heading", "page", "page_last", "text", "score", "dense", "keyword", "rerank"}
    assert fields | {"ordinal", "date"} <= set(best)
    assert (best["rank"], best["file"], best["heading"]) == (1, "физика/оптика.md", ["Оптика", "Преломление"])
    assert (found["refused"], 0 <= found["confidence"] <= 1) == (False, True)
    assert len(found["hits"]) <= 2


def test_a_question_in_another_language_finds_the_note(synced: Run) -> None:
    assert synced.json("search", "скорость звука в воздухе", "-k", "1")["hits"][0]["file"] == "physics/sound.md"


def test_syncing_and_asking_reach_no_other_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> None:
        reached.append(str(address[0]) if isinstance(address, tuple) else "local")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    run.json("sync")
    assert run.json("ask", "Чему равен показатель преломления воды?")["answered_by"] == "quotes"
    assert set(reached) <= {"127.0.0.1", "local"}


def test_ask_quotes_and_cites(synced: Run) -> None:
    reply = synced.json("ask", "Чему равен показатель преломления воды?", "--no-llm")
    assert reply["answered_by"] == "quotes"
    assert "Показатель преломления воды равен 1,33." in reply["answer"]
    assert reply["citations"][0] == {"n": 1, "file": "физика/оптика.md", "page": None}
    assert isinstance(reply["warnings"], list)


def test_ask_refuses_in_the_question_s_language(synced: Run) -> None:
    russian = synced.json("ask", "Кто выиграл чемпионат мира по футболу 1998 года?")
    english = synced.json("ask", "Who won the football world cup in 1998?")
    assert (russian["answered_by"], english["answered_by"]) == ("refusal", "refusal")
    assert russian["refused"]
    assert russian["hits"]
    assert any("а" <= letter <= "я" for letter in russian["answer"])
    assert not any("а" <= letter <= "я" for letter in english["answer"])


def test_eval_measures_each_mode(synced: Run, tmp_path: Path) -> None:
    questions = [
        {"question": "Чему равен показатель преломления воды?", "file": "физика/оптика.md", "heading": "Преломление"},
        {"question": "What is the speed of sound?", "file": "physics/sound.md", "text": "343 metres", "kind": "en"},
        {"question": "Что собирает белок?", "file": "physics/sound.md"},
        {"question": "Кто выиграл чемпионат мира 1998 года?", "answerable": False},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(json.dumps(q, ensure_ascii=False) for q in questions), encoding="utf-8")
    result = synced.json("eval", str(file), "--modes", "hybrid,keyword", "--k", "1,3", "--by", "kind")
    hybrid = result["modes"]["hybrid"]
    wanted = "n hit@1 hit@3 mrr answered refused refusal_recall refusal_precision false_refusals ms_p50 ms_p95"
    assert set(wanted.split()) <= set(hybrid)
    assert hybrid["hit@1"] == pytest.approx(2 / 3, abs=1e-3)
    assert set(result["modes"]) == {"hybrid", "keyword"}
    assert any(miss["question"] == "Что собирает белок?" for miss in result["misses"])


def test_files_and_chunks_tell_what_is_indexed(synced: Run) -> None:
    files = {f["file"]: f for f in synced.json("files")["files"]}
    assert set(files) == set(NOTES)
    wanted = "file state pages text_pages ocr_pages empty_pages suspect_pages chunks error date"
    assert set(wanted.split()) <= set(files["биология.txt"])
    assert files["биология.txt"]["state"] == "indexed"
    chunks = synced.json("chunks", "физика/оптика.md")["chunks"]
    assert [c["ordinal"] for c in chunks] == [0, 1]
    assert {"ordinal", "heading", "page", "page_last", "tokens", "text", "boxes"} <= set(chunks[0])


def test_doctor_checks_everything(run: Run) -> None:
    checks = {c["name"]: c for c in run.json("doctor")["checks"]}
    assert {"notes folder", "data folder", "vector store", "tesseract", "ollama"} <= set(checks)
    assert not checks["ollama"]["ok"]
    assert "ollama serve" in checks["ollama"]["fix"]


def test_every_command_can_be_read_by_a_person(synced: Run, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "Что собирает белок?", "file": "биология.txt"}')
    assert "3 files" in synced.text("sync")
    assert "физика/оптика.md › Оптика › Преломление" in synced.text("search", "преломление")
    assert "1,33" in synced.text("ask", "Чему равен показатель преломления воды?")
    assert "hit@3" in synced.text("eval", str(tmp_path / "q.jsonl"))
    assert "indexed" in synced.text("files")
    assert "Призма разлагает" in synced.text("chunks", "физика/оптика.md")
    assert "notes folder" in synced.text("doctor")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("search",),
        ("search", "x", "-k", "0"),
        ("search", "x", "--mode", "psychic"),
        ("eval", "a", "--k", ""),
    ],
)
def test_wrong_usage_exits_with_two(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    assert exit_.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "x", "-k", "0"), "argument -k: “0” is not a whole number of 1 or more"),
        (("search", "x", "-k", "2,3"), "argument -k: “2,3” is not a whole number of 1 or more"),
        (("eval", "a", "--k", "1,a"), "argument --k: “a” is not a whole number of 1 or more"),
        (("search", "x", "--from", "soon"), "write 2024-05-17, 2024-05 or 2024"),
        (("search", "x", "--from", "2024-13-45"), "there is no such date: 2024-13-45"),
    ],
)
def test_wrong_usage_is_told_with_what_is_right(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(list(arguments))
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(("search", "  "), "empty"), (("chunks", "no.md"), "no file"), (("eval", "no.jsonl"), "no.jsonl")],
)
def test_what_failed_is_told_in_the_output(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    assert reason in run.json(*arguments, code=1)["error"]


def test_the_same_question_gives_the_same_passages_in_another_process(synced: Run, indexed: Paths) -> None:
    question = "энергия клетки"
    command = [sys.executable, "-m", "rag", "search", question, "--json"]
    where = ["--notes", str(indexed.notes), "--data", str(indexed.data)]
    here = [synced.json("search", question) for _ in range(3)]
    out = subprocess.run([*command, *where], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert all(found == json.loads(out) for found in here)


@pytest.mark.parametrize(
    ("only", "files"),
    [
        (["--folder", "физика"], {"физика/оптика.md"}),
        (["--folder", "physics", "--file", "биология.txt"], {"physics/sound.md", "биология.txt"}),
        (["--language", "en"], {"physics/sound.md"}),
        (["--tag", "no-such"], set()),
        (["--from", "2000", "--until", "2001-12"], set()),
        (["--until", "2999-01-01"], set(NOTES)),
    ],
)
def test_a_search_can_be_kept_to_places_tags_languages_and_dates(synced: Run, only: list[str], files: set[str]) -> None:
    found = synced.json("search", "скорость звука и энергия", "-k", "5", *only)
    assert {hit["file"] for hit in found["hits"]} == files
    answered = synced.json("ask", "Чему равна скорость звука в воздухе?", "--no-llm", "-k", "5", *only)
    assert {hit["file"] for hit in answered["hits"]} == files
    assert files or answered["answered_by"] == "refusal"


@pytest.mark.parametrize("date", ["yesterday", "2024-5-1", "17.05.2024", "2024-13", "2023-02-29", "0000", "２０２４"])
def test_what_is_no_date_is_wrong_usage(date: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["search", "свет", "--from", date])
    assert exit_.value.code == 2


@pytest.mark.parametrize("date", ["2024", "2024-12", "2024-02-29"])
def test_a_date_is_a_year_a_month_or_a_day(synced: Run, date: str) -> None:
    assert synced.json("search", "свет", "--from", date)["query"] == "свет"


def test_bytes_that_are_no_text_are_searched_and_printed_as_text(synced: Run) -> None:
    assert synced.json("search", "\udcff\udcfe")["query"] == "\ufffd\ufffd"
    assert synced.json("ask", "\udcff\udcfe", "--no-llm", "--file", "\udcff")["query"] == "\ufffd\ufffd"
    assert "“\ufffd”" in synced.json("chunks", "\udcff", code=1)["error"]
    assert "“\ufffd”" in synced.text("search", "свет", "--file", "\udcff")


def test_a_file_may_be_named_in_either_encoding_of_its_letters(run: Run, folder: Paths) -> None:
    name, other = "йод.md", unicodedata.normalize("NFD", "йод.md")
    (folder.notes / name).write_text("Йод испаряется.")
    assert run.json("sync")["failed"] == []
    assert run.json("chunks", other) == run.json("chunks", name)
    assert run.json("chunks", other)["file"] == name
    assert [hit["file"] for hit in run.json("search", "йод испаряется", "--file", other)["hits"]] == [name]


def test_files_named_alike_are_told_by_sync_and_in_the_list(run: Run, folder: Paths) -> None:
    for form, text in (("NFC", "Йод испаряется."), ("NFD", "Звук отражается.")):
        (folder.notes / unicodedata.normalize(form, "йод.md")).write_text(text)  # type: ignore[arg-type]
    (failed,) = run.json("sync", code=1)["failed"]
    assert failed["file"] == "йод.md"
    assert "Rename one of the two" in failed["error"]
    rows = [f for f in run.json("files")["files"] if f["file"] == "йод.md"]
    assert {f["state"]: f["error"] for f in rows} == {"indexed": None, "failed": failed["error"]}
    assert [chunk["text"] for chunk in run.json("chunks", "йод.md")["chunks"]] == ["Йод испаряется."]


@pytest.mark.parametrize("command", [("search", "свет"), ("ask", "Что такое свет?", "--no-llm")])
def test_places_that_the_index_does_not_know_are_named(
    synced: Run, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    only = ["--file", "no such.md", "--file", "биология.txt", "--folder", "нет", "--folder", "физика"]
    assert main([*command, *only, "--json", *synced.where], embedders) == 0
    told = capsys.readouterr()
    gaps = [text for text in json.loads(told.out)["warnings"] if "index" in text]
    assert [gap.partition(" in the index")[0] for gap in gaps] == [
        "There is no file “no such.md”", "There is no folder “нет”",
    ]  # fmt: skip
    assert all(gap in told.err for gap in gaps)
    assert "! There is no file “no such.md”" in synced.text(*command, *only)


def test_an_empty_index_is_told(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert "run `konspekt sync`" in run.text("search", "свет").casefold()
    assert run.json("search", "свет", "--file", "no.md")["hits"] == []
    assert main(["search", "свет", "--json", *run.where], embedders) == 0
    assert "The index is empty" in capsys.readouterr().err


def test_a_missing_notes_folder_is_told_by_the_list_of_files_where_nothing_is_indexed(
    run: Run, folder: Paths, tmp_path: Path
) -> None:
    assert run.json("files") == {"files": []}
    folder.notes.rename(tmp_path / "away")
    assert run.json("files", code=1) == run.json("sync", code=1)
    assert "does not exist" in run.json("files", code=1)["error"]


def test_what_is_indexed_is_listed_without_the_notes_folder(
    indexed: Paths, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    away = Run(Paths(tmp_path / "no", indexed.data), capsys)
    assert {f["file"] for f in away.json("files")["files"]} == set(NOTES)
