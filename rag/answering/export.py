"""An answer as a document of its own: Markdown or Word, with numbered sources and the record of the run."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rag.answering.phrases import PHRASES, language_of
from rag.answering.record import RunRecord, Source

if TYPE_CHECKING:
    from docx.document import Document

Translate = Callable[[str], str]
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")
_DEFINED_LINK = re.compile(r"^([^\S\n]*)\[(?=[^\]\n]+\]:)", re.MULTILINE)  # it would make links of the marks
_FENCE = re.compile(r"`{3,}|~{3,}")


def to_text(record: RunRecord) -> str:
    """Return the answer with its sources as plain text, to be pasted elsewhere."""
    parts = [record.text]
    if record.sources:
        title = PHRASES[language_of(record.question)].sources
        parts.append("\n".join([f"{title}:", *(_reference(record, source) for source in record.shown_sources)]))
    return "\n\n".join(parts)


def to_markdown(record: RunRecord, translate: Translate = str) -> str:
    """Return the answer as Markdown. Pictures and HTML that stand in quoted notes are written out, not loaded."""
    phrases = PHRASES[language_of(record.question)]
    parts = [f"# {_quiet(_one_line(record.question))}", _closed(_quiet(record.text))]
    parts += [f"> {_quiet(_one_line(warning.text(translate)))}" for warning in record.warnings]
    if record.sources:
        # No numbered list: Markdown would count it anew, and the marks in the text would point to other sources.
        references = (f"- {_quiet(_one_line(_reference(record, source)))}" for source in record.shown_sources)
        parts += [f"## {phrases.sources}", "\n".join(references)]
    run = json.dumps(_run(record), ensure_ascii=False, indent=1).replace("`", "\\u0060")
    parts += [f"## {phrases.run}", f"```json\n{run}\n```"]
    return "\n\n".join(parts) + "\n"


def to_word(record: RunRecord, translate: Translate = str) -> bytes:
    """Return the answer as a .docx file."""
    from docx import Document as new_document

    phrases = PHRASES[language_of(record.question)]
    question = _legal(_one_line(record.question))
    document = new_document()
    document.core_properties.title = question[:255]
    document.core_properties.author = "Konspekt"
    document.add_heading(question, 1)
    _add_answer(document, record)
    for warning in record.warnings:
        document.add_paragraph().add_run(_legal(warning.text(translate))).italic = True
    if record.sources:
        document.add_heading(phrases.sources, 2)
    for source in record.shown_sources:
        document.add_paragraph(_legal(_reference(record, source)))
    document.add_heading(phrases.run, 2)
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


def _reference(record: RunRecord, source: Source) -> str:
    return f"[{source.n}] {described(record, source)}"


def _run(record: RunRecord) -> dict[str, object]:
    """The record of the run: all that is needed to ask again, with the passages by id and place."""
    return {
        "when": record.when,
        "question": record.question,
        "answered_by": record.answered_by,
        "model": record.model,
        "revision": record.revision,
        "context": record.context,
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


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quiet(text: str) -> str:
    return _DEFINED_LINK.sub(r"\1\\[", _ACTIVE.sub(lambda found: "\\" + found.group(), text))


def _closed(text: str) -> str:
    """Close a fence of code that a quotation opens and does not end: all that follows would be code."""
    fences = _FENCE.findall(text)
    return text + "\n" + fences[-1] if len(fences) % 2 else text
