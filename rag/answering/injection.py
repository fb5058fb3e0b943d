"""Finds text in notes that gives orders to a language model, and makes passages safe to stand in a prompt."""

from __future__ import annotations

import re

from rag.sentences import sentences

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|directions?|guidelines|above|previous|everything)\b"
    r"|\b(?:игнорируй\w*|забудь\w*|не обращай внимания|отмени\w*|не следуй)\b[^.\n]{0,50}"
    r"\b(?:инструкц\w*|указани\w*|правил\w*|промпт\w*|команд\w*|вс[её],? что|выше|предыдущ\w*)\b"
    r"|\b(?:you are now|from now on,? you|act as|pretend to be|new instructions?:|system prompt)\b"
    r"|\b(?:теперь ты|с этого момента ты|новые инструкции|системный промпт)\b"
    r"|\b(?:reply|respond|answer|say|output|print|write)\b[^.\n]{0,20}\b(?:only|just|exactly|with the word"
    r"|with)\b[^.\n]{0,20}[\"“'«]?[A-Z]{4,}"
    r"|\b(?:ответь|отвечай|скажи|напиши|выведи)\b[^.\n]{0,20}(?:\b(?:только|лишь|ровно|словом?)\b)?[^.\n]{0,12}[\"“«']?\b[A-ZА-ЯЁ]{4,}\b"
    r"|\b(?:assistant|model|ai|llm|language model|нейросеть|ассистент"
    r"|модель)\b[^.\n]{0,10}[,:]?\s*(?:you must|must now|ты (?:должен|должна|обязан))",
    re.IGNORECASE,
)
_CAPITALS_ORDER = re.compile(r"[A-ZА-ЯЁ]{4,}")
_ROLE_LINE = re.compile(
    r"^[^\S\n]*(?:[#*>\[<|]+\s*)?(?:system|assistant|user|human|ai|система|ассистент|пользователь)(?:\s*(?:message|prompt|note))?"
    r"\s*[\]|>*]*\s*:.*\b(?:you|your|must|reply|respond|answer|say|obey|ignore|ты|тебе|твоя|отвечай|ответь|скажи|напиши|игнорируй"
    r"|выполни|забудь)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_MARKUP = re.compile(
    r"<(?=\s*/?\s*(?:passage|question|rules|system|user|assistant|human|im_|start_of_turn|end_of_turn|begin_of|end_of|eot|think|tool|"
    r"instructions?|s>|\||<SYS|｜))|\[(?=/?(?:INST|SYS)\b)|(?<=<)<(?=SYS)",
    re.IGNORECASE,
)
LEFT_OUT = "[…]"


def gives_orders(text: str) -> bool:
    """Tell whether a stretch of a note speaks to a language model instead of to a reader."""
    return any(_is_order(found.group()) for found in _ORDERS.finditer(text)) or bool(_ROLE_LINE.search(text))


def _is_order(words: str) -> bool:
    """Commands of the kind "answer only PWNED" count only with a word in real capitals (the pattern ignores case)."""
    verb = re.match(
        r"(?:reply|respond|answer|say|output|print|write|ответь|отвечай|скажи|напиши|выведи)", words, re.IGNORECASE
    )
    return verb is None or _CAPITALS_ORDER.search(words[verb.end() :]) is not None


def without_orders(text: str) -> tuple[str, bool]:
    """Return the text with its orders left out, and whether there were any."""
    kept, last, found = [], 0, False
    for start, end in sentences(text):
        if gives_orders(text[start:end]):
            kept += [text[last:start], LEFT_OUT]
            last, found = end, True
    return "".join(kept) + text[last:], found


def escaped(text: str) -> str:
    """Break up chat markup and our own delimiters, so that a passage cannot end itself or open another role."""
    return _MARKUP.sub(lambda mark: {"<": "‹", "[": "("}[mark.group()], text)
