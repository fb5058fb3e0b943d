"""Where sentences begin and end, in Russian and English notes.

Rules of our own, because no kept library fits notes: sentencex (maintained) knows few Russian shortenings; razdel
(the best on Russian, last released in 2020), pysbd and syntok cut inside formulas, code, "рис. 3" and "Теорема 1.2."
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

Span = tuple[int, int]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Shortenings that hardly ever close a sentence: what they announce follows.
_OPEN = _words(
    "рис табл илл гл разд см ср напр им проф акад доц ул просп пер пл обл кв корп стр пп ст лекц упр зад теор опр св "
    "соотв прим инж канд докт англ рус лат нем фр греч итал букв мин макс гос т.е т.к т.н т.о "
    "fig figs eq eqs sec ch vol nos pp ed eds cf vs e.g i.e eg ie dr mr mrs ms prof st gen col rev sen rep approx "
    "resp dept ref refs viz"
)
# Shortenings that close a sentence where a capital follows.
_CLOSE = _words(
    "т.д т.п др пр гг вв н.э руб коп тыс млн млрд трлн долл чел шт экз сек час см мм км кг мг га "
    "etc al jr sr a.m p.m ph.d b.c a.d"
)
_NAMES = _words("inc ltd co corp llc u.s u.k u.n e.u")  # may be followed by a name: "U.S. Treasury"
_UNITS = _words("г в м с л т а к")  # after a number a year, a century, a unit: "1999 г.", but "г. Москва"
_NUMBERED = _words("п ч т с л д к г no art пр")  # only before a number: "п. 3", "с. 15", "No. 5"
_STARTERS = _words(
    "а в и к о с у я но на по за из от до для при так как это эта этот эти этого он она оно они мы вы его её их "
    "если тогда пусть поэтому отсюда следовательно значит итак также однако здесь там далее затем потом тем что "
    "чтобы когда где или то все всё каждый такой такая такое такие был была было были докажем рассмотрим заметим "
    "a an the it he she we they i you this that these those his her its our their if then let so thus hence but and "
    "or in on at for from by with to as when while where there here what which who how after before however"
)
_LABELS = (
    "рис(?:унок)?|табл(?:ица)?|теорема|лемма|следствие|утверждение|определение|аксиома|свойство|замечание|пример|"
    "задача|упражнение|глава|лекция|раздел|часть|тема|билет|вопрос|пункт|шаг|приложение|§|fig(?:ure)?|table|theorem|"
    "lemma|corollary|definition|example|exercise|chapter|lecture|section|part|step|question|problem|appendix"
)
_LABEL = re.compile(rf"(?:(?:{_LABELS})\.?\s*№?\s*)?(?:\d+(?:\.\d+)*|[ivxlc]+|[а-яa-z])\Z", re.I)

_LETTER = r"[^\W\d_]"
# What is never cut. A dollar opens a formula where Pandoc's grammar says so, so that "$5 and $2" is none.
_WHOLE = re.compile(
    r"```.*?```|`[^`\n]+`|\$\$(?:(?!\n\s*\n).){1,1000}?\$\$|\\\[(?:(?!\n\s*\n|\\\[).){1,1000}?\\\]"
    r"|\\\((?:(?!\\\()[^\n]){1,500}?\\\)"
    r"|(?<![\\$\w])\$(?![\s$])[^$\n]*?(?<![\s\\])\$(?![\d$])"
    r"|(?:https?://|www\.)\S*\w|(?<![\w.+-])[\w+-][\w.+-]*+@[\w-]++(?:\.[\w-]++)+",
    re.S,
)
# Marks at the end of a word, with the quotes, brackets and reference numbers that close after them.
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[»”’\"')\]]*+(?:\[\d{1,3}\])*+(?=\s|\Z)|[。！？]++|(?<=[а-яё]{2})[.!?](?=[А-ЯЁ][а-яё])"
)
_FORMULA_END = re.compile(r"[.!?]\s*(?:\$\$?|\\\]|\\\))\Z")
_LINE_END = re.compile(r"(?<!\s)\s*\n\s*")
_ITEM = re.compile(rf"(?:[-*+•–—▪◦·]|\d{{1,3}}[.)]|{_LETTER}[.)])\s")
_INLINE_ITEM = re.compile(rf"(?:[*+•▪◦·]|\d{{1,3}}\)|{_LETTER}\))\s")
_BEFORE = re.compile(rf"(?<!\w)(?:{_LETTER}\.[^\S\n]?)*\w+\Z")
_INITIALS = re.compile(rf"(?:{_LETTER}\.\s?)*{_LETTER}\Z")
_FIRST = re.compile(rf"[«“„\"'(\[]*({_LETTER}+)(\.?)")
_LATIN = re.compile(r"[A-Za-z]")
_WRAPPED = 40  # a line that the page's width broke is at least this long


class _Text:
    """A text and the stretches of it that stay whole."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.whole = [match.span() for match in _WHOLE.finditer(text)]

    def cuts(self, at: int) -> bool:
        """Tell whether a cut at this character would go through a whole stretch."""
        i = bisect_right(self.whole, (at, -1)) - 1
        return i >= 0 and self.whole[i][0] < at < self.whole[i][1]

    def skip_space(self, start: int, end: int) -> int:
        """Return the first character from start that is not white space, or end."""
        while start < end and self.text[start].isspace():
            start += 1
        return start


def sentences(text: str) -> list[Span]:
    """Return (start, end) of every sentence, in order, without the white space around it.

    All that is not white space lies in exactly one span. A blank line, a list item and a line break end
    a sentence; only a long line that goes on in lower case is taken for wrapped. Formulas (`$…$`, `$$…$$`),
    code and addresses are never cut.
    """
    whole = _Text(text)
    spans: list[Span] = []
    for begin, end in _lines(whole):
        start = begin
        for stop in _stops(whole, begin, end):
            if not _goes_on(text, start, stop, end):
                spans.append((start, stop))
                start = whole.skip_space(stop, end)
        if start < end:
            spans.append((start, end))
    return spans


def _lines(whole: _Text) -> Iterator[Span]:
    """Yield the stretches between line breaks that end a sentence."""
    text, end = whole.text, len(whole.text.rstrip())
    start = line = whole.skip_space(0, end)
    for match in _LINE_END.finditer(text, start, end):
        before, after = match.span()
        joined = whole.cuts(before) or (before - line >= _WRAPPED and _wrapped(text, before, after))
        line = after
        if not joined:
            yield start, before
            start = after
    if start < end:
        yield start, end


def _wrapped(text: str, before: int, after: int) -> bool:
    """Tell whether the sentence runs on over the line break between the two characters."""
    if text.count("\n", before, after) > 1 or text[before - 1] in ":;.!?" or _ITEM.match(text, after):
        return False
    return text[after : after + 1].islower()


def _stops(whole: _Text, start: int, end: int) -> list[int]:
    """Return where a sentence may end between start and end: after its marks, quotes and brackets."""
    text = whole.text
    marks = {match.end() for match in _END.finditer(text, start, end) if not whole.cuts(match.start())}
    i = bisect_right(whole.whole, (start, -1))
    while i < len(whole.whole) and whole.whole[i][1] <= end:
        if _FORMULA_END.search(text[whole.whole[i][0] : whole.whole[i][1]][-8:]):
            marks.add(whole.whole[i][1])
        i += 1
    return sorted(marks)


def _goes_on(text: str, start: int, stop: int, end: int) -> bool:
    """Tell whether the sentence from start goes on after the mark that ends at stop."""
    rest = text[stop : min(end, stop + 60)].lstrip()
    if not rest or _INLINE_ITEM.match(rest):
        return False
    if rest.lstrip("-–— ")[:1].islower() or rest[0] in ",;:)":
        return True
    if text[stop - 1] != "." or text[stop - 2 : stop - 1] == ".":
        return False
    # "1", "а", "Теорема 1.2", "Рис. 5": so far it is only a number or a label.
    labelled = stop - start < 40 and _LABEL.match(text, start, stop - 1) is not None
    return labelled or _shortened(text, start, stop - 1, rest)


def _shortened(text: str, start: int, dot: int, rest: str) -> bool:
    """Tell whether the dot belongs to a shortening, a date or an initial in the middle of a sentence."""
    before = _BEFORE.search(text, max(start, dot - 30), dot)
    if before is None:
        return False
    word = re.sub(r"\s", "", before.group()).casefold()
    last = word.rpartition(".")[2]
    if rest[0].isdigit():
        return bool({word, last} & (_OPEN | _NUMBERED)) or (last.isdigit() and len(last) < 3)
    first = _FIRST.match(rest)
    starts = first is not None and not first.group(2) and first.group(1).casefold() in _STARTERS
    if word in _OPEN or word in _NAMES:
        return word in _OPEN or not starts
    if word in _CLOSE and not before.group().isupper():
        return False
    head = text[max(start, before.start() - 40) : before.start()].rstrip()
    if word in _UNITS and before.group().islower():
        return not head[-1:].isdigit() and not re.search(r"\b[XVILC]+\Z", head)
    return first is not None and not starts and _initial(before.group(), first, head)


def _initial(word: str, first: re.Match[str], head: str) -> bool:
    """Tell whether the word is the initials of the name that follows, and not a symbol or a unit."""
    if not _INITIALS.match(word) or not word.isupper() or not first.group(1)[0].isupper():
        return False
    if head[-1:].isdigit() or head[-1:] in "=<>≤≥≈∈+*/" or _is_latin(word) != _is_latin(first.group(1)):
        return head == ""
    after_surname = len(word) > 1 and re.search(rf"\s[A-ZА-ЯЁ]{_LETTER}+\Z", head) is not None
    return bool(first.group(2)) or not after_surname


def _is_latin(word: str) -> bool:
    return _LATIN.match(word) is not None
