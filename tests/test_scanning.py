"""What the notes folder holds, and how it differs from what the index holds."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.syncing.scanning import gone, is_noise, plan, scan
from rag.types import Fingerprint


def known(folder: Path) -> dict[str, Fingerprint]:
    """Return the folder's fingerprints, as a catalogue that is up to date would."""
    return dict(plan(scan(folder), {}).changed)


def test_files_are_found_in_folders_and_named_with_slashes(tmp_path: Path) -> None:
    (tmp_path / "курс" / "лекции").mkdir(parents=True)
    (tmp_path / "курс" / "лекции" / "первая.md").write_text("текст")
    assert list(scan(tmp_path).files) == ["курс/лекции/первая.md"]


def test_names_are_nfc_whatever_the_disk_holds(tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "й.md")
    (tmp_path / name).write_text("текст")
    found = scan(tmp_path).files
    assert list(found) == ["й.md"]
    assert found["й.md"].real.name == name


@pytest.mark.parametrize("name", [".git", "~$отчёт.docx", "книга.pdf.part", "Thumbs.db", "._a.pdf", "a.md~"])
def test_what_is_nobodys_note_is_passed_over(name: str) -> None:
    assert is_noise(name)


def test_the_data_folder_inside_the_notes_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "a.md").write_text("a")
    assert not scan(tmp_path, tmp_path / "index").files


def test_a_missing_folder_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"does not exist\. Create it"):
        scan(tmp_path / "gone")


def test_a_linked_file_is_followed_and_a_linked_folder_is_not(tmp_path: Path) -> None:
    notes, other = tmp_path / "notes", tmp_path / "other"
    notes.mkdir()
    other.mkdir()
    (other / "a.md").write_text("a")
    (notes / "a.md").symlink_to(other / "a.md")
    (notes / "loop").symlink_to(notes)
    (notes / "broken.md").symlink_to(other / "no.md")
    assert list(scan(notes).files) == ["a.md"]


def test_a_file_with_the_same_size_and_time_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    before = known(tmp_path)
    stat = file.stat()
    file.write_text("two")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert plan(scan(tmp_path), before).unchanged == 1


def test_a_file_written_anew_with_the_same_bytes_is_only_touched(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one")
    before = known(tmp_path)
    os.utime(file, ns=(1, 1))
    todo = plan(scan(tmp_path), before)
    assert ([p for p, _ in todo.touched], todo.changed) == (["a.md"], ())


def test_a_changed_file_and_a_removed_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    before = known(tmp_path)
    (tmp_path / "a.md").write_text("three")
    (tmp_path / "b.md").unlink()
    todo = plan(scan(tmp_path), before)
    assert [p for p, _ in todo.changed] == ["a.md"]
    assert todo.removed_first == ("b.md",)


def test_a_moved_file_is_removed_after_its_new_place_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    before = known(tmp_path)
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    todo = plan(scan(tmp_path), before)
    assert [p for p, _ in todo.changed] == ["b.md"]
    assert (todo.removed_first, todo.removed_last) == ((), ("a.md",))


def test_a_file_that_is_held_keeps_its_version(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    before = known(tmp_path)
    (tmp_path / "a.md").write_text("growing")
    todo = plan(scan(tmp_path), before, held={"a.md"})
    assert (todo.changed, todo.removed_first) == ((), ())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_what_lies_in_a_folder_that_cannot_be_read_is_told_and_not_taken_for_gone(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut" / "a.md").write_text("a")
    before = known(tmp_path)
    (tmp_path / "shut").chmod(0)
    try:
        scanned = scan(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o755)
    assert [failure.file for failure in scanned.unreadable] == ["shut"]
    assert gone(scanned, before) == []


def test_an_unreadable_folder_is_told_even_to_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "shut" / "a.md").write_text("a")
    before = known(tmp_path)
    listed = os.scandir

    def refuse(folder: str) -> object:
        if str(folder).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    scanned = scan(tmp_path)
    assert "Permission denied" in str(scanned.unreadable[0].error)
    assert gone(scanned, before) == []
