"""Texts that stand inside an answer, so they are in the question's language, not the interface's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Language = Literal["ru", "en"]

_CYRILLIC_WORD = re.compile(r"[А-Яа-яЁё]{2,}|\b[АВИКОСУЯавикосуя]\b")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_ENGLISH = """
a an and are can define describe did do does explain for from give had has have how i in is it its list me name of on or
tell that the their there these this to was were what when where which who whom whose why will with
"""
_ENGLISH_FUNCTION_WORDS = frozenset(_ENGLISH.split())


@dataclass(frozen=True, slots=True)
class Phrases:
    """One language's fixed texts. `no_answer` is also what a chat model is told to say word for word."""

    no_answer: str
    nearest: str
    nothing: str
    page: str
    section: str
    date: str
    passage: str
    question: str
    earlier: str
    sources: str
    run: str


PHRASES: dict[Language, Phrases] = {
    "ru": Phrases(
        no_answer="В конспектах этого нет.",
        nearest="Рядом — самые близкие места, но это не ответ.",
        nothing="Похожих мест не нашлось.",
        page="с. {page}",
        section="раздел: {section}",
        date="дата: {date}",
        passage="Отрывок",
        question="Вопрос",
        earlier="Предыдущий вопрос",
        sources="Источники",
        run="Как получен ответ",
    ),
    "en": Phrases(
        no_answer="The notes do not say.",
        nearest="The nearest passages are shown, but they are not an answer.",
        nothing="No similar passages were found.",
        page="p. {page}",
        section="section: {section}",
        date="date: {date}",
        passage="Passage",
        question="Question",
        earlier="Earlier question",
        sources="Sources",
        run="How this answer was made",
    ),
}


def language_of(text: str) -> Language:
    """Tell Russian from English by letters. A Russian question may be full of Latin terms ("Зачем PostgreSQL MVCC?"),
    and an English one may quote a Russian word, so English needs its own function words to outweigh Cyrillic ones."""
    cyrillic = len(_CYRILLIC_WORD.findall(text))
    latin = [word.lower() for word in _LATIN_WORD.findall(text)]
    english = sum(word in _ENGLISH_FUNCTION_WORDS for word in latin)
    if cyrillic == 0:
        return "en" if latin else "ru"
    return "en" if english and len(latin) > cyrillic else "ru"


def is_english(text: str) -> bool:
    """Tell whether a text is surely English: of its letters alone it may be any language written in Latin ones."""
    return text.isascii() and any(word.lower() in _ENGLISH_FUNCTION_WORDS for word in _LATIN_WORD.findall(text))


def refusal_text(question: str, has_hits: bool) -> str:
    """Say that the notes hold no answer, in the question's language."""
    phrases = PHRASES[language_of(question)]
    return f"{phrases.no_answer} {phrases.nearest if has_hits else phrases.nothing}"


def says_no_answer(text: str) -> bool:
    """Tell whether a model's text is the agreed words for "no answer", perhaps with a little padding."""
    folded = " ".join(re.findall(r"\w+", text.casefold()))
    for phrases in PHRASES.values():
        words = " ".join(re.findall(r"\w+", phrases.no_answer.casefold()))
        if folded.startswith(words) or (words in folded and len(folded) < 2 * len(words)):
            return True
    return False


def language_fits(text: str, question: str) -> bool:
    """Tell whether an answer is in the question's language. Terms, code and formulas in Latin letters are no language;
    only Russian and English questions are judged."""
    prose = re.sub(r"```.*?```|`[^`]*`|\$[^$]*\$|\[\d+\]", " ", text, flags=re.DOTALL)
    if len(re.findall(r"[\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", prose)) > 2:
        return False
    cyrillic = len(_CYRILLIC_WORD.findall(prose))
    latin = [word.lower() for word in _LATIN_WORD.findall(prose)]
    english = sum(word in _ENGLISH_FUNCTION_WORDS for word in latin)
    if language_of(question) == "ru" and _CYRILLIC_WORD.search(question):
        return english <= cyrillic and (cyrillic > 0 or len(latin) <= 3)
    if any(word.lower() in _ENGLISH_FUNCTION_WORDS for word in _LATIN_WORD.findall(question)):
        return cyrillic <= max(2, len(latin))
    return True
