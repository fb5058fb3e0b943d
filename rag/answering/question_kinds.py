"""What kind of answer a question waits for, and whether a sentence holds one of that kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from rag.answering.content_words import content

QuestionKind = Literal["definition", "number", "date", "reason", "person", "place", "list", "other"]

_QUESTIONS: tuple[tuple[QuestionKind, str], ...] = (
    (
        "date",
        r"\bкогда\b|\bв как(?:ом|ие|ой) (?:год|век|месяц|период|день|эпох)|\bкак(?:ой|ого|им) (?:год|век|числ)|\bwhen\b"
        r"|\b(?:what|which) (?:year|date|day|century|month|decade)",
    ),
    (
        "number",
        r"\bсколько\b|\bскольк(?:их|ими|им)\b|\bкак(?:ой|ая|ово|ую|ого|им) (?:\w+ )?(?:процент|дол[яюи]\b"
        r"|количеств|числ[оа]"
        r"|возраст|высот|длин|площад|температур|скорост|стоимост|размер|сумм|част(?:ь|и|ью)\b|населени)"
        r"|\bнасколько\b|\bhow (?:many|much|long|far|old|tall|high|large|big|often|fast|deep)\b"
        r"|\b(?:what|which) (?:\w+ )?(?:percent|percentage|proportion|share|number|amount|fraction|age"
        r"|temperature|size|population)\b",
    ),
    (
        "reason",
        r"\bпочему\b|\bзачем\b|\bотчего\b|\bиз-за ч|\bпо как(?:ой|им) причин|\b(?:какова|в чем|в чём) (?:причин|цел)"
        r"|\bдля чего\b|\bwhy\b|\bwhat (?:was |is |were |are )?(?:the )?(?:cause|reason|purpose)|\bwhat caused\b",
    ),
    (
        "definition",
        r"\bчто такое\b|\bчто называ(?:ют|ется)|\bчто (?:означает|значит|понимают)|\bкак(?:ое|ова|ово)? определени"
        r"|\b(?:дай|дать|приведи|сформулируй)\w* определение|^\s*определение\b|\bопределите\b"
        r"|^\s*кто так(?:ой|ая|ие)\b|^\s*(?:define|definition)\b"
        r"|^\s*what(?:'s| is| are) (?:a|an|the)? ?[\w\- ]{2,40}\?*\s*$|\bwhat (?:does|do) .{1,60} mean\b",
    ),
    ("person", r"\bкто\b|\bкого\b|\bкому\b|\bкем\b|\bчь(?:я|е|ё|и|ей|ю)\b|\bчей\b|\bwho(?:m|se)?\b"),
    (
        "place",
        r"\bгде\b|\bкуда\b|\bоткуда\b|\bв как(?:ом|ой|их) (?:город|стран|мест|государств|район|област|регион"
        r"|штат)|\bwhere\b"
        r"|\b(?:what|which) (?:city|country|state|place|region|continent|town)\b",
    ),
    (
        "list",
        r"\bкакие\b|\bперечисли|\bназовите\b|\bназови\b|\bиз чего состо|^\s*(?:list|name)\b|\bwhat (?:are|were) the\b",
    ),
)
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _QUESTIONS)

_NUMBER_WORDS = (
    r"дв[ае]|двух|двум\w*|тр(?:и|ех|ёх|ем|ём)|четыр\w+|пят(?:ь|и|ью)|шест(?:ь|и)|сем(?:ь|и)|вос[еь]м\w*|девят(?:ь|и)|десят\w+|сорок|сто"
    r"|\w+надцат(?:ь|и|ью)|двадцат\w+|тридцат\w+|тысяч\w*|миллион\w*|миллиард\w*|половин\w*|треть|четверть|дважды|трижды|оба|обе|один|одна|одной|одного"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundreds?|thousands?|millions?|billions?|half|quarter|dozens?|twice|once|third|several"
)
_NUMBER = re.compile(rf"\d|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_MONTHS = (
    r"январ\w+|феврал\w+|март[ае]?|апрел\w+|ма[йея]|июн\w+|июл\w+|август\w*|сентябр\w+|октябр\w+|ноябр\w+|декабр\w+"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
)
_DATE = re.compile(
    rf"\b1?\d{{3}}\b|\b20\d\d\b|\b\d{{1,2}} (?:{_MONTHS})\b|\b(?:{_MONTHS}) \d"
    rf"|\b\d{{1,2}}\.\d{{1,2}}\.\d{{2,4}}|\bвек\w*\b|\bcentur"
    r"|\bпосле\b|\bво время\b|\bутр|\bсегодня|\bdecade|\bduring\b|\bafter\b|\bsince\b|\buntil\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:потому|поскольку|так как|из-за|благодаря|вследствие|вызван\w*|причин\w*|чтобы|ради|следовательно"
    r"|поэтому|приводит|для того"
    r"|цел(?:ь|и|ью)|ввиду|в результате|позволя\w+|ведь|иначе)\b"
    r"|\b(?:because|due to|since|caus\w+|reason\w*|therefore|so that|in order to|as a result|owing to|thus"
    r"|purpose|leads? to|led to|so)\b",
    re.IGNORECASE,
)
_DEFINING = re.compile(
    r"^(?P<term>.{1,140}?)(?:\s[—–-]\s|\bэто\b|\bназыва(?:ется|ют|ются|ем)\b|\bпонима(?:ется|ют)\b"
    r"|\bпредставляет собой\b|\bявляется\b"
    r"|\b(?:is|are|was|were) (?:an?|the|any|one of|called|defined|known)\b|\brefers? to\b|\bmeans?\b"
    r"|:\s)(?P<rest>.{0,80})",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"(?<=[^\s.!?…])\s+[«\"“(]?[A-ZА-ЯЁ][\w'’-]+|\b[A-ZА-ЯЁ][\w'’-]+\s+[A-ZА-ЯЁ][\w'’.-]*")
_PLACE = re.compile(
    r"\b(?:в|во|на|из|около|возле|под|над|у|близ|in|at|on|near|from|to|of)\s+(?:the\s+)?[«\"“]?[A-ZА-ЯЁ][\w'’-]+",
    re.DOTALL,
)
_LIST = re.compile(r"\n\s*(?:[-*•–—]|\d+[.)])\s|:\s|(?:,[^,]+){2,}|\b(?:и|and|а также|as well as)\b")


def kind_of(question: str) -> QuestionKind:
    """Return the first kind whose words the question holds. Dates come before numbers ("в каком году")."""
    return next((kind for kind, pattern in _COMPILED if pattern.search(question)), "other")


def _fresh(pattern: re.Pattern[str]) -> Callable[[str, str], bool]:
    def holds(sentence: str, question: str) -> bool:
        known = question.casefold()
        return any(found.group().strip().casefold() not in known for found in pattern.finditer(sentence))

    return holds


def _any(pattern: re.Pattern[str]) -> Callable[[str, str], bool]:
    return lambda sentence, _question: pattern.search(sentence) is not None


def _defines(sentence: str, question: str) -> bool:
    """The asked term stands before the defining word, or right after it ("называется кардинальностью")."""
    found = _DEFINING.search(sentence)
    return found is not None and bool(content(question) & (content(found.group("term")) | content(found.group("rest"))))


_EVIDENCE: dict[QuestionKind, Callable[[str, str], bool]] = {
    "date": _fresh(_DATE),
    "number": _fresh(_NUMBER),
    "reason": _any(_REASON),
    "definition": _defines,
    "person": _fresh(_NAME),
    "place": _fresh(_PLACE),
    "list": _any(_LIST),
}


def holds_kind(sentence: str, question: str, kind: QuestionKind) -> bool:
    """Tell whether a sentence holds the kind of thing the question asks for, beyond what the question itself says."""
    evidence = _EVIDENCE.get(kind)
    return evidence is not None and evidence(sentence, question)
