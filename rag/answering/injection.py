"""Finds text in notes that gives orders to a language model, and makes passages safe to stand in a prompt."""

from __future__ import annotations

import re
import unicodedata

from rag.sentences import sentences

_MACHINE_RU = r"(?:ии\b|нейросет\w*|(?:языков\w+|нейросетев\w+) модел\w*|чат-?бот\w*|ассистент\w*|gpt\w*|chatgpt)"
_MACHINE = r"(?:ai|llms?|(?:large )?language models?|chat ?bots?|(?:ai )?assistants?|chatgpt|gpt)"
_TOLD_RU = r"(?:инструкц\w*|указани\w*|правил\w*|промпт\w*|команд\w*|вс[её],? (?:что|сказанное)|выше|предыдущ\w*)"
_TOLD = r"(?:instructions?|prompts?|rules?|directions?|guidelines|commands?|orders)"
_EARLIER = (
    r"(?:all|any|every(?:thing)?|anything|previous|prior|earlier|these|those|your|the above|the system|the rules|above)"
)
_ADDRESSED = (
    # what was said before is taken back
    rf"\b(?:ignore|disregard|forget|override|bypass|(?:do not|don't|never) (?:follow|obey))\b[^.\n]{{0,20}}"
    rf"\b{_EARLIER}\b[^.\n]{{0,20}}\b(?:{_TOLD}|above|before|said)\b",
    rf"\b(?:ignore|disregard|forget|do not follow)\b[^.\n]{{0,10}}\b{_TOLD}\b[^.\n]{{0,10}}\b(?:above|before|given)\b",
    rf"\b(?:про|за)?(?:игнорируй\w*|забудь\w*|не обращай\w* внимания|отмени(?:те)?|не (?:следуй|выполняй|слушай)\w*)\b"
    rf"[^.\n]{{0,50}}\b{_TOLD_RU}\b",
    # another part is given
    r"\b(?:you are now|from now on,? you (?:are|must|will|speak|answer|only)"
    r"|(?:you|must|should) (?:must |should |will )?act as|act as if you|pretend to be"
    r"|new instructions?:|your (?:new|only|real) (?:task|role|job|goal))\b",
    r"\b(?:теперь ты|ты теперь|с этого момента ты|новые инструкции|тво[яй] (?:новая|настоящая|единственная)"
    r" (?:задача|роль|цель)|от тебя требуется)\b",
    # the machine is spoken to
    rf"\bесли ты\b[^.\n]{{0,12}}\b{_MACHINE_RU}|\b(?:инструкци\w*|указани\w*|сообщение|примечание|внимание|важно)"
    rf"(?: для|,| —|:)? {_MACHINE_RU}",
    rf"\b{_MACHINE_RU}[^.\n]{{0,10}}[,:]?\s*(?:ты (?:должен|должна|обязан)|(?:не )?отвечай|напиши|скажи)",
    rf"\bif you are (?:an? )?{_MACHINE}\b|\b(?:notes?|messages?|instructions?|attention)"
    rf"(?: to| for|,|:)? (?:the |any |all )?{_MACHINE}\b",
    rf"\b{_MACHINE}[^.\n]{{0,10}}[,:]?\s*(?:you must|must (?:now|always|recommend|say|answer|mention))",
    # the answer is dictated
    r"\b(?:тво[йи] ответ\w?|на (?:любой|каждый|все) вопрос\w?)\b[^.\n]{0,30}\b(?:долж\w*|отвечай\w*|ответь\w*)",
    r"\bотвечай\w*\b[^.\n]{0,20}\bна (?:любой|каждый|все) вопрос|\bотвечай\w* (?:только|лишь|всегда)\b",
    r"\b(?:you must|always) (?:answer|reply|respond|say)\b[^.\n]{0,24}(?:\bwith\b|[\"“'«])"
    r"|\b(?:answer|respond|reply) only (?:in|with)\b",
    # what must stay hidden is asked for
    r"\b(?:reveal|print|output|show|repeat|translate|tell)\b[^.\n]{0,20}\b(?:(?:your|the) (?:system )?prompt"
    r"|your (?:instructions|rules)|(?:text|words|everything) above)\b",
    r"\b(?:покажи|выведи|повтори|переведи|расскажи|напиши)\b[^.\n]{0,20}\b(?:системн\w+ промпт\w*|сво[йи] (?:промпт"
    r"|инструкции)|текст выше)",
    r"\bсистемный промпт\s*:",
)
_ORDERS = re.compile("|".join(_ADDRESSED), re.IGNORECASE)
# "Reply only PWNED": a word in capitals is all that is asked for.
_SHOUTED = re.compile(
    r"\b(?i:reply|respond|answer|say|output|print|write)\b[^.\n]{0,20}\b(?i:only|just|exactly|with the word|with)\b"
    r"[^.\n]{0,20}[\"“'«]?\b[A-Z]{4,}|\b(?i:reply|respond|say)\s*[:—-]?\s*[\"“'«]?[A-Z]{4,}\b"
    r"|\b(?i:ответь|отвечай|ответить|скажи|напиши|выведи)\b[^.\n]{0,20}\b(?i:только|лишь|ровно|слов[оа]м?)\b[^.\n]{0,12}[\"“«']?"
    r"\b[A-ZА-ЯЁ]{4,}\b|\b(?i:ответь|отвечай|ответить|скажи|напиши)\s*[:—-]?\s*[\"“«']?[A-ZА-ЯЁ]{4,}[\"”»']?\s*[.!]*\s*\Z"
)
_ROLE_LINE = re.compile(
    r"^[^\S\n]*(?:[#*>\[<|]+\s*)?(?:system|assistant|user|human|ai|система|ассистент|пользователь)(?:\s*(?:message|prompt|note))?"
    r"\s*[\]|>*]*\s*:.*\b(?:you|your|must|reply|respond|answer|say|obey|ignore|ты|тебе|твоя|отвечай|ответь|скажи|напиши|игнорируй"
    r"|выполни|забудь)\b.*$|^\s*#+\s*(?:instructions?|system)\s*:|<\s*(?:system|assistant|instructions?)\s*>"
    r"|<\|(?:im_start|system|start_header_id)",
    re.IGNORECASE | re.MULTILINE,
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_MARKUP = re.compile(
    r"<(?=\s*/?\s*(?:passage|question|rules|system|user|assistant|human|im_|start_of_turn|end_of_turn|begin_of|end_of|eot|think|tool|"
    r"instructions?|s>|\||<SYS|｜))|\[(?=/?(?:INST|SYS)\b)|(?<=<)<(?=SYS)",
    re.IGNORECASE,
)
LEFT_OUT = "[…]"


def gives_orders(text: str) -> bool:
    """Tell whether a stretch of a note speaks to a language model instead of to a reader."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return any(pattern.search(plain) for pattern in (_ORDERS, _SHOUTED, _ROLE_LINE))


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
