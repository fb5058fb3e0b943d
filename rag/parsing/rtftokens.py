"""RTF's tokens and code pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|((?:\\'[0-9a-fA-F]{2})+)|\\([^a-zA-Z'])|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "enspace": " ", "emspace": " ", "qmspace": " ",
}  # fmt: skip
SKIPPED = {
    "colortbl", "pict", "objdata", "fldinst", "bkmkstart", "bkmkend", "xe", "tc", "themedata", "datastore", "listtable",
    "listoverridetable", "rsidtbl", "generator", "nonesttables", "latentstyles", "ftnsep", "ftnsepc", "aftnsep",
    "aftnsepc", "template", "atnid", "atnauthor", "atnref", "atndate", "sp", "revtbl", "filetbl", "mmathPict",
    "shprslt", "deleted", "panose", "falt",
    "keywords", "subject", "operator", "company", "doccomm", "comment", "printim",
    "buptim",
}  # fmt: skip
# \fcharset to code page; 0 (western) and 1 (default) follow the document's.
CHARSETS = {77: "mac-roman", 89: "mac-cyrillic", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253",
            162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
            238: "cp1250", 254: "cp437", 255: "cp866"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A control word with its number, a run of text or of bytes in a code page, or a brace. "star" is "\\*"."""

    kind: Literal["word", "text", "bytes", "{", "}", "star"]
    text: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(data: bytes) -> Iterator[Token]:
    """Cut RTF into tokens; binary data is jumped over."""
    position = 0
    while found := _TOKEN.search(data, position):
        position = found.end()
        word, number, escaped, symbol, brace, text = found.groups()
        if word == b"bin":
            position += max(int(number or 0), 0)
        elif word:
            yield Token("word", word.decode(), int(number) if number else None)
        elif escaped:
            yield Token("bytes", data=bytes.fromhex(escaped.replace(b"\\'", b"").decode()))
        elif symbol:
            yield from _symbol(symbol)
        elif brace:
            yield Token("{" if brace == b"{" else "}")
        elif text:
            # Bytes above ASCII are against the standard, but some programs write them in the document's code page.
            yield Token("text", text.decode()) if text.isascii() else Token("bytes", data=text)


def _symbol(symbol: bytes) -> Iterator[Token]:
    match symbol:
        case b"*":
            yield Token("star")
        case b"~":
            yield Token("text", "\u00a0")
        case b"_":
            yield Token("text", "-")
        case b"\r" | b"\n":
            yield Token("word", "par")
        case b"\\" | b"{" | b"}":
            yield Token("text", symbol.decode())
