"""Hides a reasoning model's thoughts where the server passes them on inside the text, in <think> tags."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_LONGEST_TAG = len("</reasoning>")


@dataclass(frozen=True, slots=True)
class Visible:
    """What a piece adds to the answer. `restart`: all text before it was a thought whose opening tag the server left
    out."""

    text: str
    restart: bool = False


class ThoughtFilter:
    """Feeds on pieces of any size; tags may be split over them. A thought that is never closed stays hidden."""

    def __init__(self) -> None:
        self._held = ""
        self.inside = False
        self._opened = False

    def feed(self, piece: str) -> Visible:
        """Return what can be shown now; the start of a possible tag is held back."""
        self._held += piece
        shown, restart = "", False
        while found := _TAG.search(self._held):
            before, self._held = self._held[: found.start()], self._held[found.end() :]
            closing = bool(found.group(1))
            if not self.inside and closing and not self._opened:
                shown, restart = "", True
            elif not self.inside:
                shown += before
            self.inside = not closing
            self._opened = True
        keep = self._possible_tag()
        ready, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return Visible(shown + ("" if self.inside else ready), restart)

    def end(self) -> str:
        """Return what was held back, once no more comes."""
        held, self._held = self._held, ""
        return "" if self.inside else held

    def _possible_tag(self) -> int:
        at = self._held.rfind("<", max(0, len(self._held) - _LONGEST_TAG + 1))
        tail = self._held[at:].lower() if at >= 0 else ""
        tags = [f"<{slash}{name}>" for slash in ("", "/") for name in ("think", "thinking", "thought", "reasoning")]
        return len(tail) if tail and any(tag.startswith(tail) for tag in tags) else 0


def without_thoughts(text: str) -> str:
    """Return what is left of a whole text."""
    thoughts = ThoughtFilter()
    return thoughts.feed(text).text + thoughts.end()
