"""The library asks a chat model only when the passages are there, and gives it more of them for a summary."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import WordEmbedder
from ollama_server import Behaviour, OllamaServer

from rag.answering.record import record_of
from rag.library import Library
from rag.messages import Message
from rag.protocols import Embedder
from rag.settings import Paths, Settings

SECTIONS = "\n\n".join(
    f"## Тема {n}\n\nВ теме {n} лекция говорит о свете и его законе номер {n}." for n in range(1, 13)
)


def words(name: str, data: Path, url: str, progress: Callable[[Message], None] | None = None) -> Embedder:
    return WordEmbedder(name)


@pytest.fixture
def library(paths: Paths) -> Iterator[Library]:
    with closing(Library.open(paths, replace(Settings(), refusal=0.0), embedders=words)) as opened:
        (paths.notes / "свет.md").write_text(f"# Лекция о свете\n\n{SECTIONS}\n", encoding="utf-8")
        opened.sync()
        yield opened


def use(library: Library, url: str) -> None:
    library.change_settings(replace(library.settings, ollama_url=url))


def test_the_passages_are_there_while_a_server_that_says_nothing_is_waited_for(library: Library) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(library, f"http://127.0.0.1:{silent.getsockname()[1]}")
        started = time.monotonic()
        reply = library.ask("Что лекция говорит о свете?")
        reply.start()
        assert len(reply.result.hits) == 3
        assert not reply.done
        reply.stop()
        assert reply.done
        assert time.monotonic() - started < 5


def test_without_a_server_a_summary_is_quoted_from_as_many_passages_as_the_settings_say(library: Library) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    use(library, url)
    reply = library.ask("Сделай обзор лекции о свете").finish(60)
    assert reply.answered_by == "quotes"
    assert len(reply.result.hits) == 3


@pytest.mark.parametrize(
    ("question", "k", "passages"),
    [
        ("Сделай обзор лекции о свете", None, 10),
        ("Сделай обзор лекции о свете", 2, 2),
        ("Что лекция говорит о свете?", None, 3),
    ],
)
def test_a_model_that_is_to_sum_up_gets_more_passages(
    library: Library, question: str, k: int | None, passages: int
) -> None:
    said = ["В теме 1 лекция говорит о свете и его законе номер 1 [1]."]
    with OllamaServer(Behaviour(lambda *_: said)) as server:
        use(library, server.url)
        reply = library.ask(question, k).finish(60)
        prompts = [body["messages"][0]["content"] for body in server.asked("/api/chat")]
    assert len(reply.result.hits) == passages
    assert all(any(f'<passage n="{n}"' in prompt for prompt in prompts) for n in range(1, passages + 1))


def test_the_history_lies_in_the_data_folder(library: Library) -> None:
    reply = library.ask("Что лекция говорит о свете?", use_llm=False).finish(60)
    library.history.add(record_of(reply, {}))
    assert [entry.question for entry in library.history.search("закон")] == ["Что лекция говорит о свете?"]
    assert (library.paths.data / "history.sqlite3").exists()


def test_who_wants_quotes_only_asks_no_server(library: Library) -> None:
    with OllamaServer() as server:
        use(library, server.url)
        library.change_settings(replace(library.settings, quotes_only=True))
        assert library.ask("Сделай обзор лекции о свете").finish(60).answered_by == "quotes"
        assert server.requests == []
