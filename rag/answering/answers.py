"""From passages to an answer: a chat model's, checked afterwards, or exact quotes, or the plain word that there is
none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag.answering.citations import citations
from rag.answering.disagreement import disagreements
from rag.answering.generation import generate, orders_warning
from rag.answering.injection import gives_orders
from rag.answering.phrases import refusal_text
from rag.answering.prompts import Exchange
from rag.answering.quotes import MOST_QUOTES, Quote, best_quotes
from rag.answering.reply import Mark, Reply
from rag.answering.tidying import printable
from rag.answering.turns import SHARED_TURNS, Turns
from rag.errors import KonspektError
from rag.protocols import ChatModel, Embedder
from rag.types import SearchResult

FindChat = Callable[[], ChatModel | None]
_WANTS_QUOTATION = re.compile(
    r"\b(?:процитируй\w*|цитат[аыуе]?|дословно|слово в слово|приведи(?:те)? (?:точн\w+ )?(?:цитату|текст"
    r"|формулировку))\b"
    r"|\b(?:quote|quotation|verbatim|word for word|exact (?:words|wording|text))\b",
    re.IGNORECASE,
)


def answer(
    result: SearchResult,
    question: str,
    *,
    chat: ChatModel | FindChat | None,
    embedder: Embedder | None,
    history: Sequence[Exchange] = (),
    turns: Turns = SHARED_TURNS,
) -> Reply:
    """Make the reply to a question from what was found; nothing runs until it is iterated, started or finished.

    Without `chat`, or where the question asks for a quotation, the answer is made of quotes. A refused result, or one
    without hits, is answered by saying so in the question's language; its hits stay, as the nearest passages. `chat`
    may be a function that looks for a model: it is called in the reply's own thread, when the passages are shown
    already. `embedder` judges which sentences fit; without one, words alone do.
    """
    question = printable(question)
    if result.refused or not result.hits:
        return Reply(result, question, refuse)
    if chat is None or wants_quotation(question):
        return Reply(result, question, lambda reply: quote(reply, embedder))
    return Reply(result, question, lambda reply: _with_model(reply, chat, embedder, history, turns))


def wants_quotation(question: str) -> bool:
    """Tell whether the question asks for the notes' own words."""
    return _WANTS_QUOTATION.search(question) is not None


def refuse(reply: Reply) -> None:
    """Say that the notes hold no answer."""
    text = refusal_text(reply.reading, bool(reply.result.hits))
    reply.replace_text(text, answered_by="refusal", marks=(), citations=(), sentences=())


def quote(reply: Reply, embedder: Embedder | None) -> None:
    """Answer with the best sentences of the passages, each with its mark."""
    _warn(reply)
    try:
        quotes = _quotes(reply, embedder)
    except KonspektError as error:
        reply.warn(error.message)
        quotes = _quotes(reply, None)
    if quotes:
        show_quotes(reply, quotes)
    else:
        refuse(reply)


def _quotes(reply: Reply, embedder: Embedder | None) -> list[Quote]:
    """The best sentences; for a question of several parts, the best of each part."""
    parts = reply.result.sub_questions if len(reply.result.sub_questions) > 1 else (reply.reading,)
    found: list[Quote] = []
    for part in parts:
        for item in best_quotes(reply.result.hits, part, embedder, max(1, MOST_QUOTES // len(parts))):
            if all((item.n, item.spans) != (other.n, other.spans) for other in found):
                found.append(item)
    return found


def show_quotes(reply: Reply, quotes: Sequence[Quote]) -> None:
    """Make the quotes the reply's text, in place of any other."""
    text, marks = "", []
    for item in quotes:
        text += ("\n\n" if text else "") + item.text + " "
        mark = f"[{item.n}]"
        marks.append(Mark(len(text), len(text) + len(mark), item.n))
        text += mark
    reply.replace_text(
        text,
        answered_by="quotes",
        quotes=tuple(quotes),
        marks=tuple(marks),
        sentences=(),
        citations=citations([item.n for item in quotes], reply.result.hits),
    )


def _with_model(
    reply: Reply, chat: ChatModel | FindChat, embedder: Embedder | None, history: Sequence[Exchange], turns: Turns
) -> None:
    found = chat() if callable(chat) else chat
    outcome = generate(reply, found, embedder, history, turns) if found is not None else "quotes"
    if outcome == "refusal":
        refuse(reply)
    elif outcome == "quotes":
        quote(reply, embedder)


def _warn(reply: Reply) -> None:
    hits = reply.result.hits
    reply.warn(*(found.message(hits) for found in disagreements(hits, reply.reading)))
    for file in dict.fromkeys(hit.chunk.path for hit in hits if gives_orders(hit.chunk.text)):
        reply.warn(orders_warning(file))
