"""Addresses in text: percent-encoded ones shrink to the words that they hold."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_ENCODED_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"'|\\^`{}\[\]]*%[0-9A-Fa-f]{2}[^\s<>\"'|\\^`{}\[\]]*")
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=_%-]*", re.ASCII)


def shrink_links(text: str) -> str:
    """Replace each percent-encoded address by its host and its last path segment as words."""
    return _ENCODED_URL.sub(lambda match: link_words(match.group()), text)


def link_words(url: str) -> str:
    """An address as words: "https://ru.wikipedia.org/wiki/%D0%9A%D0%BE%D1%82_(%D0%B7%D0%B2%D0%B5%D1%80%D1%8C)"
    becomes "ru.wikipedia.org: Кот (зверь)". One without percent-encoding stays as it is."""
    if "%" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    segments = [unquote(s, errors="replace") for s in (*parts.path.split("/"), parts.fragment) if s]
    words = re.sub(r"[_+\s]+", " ", segments[-1] if segments else "").strip()
    if not words or "\ufffd" in words:
        return parts.netloc or url
    return f"{parts.netloc}: {words}" if parts.netloc else words


def cut_data_uris(text: str) -> tuple[str, int]:
    """Empty all inlined files ("data:image/png;base64,..."). Returns the text and the number of characters cut."""
    cut = _DATA_URI.sub("data", text)
    return cut, len(text) - len(cut)
