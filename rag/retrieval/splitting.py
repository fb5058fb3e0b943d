"""Questions that need several passages, taken apart by the chat model where the rules see no way to.

The model is asked only about questions that look as if they had several parts, is given a strict time, and is believed
only where it says again, in parts, what was asked. In every other case the rules have the last word.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import takewhile

from rag.chat.streams import close_stream
from rag.chat.thinking import without_thoughts
from rag.errors import ChatError
from rag.protocols import ChatModel, ChatPiece
from rag.retrieval.questions import sub_questions
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import fold, is_cyrillic, words

SECONDS = 5.0
# A model that did not answer in time so often in a row is not waited for again.
_PATIENCE = 2
_MOST_PARTS = 4
_TOKENS = 200
_CONTEXT = 4096  # the least that answers are given: another size would make the server load the model anew
_REMEMBERED = 256
# Share of a part's words that the question must hold, and of the question's words that the parts must hold.
_OWN, _KEPT = 0.6, 0.6

_PROMPTS = {
    "ru": """\
Раздели вопрос студента на отдельные вопросы, чтобы искать ответ на каждый в его конспектах.
Каждый вопрос должен быть понятен сам по себе. Используй слова исходного вопроса, ничего не добавляй.
Напиши от двух до четырёх вопросов, каждый на своей строке, без номеров и пояснений.
Если спрашивается только об одном, напиши одно слово: ОДИН

Вопрос: {question}""",
    "en": """\
Split the student's question into separate questions, so that each can be looked up in the student's notes.
Each must be clear by itself. Use the words of the question, add nothing.
Write two to four questions, each on a line of its own, without numbers or explanations.
If it asks about one thing only, write one word: ONE

Question: {question}""",
}
_ASKING = (
    r"(?:что|чт[оё]м|чем|чего|как|как[аоиу]\w{1,2}|какой|почему|зачем|отчего|когда|где|куда|откуда|кто|кого|кому|сколько"
    r"|what|which|how|why|when|where|who|whose)"
)
_SEVERAL = re.compile(
    rf"\b{_ASKING}\b.+(?:,|;|\b(?:и|а|или|and|or)\b)\s*(?:\w+\s+){{0,2}}{_ASKING}\b"
    r"|\w+\s*,\s*[^,?]+(?:,[^,?]+)*,?\s+(?:и|или|а также|and|or|as well as)\s+\w+"
    r"|\b(?:сравн|сопостав|отлич|различ|разниц|обе|оба|кажд)\w*|\b(?:compar|contrast|differ|versus|vs|both|each)\w*",
    re.IGNORECASE,
)
_FEWEST_WORDS = 4
_MARK = re.compile(r"\A(?:\s*(?:[-*•–—]|\(?\d{1,2}[.):]|[\"«“])\s*)+|[\"»”\s]+\Z")
_ONE = re.compile(r"\A\W*(?:один|одно|one)\W*\Z", re.IGNORECASE)


class Splitter:
    """Asks a chat model for the parts of questions, and remembers what it said. Safe to use from several threads."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self._late = 0

    def parts(self, question: str, chat: ChatModel) -> tuple[str, ...]:
        """Return two to four questions that together ask what the question does; nothing where it asks for one thing,
        where the rules know its parts, or where the model fails, is late, or asks something else."""
        key = (chat.name, question)
        with self._lock:
            if key in self._known or self._late >= _PATIENCE:
                return self._known.get(key, ())
        said = _said(chat, question, self._seconds)
        found = tuple(_believed(question, said)) if said is not None else ()
        with self._lock:
            self._late = 0 if said is not None else self._late + 1
            if said is not None and len(self._known) < _REMEMBERED:
                self._known[key] = found
        return found


def may_have_parts(question: str) -> bool:
    """Tell whether a question looks as if it asked for several things that the rules cannot tell apart."""
    text = " ".join(question.split())
    return len(_content(text)) >= _FEWEST_WORDS and _SEVERAL.search(text) is not None and not sub_questions(text)


def _said(chat: ChatModel, question: str, seconds: float) -> str | None:
    """Return the model's whole text, empty where it failed; `None` where it was late. Its request is ended then."""
    answer: Future[str] = Future()
    late = threading.Event()
    streams: list[Iterator[ChatPiece]] = []

    def read() -> None:
        try:
            streams.append(_asked(chat, question))
            pieces = takewhile(lambda _: not late.is_set(), streams[0])
            answer.set_result("".join(piece.text for piece in pieces if not piece.thinking))
        except ChatError:
            # The answer itself will be asked of the same model, and tells what is wrong with it.
            answer.set_result("")
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)
        finally:
            for stream in streams:
                close_stream(stream)

    threading.Thread(target=read, name="splitting", daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        late.set()
        for stream in streams:
            close_stream(stream)
        return None


def _asked(chat: ChatModel, question: str) -> Iterator[ChatPiece]:
    russian = any(is_cyrillic(fold(word.surface)) for word in words(question))
    prompt = _PROMPTS["ru" if russian else "en"].format(question=question)
    messages = [{"role": "user", "content": prompt}]
    return chat.stream(messages, num_ctx=min(_CONTEXT, chat.context_limit), num_predict=_TOKENS)


def _believed(question: str, said: str) -> list[str]:
    """Return the parts that a model named, if they ask what the question asks and nothing else."""
    lines = [_MARK.sub("", line).strip() for line in without_thoughts(said).splitlines()]
    parts = list(dict.fromkeys(line for line in lines if line))
    if not 2 <= len(parts) <= _MOST_PARTS or any(_ONE.match(part) for part in parts):
        return []
    asked, told = _content(question), [_content(part) for part in parts]
    if any(not own or len(own & asked) < _OWN * len(own) for own in told):
        return []
    if any(_numbers(part) - _numbers(question) for part in parts):
        return []
    return parts if len(frozenset().union(*told) & asked) >= _KEPT * len(asked) else []


def _content(text: str) -> frozenset[str]:
    return frozenset(s for word in words(text) if fold(word.surface) not in STOP_WORDS for s in word.stems)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(stem for stem in _content(text) if any(c.isdigit() for c in stem))
