"""Files that come in through the browser, and files thrown away: safe names, nothing outside the notes folder,
nothing overwritten silently, nothing deleted for good."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal

from rag.errors import UploadError
from rag.messages import msg
from rag.syncing.scanning import is_noise, on_disk, relative

_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)
_MOST_BYTES = 200
_PIECE = 1 << 20

UploadState = Literal["added", "replaced", "already there", "conflict"]


@dataclass(frozen=True, slots=True)
class UploadResult:
    """What became of an upload. "conflict": another file of that name is there, and it was left as it is."""

    path: str
    state: UploadState


def safe_path(name: str) -> str:
    """Turn the name of an upload, folders included, into a relative path that any system can hold.

    Raises `UploadError` where nothing is left of it or the file is none that Konspekt would index.
    """
    parts = [_safe_part(part) for part in re.split(r"[/\\]", name)]
    kept = [part for part in parts if part]
    if not kept or any(is_noise(part) for part in kept):
        raise UploadError(msg("“{name}” is not a name for a note. Rename the file and drop it again.", name=name))
    return "/".join(kept)


def add_file(notes: Path, name: str, data: BinaryIO, max_bytes: int, *, replace: bool = False) -> UploadResult:
    """Put an upload into the notes folder, whole or not at all.

    A file of that name with the same bytes is left alone; one with others is a conflict unless `replace`.
    Raises `UploadError`.
    """
    path = safe_path(name)
    target = _inside(notes, path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft, digest = _spool(target, data, max_bytes, name)
        try:
            return UploadResult(path, _settle(draft, target, digest, replace))
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UploadError(
            msg(
                "“{name}” cannot be saved: {reason}. Check the notes folder and the free space.",
                name=path,
                reason=error.strerror or str(error),
            )
        ) from error


def throw_away(notes: Path, data: Path, path: str) -> Path:
    """Move a file from the notes folder to the trash in the data folder, and return where it went."""
    real = _inside(notes, path)
    if not real.is_file():
        real = next((f for f in real.parent.glob("*") if relative(notes, f) == path), real)
    target = data / "trash" / datetime.now().strftime("%Y-%m-%d %H.%M.%S.%f") / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(real, target)
    except OSError as error:
        raise UploadError(
            msg("“{name}” cannot be deleted: {reason}.", name=path, reason=error.strerror or str(error))
        ) from error
    return target


def _safe_part(part: str) -> str:
    part = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", part)).strip().rstrip(". ")
    if part in ("", ".", ".."):
        return ""
    if _RESERVED.match(part):
        part = "_" + part
    stem, dot, suffix = part.rpartition(".")
    if not dot or len(suffix) > 10:
        stem, suffix = part, ""
    room = _MOST_BYTES - len(dot + suffix)
    stem = stem.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return stem + (dot + suffix if suffix else "")


def _inside(notes: Path, path: str) -> Path:
    target = on_disk(notes, path)
    if not target.parent.resolve().is_relative_to(notes.resolve()):
        raise UploadError(msg("“{name}” would lie outside the notes folder.", name=path))
    return target


def _spool(target: Path, data: BinaryIO, max_bytes: int, name: str) -> tuple[Path, str]:
    digest, size = hashlib.sha256(), 0
    handle, draft = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            while piece := data.read(_PIECE):
                size += len(piece)
                if size > max_bytes:
                    raise UploadError(
                        msg(
                            "“{name}” is larger than {limit} MB. Split it, or raise the limit in the settings.",
                            name=name,
                            limit=max_bytes // 1_000_000,
                        )
                    )
                digest.update(piece)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    Path(draft).chmod(0o644)
    return Path(draft), digest.hexdigest()


def _settle(draft: Path, target: Path, digest: str, replace: bool) -> UploadState:
    if not target.exists():
        draft.rename(target)
        return "added"
    if not target.is_file():
        return "conflict"
    with target.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() == digest:
            return "already there"
    if not replace:
        return "conflict"
    draft.replace(target)
    return "replaced"
