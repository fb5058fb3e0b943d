"""Questions that need several passages, taken apart by rules.

A comparison names two things around a conjunction; what stands before and after both belongs to each part:
"Чем RAID 1 отличается от RAID 5 по надёжности?" gives "RAID 1 по надёжности" and "RAID 5 по надёжности".
"""

from __future__ import annotations

import re

from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import fold, words

_LONGEST_PART = 8
_YEAR = r"(?:19|20)\d\d"
# Each pattern names the two things, and where it can, what is said of both ("about").
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Russian
        r"^(?:а\s+)?чем\s+(?P<about>подход|метод|понятие|система|модель)?\s*(?P<one>.+?)\s+(?:отлича\w+|разнят\w*|различа\w+)\s+от\s+(?P<two>.+)$",
        r"^(?:а\s+)?чем\s+(?:отлича\w+|различа\w+)\s+(?P<one>.+?)\s+(?:от|и)\s+(?P<two>.+)$",
        r"\b(?:разниц\w+|отличи\w+|различи\w+|сходств\w+|общего)\s+(?:(?:в|по)\s+(?P<about>\w+)\s+|(?:между|у)\s+)?(?P<one>.+?)\s+(?:и|от)\s+(?P<two>.+)$",
        r"\b(?:расход[ия]тся|различа\w+|отлича\w+|сходятся|похожи)\s+(?P<one>.+?)\s+(?:и|с|от)\s+(?P<two>\S+)(?P<about>\s+.+)?$",
        r"\b(?:сравни|сравните|сравнить|сопоставь|сопоставьте|сравнение)\s+(?P<one>.+?)\s+(?:и|с|со)\s+(?P<two>.+)$",
        r"^(?P<about>.*\b(?:по-разному|по разному)\b.*?)\s+у\s+(?P<one>.+?)\s+и\s+(?:у\s+)?(?P<two>.+)$",
        rf"^(?P<about>.*\b(?:измен\w+|вырос\w*|поменял\w+|стало)\b.*)\bмежду\s+(?P<one>{_YEAR})\s*(?:годом|г\.)?\s+и\s+(?P<two>{_YEAR})\b",
        rf"^(?P<about>.*\b(?:измен\w+|вырос\w*|поменял\w+|стало)\b.*)\bс\s+(?P<one>{_YEAR})\s*(?:года|г\.)?\s+(?:по|до)\s+(?P<two>{_YEAR})\b",
        # English
        r"\b(?:difference|differences|distinction|similarities)\s+(?:in\s+(?P<about>\w+)\s+)?between\s+(?P<one>.+?)\s+and\s+(?P<two>.+)$",
        r"\bhow\s+(?:do|does|did)\s+(?P<one>.+?)\s+(?:differ|differs)\s+from\s+(?P<two>.+)$",
        r"\bhow\s+(?:do|does|did)\s+(?P<one>.+?)\s+and\s+(?P<two>.+?)\s+(?:differ|compare)\b(?P<about>.*)$",
        r"\b(?:is|are|was|were)\s+(?P<one>.+?)\s+different\s+from\s+(?P<two>.+)$",
        r"\bcompare\s+(?P<one>.+?)\s+(?:and|with|to|against)\s+(?P<two>.+)$",
        r"^(?P<one>.+?)\s+(?:vs\.?|versus)\s+(?P<two>.+)$",
        rf"^(?P<about>.*\bchange\w*\b.*)\b(?:between|from)\s+(?P<one>{_YEAR})\s+(?:and|to)\s+(?P<two>{_YEAR})\b",
    )
)
_BOTH = re.compile(
    r"\s+(?:(?:насчёт|насчет|относительно|касательно|в отношении|по вопросу|in terms of|regarding|with respect to)\s+.+"
    r"|по\s+\w+)$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.?!…])\s+(?=\S)")
_POINTS_BACK = re.compile(
    r"\b(?:он|она|оно|они|его|её|ее|их|ему|ей|им|нём|нем|ней|них|это|этот|эта|эти|этого|этой|этих|там|тогда"
    r"|he|she|it|its|they|them|their|his|her|this|that|these|those|there|then)\b",
    re.IGNORECASE,
)
# A sentence that tells the answerer what to do, not what is asked.
_INSTRUCTION = re.compile(
    r"(?:if|otherwise|please|answer|explain|assume|give|state|use|respond|write|round"
    r"|если|иначе|пожалуйста|ответь\w*|отвечай\w*|объясни\w*|напиши\w*|укажи\w*|используй\w*|поясни\w*|обоснуй\w*)\b",
    re.IGNORECASE,
)
# "Round robin is a scheduler" and "Write-ahead logging …" begin with such a word, and tell something.
_STATES = re.compile(
    r"(?!if|otherwise|assume|please)\w+(?:-|(?:\s+[\w-]+){1,3}\s+(?:is|are|was|were|has|have|had|does|do|can)\b)",
    re.IGNORECASE,
)


def without_instructions(question: str) -> str:
    """Leave out sentences that only instruct the answerer ("If it is not relevant, then say so."): they would pull
    the search away from what is asked. A text without a question mark is left as it is."""
    parts = _SENTENCE.split(question.strip())
    asked = [part for n, part in enumerate(parts) if part.endswith("?") or not _instructs(part, parts[n + 1 :])]
    return " ".join(asked) if any(part.endswith("?") for part in asked) else question


def _instructs(sentence: str, following: list[str]) -> bool:
    """Tell whether a sentence only instructs; one that tells what the question after it points back to does not."""
    if _INSTRUCTION.match(sentence) is None or _STATES.match(sentence):
        return False
    return not (following and following[0].endswith("?") and _POINTS_BACK.search(following[0]))


def sub_questions(question: str) -> list[str]:
    """Return the parts of a question that compares two things or asks two; empty where it asks for one."""
    text = " ".join(question.split())
    several = _SENTENCE.split(text)
    if len(several) == 2 and all(part.endswith("?") and _content(part) for part in several):
        first, second = several
        return [first, f"{first} {second}" if _POINTS_BACK.search(second) else second]
    bare = text.strip(" ?!.")
    for pattern in _PATTERNS:
        match = pattern.search(bare)
        if match and (parts := _parts(match)):
            return parts
    return []


def _parts(match: re.Match[str]) -> list[str]:
    groups = match.groupdict()
    one, two, about = groups["one"].strip(), groups["two"].strip(), (groups.get("about") or "").strip()
    shared = _BOTH.search(two)
    if shared:
        two, about = two[: shared.start()], f"{about} {shared.group().strip()}".strip()
    if not all(len(_content(part)) > 0 and len(part.split()) <= _LONGEST_PART for part in (one, two)):
        return []
    if fold(one) == fold(two):
        return []
    return [f"{about} {part}".strip() for part in (one, two)]


def _content(text: str) -> list[str]:
    return [w.surface for w in words(text) if fold(w.surface) not in STOP_WORDS]
