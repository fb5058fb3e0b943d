"""The hard facts of a sentence: numbers, dates, formulas, names. In an answer each must stand in a cited passage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from rag.answering.numerals import Number, numbers

FactKind = Literal["number", "date", "formula", "name"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact at [start, end) of a text. `number`, `date` (day, month) or `key` holds what is compared."""

    kind: FactKind
    start: int
    end: int
    key: str = ""
    values: frozenset[Fraction] = frozenset()
    date: tuple[int | None, int] = (None, 0)


_MONTHS: tuple[tuple[str, str], ...] = (
    ("январ[ьяюе]|январ[её]м", "january|jan"),
    ("феврал[ьяюе]", "february|feb"),
    ("март[аеу]?|мартом", "march|mar"),
    ("апрел[ьяюе]", "april|apr"),
    ("ма[йяею]|маем", "may"),
    ("июн[ьяюе]", "june|jun"),
    ("июл[ьяюе]", "july|jul"),
    ("август[аеу]?", "august|aug"),
    ("сентябр[ьяюе]", "september|sept?"),
    ("октябр[ьяюе]", "october|oct"),
    ("ноябр[ьяюе]", "november|nov"),
    ("декабр[ьяюе]", "december|dec"),
)
_MONTH = "|".join(f"{russian}|{english}" for russian, english in _MONTHS)
_NAMED_DATE = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:-?(?:st|nd|rd|th|го|е))?\s+(?:of\s+)?)?(?P<month>{_MONTH})\b\.?(?:\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?=[\s,.;)]|$))?",
    re.IGNORECASE,
)
_DOTTED_DATE = re.compile(
    r"(?<![\d.,])(?P<d>\d{1,2})[./](?P<m>\d{1,2})(?:[./](?P<y>\d{4}|\d{2}))?(?!\d|[./]\d)|\b(?P<y2>\d{4})-(?P<m2>\d\d)-(?P<d3>\d\d)\b"
)
_FORMULA = re.compile(
    r"\$\$.+?\$\$|\$(?!\s)[^$\n]+?(?<!\s)\$(?!\d)|\\\[.+?\\\]|\\\(.+?\\\)|`[^`\n]+`"
    r"|[^\s,;:()\[\]]*\w\([^()\s]*[-+*/^][^()\s]*\)|\b\w+(?:[\^*+][\w(){}]+)+"
    r"|[^\s,;:()\[\]]*\w\)?\s*(?:=|≤|≥|<=|>=|≠|≈)\s*[^\s,;]+(?:\s*[-+*/·×^]\s*[^\s,;]+)*|\b[OΘΩ]\([^()]*(?:\([^()]*\)[^()]*)*\)",
    re.DOTALL,
)
_NUMBERING = re.compile(r"[\s*_]*\d{1,2}[.)]\s")
_WORD = re.compile(r"[^\W\d_](?:[\w’'-]*\w)?")
_CODE = re.compile(r"\b(?:(?=\w*\d)(?=\w*[^\W\d_])[\w₀-₉]+(?:-\d+)?|[A-ZА-ЯЁ]{2,}-\d+)\b")
_OPENING_WORDS = """
a an the in on at of by to from for with as and but or if when while where after before during since until this that
these those it its he she they we his her their our there here what who how why not no all some many most each both one
also then thus so however
а в во на из от до для при по за у с со и но или если когда где после во время это этот эта эти тот та те он она оно они
мы его её их там здесь что кто как почему не нет все всё каждый оба один также тогда так поэтому однако кроме согласно
именно
"""
_OPENERS = frozenset(_OPENING_WORDS.split())
_STARTS_SENTENCE = re.compile(
    r"(?:\A|[.!?…:;]|\n\s*(?:[-•*–—]\s|\d+[.)])?|\A\s*(?:[-•*–—]\s|\d+[.)]))[\s«\"“'(\[*_]*\Z"
)
_SAME_IN_MATH = r"""
\times *  \cdot *  × *  · *  − -  – -  \leq ≤  \le ≤  <= ≤  \geq ≥  \ge ≥  >= ≥  \neq ≠  \ne ≠  != ≠  \approx ≈
\infty ∞
\pi π  \lambda λ  \mu μ  \sigma σ  \alpha α  \beta β  \gamma γ  \varepsilon ε  \theta θ  \phi φ  \omega ω  \Delta Δ
\Theta Θ
\Omega Ω  \sqrt √  \sum ∑  \int ∫  \partial ∂  \in ∈  \cup ∪  \cap ∩  \to →  ** ^
"""
_WITHOUT_MEANING = ("\\left", "\\right", "\\,", "\\;", "\\mathrm", "\\text", "\\displaystyle")
_MATH = dict(zip(_SAME_IN_MATH.split()[::2], _SAME_IN_MATH.split()[1::2], strict=True)) | dict.fromkeys(
    _WITHOUT_MEANING, ""
)
_RAISED = str.maketrans({**{c: f"^{n}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "ⁿ": "^n"})
_LOWERED = str.maketrans({c: str(n) for n, c in enumerate("₀₁₂₃₄₅₆₇₈₉")})


def facts(text: str) -> list[Fact]:
    """Return the facts of a text in order. What stands inside a formula or a date is not listed again."""
    found: list[Fact] = []
    for group in (_formulas(text), _dates(text), _codes(text), _numbers(text), _names(text)):
        found += [fact for fact in group if not any(fact.start < f.end and f.start < fact.end for f in found)]
    return sorted(found, key=lambda fact: fact.start)


def folded_formula(text: str) -> str:
    """Bring a formula to one spelling: no spaces, braces or dollars, ² as ^2, \\cdot and × as *."""
    for old, new in _MATH.items():
        text = text.replace(old, new)
    text = text.translate(_RAISED).translate(_LOWERED)
    return re.sub(r"[\s{}$`\\_]|\\[()\[\]]", "", text).casefold()


def _formulas(text: str) -> Iterator[Fact]:
    for match in _FORMULA.finditer(text):
        written = match.group().rstrip(".")
        if re.search(r"[\w∞π]", written):
            yield Fact("formula", match.start(), match.start() + len(written), folded_formula(written))


def _dates(text: str) -> Iterator[Fact]:
    for match in _NAMED_DATE.finditer(text):
        name = match.group("month")
        day = match.group("d1") or match.group("d2")
        if (
            name.lower()
            in ("may", "march", "mar", "mart", "jan", "jun", "sep", "dec", "oct", "nov", "aug", "apr", "feb")
            and not day
            and not _month_like(text, match)
        ):
            continue
        following = re.match(r",?\s+(\d{4})\b", text[match.end() :])
        date = (int(day) if day else None, _month_number(name))
        yield Fact("date", *match.span(), key=following.group(1) if following else "", date=date)
    for match in _DOTTED_DATE.finditer(text):
        day, month = match.group("d") or match.group("d3"), match.group("m") or match.group("m2")
        year = match.group("y") or match.group("y2")
        if 1 <= int(day) <= 31 and 1 <= int(month) <= 12 and (year or len(month) == 2 == len(day)):
            yield Fact("date", *match.span(), key=year or "", date=(int(day), int(month)))


def _month_like(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()].rstrip().rsplit(" ", 1)[-1].lower()
    after = text[match.end() :].lstrip()
    return match.group("month")[0].isupper() and (
        before in ("in", "of", "by", "since", "until", "from", "early", "late") or after[:4].isdigit()
    )


def _month_number(name: str) -> int:
    return next(i for i, forms in enumerate(_MONTHS, 1) if re.fullmatch("|".join(forms), name, re.IGNORECASE))


def _codes(text: str) -> Iterator[Fact]:
    """Names with digits in them: IPv4, SHA-256, H₂O; not "5th", "1990s" or "20км"."""
    for match in _CODE.finditer(text):
        word = match.group().translate(_LOWERED)
        if not re.fullmatch(r"\d+[^\W\d_]+", word):
            yield Fact("name", *match.span(), key=word.casefold().replace("-", ""))


def _numbers(text: str) -> Iterator[Fact]:
    for number in numbers(text):
        numbering = _NUMBERING.match(text, text.rfind("\n", 0, number.start) + 1)
        if numbering is not None and number.start < numbering.end():
            continue
        yield Fact("number", number.start, _without_ending(text, number), values=number.values)


def _without_ending(text: str, number: Number) -> int:
    return number.start + len(text[number.start : number.end].rstrip())


def _names(text: str) -> Iterator[Fact]:
    """Capitalised words inside a sentence and words in capitals anywhere. A sentence's first word proves nothing by
    its capital."""
    for match in _WORD.finditer(text):
        word = match.group()
        if not word[0].isupper() or len(word) < 2:
            continue
        opens = _STARTS_SENTENCE.search(text[: match.start()]) is not None
        inner_capital = any(char.isupper() for char in word[1:])
        if inner_capital or not opens or (word.lower() not in _OPENERS and _capital_follows(text, match.end())):
            yield Fact("name", *match.span(), key=word)


def _capital_follows(text: str, end: int) -> bool:
    following = re.match(r"\s+([A-ZА-ЯЁ][\w’'-]*\w)", text[end:])
    return following is not None
