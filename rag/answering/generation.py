"""Lets a chat model write the answer: prompt, turn, stream, and what to do when any of them fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rag.answering.citations import MarkCleaner, citations, marks_in, own_brackets
from rag.answering.disagreement import disagreements
from rag.answering.phrases import language_fits, says_no_answer
from rag.answering.prompts import Exchange, build_prompt, merging_prompt
from rag.answering.reply import Reply
from rag.answering.synthesis import partial_answers, wants_overview
from rag.answering.turns import Turns
from rag.answering.verification import check_reply
from rag.answering.writing import written
from rag.errors import ChatError, KonspektError
from rag.messages import Message, msg
from rag.protocols import ChatModel, Embedder

Outcome = Literal["answer", "refusal", "quotes"]
_REPEATED = re.compile(r"(\S.{18,400}?)(?:\s*\1){2,}\s*\Z", re.DOTALL)


def generate(
    reply: Reply, chat: ChatModel, embedder: Embedder | None, history: Sequence[Exchange], turns: Turns
) -> Outcome:
    """Fill the reply with the model's checked answer. "quotes" and "refusal" tell the caller to put those in its place;
    the reason is among the reply's warnings then. A reply that was stopped stays as it was."""
    try:
        with turns.turn(
            chat.name, lambda ahead: reply.update(stage="waiting", ahead=ahead), lambda: reply.stopped
        ) as come:
            if not come:
                return "answer"
            reply.update(stage="reading", answered_by=chat.name, model=chat.name)
            _write(reply, chat, history)
    except ChatError as error:
        reply.warn(error.message)
        if not reply.text.strip():
            return "quotes"
        reply.warn(msg("The answer is cut off."))
        reply.update(cut_off=True)
    return _judged(reply, embedder)


def _write(reply: Reply, chat: ChatModel, history: Sequence[Exchange]) -> None:
    """Write the answer in one go, or, for overviews of more passages than fit, from partial answers."""
    hits = reply.result.hits
    differing = disagreements(hits, reply.reading)
    reply.warn(*(found.message(hits) for found in differing))
    pairs = [(found.newer, found.older) for found in differing]
    prompt = build_prompt(reply.reading, hits, chat.context_limit, history, differing=pairs)
    reply.update(revision=_revision(chat), context=prompt.num_ctx)
    for file in prompt.orders:
        reply.warn(orders_warning(file))
    overview = wants_overview(reply.reading) or len(reply.result.sub_questions) > 1
    if prompt.used < len(hits) and overview:
        partials = partial_answers(reply, chat)
        prompt = merging_prompt(reply.reading, partials, chat.context_limit)
        reply.update(stage="reading", context=prompt.num_ctx)
    elif prompt.used < len(hits):
        reply.warn(
            msg(
                "Only the best {used} of {total} passages fit into the model's context.",
                used=prompt.used,
                total=len(hits),
            )
        )
    marks = MarkCleaner(len(hits), own_brackets(hits))
    for piece in written(reply, chat, prompt, marks):
        if piece is None:
            reply.replace_text("")
        else:
            reply.add(piece)
            if "]" in piece:  # so that a reply that is stopped keeps its links
                found = marks_in(reply.text)
                reply.update(marks=tuple(found), citations=citations([mark.n for mark in found], hits))
            if _REPEATED.search(reply.text[-1300:]):
                reply.warn(msg("The model began to repeat itself and was stopped."))
                reply.replace_text(_REPEATED.sub(r"\1", reply.text))
                break
    if marks.unknown:
        reply.warn(
            msg(
                "The model cited passages that are not there ({numbers}): those marks were removed.",
                numbers=", ".join(map(str, dict.fromkeys(marks.unknown))),
            )
        )


def _revision(chat: ChatModel) -> str:
    try:
        return chat.revision
    except ChatError:
        return ""  # a server that lists no models may answer all the same; the record then names no digest


def orders_warning(file: str) -> Message:
    """What to say of a note that speaks to language models."""
    return msg("{file} holds text that gives orders to a language model. It was left out.", file=file)


def _judged(reply: Reply, embedder: Embedder | None) -> Outcome:
    if reply.done:
        return "answer"
    text = reply.text
    reply.update(generated=text, stage="checking")
    if not text.strip():
        reply.warn(msg("The model gave no answer; the notes are quoted instead."))
        return "quotes"
    if says_no_answer(text):
        reply.warn(msg("The model found no answer in these passages."))
        return "refusal"
    if not language_fits(text, reply.reading):
        reply.warn(msg("The model answered in another language; the notes are quoted instead."))
        return "quotes"
    if not _checked(reply, embedder):
        reply.warn(msg("The passages support nothing of what the model wrote; the notes are quoted instead."))
        return "quotes"
    return "answer"


def _checked(reply: Reply, embedder: Embedder | None) -> bool:
    try:
        return check_reply(reply, embedder)
    except KonspektError as error:
        reply.warn(error.message)
        return check_reply(reply, None)
