"""What the command line prints: the JSON documents of its contract, and the same as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rag.syncing.scanning import known_as
from rag.types import Check, Chunk, FileStatus, Hit, SearchResult, SyncResult

if TYPE_CHECKING:
    from rag.answering.reply import Reply

Document = Mapping[str, Any]


def sync(result: SyncResult) -> dict[str, Any]:
    """Return `sync`'s document."""
    failed = [{"file": known_as(f.file), "error": str(f.error)} for f in result.failed]
    return {**asdict(result), "failed": failed}


def search(result: SearchResult) -> dict[str, Any]:
    """Return `search`'s document."""
    return {
        "query": result.query,
        "refused": result.refused,
        "confidence": result.confidence,
        "threshold": result.threshold,
        "mode": result.mode,
        "sub_questions": list(result.sub_questions),
        "hits": [_hit(rank, hit) for rank, hit in enumerate(result.hits, 1)],
        "warnings": [str(warning) for warning in result.warnings],
    }


def ask(reply: Reply) -> dict[str, Any]:
    """Return `ask`'s document, after the reply is complete."""
    found = search(reply.result)
    warnings = [*found["warnings"], *(str(w) for w in reply.warnings if w not in reply.result.warnings)]
    return {
        **found,
        "answer": reply.text,
        "answered_by": reply.answered_by,
        "citations": [asdict(citation) for citation in reply.citations],
        "warnings": warnings,
    }


def files(statuses: Sequence[FileStatus]) -> dict[str, Any]:
    """Return `files`' document."""
    return {"files": [_file(status) for status in statuses]}


def chunks(file: str, found: Sequence[Chunk]) -> dict[str, Any]:
    """Return `chunks`' document."""
    return {"file": known_as(file), "chunks": [_chunk(chunk) for chunk in found]}


def doctor(checks: Sequence[Check]) -> dict[str, Any]:
    """Return `doctor`'s document."""
    rows = [{"name": c.name, "ok": c.ok, "detail": str(c.detail), "fix": str(c.fix) if c.fix else None} for c in checks]
    return {"checks": rows}


def show_sync(document: Document) -> str:
    """Tell `sync`'s document in words."""
    head = (
        "{files} files: {indexed} indexed, {unchanged} unchanged, {removed} removed; "
        "{chunks} passages, {embedded} embedded; {seconds} s\n"
    ).format(**document)
    return head + "".join(f"  {f['file']}: {f['error']}\n" for f in document["failed"])


def show_search(document: Document) -> str:
    """Tell `search`'s document in words."""
    return _show_warnings(document) + _show_hits(document)


def show_ask(document: Document) -> str:
    """Tell `ask`'s document in words."""
    answered_by = f"{_show_warnings(document)}({document['answered_by']})"
    return f"{document['answer']}\n\n{answered_by}\n\n{_show_hits(document)}"


def show_eval(document: Document) -> str:
    """Tell `eval`'s document as tables."""
    lines: list[str] = []
    for mode, figures in document["modes"].items():
        lines.append(
            mode + "  " + "  ".join(f"{k} {_figure(v)}" for k, v in figures.items() if not isinstance(v, dict))
        )
        for group, values in figures.get("by", {}).items():
            lines.append(f"  {group}  " + "  ".join(f"{k} {_figure(v)}" for k, v in values.items()))
    lines.append(f"{len(document['misses'])} misses")
    return "\n".join(lines) + "\n"


def show_files(document: Document) -> str:
    """Tell `files`' document in words."""
    lines = (
        f"{f['state']:<16} {f['chunks']:>5}  {f['file']}" + (f"  ({f['error']})" if f["error"] else "")
        for f in document["files"]
    )
    return "".join(line + "\n" for line in lines)


def show_chunks(document: Document) -> str:
    """Tell `chunks`' document in words."""
    return "\n".join(
        f"--- {c['ordinal']}  {_place(document['file'], c)}  [{c['tokens']}]\n{c['text']}\n" for c in document["chunks"]
    )


def show_doctor(document: Document) -> str:
    """Tell `doctor`'s document in words."""
    lines = (
        f"{'ok ' if c['ok'] else '-- '} {c['name']}: {c['detail']}" + (f"\n      {c['fix']}" if c["fix"] else "")
        for c in document["checks"]
    )
    return "".join(line + "\n" for line in lines)


def _hit(rank: int, hit: Hit) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "rank": rank,
        "file": chunk.path,
        "heading": list(chunk.heading),
        "page": chunk.page_first,
        "page_last": chunk.page_last,
        "text": chunk.text,
        "score": hit.score,
        "dense": hit.dense,
        "keyword": hit.keyword,
        "closeness": hit.closeness,
        "rerank": hit.rerank,
        "dense_rank": hit.dense_rank,
        "keyword_rank": hit.keyword_rank,
        "ordinal": chunk.ordinal,
        "date": chunk.date,
        "date_source": chunk.date_source,
        "same_in": list(hit.same_in),
    }


def _file(status: FileStatus) -> dict[str, Any]:
    report = status.report
    return {
        "file": known_as(status.path),
        "state": status.state,
        "pages": report.pages,
        "text_pages": len(report.text_pages),
        "ocr_pages": len(report.ocr_pages),
        "empty_pages": len(report.empty_pages),
        "suspect_pages": len(report.suspect_pages),
        "chunks": status.chunks,
        "error": str(status.error) if status.error else None,
        "date": status.meta.date,
        "date_source": status.meta.date_source,
        "title": status.meta.title,
        "author": status.meta.author,
        "language": status.meta.language,
        "encoding": report.encoding,
        "tables": report.tables,
        "dropped": dict(report.dropped),
        "warnings": [str(warning) for warning in report.warnings],
    }


def _chunk(chunk: Chunk) -> dict[str, Any]:
    return {
        "ordinal": chunk.ordinal,
        "heading": list(chunk.heading),
        "page": chunk.page_first,
        "page_last": chunk.page_last,
        "tokens": chunk.tokens,
        "text": chunk.text,
        "boxes": [{"page": box.page, "bbox": list(box.bbox)} for box in chunk.boxes],
    }


def _place(file: str, at: Mapping[str, Any]) -> str:
    first, last = at["page"], at["page_last"]
    pages = [] if first is None else [f"p. {first}" if first == last else f"pp. {first}-{last}"]
    return " › ".join([file, *at["heading"], *pages])


def _show_warnings(document: Document) -> str:
    return "".join(f"! {warning}\n" for warning in document["warnings"])


def _show_hits(document: Document) -> str:
    if not document["hits"]:
        return "Nothing found.\n"
    head = "Not an answer, merely the nearest passages:\n\n" if document["refused"] else ""
    return head + "\n".join(_show_hit(hit) for hit in document["hits"])


def _show_hit(hit: Mapping[str, Any]) -> str:
    return f"[{hit['rank']}] {_place(hit['file'], hit)}  ({hit['score']:.3f})\n{hit['text']}\n"


def _figure(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
