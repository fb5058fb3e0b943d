"""What is embedded and what the keyword index reads of a passage: its heading path, its text, its tables as words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from rag.chunking.sections import without_titles
from rag.sentences import sentences
from rag.types import Chunk

CountTokens = Callable[[Sequence[str]], list[int]]

SEPARATOR = " › "
HEADING_SHARE = 3  # a heading path takes at most this part of the window: 1/3
WINDOW = 450  # characters of a passage that get a vector of their own
_CELLS = " | "


def embedding_texts(chunk: Chunk, count_tokens: CountTokens, window: int) -> list[str]:
    """Return the texts to embed for a passage, each with its heading path and within `window` tokens; at least one."""
    line = heading_lines([chunk.heading], count_tokens, window)[0]
    windows = windows_of(embedded("", without_titles(chunk.text, chunk.heading), chunk.words), WINDOW)
    texts = [embedded(line, text, "") for text in windows]
    counts = count_tokens(texts)
    if max(counts) <= window:
        return texts
    fitting: list[str] = []
    for text, count in zip(windows, counts, strict=True):
        fitting += [text] if count <= window else _parts(text, line, count_tokens, window)
    return [embedded(line, text, "") for text in fitting]


def windows_of(text: str, size: int) -> list[str]:
    """Part a text into stretches of about `size` characters and of nearly the same length, between sentences."""
    n = max(1, round(len(text) / size))
    ends = [end for _, end in sentences(text)] if n > 1 else []
    cuts = {min(ends, key=lambda end: abs(end - len(text) * k / n)) for k in range(1, n)} if ends else set()
    edges = [0, *sorted(cuts), len(text)]
    parts = [text[a:b].strip() for a, b in itertools.pairwise(edges)]
    return [part for part in parts if part] or [text]


def keyword_text(chunk: Chunk) -> str:
    """Return what the keyword index tokenises of a passage."""
    text = without_titles(chunk.text, chunk.heading)
    return "\n".join(part for part in (SEPARATOR.join(chunk.heading), text, chunk.words) if part)


def embedded(line: str, text: str, words: str) -> str:
    """Return a heading line and a passage as they are embedded: rows of tables only as words."""
    if words:
        prose = "\n".join(row for row in text.split("\n") if _CELLS not in row)
        text = "\n".join(part for part in (prose.strip(), words) if part)
    return f"{line}\n{text}" if line else text


def heading_lines(headings: Sequence[tuple[str, ...]], count_tokens: CountTokens, window: int) -> list[str]:
    """Return the headings as lines that leave most of the window to the text.

    A path that is too long loses its outermost headings, and at last the end of the innermost.
    """
    paths = list(dict.fromkeys(headings))
    lines = dict(zip(paths, (SEPARATOR.join(path) for path in paths), strict=True))
    waiting = [path for path in paths if path]
    kept = {path: path for path in waiting}
    while waiting:
        counts = count_tokens([lines[path] for path in waiting])
        waiting = [path for path, n in zip(waiting, counts, strict=True) if n > window // HEADING_SHARE and lines[path]]
        for path in waiting:
            last = kept[path][-1]
            kept[path] = kept[path][1:] if len(kept[path]) > 1 else (last[: len(last) * 2 // 3],)
            lines[path] = SEPARATOR.join(kept[path]).rstrip()
    return [lines[heading] for heading in headings]


def _parts(body: str, line: str, count_tokens: CountTokens, window: int) -> list[str]:
    """Cut a text that is too long for one window into runs of sentences that fit, halving what does not."""
    fitting: list[str] = []
    waiting = [body]
    while waiting:
        part = waiting.pop()
        if count_tokens([embedded(line, part, "")])[0] <= window or len(part) < 2:
            fitting.append(part)
        else:
            waiting += reversed(_halves(part))
    return fitting


def _halves(text: str) -> list[str]:
    """Part a text at the sentence end, else the space, nearest to its middle."""
    middle = len(text) // 2
    ends = [end for _, end in sentences(text)[:-1]] or [i for i, c in enumerate(text) if c.isspace() and i]
    cut = min(ends, key=lambda end: abs(end - middle), default=middle)
    halves = [text[:cut].strip(), text[cut:].strip()]
    return halves if all(halves) else [text[:middle], text[middle:]]
