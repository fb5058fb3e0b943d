"""Passages as cards: where each stands, its words to the letter, what matched, and the ways on from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, day, language
from pages.ui.literal import is_long, passage_html
from pages.ui.page_view import has_page_pictures, open_page, page_name
from rag.types import Chunk, FileStatus, Hit

if TYPE_CHECKING:
    from rag.answering.quotes import Quote
    from rag.library import Library


def hit_cards(
    library: Library, hits: Sequence[Hit], wanted: Collection[str], quotes: Sequence[Quote], key: str
) -> None:
    """Draw the passages found, best first; the n-th is what the answer's mark [n] points to."""
    files = {file.path: file for file in library.files()}
    for n, hit in enumerate(hits, start=1):
        with st.container(border=True, key=f"card-{key}-{n}", gap="small"):
            file = files.get(hit.chunk.path)
            quoted = [span for quote in quotes if quote.n == n for span in quote.spans]
            st.html(card_html(hit.chunk, file, wanted, quoted, n=n, anchor=f"p-{key}-{n}", foot=_foot(hit, file)))
            _ways_on(library, hit.chunk, files, key=f"{key}-{n}")


def card_html(
    chunk: Chunk,
    file: FileStatus | None,
    wanted: Collection[str] = (),
    quoted: Sequence[tuple[int, int]] = (),
    *,
    n: int | None = None,
    anchor: str = "",
    foot: str = "",
    whole: bool = False,
) -> str:
    """Return a passage as HTML: number, file › heading path › page, text, foot. A long one is folded unless `whole`."""
    folded = is_long(chunk.text) and not whole
    number = f'<span class="k-n">{n}</span>' if n is not None else ""
    whole_passage = escape(_("Whole passage"))
    more = f'<details class="k-more"><summary>{whole_passage}</summary></details>' if folded else ""
    return (
        f'<article class="k-passage{" k-long" if folded else ""}"{f" id={anchor}" if anchor else ""}>'
        f'<header>{number}<div class="k-where">{where_html(chunk, file)}</div></header>'
        f"{more}{passage_html(chunk.text, wanted, quoted, fold=folded)}"
        f"{f'<footer>{foot}</footer>' if foot else ''}</article>"
    )


def where_html(chunk: Chunk, file: FileStatus | None) -> str:
    """Return file › heading path › page as HTML."""
    folder, _slash, name = chunk.path.rpartition("/")
    steps = [f'<span class="k-file">{f"<i>{escape(folder)}/</i>" if folder else ""}{escape(name)}</span>']
    steps += [f'<span class="k-heading">{escape(title)}</span>' for title in chunk.heading]
    page = page_name(chunk.page_first, chunk.page_last, file)
    if page:
        steps.append(f'<span class="k-page">{escape(page)}</span>')
    return '<span class="k-step"> › </span>'.join(steps)


def _foot(hit: Hit, file: FileStatus | None) -> str:
    parts = _about_document(hit.chunk, file)
    parts.append(_score(_("match"), hit.score, None, _("Orders the passages: the higher, the nearer to the question")))
    if hit.dense is not None:
        parts.append(_score(_("meaning"), hit.dense, hit.dense_rank, _("Nearness in meaning (cosine)")))
    if hit.closeness is not None:
        parts.append(
            _score(
                _("meaning of words"), hit.closeness, None, _("How near its words come to the question's, 1: an answer")
            )
        )
    if hit.keyword is not None:
        parts.append(_score(_("words"), hit.keyword, hit.keyword_rank, _("Shared words (BM25)")))
    if hit.rerank is not None:
        parts.append(_score(_("rerank"), hit.rerank, None, _("The reranker's judgement, 0 to 1")))
    if hit.same_in:
        also = _("also in {files}", files=", ".join(hit.same_in))
        parts.append(f"<span>{escape(also)}</span>")
    return "".join(parts)


def _about_document(chunk: Chunk, file: FileStatus | None) -> list[str]:
    """Return when the document is from and how that is known, who wrote it, and its title where no heading says it."""
    parts = []
    if chunk.date and chunk.date_source == "file time":
        parts.append((_("file of {date}", date=day(chunk.date)), _("When the file was last changed")))
    elif chunk.date:
        parts.append((day(chunk.date), _date_origin(chunk.date_source)))
    if file is not None and file.meta.author:
        parts.append((file.meta.author, _("Author")))
    said = {name.casefold() for name in (*chunk.heading, chunk.path.rpartition("/")[2].rpartition(".")[0])}
    if file is not None and file.meta.title and file.meta.title.casefold() not in said:
        parts.append((file.meta.title, _("Title of the document")))
    told = ((escape(text), escape(f"{meaning}: {text}")) for text, meaning in parts)
    return [f'<span class="k-of" title="{whole}">{text}</span>' for text, whole in told]


def _date_origin(source: str) -> str:
    return {
        "properties": _("Date of the document, from its properties"),
        "front matter": _("Date of the document, from its front matter"),
        "text": _("Date of the document, from its text"),
        "name": _("Date of the document, from its name"),
    }.get(source, _("Date of the document"))


def _score(name: str, value: float, rank: int | None, meaning: str) -> str:
    place = " · " + escape(_("place {rank}", rank=rank)) if rank else ""
    return f'<span title="{escape(meaning)}{place}">{escape(name)} <b>{_figure(value)}</b></span>'


def _figure(value: float) -> str:
    from babel.numbers import format_decimal

    return format_decimal(value, format="0.00" if abs(value) < 10 else "0.0", locale=language())


def _ways_on(library: Library, chunk: Chunk, files: dict[str, FileStatus], key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"ways-{key}"):
        if (
            has_page_pictures(chunk.path)
            and chunk.page_first is not None
            and st.button(_("Open page"), key=f"open-{key}", icon=":material/picture_as_pdf:", type="tertiary")
        ):
            open_page(library, chunk)
        around = st.session_state.get(f"_around-{key}", False)
        st.button(
            _("Hide neighbours") if around else _("Neighbours"),
            key=f"around-{key}",
            type="tertiary",
            icon=":material/unfold_less:" if around else ":material/unfold_more:",
            help=_("The passages before and after this one"),
            on_click=_set,
            args=(f"_around-{key}", not around),
        )
        st.page_link(
            "pages/chunks.py",
            label=_("In the file"),
            icon=":material/article:",
            query_params={"file": chunk.path, "chunk": str(chunk.ordinal)},
        )
    if around:
        for neighbour in library.neighbours(chunk):
            st.caption(_("Before") if neighbour.ordinal < chunk.ordinal else _("After"))
            st.html(card_html(neighbour, files.get(neighbour.path)))


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value
