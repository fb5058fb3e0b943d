"""Uploads and deletions: safe names, nothing outside the folder, nothing overwritten or lost."""

from __future__ import annotations

import io
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import UploadError
from rag.syncing.uploads import UploadResult, add_file, safe_path, throw_away


def put(notes: Path, name: str, data: bytes, limit: int = 1000, *, replace: bool = False) -> UploadResult:
    return add_file(notes, name, io.BytesIO(data), limit, replace=replace)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("лекция 1.pdf", "лекция 1.pdf"),
        ("../../etc/passwd.md", "etc/passwd.md"),
        ("C:\\Users\\a\\b.md", "C_/Users/a/b.md"),
        ("/abs/a.md", "abs/a.md"),
        ("курс/a:b?.md", "курс/a_b_.md"),
        ("con.md", "_con.md"),
        ("a.md. ", "a.md"),
        ("a\x00\n.md", "a__.md"),
    ],
)
def test_names_are_made_safe(name: str, path: str) -> None:
    assert safe_path(name) == path


@pytest.mark.parametrize("name", ["", "..", "/", ".env", "~$a.docx"])
def test_a_name_of_nothing_is_refused_with_a_remedy(name: str) -> None:
    with pytest.raises(UploadError, match="Rename the file"):
        safe_path(name)


def test_a_long_russian_name_fits_the_disk_and_keeps_its_suffix(tmp_path: Path) -> None:
    path = put(tmp_path, "ю" * 300 + ".pdf", b"x").path
    assert path.endswith("ю.pdf")
    assert len(path.encode()) <= 255
    assert (tmp_path / path).exists()


@given(st.text(max_size=60))
def test_no_name_leads_outside(name: str) -> None:
    try:
        path = safe_path(name)
    except UploadError:
        return
    assert not path.startswith("/")
    assert not {"", ".", ".."} & set(path.split("/"))


def test_a_linked_folder_does_not_lead_outside(tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "outside"
    notes.mkdir()
    outside.mkdir()
    (notes / "link").symlink_to(outside)
    with pytest.raises(UploadError, match="outside the notes folder"):
        put(notes, "link/a.md", b"x")
    assert not list(outside.iterdir())


def test_the_same_bytes_again_change_nothing(tmp_path: Path) -> None:
    assert put(tmp_path, "a.md", b"one").state == "added"
    assert put(tmp_path, "a.md", b"one").state == "already there"


def test_a_different_file_of_that_name_is_never_overwritten_silently(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"one")
    assert put(tmp_path, "a.md", b"two").state == "conflict"
    assert (tmp_path / "a.md").read_bytes() == b"one"
    assert put(tmp_path, "a.md", b"two", replace=True).state == "replaced"
    assert (tmp_path / "a.md").read_bytes() == b"two"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.timeout(60)
def test_a_pipe_of_that_name_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    assert put(tmp_path, "a.md", b"text").state == "conflict"


def test_a_file_over_the_limit_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UploadError, match="larger than"):
        put(tmp_path, "a.md", b"x" * 1001)
    assert not list(tmp_path.iterdir())


def test_an_upload_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(28, "No space left on device")

    with pytest.raises(UploadError, match="No space left"):
        add_file(tmp_path, "a.md", Broken(), 1000)
    assert not list(tmp_path.iterdir())


def test_a_deleted_file_can_be_found_in_the_trash(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    put(notes, "курс/a.md", b"one")
    kept = throw_away(notes, tmp_path / "data", "курс/a.md")
    assert kept.read_bytes() == b"one"
    assert not (notes / "курс" / "a.md").exists()


def test_deleting_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(UploadError, match="cannot be deleted"):
        throw_away(tmp_path, tmp_path / "data", "a.md")


def test_a_file_whose_name_is_encoded_apart_can_be_thrown_away(tmp_path: Path) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    (notes / unicodedata.normalize("NFD", "йод.md")).write_text("йод", encoding="utf-8")
    throw_away(notes, data, "йод.md")
    assert list(notes.iterdir()) == []
