"""One noun in the place of another: "lysosomes make ATP" where the passage says that of mitochondria.

A sentence that repeats its evidence word for word but for one noun is as near to it as a sentence can be, so neither
words nor meaning show the fault. Only what stands in the noun's place does. Verbs are let pass: they are what people
and models say in other words. Without a tagger of parts of speech their endings (Russian) and the word before
(English) have to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rag.answering.content_words import meaningful
from rag.answering.facts import facts
from rag.answering.names import same_name
from rag.retrieval.words import Word, fold, is_cyrillic, tokens, words

Span = tuple[int, int]

_SAME_ROOT = 4
_LEAST_SHARED = 2
_LEAST_SHARE = 0.6
_FREEDOM = 6  # one word of so many may be said in other words, beside the one that was replaced
_CONNECTING = frozenset(
    tokens(
        "поэтому однако также затем тогда именно прежде обычно часто кроме например значит итак therefore however thus "
        "also then usually often hence moreover"
    )
)
_POINTING = re.compile(r"(?:эт|данн|так|сво|this|that|these|those|such|the|its|their)\w{0,3}")
_NOUN_COMES = """
a an the this these its his her their our each every all any no some both another other of in on at with from into
between through by for per when where while because if than
"""
_BEFORE_NOUNS = frozenset(_NOUN_COMES.split())
_NO_NOUN = re.compile(
    r"\w+(?:ing|[^\We]ed)|\w+(?:al|te|nt|ar|ous)ly|\w{3,}(?:[bcdstvy]le|ful|less|ous|ive|[^\Wir]al)"
    r"|(?:great|larg|high|low|small|long|short|few|old|earli|lat)e?(?:er|est)?|more|most|less|least|main|major|minor|whole"
    r"|new|big|good|better|best|common|important|different|similar|various|several|many|much|first|last|final"
)
_VERB = re.compile(
    r"\w+(?:[аеуяю]ет|(?:да|жив|ид|вед|раст|бер|ста|пад)[её]т|[бвджзлпрстчшщ]ит|ют|[жчшщ]ат|[бвдзлмнпрст]ят|[дрсвг]ут"
    r"|[аеиыяу]вш\w{1,3}|[аеиыяу]л[аио]?|[аеиуыя]ть|ешь|ишь|[аяи]ем|[вдзлпрстчшщ]им|вши|ся|сь"
    r"|[жчшщл]ен[аоы]?|(?:ова|ыва|ива|ирова|зда|каза|сла)н[аоы]?|(?:кры|взя|наня|приня|заня)т[аоы]?"
    r"|[аеуюя]щ(?:[аеиую][ейяюхм]|его|ему)|[аея]нн(?:[аыоу][ейяюхм]|ого|ому))"
)
_NO_VERB = re.compile(
    r"\w*(?:ость|ост[иь]ю?|[аеи]ни[еюяий]{1,2}|[аеи]нием|ти[ея]|ци[яию]|цией|памят[ьи]|печат[ьи]|[дм]ел[ьи]|кровать"
    r"|канал\w?|сигнал\w?|\w*иал\w?|капитал\w?|егал\w?|рвал\w?|[её]дел\w?|[др][ае]здел\w?|предел\w?|недел[ияю]|правил[оа]"
    r"|начал[оа]|сил[аы]|шкал[аы]|кредит|лимит|магнит|визит|дефицит|гранит|бюджет|институт|маршрут|алфавит|состав|устав"
    r"|перерыв|рукав|актив|пассив|норматив|мотив|архив|прилив|отлив)"
)
_ADJECTIVE = re.compile(r"\w{2,}(?:ый|ий|ая|яя|ое|ее|ые|ие|ого|его|ому|ему|ым|ую|юю|ых|их|ыми|ими)")
_PERHAPS_ADJECTIVE = re.compile(r"\w{2,}(?:[ое]й|[ое]м|им)")
_OF_A_KIND = re.compile(
    r"\w+(?:ическ|ск|ов|ев|альн|арн|ивн|озн|онн|ичн|янн)(?:[ыио]й|[аеоыи]е|[ая]я|ого|ому|[ыо]м|ую|ых|ыми)"
)
_ONE_WORD = (("человек", "люди"), ("год", "лет"), ("ребенок", "дети"), ("people", "persons"), ("child", "kids"))
_SUPPLETIVE = tuple(frozenset(tokens(f"{a} {b}")) for a, b in _ONE_WORD)
_NEW_CLAUSE = re.compile(r",?\s(?:но|а|but|while|whereas|and)\s|;", re.IGNORECASE)
_PAUSE = re.compile(r"[,;:]|\s[—–-]\s|\s(?:но|а|but|while|whereas|and)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Row:
    """A stretch of evidence or a clause of one, with the words that carry its meaning; `whole` is the stretch."""

    text: str
    words: tuple[Word, ...]
    whole: str

    @property
    def stems(self) -> list[str]:
        return [_stem(word) for word in self.words]


def replaced_nouns(claim: str, stretches: Sequence[str]) -> list[Span]:
    """Return where in a sentence nouns stand that take the place of others in the stretch it otherwise repeats.
    `stretches` are all that the cited passages hold."""
    mine = _row(claim, claim)
    rows = [_row(text, stretch) for stretch in stretches for text in (stretch, *_NEW_CLAUSE.split(stretch))]
    if not rows or len(mine.words) <= _LEAST_SHARED:
        return []
    best = max(rows, key=lambda row: (_repeated(mine, row), -len(row.words)))
    known = {stem for row in rows for stem in row.stems}
    found = [
        (new.start, new.end)
        for old, new in _in_place_of(mine, best)
        if _other(new, old)
        and _nouns(new, claim, old, best.text, _stem(new) in known)
        and not _said_of_both(new, old, mine, best.whole)
    ]
    return sorted({*found, *_exchanged(claim, mine, best), *_another_opening(mine, best, rows)})


def _repeated(mine: _Row, theirs: _Row) -> int:
    """How many words one repeats of the other, in order. Words from two clauses do not make one statement."""
    matcher = SequenceMatcher(None, theirs.stems, mine.stems, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return min(same, len(mine.words) - 1) if _NEW_CLAUSE.search(theirs.text) else same


def _row(text: str, whole: str) -> _Row:
    found = (word for word in words(text) if meaningful(word.surface) and not _CONNECTING.intersection(word.stems))
    return _Row(text, tuple(found), whole)


def _in_place_of(mine: _Row, theirs: _Row) -> list[tuple[Word, Word]]:
    """Pair words that stand in the place of others, (old, new); none where the rest does not repeat the other text."""
    matcher = SequenceMatcher(None, theirs.stems, mine.stems, autojunk=False)
    pairs = []
    for kind, i, j, k, m in matcher.get_opcodes():
        one_for_two = k == 0 and j - i == 2  # "Печень" for "Поджелудочная железа"
        if kind == "replace" and m - k == 1 and (j - i == 1 or one_for_two):
            pairs.append((theirs.words[j - 1], mine.words[k]))
    same = sum(block.size for block in matcher.get_matching_blocks())
    said_otherwise = len(mine.words) - same - 1
    enough = same >= max(_LEAST_SHARED, _LEAST_SHARE * len(mine.words))
    return pairs if enough and said_otherwise <= len(mine.words) // _FREEDOM else []


def _said_of_both(new: Word, old: Word, mine: _Row, stretch: str) -> bool:
    """A stretch may say the same of both words in short: "the prosecutor and the police bring the charge", "Newton
    thought light particles, Huygens a wave"."""
    clauses = [set(_row(clause, stretch).stems) for clause in _PAUSE.split(stretch)]
    its_own = next((stems for stems in clauses if _stem(new) in stems), None)
    others = next((stems for stems in clauses if _stem(old) in stems), set[str]())
    return its_own is not None and (len(its_own) == 1 or len(its_own.intersection(mine.stems) - others) > 1)


def _stem(word: Word) -> str:
    return min(word.stems)


def _other(new: Word, old: Word) -> bool:
    """Whether two words are more than two forms of one, or of one root."""
    a, b = fold(new.surface), fold(old.surface)
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if shared >= _SAME_ROOT or any(char.isdigit() for char in a + b) or same_name(new.surface, old.surface):
        return False
    return not any({_stem(new), _stem(old)} <= pair for pair in _SUPPLETIVE)


def _nouns(new: Word, claim: str, old: Word, stretch: str, known: bool) -> bool:
    """Whether both words are nouns, or adjectives that tell one kind from another. `known`: the passages speak of the
    new one too; there "this method" may have been called by its name."""
    a, b = fold(new.surface), fold(old.surface)
    if is_cyrillic(a) != is_cyrillic(b):
        return False
    if not is_cyrillic(a):
        return _noun_place(claim, new) and _noun_place(stretch, old)
    if _verb(a) or _verb(b):
        return False
    if _adjective(a, claim, new) and _adjective(b, stretch, old):
        return known or bool(_OF_A_KIND.fullmatch(a) or _OF_A_KIND.fullmatch(b))
    return not (known and _POINTING.fullmatch(_before(stretch, old)))


def _verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None and _NO_VERB.fullmatch(word) is None


def _adjective(word: str, text: str, where: Word) -> bool:
    if _ADJECTIVE.fullmatch(word):
        return True
    return _PERHAPS_ADJECTIVE.fullmatch(word) is not None and re.match(r" [а-яё]{4,}", text[where.end :]) is not None


def _noun_place(text: str, word: Word) -> bool:
    before = _before(text, word)
    return (not before or before in _BEFORE_NOUNS) and _NO_NOUN.fullmatch(fold(word.surface)) is None


def _before(text: str, word: Word) -> str:
    found = re.search(r"(\w+)\W*\Z", fold(text[: word.start]))
    return found.group(1) if found else ""


def _exchanged(claim: str, mine: _Row, theirs: _Row) -> Iterator[Span]:
    """Two words that have changed places over a clause: "speeds up writing but slows down reading"."""
    if len(mine.words) != len(theirs.words):
        return
    odd = [i for i, (a, b) in enumerate(zip(mine.stems, theirs.stems, strict=True)) if a != b]
    if len(odd) != 2 or odd[0] == 0:
        return
    i, j = odd
    swapped = (mine.stems[i], mine.stems[j]) == (theirs.stems[j], theirs.stems[i])
    if swapped and _PAUSE.search(claim[mine.words[i].end : mine.words[j].start]):
        yield from ((mine.words[n].start, mine.words[n].end) for n in odd)


def _another_opening(mine: _Row, theirs: _Row, rows: Sequence[_Row]) -> Iterator[Span]:
    """A first word that the passages do not know, where the rest repeats a stretch and leaves a name of it out:
    "Einstein formulated the CAP theorem" where Eric Brewer did. A first word's capital alone proves no name."""
    first, rest = mine.words[0], set(mine.stems[1:])
    written = fold(first.surface)
    if first.start > 1 or not first.surface[0].isupper() or _NO_NOUN.fullmatch(written) or _verb(written):
        return
    known = {stem for row in rows for stem in row.stems}
    repeats = rest <= known and len(rest.intersection(theirs.stems)) >= _LEAST_SHARED
    if not repeats or any(same_name(first.surface, word.surface) for row in rows for word in words(row.text)):
        return
    for group in _names(theirs.whole):
        if not any(same_name(name, word.surface) for name in group for word in mine.words):
            yield first.start, first.end
            return


def _names(stretch: str) -> Iterator[list[str]]:
    """Names of a text; those that stand side by side are one."""
    group: list[str] = []
    last = -9
    for fact in facts(stretch):
        if fact.kind == "name" and not fact.key.isupper():
            if group and fact.start - last > 2:
                yield group
                group = []
            group, last = [*group, stretch[fact.start : fact.end]], fact.end
    if group:
        yield group
