"""The chat clients against a server on this machine: streaming, stopping, and what each failure tells the student."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

import pytest
from ollama_server import Behaviour, OllamaServer, closed_port

from rag.answering import Reply, answer
from rag.chat.ollama_chat import OllamaChat, Timeouts, full_name, list_models, pull_model
from rag.chat.openai_chat import OpenAIChat
from rag.errors import ChatError
from rag.protocols import ChatPiece
from rag.types import Chunk, Hit, SearchResult

MESSAGES = [{"role": "user", "content": "Вопрос про теорему CAP из двух слов и ещё нескольких?"}]
QUICK = Timeouts(connect=2, request=5, first=0.5, between=0.5)
PATIENT = Timeouts(connect=2, request=5, first=30, between=30)


def pieces(chat: OllamaChat | OpenAIChat) -> list[ChatPiece]:
    return list(chat.stream(MESSAGES, num_ctx=4096, num_predict=100))


def failure(chat: OllamaChat | OpenAIChat) -> str:
    with pytest.raises(ChatError) as caught:
        pieces(chat)
    return str(caught.value)


def test_an_answer_streams_and_ends_with_the_server_s_counts() -> None:
    with OllamaServer() as server:
        got = pieces(OllamaChat("tiny", server.url))
    assert "".join(piece.text for piece in got) == "Да [1]."
    assert got[-1].done
    assert got[-1].prompt_tokens
    assert got[-1].answer_tokens == 2


def test_a_request_is_deterministic_and_sets_its_context() -> None:
    with OllamaServer() as server:
        pieces(OllamaChat("tiny", server.url, keep_alive="10m"))
        body = server.asked("/api/chat")[0]
    assert body["options"]["temperature"] == 0
    assert body["options"]["num_ctx"] == 4096
    assert body["options"]["num_predict"] == 100
    assert isinstance(body["options"]["seed"], int)
    assert body["keep_alive"] == "10m"
    assert "think" not in body


def test_reasoning_is_switched_off_where_the_model_has_it_and_hidden_where_it_comes_all_the_same() -> None:
    models = {"deep:latest": {"capabilities": ["completion", "thinking"]}}
    with OllamaServer(Behaviour(lambda messages, tokens: ["thinking:хм", "Да"], models)) as server:
        got = pieces(OllamaChat("deep", server.url))
        assert server.asked("/api/chat")[0]["think"] is False
    assert [piece.text for piece in got if piece.thinking] == ["хм"]
    assert "".join(piece.text for piece in got if not piece.thinking) == "Да"


def test_the_context_is_the_model_s_own_where_that_is_smaller() -> None:
    with OllamaServer(
        Behaviour(models={"tiny:latest": {"context": 2048}, "big:latest": {"context": 131072}})
    ) as server:
        assert OllamaChat("tiny", server.url).context_limit == 2048
        assert OllamaChat("big", server.url).context_limit == 8192


def test_a_name_without_a_tag_is_the_latest() -> None:
    assert full_name("qwen3") == "qwen3:latest"
    assert full_name("qwen3:8b") == "qwen3:8b"
    assert full_name("host:5000/user/qwen3") == "host:5000/user/qwen3:latest"
    with OllamaServer() as server:
        assert OllamaChat("tiny", server.url).revision == "sha256:tiny:latest"
        assert OllamaChat("other", server.url).revision == ""


def test_embedding_models_are_not_offered_for_chat() -> None:
    with OllamaServer(Behaviour(models={"bge-m3:latest": {"family": "bert"}, "tiny:latest": {}})) as server:
        assert list_models(server.url) == ["tiny:latest"]


def test_without_a_server_it_says_to_start_ollama() -> None:
    url = closed_port()
    assert "ollama serve" in failure(OllamaChat("tiny", url, timeouts=QUICK))
    with pytest.raises(ChatError, match="ollama serve"):
        list_models(url, QUICK)


def test_a_missing_model_is_named_with_the_command_that_gets_it() -> None:
    with OllamaServer() as server:
        assert "`ollama pull qwen3:8b`" in failure(OllamaChat("qwen3:8b", server.url))


def test_a_server_that_never_begins_is_given_up_and_freed() -> None:
    with OllamaServer(Behaviour(fault="hang")) as server:
        assert "sent nothing" in failure(OllamaChat("tiny", server.url, timeouts=QUICK))
        assert server.free_within(2)


def test_a_server_that_falls_silent_in_the_middle_is_given_up() -> None:
    with OllamaServer(Behaviour(lambda *_: ["a", "b", "c"], fault="hang later")) as server:
        assert "sent nothing" in failure(OllamaChat("tiny", server.url, timeouts=QUICK))


def test_a_connection_that_ends_without_done_is_broken_off() -> None:
    with OllamaServer(Behaviour(lambda *_: ["a", "b", "c"], fault="close")) as server:
        assert "broke off" in failure(OllamaChat("tiny", server.url))


def test_an_error_in_the_middle_is_passed_on() -> None:
    with OllamaServer(Behaviour(lambda *_: ["a", "b", "c"], fault="error")) as server:
        assert "out of memory" in failure(OllamaChat("tiny", server.url))


def test_a_server_without_memory_says_so() -> None:
    with OllamaServer(Behaviour(fault="overloaded")) as server:
        assert "smaller model" in failure(OllamaChat("tiny", server.url))


def test_another_kind_of_server_is_recognised() -> None:
    with OllamaServer(Behaviour(fault="not json")) as server, pytest.raises(ChatError, match="is not Ollama"):
        list_models(server.url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://[::1"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ChatError):
        list_models(url, QUICK)


@pytest.mark.parametrize("fault", ["hang", "hang later"])
@pytest.mark.parametrize("kind", [OllamaChat, OpenAIChat])
def test_closing_a_stream_frees_the_server_within_a_second(fault: str, kind: type[OllamaChat | OpenAIChat]) -> None:
    behaviour = Behaviour(lambda *_: ["a", "b", "c"], fault=fault)  # type: ignore[arg-type]
    with OllamaServer(behaviour) as server:
        stream = kind("tiny", server.url, timeouts=PATIENT).stream(MESSAGES, num_ctx=4096, num_predict=100)
        if fault == "hang later":
            assert next(stream).text == "a"
            assert next(stream).text == "b"
        else:
            _read_in_background(stream)
            assert server.busy_within(5)
        started = time.monotonic()
        stream.close()
        assert server.free_within(1)
        assert stream.join(1)
        assert time.monotonic() - started < 1


def _read_in_background(stream: Iterable[ChatPiece]) -> None:
    import threading

    threading.Thread(target=lambda: list(stream), daemon=True).start()


PASSAGE = "Теорему CAP сформулировал Эрик Брюер в 2000 году."
RESULT = SearchResult("q", (Hit(Chunk("1", "cap.md", 0, PASSAGE), 1.0),), False, 0.9, 0.5)


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        ("hang", "sent nothing"),
        ("overloaded", "smaller model"),
        ("gone", "ollama serve"),
        ("no model", "ollama pull tiny"),
    ],
)
def test_whatever_fails_before_the_first_word_the_passages_are_quoted_and_the_remedy_told(
    fault: str, remedy: str
) -> None:
    behaviour = Behaviour(fault=fault if fault in ("hang", "overloaded") else "")  # type: ignore[arg-type]
    if fault == "no model":
        behaviour.models = {}
    with OllamaServer(behaviour) as server:
        chat = OllamaChat("tiny", closed_port() if fault == "gone" else server.url, timeouts=QUICK)
        reply = answer(RESULT, "Кто сформулировал теорему CAP?", chat=chat, embedder=None).finish(20)
        assert server.free_within(2)
    assert reply.answered_by == "quotes"
    assert reply.text == PASSAGE + " [1]"
    assert remedy in str(reply.warnings[0])


@pytest.mark.parametrize(
    ("fault", "told"), [("close", "broke off"), ("error", "out of memory"), ("hang later", "sent nothing")]
)
def test_whatever_fails_in_the_middle_the_text_is_kept_and_marked_cut_off(fault: str, told: str) -> None:
    said = ["Теорему CAP сформулировал Эрик Брюер ", "в 2000 году [1]. Его ", "статья"]
    with OllamaServer(Behaviour(lambda *_: said, fault=fault)) as server:  # type: ignore[arg-type]
        chat = OllamaChat("tiny", server.url, timeouts=QUICK)
        reply = answer(RESULT, "Кто сформулировал теорему CAP?", chat=chat, embedder=None).finish(20)
    assert reply.text.startswith("Теорему CAP сформулировал Эрик Брюер в 2000 году [1].")
    assert reply.answer.cut_off
    assert told in str(reply.warnings[0])


def test_a_server_that_read_less_than_was_sent_is_told() -> None:
    said = ["Теорему CAP сформулировал Эрик Брюер ", "в 2000 году [1]."]
    with OllamaServer(Behaviour(lambda *_: said, read=9)) as server:
        chat = OllamaChat("tiny", server.url)
        reply = answer(RESULT, "Кто сформулировал теорему CAP?", chat=chat, embedder=None).finish(20)
    assert "read only 9" in str(reply.warnings[0])


def stops_at_once(reply: Reply, server: OllamaServer) -> None:
    reply.start()
    assert server.busy_within(5)
    started = time.monotonic()
    reply.stop()
    assert reply.done
    assert server.free_within(1)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("fault", ["hang", "hang later"])
def test_stopping_a_reply_takes_less_than_a_second_and_frees_the_server(fault: str) -> None:
    said = ["Теорему ", "CAP ", "сформулировал"]
    with OllamaServer(Behaviour(lambda *_: said, fault=fault)) as server:  # type: ignore[arg-type]
        chat = OllamaChat("tiny", server.url, timeouts=PATIENT)
        reply = answer(RESULT, "Кто сформулировал теорему CAP?", chat=chat, embedder=None)
        stops_at_once(reply, server)


@pytest.mark.parametrize("kind", [OllamaChat, OpenAIChat])
def test_an_answer_that_the_context_cuts_off_says_so(kind: type[OllamaChat | OpenAIChat]) -> None:
    said = ["Теорему CAP сформулировал Эрик Брюер ", "в 2000 году [1]. Его статья"]
    with OllamaServer(Behaviour(lambda *_: said, reason="length")) as server:
        chat = kind("tiny:latest", server.url)
        reply = answer(RESULT, "Кто сформулировал теорему CAP?", chat=chat, embedder=None).finish(20)
    assert reply.answer.cut_off
    assert "cut off" in " ".join(map(str, reply.warnings))


def test_a_server_that_closes_without_a_last_word_has_answered_all_the_same() -> None:
    with OllamaServer(Behaviour(lambda *_: ["Да ", "[1]."], last_word=False)) as server:
        got = pieces(OpenAIChat("tiny:latest", server.url))
    assert "".join(piece.text for piece in got) == "Да [1]."
    assert got[-1].done


def test_stop_in_the_middle_of_partial_answers_frees_the_server_and_asks_no_more() -> None:
    hits = [
        Hit(Chunk(str(n), f"{n}.md", 0, f"Вид {n} описан. " + "Подробности о нём. " * 90), 1 / n) for n in range(1, 7)
    ]
    with OllamaServer(
        Behaviour(lambda *_: ["Вид ", "1 ", "описан [1]."], {"tiny:latest": {"context": 2048}})
    ) as server:
        server.behaviour.fault = "hang later"
        chat = OllamaChat("tiny", server.url, timeouts=PATIENT)
        reply = answer(replace(RESULT, hits=tuple(hits)), "Сделай обзор всех видов", chat=chat, embedder=None)
        stops_at_once(reply, server)
        assert len(server.asked("/api/chat")) == 1


def test_a_pull_tells_its_progress_and_brings_the_model() -> None:
    with OllamaServer() as server:
        steps = list(pull_model(server.url, "qwen3"))
        assert (steps[2].done, steps[2].total) == (50, 100)
        assert steps[-1].status == "success"
        assert "qwen3:latest" in list_models(server.url)


def test_a_pull_that_fails_is_told() -> None:
    with OllamaServer() as server, pytest.raises(ChatError, match="file does not exist"):
        list(pull_model(server.url, "nosuch"))
    with OllamaServer(Behaviour(fault="close")) as server, pytest.raises(ChatError, match="broke off"):
        list(pull_model(server.url, "qwen3"))


def test_an_openai_compatible_server_answers_the_same_way() -> None:
    with OllamaServer(Behaviour(lambda *_: ["thinking:хм", "Да ", "[1]."])) as server:
        for url in (server.url, server.url + "/v1", server.url + "/v1/"):
            got = pieces(OpenAIChat("tiny:latest", url))
            assert "".join(piece.text for piece in got if not piece.thinking) == "Да [1]."
            assert got[-1].done
            assert got[-1].answer_tokens == 3
        assert server.asked("/v1/chat/completions")[0]["temperature"] == 0
        assert OpenAIChat("tiny:latest", server.url).models() == ["tiny:latest"]


def test_an_openai_compatible_server_s_failures_are_told() -> None:
    assert "does not answer" in failure(OpenAIChat("tiny", closed_port(), timeouts=QUICK))
    with OllamaServer(Behaviour(fault="hang")) as server:
        assert "sent nothing" in failure(OpenAIChat("tiny:latest", server.url, timeouts=QUICK))
    with OllamaServer(Behaviour(lambda *_: ["a", "b", "c"], fault="close")) as server:
        assert "broke off" in failure(OpenAIChat("tiny:latest", server.url))
    with OllamaServer() as server:
        assert "no model “nosuch”" in failure(OpenAIChat("nosuch", server.url))
    with OllamaServer(Behaviour(fault="overloaded")) as server:
        assert "more system memory" in failure(OpenAIChat("tiny:latest", server.url))
