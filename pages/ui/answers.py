"""The answer: its text with marks that lead to the passages, how well it is supported, and what can be done with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.language import _, markdown, ngettext, number, tell
from pages.ui.literal import marked
from pages.ui.notices import notice
from pages.ui.page_view import page_name
from pages.ui.past import record, save_buttons
from rag.types import SearchResult

if TYPE_CHECKING:
    from pages.ui.turns import Turn
    from rag.answering.quotes import Quote
    from rag.answering.reply import Answer, AnswerSentence, Mark
    from rag.library import Library

_ITEM = re.compile(r"\s*(?:[-*•–]|(\d{1,2})[.)])\s+")
_TITLE = re.compile(r"#{1,6}\s+")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_NUMBER = re.compile(r"\[(\d{1,2})\]")
_NOT_FOUND = " (?)"


def answer_view(library: Library, turn: Turn, key: str, drawn: tuple[bool, bool]) -> None:
    """Draw an answer as far as it has come; `drawn` is what the rest of the page knows: (passages there, ended)."""
    reply, ended = turn.reply, turn.ended
    if (reply is not None, ended) != drawn:
        st.rerun()
    if reply is None and ended:
        notice("careful", _("Stopped before anything was found."))
    elif reply is None:
        _searching(library)
    else:
        answer = reply.answer
        st.html(f'<div class="k-answer" aria-live="polite">{answer_html(answer, reply.result, key)}</div>')
        if not ended:
            st.caption(_stage_text(answer))
    if not ended:
        st.button(_("Stop"), key=f"stop-{key}", icon=":material/stop_circle:", on_click=turn.stop)
    elif reply is not None:
        _about(library, reply.answer, reply.result)
        with st.popover(_("Save"), icon=":material/download:", type="tertiary", key=f"save-{key}"):
            st.caption(_("The answer with its sources"))
            save_buttons(record(library, reply), key)


def answer_html(answer: Answer, result: SearchResult, key: str) -> str:
    """Return the answer as HTML. Quotes and notes are shown to the letter; of Markdown in generated text, lists, bold
    and code are drawn, and nothing else."""
    if answer.answered_by == "quotes" and answer.quotes:
        return "".join(_quote_html(quote, result, key) for quote in answer.quotes)
    if answer.answered_by == "refusal":
        return f'<p class="k-refusal">{escape(answer.text)}</p>'
    marks = answer.marks if answer.stage == "done" else _marks_so_far(answer.text, len(result.hits))
    lines = re.finditer(r"[^\n]+", answer.text)
    return "".join(_line_html(answer.text, m.span(), marks, answer.sentences, key) for m in lines)


def _quote_html(quote: Quote, result: SearchResult, key: str) -> str:
    chunk = result.hits[quote.n - 1].chunk
    name = chunk.path.rpartition("/")[2]
    where = ", ".join(part for part in (name, page_name(chunk.page_first, chunk.page_last)) if part)
    return (
        f'<figure class="k-quote"><blockquote>{escape(quote.text)}{_mark_html(quote.n, key)}</blockquote>'
        f"<figcaption>{escape(where)}</figcaption></figure>"
    )


def _marks_so_far(text: str, hits: int) -> tuple[Mark, ...]:
    from rag.answering.reply import Mark

    found = (Mark(m.start(), m.end(), int(m.group(1))) for m in _NUMBER.finditer(text))
    return tuple(mark for mark in found if 1 <= mark.n <= hits)


def _mark_html(n: int, key: str) -> str:
    return f'<a class="k-mark" href="#p-{key}-{n}" target="_self">{n}</a>'


def _line_html(
    text: str, span: tuple[int, int], marks: Sequence[Mark], sentences: Sequence[AnswerSentence], key: str
) -> str:
    start, end = span
    item, title = _ITEM.match(text, start, end), _TITLE.match(text, start, end)
    begin = (item or title).end() if item or title else start  # type: ignore[union-attr]
    inner, at = [], begin
    for sentence in sentences:
        a, b = max(sentence.start, begin), min(sentence.end, end)
        if a < b:
            inner += [_inline(text, at, a, marks, key), _sentence_html(_inline(text, a, b, marks, key), sentence)]
            at = b
    inner.append(_inline(text, at, end, marks, key))
    body = _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<b>\1</b>", "".join(inner)))
    doubt = escape(_("No cited passage holds this."))
    body = body.replace(_NOT_FOUND, f'<span class="k-doubt" title="{doubt}">?</span>')
    if item:
        bullet = f"{item.group(1)}." if item.group(1) else "•"
        return f'<p class="k-item"><span>{bullet}</span><span>{body}</span></p>'
    return f"<p><b>{body}</b></p>" if title else f"<p>{body}</p>"


def _inline(text: str, start: int, end: int, marks: Sequence[Mark], key: str) -> str:
    pieces, at = [], start
    for mark in marks:
        if start <= mark.start and mark.end <= end:
            pieces += [marked(text[at : mark.start].rstrip(" "), ()), _mark_html(mark.n, key)]
            at = mark.end
    return "".join([*pieces, marked(text[at:end], ())])


def _sentence_html(html: str, sentence: AnswerSentence) -> str:
    if sentence.verdict == "supported":
        return html
    kind, says = (
        ("k-partly", _("The cited passage supports this only in part."))
        if sentence.verdict == "partly"
        else ("k-unfounded", _("This was not found in the cited passages."))
    )
    return f'<span class="{kind}" title="{escape(says)}">{html}</span>'


def _searching(library: Library) -> None:
    status = library.status()
    if status.model == "loading":
        st.caption(_("The search model is warming up; after a start this takes a few seconds."))
        if status.loading:
            st.caption(markdown(tell(status.loading)))
    else:
        st.caption(_("Looking through your notes…"))
    st.skeleton(height=120)


def _stage_text(answer: Answer) -> str:
    if answer.stage == "waiting" and answer.ahead:
        return ngettext("Waiting: {n} answer is ahead.", "Waiting: {n} answers are ahead.", answer.ahead)
    done, total = answer.progress
    count = f" {done} / {total}" if total else ""
    return {
        "reading": _("The model is reading the passages…"),
        "thinking": _("The model is thinking…"),
        "writing": _("Writing…"),
        "checking": _("Checking each sentence against its passages…"),
    }.get(answer.stage, _("Beginning…")) + count


def _about(library: Library, answer: Answer, result: SearchResult) -> None:
    st.html(f'<div class="k-about">{" · ".join(escape(part) for part in _facts(answer, result))}</div>')
    if result.sub_questions:
        parts = " · ".join(escape(question) for question in result.sub_questions)
        st.html(f'<div class="k-sub">↳ {parts}</div>')
    for warning in answer.warnings:
        notice("careful", tell(warning))
    if answer.answered_by == "quotes" and _no_model(library, answer, result):
        with st.container(key="no-model", gap="xsmall"):
            st.markdown(_("No language model is connected, so the answer is made of exact quotes from your notes."))
            how_to_add_ollama()


def _no_model(library: Library, answer: Answer, result: SearchResult) -> bool:
    """Whether quotes stand there for want of a model, not because they were asked for or took a model's place."""
    from rag.answering import wants_quotation

    return not (library.settings.quotes_only or answer.model or wants_quotation(result.query))


def _facts(answer: Answer, result: SearchResult) -> list[str]:
    if answer.answered_by == "quotes":
        facts = [_("Exact quotes")]
    elif answer.answered_by == "refusal":
        facts = [_("Not answered")]
    else:
        facts = [answer.answered_by]
    facts.append(
        _(
            "confidence {confidence} %, needed {threshold} %",
            confidence=round(result.confidence * 100),
            threshold=round(result.threshold * 100),
        )
    )
    if answer.supported is not None:
        facts.append(_("{share} % of the sentences are supported", share=round(answer.supported * 100)))
    timing = answer.timing
    if timing.first_token is not None:
        facts.append(_("first word after {seconds} s", seconds=number(round(timing.first_token, 1))))
    if timing.tokens_per_second is not None:
        facts.append(_("{speed} tokens a second", speed=number(round(timing.tokens_per_second, 1))))
    return facts


def how_to_add_ollama() -> None:
    """Say how a language model is added."""
    with st.popover(_("How to add a language model"), icon=":material/add:", type="tertiary"):
        st.markdown(
            _(
                "1. Install Ollama from ollama.com (free, runs on this computer).\n"
                "2. Get a model in a terminal: `ollama pull qwen3:4b`\n"
                "3. Choose it on the Settings page."
            )
        )
        st.page_link("pages/settings.py", label=_("To the Settings"), icon=":material/tune:")
