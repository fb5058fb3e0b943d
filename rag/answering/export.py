"""An answer as a document of its own: Markdown or Word, with numbered sources and the record of the run."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rag.answering.phrases import PHRASES, language_of
from rag.answering.record import RunRecord, Source

if TYPE_CHECKING:
    from docx.document import Document

Translate = Callable[[str], str]
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")


def to_markdown(record: RunRecord, translate: Translate = str) -> str:
    """Return the answer as Markdown. Pictures and HTML that stand in quoted notes are written out, not loaded."""
    parts = [f"# {_quiet(record.question)}", _quiet(record.text)]
    parts += [f"> {warning.text(translate)}" for warning in record.warnings]
    phrases = PHRASES[language_of(record.question)]
    if record.sources:
        parts.append(f"## {phrases.sources}")
        parts.append("\n".join(f"{source.n}. {_quiet(described(record, source))}" for source in _listed(record)))
    parts.append("```json\n" + json.dumps(_run(record), ensure_ascii=False, indent=1).replace("```", "'''") + "\n```")
    return "\n\n".join(parts) + "\n"


def to_word(record: RunRecord, translate: Translate = str) -> bytes:
    """Return the answer as a .docx file."""
    from docx import Document as new_document

    document = new_document()
    document.core_properties.title = _legal(record.question)[:255]
    document.core_properties.author = "Konspekt"
    document.add_heading(_legal(record.question), 1)
    _add_answer(document, record)
    for warning in record.warnings:
        document.add_paragraph(_legal(warning.text(translate))).runs[0].italic = True
    if record.sources:
        document.add_heading(PHRASES[language_of(record.question)].sources, 2)
    for source in _listed(record):
        document.add_paragraph(_legal(f"[{source.n}] {described(record, source)}"))
    document.add_paragraph(_legal(json.dumps(_run(record), ensure_ascii=False, indent=1)), style="No Spacing")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def described(record: RunRecord, source: Source) -> str:
    """Return a source as a reference: author, title or file, page, section, date."""
    phrases = PHRASES[language_of(record.question)]
    parts = [source.author, source.title, source.file]
    if source.page is not None:
        parts.append(phrases.page.format(page=source.page))
    if source.heading:
        parts.append(phrases.section.format(section=" › ".join(source.heading)))
    if source.date:
        parts.append(phrases.date.format(date=source.date))
    return ", ".join(part for part in parts if part)


def _listed(record: RunRecord) -> Iterator[Source]:
    return (source for source in record.sources if not record.cited or source.n in record.cited)


def _run(record: RunRecord) -> dict[str, object]:
    """The record of the run: all that is needed to ask again, with the passages by id and place."""
    return {
        "when": record.when,
        "question": record.question,
        "answered_by": record.answered_by,
        "model": record.model,
        "revision": record.revision,
        "settings": dict(record.settings or {}),
        "passages": [
            {"n": source.n, "file": source.file, "page": source.page, "id": source.chunk_id}
            for source in record.sources
        ],
        "verdicts": [verdict for _, _, verdict in record.verdicts],
        "cut_off": record.cut_off,
    }


def _add_answer(document: Document, record: RunRecord) -> None:
    """One paragraph a line; the marks that are links are set in bold, other brackets are plain."""
    at = 0
    for line in record.text.split("\n"):
        end = at + len(line)
        if line.strip():
            paragraph = document.add_paragraph()
            last = at
            for start, stop, _ in record.marks:
                if at <= start and stop <= end:
                    paragraph.add_run(_legal(record.text[last:start]))
                    paragraph.add_run(_legal(record.text[start:stop])).bold = True
                    last = stop
            paragraph.add_run(_legal(record.text[last:end]))
        at = end + 1


def _legal(text: str) -> str:
    return _NOT_IN_XML.sub("", text)


def _quiet(text: str) -> str:
    return _ACTIVE.sub(lambda found: "\\" + found.group(), text)
