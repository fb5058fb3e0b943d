"""Numbers as people write them, in Russian and English, brought to values that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

Values = frozenset[Fraction]


@dataclass(frozen=True, slots=True)
class Number:
    """A number at [start, end) of a text. `values` holds every reading: "1.577" may be 1577 or 1.577."""

    start: int
    end: int
    values: Values
    word: bool = False


_SCALES = {
    "тыс": 10**3,
    "тысяч": 10**3,
    "thousand": 10**3,
    "k": 10**3,
    "млн": 10**6,
    "миллион": 10**6,
    "million": 10**6,
    "mln": 10**6,
    "m": 10**6,
    "млрд": 10**9,
    "миллиард": 10**9,
    "billion": 10**9,
    "bn": 10**9,
    "трлн": 10**12,
    "триллион": 10**12,
    "trillion": 10**12,
}
_SCALE = (
    r"(?P<scale>тыс(?:яч\w*)?\b\.?|миллион\w*|миллиард\w*|триллион\w*|(?:млн|млрд|трлн)\b\.?"
    r"|thousands?\b|millions?\b|billions?\b|trillions?\b|(?:mln|bn)\b\.?)"
)
_VULGAR = {
    "½": Fraction(1, 2),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
    "¼": Fraction(1, 4),
    "¾": Fraction(3, 4),
    "⅛": Fraction(1, 8),
    "⅕": Fraction(1, 5),
}
_SPACE = "[ \u00a0\u2009\u202f]"
_DIGITS = re.compile(
    rf"(?<![\w.,])(?P<digits>\d{{1,3}}(?:{_SPACE}\d{{3}})+(?:[.,]\d+)?|\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+(?:,\d+)?"
    rf"|\d+(?:[.,]\d+)?)(?P<vulgar>[½⅓⅔¼¾⅛⅕])?(?:{_SPACE}?{_SCALE})?(?P<ending>(?:-?(?:st|nd|rd|th|s)|-[а-яё]{{1,3}})\b)?(?![\w]*\d)"
    r"|(?P<alone>[½⅓⅔¼¾⅛⅕])",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"\b(?=[IVXLC])(X{0,3}(?:IX|IV|V?I{0,3}))(?:-?(?:го|м|й|я|е|th|st|nd|rd))?\b")
_CENTURY = re.compile(
    r"(?:\s*(?:-|–|—|и|and|to|до)\s*[IVX]+)?\s*(?:век\w*|вв?\.|столети\w*|century|centuries|съезд\w*|конгресс\w*)",
    re.IGNORECASE,
)

_RUSSIAN: tuple[tuple[str, int], ...] = (
    (r"нол[ьяюе]|нулев\w+", 0),
    (r"перв(?:ый|ая|ое|ые|ого|ой|ом|ому|ым|ую|ых|ыми)", 1),
    (r"дв(?:а|е|ух|ум|умя)|втор(?:ой|ая|ое|ые|ого|ом|ому|ым|ую|ых)|дважды|двое|двоих", 2),
    (r"тр(?:и|ёх|ех|ём|ем|емя)|трет(?:ий|ья|ье|ьи|ьего|ьей|ьем|ьему|ьим|ью)|трижды|трое|троих", 3),
    (r"четыр(?:е|ёх|ех|ём|ем|ьмя)|четв[её]рт\w+|четверо", 4),
    (r"пят(?:ь|и|ью|ый|ая|ое|ые|ого|ой|ом|ому|ым|ую|ых|еро)", 5),
    (r"шест(?:ь|и|ью|ой|ая|ое|ые|ого|ом|ому|ым|ую|ых|еро)", 6),
    (r"сем(?:ь|и|ью|еро)|седьм\w+", 7),
    (r"вос(?:емь|ьми|емью|ьмью)|восьм(?:ой|ая|ое|ые|ого|ом|ому|ым|ую|ых)", 8),
    (r"девят(?:ь|и|ью|ый|ая|ое|ые|ого|ой|ом|ому|ым|ую|ых)", 9),
    (r"десят(?:ь|и|ью|ый|ая|ое|ые|ого|ой|ом|ому|ым|ую|ых)", 10),
    (r"одиннадцат\w+", 11),
    (r"двенадцат\w+", 12),
    (r"тринадцат\w+", 13),
    (r"четырнадцат\w+", 14),
    (r"пятнадцат\w+", 15),
    (r"шестнадцат\w+", 16),
    (r"семнадцат\w+", 17),
    (r"восемнадцат\w+", 18),
    (r"девятнадцат\w+", 19),
    (r"двадцат(?!иле)\w+", 20),
    (r"тридцат(?!иле)\w+", 30),
    (r"сорок[а]?|сороков\w+", 40),
    (r"пятьдесят|пятидесят\w*", 50),
    (r"шестьдесят|шестидесят\w*", 60),
    (r"семьдесят|семидесят\w*", 70),
    (r"восемьдесят|восьмидесят\w*", 80),
    (r"девяност[оа]|девяност\w+", 90),
    (r"сто|ста|сот(?:ый|ая|ое|ого|ой|ен|ни|ню|ня)", 100),
    (r"двести|двухсот\w*", 200),
    (r"триста|тр[её]хсот\w*", 300),
    (r"четыреста|четыр[её]хсот\w*", 400),
    (r"пятьсот|пятисот\w*", 500),
    (r"шестьсот|шестисот\w*", 600),
    (r"семьсот|семисот\w*", 700),
    (r"восемьсот|восьмисот\w*", 800),
    (r"девятьсот|девятисот\w*", 900),
)
_ENGLISH: tuple[tuple[str, int], ...] = (
    (r"zero", 0),
    (r"first", 1),
    (r"two|twice|second", 2),
    (r"three|third|thrice", 3),
    (r"four|fourth", 4),
    (r"five|fifth", 5),
    (r"six|sixth", 6),
    (r"seven|seventh", 7),
    (r"eight|eighth", 8),
    (r"nine|ninth", 9),
    (r"ten|tenth", 10),
    (r"eleven|eleventh", 11),
    (r"twelve|twelfth|dozen", 12),
    (r"thirteen(?:th)?", 13),
    (r"fourteen(?:th)?", 14),
    (r"fifteen(?:th)?", 15),
    (r"sixteen(?:th)?", 16),
    (r"seventeen(?:th)?", 17),
    (r"eighteen(?:th)?", 18),
    (r"nineteen(?:th)?", 19),
    (r"twenty|twentieth", 20),
    (r"thirty|thirtieth", 30),
    (r"forty|fortieth", 40),
    (r"fifty|fiftieth", 50),
    (r"sixty|sixtieth", 60),
    (r"seventy|seventieth", 70),
    (r"eighty|eightieth", 80),
    (r"ninety|ninetieth", 90),
    (r"(?:one |a )?hundred(?:th)?", 100),
)
_WORDS = tuple((re.compile(pattern, re.IGNORECASE), value) for pattern, value in (*_RUSSIAN, *_ENGLISH))
_WORD = re.compile(
    rf"\b(?P<name>{'|'.join(pattern for pattern, _ in (*_RUSSIAN, *_ENGLISH))})\b(?:[ -]{_SCALE})?", re.IGNORECASE
)


def numbers(text: str) -> list[Number]:
    """Return the numbers of a text in order: digits with any separators, ½, Roman centuries, number words. "One" and
    "один" are left out: they are articles and pronouns more often than numbers."""
    found = [*_written(text), *_roman(text), *_spelled(text)]
    return sorted(found, key=lambda number: number.start)


def _written(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        if match.group("alone"):
            yield Number(*match.span(), frozenset({_VULGAR[match.group("alone")]}))
            continue
        extra = _VULGAR.get(match.group("vulgar") or "", Fraction(0))
        scale = _scale(match.group("scale"))
        yield Number(*match.span(), frozenset((value + extra) * scale for value in _readings(match.group("digits"))))


def _readings(digits: str) -> set[Fraction]:
    bare = re.sub(_SPACE, "", digits)
    if "," not in bare and "." not in bare:
        return {Fraction(bare)}
    last = max(bare.rfind(","), bare.rfind("."))
    whole, part = re.sub(r"[.,]", "", bare[:last]), bare[last + 1 :]
    as_decimal = Fraction(f"{whole}.{part}")
    if len(part) == 3 and whole.strip("0"):
        separators = {char for char in bare if char in ".,"}
        grouped = Fraction(whole + part)
        return {grouped} if len(separators) == 1 and bare.count(separators.copy().pop()) > 1 else {grouped, as_decimal}
    return {as_decimal}


def _scale(word: str | None) -> int:
    if not word:
        return 1
    folded = word.lower().rstrip(".")
    return next(
        (value for name, value in _SCALES.items() if folded == name or (len(name) > 3 and folded.startswith(name))), 1
    )


def _roman(text: str) -> Iterator[Number]:
    """Roman numerals count where a century follows, or where they have two letters or more."""
    for match in _ROMAN.finditer(text):
        if match.group(1) and (len(match.group(1)) > 1 or _CENTURY.match(text, match.end())):
            values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
            digits = [values[char] for char in match.group(1)]
            total = sum(-d if d < max(digits[i + 1 :], default=0) else d for i, d in enumerate(digits))
            yield Number(*match.span(), frozenset({Fraction(total)}))


def _spelled(text: str) -> Iterator[Number]:
    """Neighbouring words of falling size make one number: "двадцать пять", "thirty-six", "nineteen hundred"."""
    run: list[tuple[int, int, Fraction]] = []
    for match in _WORD.finditer(text):
        value = Fraction(
            next(v for pattern, v in _WORDS if pattern.fullmatch(match.group("name"))) * _scale(match.group("scale"))
        )
        joined = run and re.fullmatch(r"[ \u00a0-]|\sand\s", text[run[-1][1] : match.start()])
        if joined and run[-1][2] > value and _joinable(run[-1][2], value):
            run[-1] = (run[-1][0], match.end(), run[-1][2] + value)
        else:
            run.append((*match.span(), value))
    return (Number(start, end, frozenset({value}), True) for start, end, value in run)


def _joinable(before: Fraction, value: Fraction) -> bool:
    """ "Twenty five" is one number, "twelve five" is two: the second must fit into the zeros of the first."""
    zeros = len(str(int(before))) - len(str(int(before)).rstrip("0"))
    return before >= 20 and 0 < value < 10**zeros
