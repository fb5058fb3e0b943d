"""Lets a chat model write the answer: prompt, turn, stream, and what to do when any of them fails."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from rag.answering.citations import MarkCleaner, own_brackets
from rag.answering.phrases import language_fits, says_no_answer
from rag.answering.prompts import ANSWER_TOKENS, Exchange, Prompt, build_prompt
from rag.answering.reply import Reply, close_stream
from rag.answering.thinking import ThoughtFilter
from rag.answering.turns import Turns
from rag.answering.verification import check_reply
from rag.errors import ChatError
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
        with turns.turn(chat.name, lambda ahead: reply.update(stage="waiting", ahead=ahead), lambda: reply.stopped) as come:
            if not come:
                return "answer"
            reply.update(stage="reading", answered_by=chat.name)
            prompt = build_prompt(reply.question, reply.result.hits, chat.context_limit, history)
            _warn_of_prompt(reply, prompt)
            stream_answer(reply, chat, prompt)
    except ChatError as error:
        reply.warn(error.message)
        if not reply.text.strip():
            return "quotes"
        reply.warn(msg("The answer is cut off."))
        reply.update(cut_off=True)
    return _judged(reply, embedder)


def stream_answer(reply: Reply, chat: ChatModel, prompt: Prompt) -> None:
    """Pass the model's text on to the reply, thoughts hidden and marks made uniform. Raises `ChatError`."""
    hits = reply.result.hits[: prompt.used]
    thoughts, marks = ThoughtFilter(), MarkCleaner(len(hits), own_brackets(hits))
    started = reply.seconds()
    stream = chat.stream(prompt.messages, num_ctx=prompt.num_ctx, num_predict=ANSWER_TOKENS)
    reply.hold(stream)
    try:
        for piece in stream:
            if reply.stopped:
                return
            if reply.timing.first_token is None and piece.text:
                reply.update(timing=replace(reply.timing, first_token=reply.seconds() - started))
            visible = thoughts.feed("" if piece.thinking else piece.text)
            if visible.restart:
                reply.replace_text("")
                marks = MarkCleaner(len(hits), own_brackets(hits))
            reply.update(stage="thinking" if piece.thinking or thoughts.inside else "writing")
            reply.add(marks.feed(visible.text))
            if piece.done:
                _warn_of_counts(reply, prompt, piece.prompt_tokens, piece.answer_tokens)
            elif _REPEATED.search(reply.text[-1300:]):
                reply.warn(msg("The model began to repeat itself and was stopped."))
                break
    finally:
        close_stream(stream)
        reply.add(marks.feed(thoughts.end()) + marks.end())
    if marks.unknown:
        reply.warn(
            msg("The model cited passages that are not there ({numbers}): those marks were removed.",
                numbers=", ".join(map(str, dict.fromkeys(marks.unknown))))
        )


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
    if not language_fits(text, reply.question):
        reply.warn(msg("The model answered in another language; the notes are quoted instead."))
        return "quotes"
    if not check_reply(reply, embedder):
        reply.warn(msg("The passages support nothing of what the model wrote; the notes are quoted instead."))
        return "quotes"
    return "answer"


def _warn_of_prompt(reply: Reply, prompt: Prompt) -> None:
    total = len(reply.result.hits)
    if prompt.used < total:
        reply.warn(
            msg("Only the best {used} of {total} passages fit into the model's context.", used=prompt.used, total=total)
        )
    for file in prompt.orders:
        reply.warn(orders_warning(file))


def orders_warning(file: str) -> Message:
    """What to say of a note that speaks to language models."""
    return msg("{file} holds text that gives orders to a language model. It was left out.", file=file)


def _warn_of_counts(reply: Reply, prompt: Prompt, read: int | None, written: int | None) -> None:
    reply.update(timing=replace(reply.timing, tokens=written))
    if read is not None and read < prompt.least:
        reply.warn(
            msg("The server read only {read} of at least {sent} tokens: some passages did not reach the model. "
                "Give it a larger context.", read=read, sent=prompt.least)
        )
    if written is not None and written >= ANSWER_TOKENS:
        reply.warn(msg("The answer reached its greatest length and is cut off."))
        reply.update(cut_off=True)
