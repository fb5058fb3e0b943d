"""What is kept of an answer: enough to read it again, to check it, and to repeat the run that made it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from rag.answering.reply import Reply
from rag.messages import Message, msg
from rag.types import Meta

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that was shown, by its number. `chunk_id` tells later whether it still stands in the notes."""

    n: int
    file: str
    chunk_id: str
    text: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    date: str | None = None
    title: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """An answer and what made it. `when` is ISO 8601 in UTC; `marks` are (start, end, n) of the links in `text`;
    `verdicts` are (start, end, verdict) of its sentences; `settings` hold what influences the result. `model` names the
    language model that was asked, `revision` is its digest and `context` its size in tokens, also where quotes stand
    in the place of what it wrote; all three are empty where none was asked."""

    when: str
    question: str
    text: str
    answered_by: str
    model: str = ""
    revision: str = ""
    context: int = 0
    cited: tuple[int, ...] = ()
    marks: tuple[tuple[int, int, int], ...] = ()
    verdicts: tuple[tuple[int, int, str], ...] = ()
    sources: tuple[Source, ...] = ()
    settings: Mapping[str, Any] | None = None
    warnings: tuple[Message, ...] = ()
    cut_off: bool = False

    @property
    def shown_sources(self) -> tuple[Source, ...]:
        """The sources that the answer cites; all of them where it cites none."""
        return tuple(source for source in self.sources if not self.cited or source.n in self.cited)

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads back."""
        return {**asdict(self), "warnings": [warning.to_json() for warning in self.warnings], "format": FORMAT}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunRecord:
        """Rebuild what `to_json` wrote; fields of later formats are ignored."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        known["sources"] = tuple(Source(**{**s, "heading": tuple(s["heading"])}) for s in data["sources"])
        known["warnings"] = tuple(Message.from_json(warning) for warning in data["warnings"])
        known["cited"] = tuple(data["cited"])
        for name in ("marks", "verdicts"):
            known[name] = tuple(tuple(row) for row in data[name])
        return cls(**known)


def record_of(
    reply: Reply,
    settings: Mapping[str, Any],
    meta: Callable[[str], Meta] = lambda file: Meta(),
    when: datetime | None = None,
) -> RunRecord:
    """Make the record of a finished reply. `meta` gives what a file says of itself, for its title and author."""
    answer = reply.answer
    return RunRecord(
        when=(when or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        question=reply.question,
        text=answer.text,
        answered_by=answer.answered_by,
        model=answer.model,
        revision=answer.revision,
        context=answer.context,
        cited=tuple(citation.n for citation in answer.citations),
        marks=tuple((mark.start, mark.end, mark.n) for mark in answer.marks),
        verdicts=tuple((sentence.start, sentence.end, sentence.verdict) for sentence in answer.sentences),
        sources=tuple(_source(reply, n, meta) for n in range(1, len(reply.result.hits) + 1)),
        settings=dict(settings),
        warnings=answer.warnings,
        cut_off=answer.cut_off,
    )


def _source(reply: Reply, n: int, meta: Callable[[str], Meta]) -> Source:
    chunk = reply.result.hits[n - 1].chunk
    about = meta(chunk.path)
    return Source(
        n, chunk.path, chunk.id, chunk.text, chunk.heading, chunk.page_first, chunk.date, about.title, about.author
    )


def changed_sources(record: RunRecord, chunk_ids: Callable[[str], Collection[str] | None]) -> list[Message]:
    """Tell which cited passages an old answer can no longer be checked against. `chunk_ids` gives the ids of a file's
    passages as they are now, `None` where the file is gone."""
    found = []
    for source in record.shown_sources:
        now = chunk_ids(source.file)
        if now is None:
            found.append(msg("[{n}] {file} is no longer among the notes.", n=source.n, file=source.file))
        elif source.chunk_id not in now:
            found.append(
                msg("[{n}] The passage in {file} has changed since this answer.", n=source.n, file=source.file)
            )
    return found
