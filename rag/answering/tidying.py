"""Brings a finished answer into the shape that is checked: one fashion of marks, none of a model's padding."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.types import Hit

_MARKS = re.compile(r"[^\S\n]*((?:\[\d{1,3}\])+)")
_AFTER_STOP = re.compile(r"([.!?…]+[»”\"')]*)[^\S\n]*((?:\[\d{1,3}\][^\S\n]*)+)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
# "(1)" or "¹" at the end of a sentence, by models that do not keep to square brackets.
_OTHER_MARK = re.compile(r"(?:[^\S\n]*\((\d{1,2})\)|(?<=[^\W\d_])([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))(?=[.!?…]|[^\S\n]*(?:\n|\Z))")
_SOURCE_LIST = re.compile(
    r"\n\s*[#*_]*(?:источники|список источников|ссылки|литература|sources?|references|citations)[*_]*\s*:?[*_]*[^\S\n]*"
    r"(?:\n[^\n]*(?:\[\d{1,3}\]|\.\w{2,5}\b)[^\n]*|\n[^\S\n]*)+\s*\Z",
    re.IGNORECASE,
)
_LINK_DEFINITION = re.compile(r"^[^\S\n]*\[[^\]\n]{1,40}\]:[^\S\n]*\S+[^\n]*$\n?", re.MULTILINE)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def printable(text: str) -> str:
    """Drop control characters and halves of characters: neither files nor pages can hold them."""
    if not text.isprintable():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNPRINTABLE.sub("", text)


def tidied(text: str, hits: Sequence[Hit]) -> str:
    """Return an answer with marks as they should be, and without the list of sources that some models add."""
    text = _LINK_DEFINITION.sub("", _SOURCE_LIST.sub("", text))
    if not _MARKS.search(text):
        own = "\n".join(hit.chunk.text for hit in hits)
        text = _OTHER_MARK.sub(lambda found: _mark(found, len(hits), own), text)
    return tidy_marks(text)


def _mark(found: re.Match[str], k: int, own: str) -> str:
    n = int(found.group(1) or found.group(2).translate(_RAISED))
    written = found.group().strip()
    return f" [{n}]" if 1 <= n <= k and written not in own else found.group()


def tidy_marks(text: str) -> str:
    """Put marks before the full stop and a space before them, so that a sentence and its marks stay together."""
    text = _AFTER_STOP.sub(lambda found: f" {''.join(found.group(2).split())}{found.group(1)} ", text)
    return re.sub(r"[^\S\n]+(?=\n|\Z)", "", _MARKS.sub(r" \1", text)).strip()
