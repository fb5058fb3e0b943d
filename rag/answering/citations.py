"""Citation marks in a model's text: made uniform, checked against the passages, told from the notes' own brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.reply import Mark
from rag.types import Citation, Hit

_NUMBERS = r"\d{1,3}(?:\s*(?:[,;–—-]|\band\b|\bи\b)\s*(?:№\s*|#\s*)?\d{1,3})*"
_LABELS = (
    r"(?:(?:см\.?|из|see|from)\s+)?"
    r"(?:passages?|sources?|отрыв(?:ок|ки|ка|ков)|источник[аи]?|фрагмент[аы]?|passage\s+n\s*=)"
)
_MARK = re.compile(
    rf"(?P<before>\w*)(?P<gap>[^\S\n]*)(?:[\[【(]\s*(?:{_LABELS})\s*[№#:]?\s*\"?(?P<named>{_NUMBERS})\"?\s*[\]】)]"
    rf"|[\[【]\s*[\^№#]?\s*(?P<bare>{_NUMBERS})(?:†[^\]】\n]{{0,20}})?\s*[\]】])",
    re.IGNORECASE,
)
_NOTE_MARK = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_HIDDEN_MARK = re.compile(r"⟦(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)⟧")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(\s*<?[^)\s]*>?(?:\s+[^)]*)?\)|!?\[([^\]\n]+)\]\[[^\]\n]*[^\]\d\n][^\]\n]*\]")
_HTML = re.compile(
    r"</?(?:img|a|iframe|script|style|link|object|embed|video|audio|source|form|input|svg|meta|base|answer|response)\b[^>\n]*>",
    re.IGNORECASE,
)
_LONGEST_HELD = 400
_LONGEST_ASIDE = 120
_PLAIN = "\u2060"  # a joiner keeps a note's own bracket from being read as a mark later


def hide_note_marks(passage: str) -> str:
    """Write a passage's own bracketed numbers in other brackets, so that a model's copies of them are no citations."""
    return _NOTE_MARK.sub(r"⟦\1⟧", passage)


def own_brackets(hits: Sequence[Hit]) -> frozenset[str]:
    """Return the passages' own bracketed numbers with the word before each, as "word[12]"."""
    pattern = re.compile(r"(\w+)[^\S\n]*\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
    found = (pair for hit in hits for pair in pattern.findall(hit.chunk.text))
    return frozenset(f"{word.lower()}[{numbers}]" for word, numbers in found)


class MarkCleaner:
    """Cleans a stream: pieces go in, text that can be shown comes out; the start of a mark or link is held back."""

    def __init__(self, k: int, own: frozenset[str] = frozenset()) -> None:
        self._k, self._own = k, own
        self._held = ""
        self.unknown: list[int] = []

    def feed(self, piece: str) -> str:
        """Return what can be shown now."""
        self._held += piece
        ready = _safe_length(self._held)
        text, self._held = self._held[:ready], self._held[ready:]
        return self._clean(text)

    def end(self) -> str:
        """Return the rest, once no more comes."""
        text, self._held = self._held, ""
        return self._clean(text)

    def forget(self) -> None:
        """Drop what is held back."""
        self._held = ""

    def _clean(self, text: str) -> str:
        text = _HTML.sub("", _LINK.sub(_label, text))
        return _HIDDEN_MARK.sub(rf"[{_PLAIN}\1]", _MARK.sub(self._uniform, text))

    def _uniform(self, found: re.Match[str]) -> str:
        numbers = found.group("named") or found.group("bare")
        before, gap = found.group("before"), found.group("gap")
        if f"{before.lower()}[{numbers}]" in self._own:
            return f"{before}{gap}[{_PLAIN}{numbers}]"
        wanted = _expanded(numbers)
        self.unknown += [n for n in wanted if not 1 <= n <= self._k]
        known = [f"[{n}]" for n in wanted if 1 <= n <= self._k]
        return before + (gap + "".join(known) if known else "")


def _label(link: re.Match[str]) -> str:
    """What is left of a link: its words, or the mark that it was made of."""
    label = link.group(1) or link.group(2) or ""
    return f"[{label}]" if label.isdigit() else label


def _expanded(numbers: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"\s*(?:[,;]|\band\b|\bи\b)\s*", numbers):
        ends = [int(n) for n in re.findall(r"\d+", part)]
        found += range(ends[0], ends[-1] + 1) if len(ends) == 2 and 0 < ends[1] - ends[0] < 20 else ends
    return list(dict.fromkeys(found))


def _safe_length(text: str) -> int:
    """How much of the text ends before what could still become a mark, a link or a tag: up to a space in no bracket."""
    if len(text) > _LONGEST_HELD:
        return len(text)
    start = max(text.rfind(" "), text.rfind("\n")) + 1
    for opening in re.finditer(r"[\[【<⟦(]", text):
        end = _closed_at(text, opening.start())
        if end is None or opening.start() < start <= end:
            start = min(start, opening.start())
    # A mark is joined to the word before it, and spaces may stand between them.
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    return start - 1 if start > 0 and text[start - 1] == "!" else start


def _closed_at(text: str, start: int) -> int | None:
    """Where the bracket is known to end; `None` while more of it, or a link's address, may follow."""
    end = text.find({"[": "]", "【": "】", "<": ">", "⟦": "⟧", "(": ")"}[text[start]], start)
    if text[start] in "<(" and ("\n" in text[start:] or (end < 0 and len(text) - start > _LONGEST_ASIDE)):
        return start
    if end < 0:
        return None
    following = text[end + 1 : end + 2]
    if text[start] != "[" or (following and following not in "(["):
        return end
    address = text.find({"(": ")", "[": "]"}[following], end + 1) if following else -1
    return address if address >= 0 else None


def marks_in(text: str) -> list[Mark]:
    """Return the links of a text whose marks are uniform; a note's own brackets are told by their joiner."""
    return [Mark(found.start(), found.end(), int(found.group(1))) for found in re.finditer(r"\[(\d{1,3})\]", text)]


def shown_text(text: str) -> str:
    """Drop the joiners that kept the notes' own brackets apart."""
    return text.replace(_PLAIN, "")


def citations(numbers: Sequence[int], hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """Return one citation per cited passage, in the order of first mention."""
    cited = [(n, hits[n - 1].chunk) for n in dict.fromkeys(numbers) if 1 <= n <= len(hits)]
    return tuple(Citation(n, chunk.path, chunk.page_first) for n, chunk in cited)
