"""What a file really is: its bytes first, its name second."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Literal

from rag.errors import ParsingError, PasswordNeeded
from rag.messages import msg
from rag.parsing.encodings import BOMS, decode

Family = Literal[
    "pdf", "markdown", "text", "word", "slides", "web", "epub", "odt", "rtf", "notebook", "email", "csv", "sheet",
    "old word", "old slides",
]  # fmt: skip

SUPPORTED: dict[str, Family] = {
    ".pdf": "pdf",
    ".md": "markdown", ".markdown": "markdown", ".mdown": "markdown",
    ".txt": "text", ".text": "text", ".tex": "text", ".rst": "text", ".org": "text", ".log": "text",
    ".docx": "word", ".docm": "word", ".dotx": "word",
    ".pptx": "slides", ".pptm": "slides", ".ppsx": "slides",
    ".html": "web", ".htm": "web", ".xhtml": "web",
    ".epub": "epub", ".odt": "odt", ".rtf": "rtf", ".ipynb": "notebook",
    ".eml": "email", ".mht": "email", ".mhtml": "email",
    ".csv": "csv", ".tsv": "csv", ".xlsx": "sheet", ".xlsm": "sheet",
    ".doc": "old word", ".ppt": "old slides",
}  # fmt: skip
TEXTUAL: frozenset[Family] = frozenset(("markdown", "text", "web", "notebook", "email", "csv"))
HEAD = 8192
MAX_MEMBERS = 20_000
MAX_UNPACKED = 2_000_000_000
MAX_RATIO = 200


def family_of(path: Path) -> Family:
    """Tell how to read a file. Raises `ParsingError` for what cannot be read, `PasswordNeeded` for what is locked."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    named = SUPPORTED.get(path.suffix.lower())
    if found := _by_magic(path, head):
        return found
    if not _is_text(head):
        raise _unknown(path) if named is None else _damaged(path)
    start = decode(head).text.lstrip()[:500].lower()
    if named is None or named not in TEXTUAL:
        if start.startswith(("<!doctype html", "<html")):
            return "web"
        raise _unknown(path) if named is None else _damaged(path)
    return named


def _by_magic(path: Path, head: bytes) -> Family | None:
    is_note = SUPPORTED.get(path.suffix.lower()) in TEXTUAL  # which may tell of PDF files without being one
    if head.startswith(b"%PDF-") or (b"%PDF-" in head[:1024] and not is_note):
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return _in_zip(path)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _in_ole(path)
    if head.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    return None


def _in_zip(path: Path) -> Family:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            kind = archive.read("mimetype")[:100].decode("ascii", "replace") if "mimetype" in archive.namelist() else ""
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise _damaged(path) from error
    _refuse_bomb(path, members)
    if "epub" in kind:
        return "epub"
    if "opendocument.text" in kind:
        return "odt"
    folders: tuple[tuple[str, Family], ...] = (("word/", "word"), ("ppt/", "slides"), ("xl/", "sheet"))
    names = [member.filename for member in members]
    for folder, family in folders:
        if any(name.startswith(folder) for name in names):
            return family
    if SUPPORTED.get(path.suffix.lower()) is not None:
        raise _damaged(path)
    if kind or "[Content_Types].xml" in names:
        raise _unknown(path)
    raise ParsingError(msg("This is an archive. Unpack it and put the files from it into the notes folder."))


def _refuse_bomb(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse archives that unpack to far more than documents do (zip bombs)."""
    unpacked = sum(member.file_size for member in members)
    ratio = unpacked / max(path.stat().st_size, 1)
    if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED or (ratio > MAX_RATIO and unpacked > 100_000_000):
        raise ParsingError(
            msg(
                "This file unpacks to {size} MB, which no ordinary document does. It is not opened.",
                size=round(unpacked / 1e6),
            )
        )


def _in_ole(path: Path) -> Family:
    import olefile

    try:
        with olefile.OleFileIO(path) as file:
            streams = {"/".join(parts).lower() for parts in file.listdir()}
            flags = file.openstream("WordDocument").read(12) if "worddocument" in streams else b""
    except OSError as error:
        raise _damaged(path) from error
    if "encryptedpackage" in streams or "encryptedsummary" in streams or (len(flags) == 12 and flags[11] & 1):
        raise PasswordNeeded(
            msg("This file is protected by a password. Save a copy without the password and put that here.")
        )
    if "worddocument" in streams:
        return "old word"
    if "powerpoint document" in streams:
        return "old slides"
    if streams & {"workbook", "book"}:
        raise ParsingError(msg("This is an old Excel file (.xls). Save it as .xlsx and put that here."))
    raise _unknown(path)


def _is_text(head: bytes) -> bool:
    """Text has no zero bytes (save in UTF-16 and UTF-32) and hardly any other control characters."""
    if head.startswith(tuple(bom for bom, _ in BOMS)) or decode(head).encoding.startswith(("utf-16", "utf-32")):
        return True
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return b"\0" not in head and controls * 50 <= len(head) + 50


def _unknown(path: Path) -> ParsingError:
    return ParsingError(
        msg(
            "Konspekt cannot read this type of file ({suffix}). It reads PDF, Word, PowerPoint, HTML, EPUB, ODT, RTF, "
            "Markdown, text, notebooks, e-mail, CSV and Excel.",
            suffix=path.suffix or path.name,
        )
    )


def _damaged(path: Path) -> ParsingError:
    return ParsingError(
        msg(
            "This file is damaged or is not what its name says ({suffix}). Open it in its own program and "
            "save it anew.",
            suffix=path.suffix or path.name,
        )
    )
