"""Overviews and comparisons of more passages than the model can read at once: partial answers first, then one of
them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.citations import MarkCleaner, own_brackets
from rag.answering.phrases import says_no_answer
from rag.answering.prompts import build_prompt
from rag.answering.reply import Reply
from rag.answering.writing import written
from rag.messages import msg
from rag.protocols import ChatModel
from rag.types import Hit

OVERVIEW_PASSAGES = 10  # what a model of 4 billion parameters reads in a minute or two on a laptop
_BROAD = re.compile(
    r"\b(?:обзор\w*|обобщи\w*|кратко изложи\w*|(?:пере|рас)скажи кратко|суммируй\w*|подытожь\w*|резюм\w*"
    r"|конспект\w* по|основные (?:мысли|идеи|тезисы|положения)|перечисли(?:те)? все|все упоминания"
    r"|во всех (?:файлах|лекциях|конспектах|заметках)|по всем (?:файлам|лекциям|конспектам|заметкам))\b"
    r"|\b(?:overview|summar(?:y|ise|ize)|sum up|outline|list all|across (?:all|my|the)|in all (?:my |the )?(?:files"
    r"|notes|lectures)|main (?:points|ideas)|key (?:points|ideas))\b",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\b(?:сравни\w*|сопоставь\w*|чем (?:\w+ )?(?:отлича\w*|различа\w*)|разниц[аеуы]|различи[яейм]\w*"
    r"|в целом|о чём|о чем|перечисли\w*|все (?:виды|типы|способы|методы)|во всех|по всем)\b"
    r"|\b(?:compare|comparison|contrast|differ\w*|every|across|in all)\b",
    re.IGNORECASE,
)


def wants_breadth(question: str) -> bool:
    """Tell whether the question asks for a summary of what the notes hold, so that a few passages are too few."""
    return _BROAD.search(question) is not None


def wants_overview(question: str) -> bool:
    """Tell whether the question asks for a comparison or a summary, for which every passage counts."""
    return wants_breadth(question) or _COMPARING.search(question) is not None


def partial_answers(reply: Reply, chat: ChatModel) -> list[str]:
    """Ask the model about one group of passages after the other; return what it found, with the passages' own
    numbers."""
    hits = reply.result.hits
    batches = groups(reply.reading, hits, chat.context_limit)
    found: list[str] = []
    for done, numbers in enumerate(batches):
        reply.update(progress=(done, len(batches) + 1), stage="reading")
        prompt = build_prompt(reply.reading, hits, chat.context_limit, numbers=numbers)
        marks = MarkCleaner(len(hits), own_brackets(hits))
        text = ""
        for piece in written(reply, chat, prompt, marks):
            text = "" if piece is None else text + piece
        if reply.stopped:
            break
        if text.strip() and not says_no_answer(text):
            found.append(text.strip())
    reply.update(progress=(len(batches), len(batches) + 1))
    reply.warn(
        msg("The passages were read in {count} parts; the answer joins what was found in them.", count=len(batches))
    )
    return found


def groups(question: str, hits: Sequence[Hit], context_limit: int) -> list[list[int]]:
    """Cut the hits' numbers into groups that fit, passages of one file together, best file first."""
    by_file: dict[str, list[int]] = {}
    for n, hit in enumerate(hits, 1):
        by_file.setdefault(hit.chunk.path, []).append(n)
    found: list[list[int]] = []
    for numbers in by_file.values():
        for n in numbers:
            together = [*found[-1], n] if found else [n]
            if found and build_prompt(question, hits, context_limit, numbers=together).used == len(together):
                found[-1] = together
            else:
                found.append([n])
    return found
