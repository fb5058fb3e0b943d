"""What the notes folder holds now, and how that differs from what the index holds. Read-only."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rag.errors import SettingsError
from rag.messages import Message, msg
from rag.types import Fingerprint, SyncFailure

# Office lock files, unfinished downloads and what systems drop into folders are nobody's notes.
_NOISE_PREFIXES = (".", "~$", "._")
_NOISE_SUFFIXES = (".part", ".crdownload", ".tmp", ".swp", "~")
_NOISE_NAMES = {"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin"}


@dataclass(frozen=True, slots=True)
class Found:
    """A file in the notes folder: where it is on disk, and what `stat` says."""

    real: Path
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The folder's files by relative path (NFC, "/"), and the folders and files that cannot be taken in."""

    files: Mapping[str, Found]
    unreadable: tuple[SyncFailure, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do so that the index holds what the folder holds, each list in order of path.
    `removed_first` are gone for good; `removed_last` may be moved files, whose vectors the new ones reuse."""

    changed: tuple[tuple[str, Fingerprint], ...]
    touched: tuple[tuple[str, Fingerprint], ...]
    removed_first: tuple[str, ...]
    removed_last: tuple[str, ...]
    unchanged: int


def is_noise(name: str) -> bool:
    """Tell whether a file or folder of that name is passed over, unmentioned."""
    folded = name.casefold()
    return folded.startswith(_NOISE_PREFIXES) or folded.endswith(_NOISE_SUFFIXES) or folded in _NOISE_NAMES


def check_folder(notes: Path) -> None:
    """Raise `SettingsError` where the notes folder itself is missing or unreadable."""
    try:
        next(notes.iterdir(), None)
    except FileNotFoundError as error:
        raise SettingsError(
            msg(
                "The notes folder {folder} does not exist. Create it, plug in its drive, or choose another folder.",
                folder=str(notes),
            )
        ) from error
    except OSError as error:
        raise SettingsError(
            msg(
                "The notes folder {folder} cannot be read: {reason}. Check its permissions or choose another folder.",
                folder=str(notes),
                reason=error.strerror or str(error),
            )
        ) from error


def scan(notes: Path, excluded: Path | None = None) -> Scan:
    """List the notes folder, without following linked folders. `excluded` (the data folder) is passed over.

    Of two files whose paths differ only in how their letters are encoded, one is listed: that whose names are NFC,
    else the first by name. The other is told among the unreadable, under its path as it is on disk.
    Raises `SettingsError` where the notes folder itself is missing or unreadable, so that a drive that is not
    plugged in is never taken for a folder that has been emptied.
    """
    check_folder(notes)
    files: dict[str, Found] = {}
    unreadable: list[SyncFailure] = []

    def refuse(path: str, reason: Message) -> None:
        unreadable.append(SyncFailure(_printable(path), reason))

    def denied(error: OSError) -> None:
        refuse(relative(notes, Path(error.filename)), _unreadable(error))

    for real in _walk(notes, excluded, denied):
        path = relative(notes, real)
        try:
            found = _found(real)
        except OSError as error:
            refuse(path, _unreadable(error))
            continue
        if found is None:
            continue
        if path != _printable(path):
            refuse(path, msg("Its name, or its folder's, is not valid Unicode. Rename it."))
        elif path in files:
            refuse(real.relative_to(notes).as_posix(), _same_name())
        else:
            files[path] = found
    return Scan(files, tuple(unreadable))


def plan(scanned: Scan, known: Mapping[str, Fingerprint], held: Container[str] = ()) -> Plan:
    """Compare a scan with the catalogue. Only files whose size or time differ are read, to hash them.
    What is in `held` keeps the version that the index has."""
    changed, touched = [], []
    unchanged = 0
    for path, found in sorted(scanned.files.items()):
        if path in held:
            continue
        old = known.get(path)
        if old and old.sha256 and (old.size, old.mtime_ns) == (found.size, found.mtime_ns):
            unchanged += 1
            continue
        fingerprint = Fingerprint(found.size, found.mtime_ns, _digest(found))
        if old and fingerprint.sha256 and old.sha256 == fingerprint.sha256:
            touched.append((path, fingerprint))
        else:
            changed.append((path, fingerprint))
    missing = gone(scanned, known)
    arrived = {fingerprint.sha256 for _, fingerprint in changed}
    moved = tuple(p for p in missing if known[p].sha256 in arrived)
    removed = tuple(p for p in missing if known[p].sha256 not in arrived)
    return Plan(tuple(changed), tuple(touched), removed, moved, unchanged)


def gone(scanned: Scan, known: Iterable[str]) -> list[str]:
    """Return the known files that the folder no longer holds. What lies in an unreadable folder is not gone."""
    shut = {failure.file for failure in scanned.unreadable}
    inside = tuple(folder + "/" for folder in shut)
    return [p for p in sorted(known) if p not in scanned.files and p not in shut and not p.startswith(inside)]


def relative(notes: Path, real: Path) -> str:
    """Return the path under which a file is known: relative to the notes folder, "/", NFC."""
    return known_as(real.relative_to(notes).as_posix())


def known_as(path: str) -> str:
    """Return a relative path, however its letters are encoded, in the form in which files are known: NFC."""
    return unicodedata.normalize("NFC", path)


def on_disk(notes: Path, path: str) -> Path:
    """Return where the file that is known under this path lies, however the letters of its names are encoded there."""
    here = notes
    for part in path.split("/"):
        here = here / part if (here / part).exists() else _alike(here, part)
    return here


def _alike(folder: Path, name: str) -> Path:
    try:
        return next((entry for entry in sorted(folder.iterdir()) if known_as(entry.name) == name), folder / name)
    except OSError:
        return folder / name


def _walk(notes: Path, excluded: Path | None, denied: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield what lies in the folders, in a fixed order."""
    for folder, names, entries in os.walk(notes, onerror=denied):
        names[:] = sorted((n for n in names if not is_noise(n) and Path(folder, n) != excluded), key=_nfc_first)
        yield from (Path(folder, name) for name in sorted(entries, key=_nfc_first) if not is_noise(name))


def _nfc_first(name: str) -> tuple[bool, str]:
    # The path by which a file is known then leads to it on disk, whatever other file is named alike.
    return known_as(name) != name, name


def _found(real: Path) -> Found | None:
    """Return what a file is; `None` for what holds no note: a broken link, or a pipe, which nobody may ever fill."""
    try:
        told = real.stat()
    except FileNotFoundError:
        return None
    return Found(real, told.st_size, told.st_mtime_ns) if stat.S_ISREG(told.st_mode) else None


def _printable(path: str) -> str:
    """Return a path that can be shown and stored: what is not valid Unicode in it is written out."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _digest(found: Found) -> str:
    """Return the digest, or "" for a file that cannot be read: parsing then tells why."""
    try:
        return _sha256(found.real, found.size, found.mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=50_000)
def _sha256(file: Path, size: int, mtime_ns: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unreadable(error: OSError) -> Message:
    return msg("Cannot be read: {reason}. Check its permissions.", reason=error.strerror or str(error))


def _same_name() -> Message:
    return msg(
        "Another file has the same name, but for how its letters are encoded. Rename one of the two, or its folder; "
        "until then only the other one is searched."
    )
