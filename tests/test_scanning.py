"""What the notes folder holds, and how it differs from what the index holds."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from rag.errors import SettingsError
from rag.syncing.scanning import gone, is_noise, on_disk, plan, scan
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


@pytest.mark.parametrize("folder", ["", "курс/", "йод/"])
def test_of_two_names_that_differ_in_encoding_alone_one_is_taken_and_the_other_is_told(
    tmp_path: Path, folder: str
) -> None:
    name = f"{folder}йод.md"
    for form in ("NFC", "NFD"):
        file = tmp_path / unicodedata.normalize(form, name)  # type: ignore[arg-type]
        file.parent.mkdir(exist_ok=True)
        file.write_text(form)
    scanned = scan(tmp_path)
    assert list(scanned.files) == [name]
    assert scanned.files[name].real == tmp_path / name
    assert [f.file for f in scanned.unreadable] == [unicodedata.normalize("NFD", name)]
    assert "Rename one of the two" in str(scanned.unreadable[0].error)


def test_where_neither_of_two_names_is_nfc_the_same_one_is_taken_every_time(tmp_path: Path) -> None:
    names = ["a\u0307\u0323.md", "a\u0323\u0307.md", "\u0227\u0323.md"]
    for name in reversed(names):
        (tmp_path / name).write_text(name)
    scanned = scan(tmp_path)
    assert [found.real.name for found in scanned.files.values()] == names[:1]
    assert [f.file for f in scanned.unreadable] == names[1:]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such name")
def test_a_name_that_is_no_unicode_is_told_and_can_be_shown(tmp_path: Path) -> None:
    os.mkfifo(os.fsencode(tmp_path) + b"/\xfe.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("a")
    scanned = scan(tmp_path)
    assert scanned.files == {}
    assert [f.file for f in scanned.unreadable] == ["\\udcff.md"]
    assert "Rename it" in str(scanned.unreadable[0].error)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_what_is_no_regular_file_is_passed_over(tmp_path: Path) -> None:
    notes, other = tmp_path / "notes", tmp_path / "other"
    notes.mkdir()
    other.mkdir()
    os.mkfifo(notes / "pipe.md")
    os.mkfifo(other / "pipe")
    (notes / "linked.md").symlink_to(other / "pipe")
    (notes / "device.md").symlink_to(os.devnull)
    (notes / "a.md").write_text("a")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(notes):
        listening.bind("socket.md")
    scanned = scan(notes)
    assert (list(scanned.files), scanned.unreadable) == (["a.md"], ())


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


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_file_is_found_on_disk_however_its_name_is_encoded(tmp_path: Path, form: Literal["NFC", "NFD"]) -> None:
    real = tmp_path / unicodedata.normalize(form, "клёточный") / unicodedata.normalize(form, "йод.md")
    real.parent.mkdir()
    real.write_text("йод", encoding="utf-8")
    (path,) = scan(tmp_path).files
    assert path == "клёточный/йод.md"
    assert on_disk(tmp_path, path) == real
    assert on_disk(tmp_path, "клёточный/нет.md") == real.parent / "нет.md"
    assert on_disk(tmp_path, "нет/нет.md") == tmp_path / "нет" / "нет.md"
