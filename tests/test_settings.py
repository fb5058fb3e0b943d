"""Settings: kept in one file, checked when read, the environment above them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import Paths, Settings


def test_defaults_hold_where_nothing_is_stored(tmp_path: Path) -> None:
    assert Settings.load(tmp_path).top_k == 3


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    chosen = replace(Settings(), top_k=5, mode="keyword", refusal=0.25, chat_model="qwen3:8b", language="ru")
    chosen.save(tmp_path / "data")
    assert replace(Settings.load(tmp_path / "data"), ollama_url=chosen.ollama_url) == chosen


def test_the_environment_wins_and_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KONSPEKT_OLLAMA", "http://127.0.0.1:1234")
    monkeypatch.setenv("KONSPEKT_CHROMA", "http://127.0.0.1:8000")
    settings = Settings.load(tmp_path)
    assert (settings.ollama_url, settings.chroma_url) == ("http://127.0.0.1:1234", "http://127.0.0.1:8000")
    settings.save(tmp_path)
    assert "127.0.0.1" not in (tmp_path / "settings.toml").read_text()


@pytest.mark.parametrize(
    "line",
    ["top_k = 0", 'top_k = "3"', 'mode = "psychic"', "refusal = 2", 'colour = "red"', "quotes_only = 1", "top_k = = 3"],
)
def test_a_wrong_line_is_named_with_what_to_do(tmp_path: Path, line: str) -> None:
    (tmp_path / "settings.toml").write_text(line + "\n")
    with pytest.raises(SettingsError, match="Mend or delete"):
        Settings.load(tmp_path)


def test_wrong_values_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        replace(Settings(), top_k=99).save(tmp_path)
    assert not (tmp_path / "settings.toml").exists()


def test_a_data_folder_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="Cannot write"):
        Settings().save(tmp_path / "file" / "data")


def test_arguments_win_over_the_environment_over_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Paths.from_environment().notes_is_default
    monkeypatch.setenv("KONSPEKT_NOTES", str(tmp_path / "env"))
    assert Paths.from_environment().notes == tmp_path / "env"
    assert Paths.from_environment(notes="mine").notes == tmp_path / "mine"
    assert Paths.from_environment().data == tmp_path / ".konspekt"
