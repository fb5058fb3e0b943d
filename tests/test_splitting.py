"""Questions taken apart by a chat model: believed only where it asks what was asked, and never waited for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence

import pytest

from rag.errors import ChatError
from rag.messages import msg
from rag.protocols import ChatPiece
from rag.retrieval.splitting import Splitter, may_have_parts
from tests.scripted_chat import ScriptedChat

QUESTION = "Что такое RAID 5, почему он медленно пишет и когда его выбирают вместо зеркала?"
PARTS = "Что такое RAID 5?\nПочему RAID 5 медленно пишет?\nКогда выбирают RAID 5 вместо зеркала?"
ENGLISH = "What is a mutex, how does a semaphore count and which of them can a thread release?"


@pytest.mark.parametrize(
    ("question", "said", "parts"),
    [
        (QUESTION, PARTS, PARTS.split("\n")),
        (QUESTION, f"<think>Три вопроса.</think>\n\n1. {PARTS}".replace("\n", "\n- "), PARTS.split("\n")),
        (QUESTION, f"Надо подумать</think>{PARTS}", PARTS.split("\n")),
        (
            ENGLISH,
            "1) What is a mutex?\n2) How does a semaphore count?\n3) Which of them can a thread release?",
            ["What is a mutex?", "How does a semaphore count?", "Which of them can a thread release?"],
        ),
    ],
)
def test_the_parts_that_a_model_names_are_taken(question: str, said: str, parts: list[str]) -> None:
    chat = ScriptedChat(*(said[i : i + 7] for i in range(0, len(said), 7)))
    assert Splitter().parts(question, chat) == tuple(parts)
    assert question in chat.asked[0]


@pytest.mark.parametrize(
    "said",
    [
        "ОДИН",
        "Один.",
        "",
        "Что такое RAID 5?",
        "Кто открыл Америку?\nСколько стоит хлеб?",
        "Что такое RAID 6?\nПочему RAID 5 медленно пишет?\nКогда выбирают RAID 5 вместо зеркала?",
        "Что такое RAID 5?\nЧто такое RAID?",  # the rest of the question is lost
        "\n".join(f"Почему RAID 5 медленно пишет {n}?" for n in "абвгд"),
        "<think>Что такое RAID 5?\nПочему он медленно пишет?",  # a thought that was cut off
    ],
)
def test_a_model_that_asks_for_one_thing_or_another_is_not_believed(said: str) -> None:
    assert Splitter().parts(QUESTION, ScriptedChat(said)) == ()


def test_thoughts_that_a_server_sets_apart_are_no_parts() -> None:
    chat = ScriptedChat(ChatPiece("Хм.\nЧто такое диск?\n", thinking=True), PARTS)
    assert Splitter().parts(QUESTION, chat) == tuple(PARTS.split("\n"))


def test_a_model_that_fails_leaves_the_question_whole() -> None:
    assert Splitter().parts(QUESTION, ScriptedChat(PARTS, ChatError(msg("gone")))) == ()


def test_what_was_said_is_remembered() -> None:
    splitter, chat = Splitter(), ScriptedChat(PARTS)
    assert splitter.parts(QUESTION, chat) == splitter.parts(QUESTION, chat)
    assert len(chat.asked) == 1


class Late(ScriptedChat):
    """Says its first word at once and the rest when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def stream(self, messages: Sequence[Mapping[str, str]], *, num_ctx: int, num_predict: int) -> Iterator[ChatPiece]:
        self.asked.append("")
        try:
            yield ChatPiece("Что такое")
            self.go_on.wait(20)
            yield ChatPiece(PARTS)
        finally:
            self.closed.set()


def test_a_late_model_is_not_waited_for_its_request_is_ended_and_soon_it_is_not_asked_again() -> None:
    splitter, chat = Splitter(seconds=0.2), Late()
    started = time.monotonic()
    assert [splitter.parts(f"{QUESTION} {n}", chat) for n in range(4)] == [()] * 4
    assert time.monotonic() - started < 5
    assert len(chat.asked) == 2
    chat.go_on.set()
    assert chat.closed.wait(5)


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        ENGLISH,
        "Перечисли свойства стека, очереди и дека в программировании",
        "Каждую из трёх моделей памяти опиши, пожалуйста, с примером программы",
    ],
)
def test_questions_that_may_have_parts_are_seen(question: str) -> None:
    assert may_have_parts(question)


@pytest.mark.parametrize(
    "question",
    [
        "Что такое энтропия?",
        "Как устроен процессор?",
        "Чем RAID 1 отличается от RAID 5?",  # the rules know
        "Кто и когда?",
        "Сформулируй закон сохранения энергии для замкнутой системы тел",
        "",
    ],
)
def test_plain_questions_and_those_the_rules_know_cost_no_model(question: str) -> None:
    assert not may_have_parts(question)
