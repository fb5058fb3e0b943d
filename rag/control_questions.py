"""Control questions: reading them, and telling whether a hit is one of their right places."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import QuestionError
from rag.messages import Message, msg
from rag.types import Hit


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer stands. Empty fields do not restrict; `pages` are 1-based and physical."""

    file: str
    pages: frozenset[int] = frozenset()
    heading: str = ""
    text: str = ""

    def matches(self, hit: Hit) -> bool:
        """Tell whether the hit is this place."""
        chunk = hit.chunk
        if self.file not in map(_nfc, (chunk.path, *hit.same_in)):
            return False
        first = chunk.page_first
        last = chunk.page_last if chunk.page_last is not None else first
        if self.pages and (first is None or last is None or self.pages.isdisjoint(range(first, last + 1))):
            return False
        if self.heading and self.heading not in map(_folded, chunk.heading):
            return False
        return self.text in _folded(chunk.text)


@dataclass(frozen=True, slots=True)
class ControlQuestion:
    """A question, the places that answer it (`right`: any one will do), and a second place it needs as well."""

    question: str
    answerable: bool
    right: tuple[Place, ...] = ()
    also: tuple[Place, ...] = ()
    fields: Mapping[str, Any] | None = None

    def rank(self, hits: Sequence[Hit]) -> int | None:
        """Return the 1-based rank of the first right hit; one on the second place counts as well."""
        return _rank((*self.right, *self.also), hits)

    def both_rank(self, hits: Sequence[Hit]) -> int | None:
        """Return the rank by which both places have been seen."""
        ranks = [_rank(self.right, hits), *(_rank((place,), hits) for place in self.also)]
        seen = [rank for rank in ranks if rank is not None]
        return max(seen) if len(seen) == len(ranks) else None


def read_questions(file: Path | str) -> list[dict[str, Any]]:
    """Read one JSON object a line; blank lines are skipped. Raises `QuestionError` naming the line."""
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(
            msg("Cannot read the questions in {file}: {reason}.", file=str(file), reason=str(error))
        ) from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            found.append(_read(line, number))
    if not found:
        raise QuestionError(msg("{file} holds no questions. Write one JSON object a line.", file=str(file)))
    return found


def control_question(fields: Mapping[str, Any], where: Message) -> ControlQuestion:
    """Check one question's fields. Raises `QuestionError`; `where` names the place of the question."""
    question, answerable = fields.get("question"), fields.get("answerable", True)
    if not isinstance(question, str) or not question.strip():
        raise _wrong(where, msg("“question” is missing or is not text"))
    if not isinstance(answerable, bool):
        raise _wrong(where, msg("“answerable” must be true or false"))
    if answerable and "file" not in fields:
        raise _wrong(where, msg("“file” is missing, and the question is not marked as one without an answer"))
    if not answerable:
        return ControlQuestion(question, False, fields=fields)
    right = (_place(fields, where), *_places(fields, "also_ok", where))
    return ControlQuestion(question, True, right, _places(fields, "also", where), fields)


def _read(line: str, number: int) -> dict[str, Any]:
    where = msg("Line {number}", number=number)
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise _wrong(where, msg("this is not JSON: {reason}", reason=str(error))) from error
    if not isinstance(fields, dict):
        raise _wrong(where, msg("this is not a JSON object"))
    control_question(fields, where)
    return fields


def _places(fields: Mapping[str, Any], name: str, where: Message) -> tuple[Place, ...]:
    places = fields.get(name, [])
    if not isinstance(places, list) or not all(isinstance(place, dict) for place in places):
        raise _wrong(where, msg("“{name}” must be a list of objects with “file”", name=name))
    return tuple(_place(place, where) for place in places)


def _place(fields: Mapping[str, Any], where: Message) -> Place:
    for name in ("file", "heading", "text"):
        if not isinstance(fields.get(name, ""), str):
            raise _wrong(where, msg("“{name}” must be text", name=name))
    if not fields.get("file"):
        raise _wrong(where, msg("“{name}” must be text", name="file"))
    page = fields.get("page", [])
    pages = page if isinstance(page, list) else [page]
    if not all(isinstance(p, int) and not isinstance(p, bool) and p > 0 for p in pages):
        raise _wrong(where, msg("“page” must be a page number from 1 on, or a list of them"))
    heading, text = _folded(fields.get("heading", "")), _folded(fields.get("text", ""))
    return Place(_nfc(fields["file"].replace("\\", "/")), frozenset(pages), heading, text)


def _wrong(where: Message, reason: Message) -> QuestionError:
    return QuestionError(msg("{where} of the questions: {reason}.", where=where, reason=reason))


def _rank(places: Sequence[Place], hits: Sequence[Hit]) -> int | None:
    return next((n for n, hit in enumerate(hits, 1) if any(p.matches(hit) for p in places)), None)


def _folded(text: str) -> str:
    return " ".join(_nfc(text).split())


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
