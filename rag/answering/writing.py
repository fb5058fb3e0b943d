"""Reads a chat model's stream: thoughts hidden, marks made uniform, time and tokens counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rag.answering.citations import MarkCleaner
from rag.answering.prompts import ANSWER_TOKENS, Prompt
from rag.answering.reply import Reply
from rag.answering.tidying import printable
from rag.chat.streams import close_stream
from rag.chat.thinking import ThoughtFilter
from rag.messages import msg
from rag.protocols import ChatModel, ChatPiece


def written(reply: Reply, chat: ChatModel, prompt: Prompt, marks: MarkCleaner) -> Iterator[str | None]:
    """Yield the text that can be shown; `None` takes all before it back (it was a thought after all). What was held
    back
    comes out even when the stream fails. Raises `ChatError`; ends early when the reply is stopped."""
    thoughts = ThoughtFilter()
    stream = chat.stream(prompt.messages, num_ctx=prompt.num_ctx, num_predict=ANSWER_TOKENS)
    reply.hold(stream)
    started = reply.seconds()
    failure: Exception | None = None
    try:
        for piece in stream:
            if reply.stopped:
                return
            visible = thoughts.feed("" if piece.thinking else printable(piece.text))
            _note(reply, prompt, piece, reply.seconds() - started, thoughts.inside)
            if visible.restart:
                marks.forget()
                yield None
            yield marks.feed(visible.text)
    except Exception as error:  # noqa: BLE001 - kept until the text held back is out, then raised
        failure = error
    finally:
        close_stream(stream)
    yield marks.feed(thoughts.end()) + marks.end()
    if failure is not None:
        raise failure


def _note(reply: Reply, prompt: Prompt, piece: ChatPiece, seconds: float, inside: bool) -> None:
    if reply.timing.first_token is None and piece.text:
        reply.update(timing=replace(reply.timing, first_token=seconds))
    reply.update(stage="thinking" if piece.thinking or inside else "writing")
    if not piece.done:
        return
    reply.update(timing=replace(reply.timing, last_token=seconds, tokens=piece.answer_tokens))
    if piece.prompt_tokens is not None and piece.prompt_tokens < prompt.least:
        reply.warn(
            msg(
                "The server read only {read} of at least {sent} tokens: some passages did not reach the model. "
                "Give it a larger context.",
                read=piece.prompt_tokens,
                sent=prompt.least,
            )
        )
    if piece.full or (piece.answer_tokens is not None and piece.answer_tokens >= ANSWER_TOKENS):
        reply.warn(msg("The answer reached its greatest length and is cut off."))
        reply.update(cut_off=True)
