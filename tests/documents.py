"""Small real files for the tests of parsing, and short ways to look at what was read from them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from rag.parsing import ParseSettings, parse
from rag.types import Block, ParsedDocument, Table

SETTINGS = ParseSettings()


def put(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path; text is written as UTF-8."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, name: str, content: str | bytes) -> ParsedDocument:
    """Write a file and parse it."""
    return parse(put(folder, name, content), SETTINGS)


def put_zip(folder: Path, name: str, parts: Mapping[str, str | bytes]) -> Path:
    """Write a zip archive of these parts, in their order."""
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return path


def texts(document: ParsedDocument, kind: str | None = None) -> list[str]:
    """The texts of the blocks, of one kind if that is given."""
    return [block.text for block in document.blocks if kind in (None, block.kind)]


def whole(document: ParsedDocument) -> str:
    """All text, for asking what is not in it."""
    return "\n".join(texts(document))


def block_with(document: ParsedDocument, words: str) -> Block:
    """The only block whose text, white space folded, holds these words."""
    found = [b for b in document.blocks if words in " ".join(b.text.split()) and b.kind != "heading"]
    assert len(found) == 1, (words, texts(document))
    return found[0]


def only_table(document: ParsedDocument) -> Table:
    """The document's only table."""
    tables = [block.table for block in document.blocks if block.table]
    assert len(tables) == 1, texts(document)
    return tables[0]
