"""Which files a question names: "Boeing in 2022" means BOEING_2022_10K.pdf before any other company's report."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.stopwords import STOP_WORDS
from rag.retrieval.words import fold, tokens

_JOINED = 3
_SHORTEST_PREFIX = 3
_SHORT_YEAR = re.compile(r"\bfy\s?'?(\d\d)\b")
_DATED = re.compile(r"(?:19|20)\d\d|^q[1-4]$|^\d+$")
# A word that more than a third of the files bear tells none of them from the others.
_DISTINCT = math.log(3)


@dataclass(frozen=True, slots=True)
class FileNames:
    """The words of each file's name, which files bear each word, and how rare it is among them."""

    words: Mapping[str, frozenset[str]]
    bearers: Mapping[str, tuple[str, ...]]
    rarity: Mapping[str, float]

    @classmethod
    def of(cls, paths: Iterable[str]) -> FileNames:
        """Read the names of the files; folders count as well."""
        words = {path: _name_words(path) for path in sorted(paths)}
        bearers: defaultdict[str, list[str]] = defaultdict(list)
        for path, found in words.items():
            for word in found:
                bearers[word].append(path)
        rarity = {word: math.log((len(words) + 1) / len(files)) for word, files in bearers.items()}
        return cls(words, {word: tuple(files) for word, files in bearers.items()}, rarity)

    def named_by(self, question: str) -> dict[str, float]:
        """Return the files that the question names, each with its claim in 0..1: the share of the name's own words
        that are asked for, less where another file agrees better on years and quarters. A date or a number alone
        names no file, nor does a word that many files bear."""
        asked = _asked_words(question)
        known = frozenset(word for word in self.rarity if _is_asked(word, asked))
        telling = (word for word in known if self.rarity[word] >= _DISTINCT and not _DATED.search(word))
        shares: dict[str, float] = {}
        sums: dict[str, float] = {}
        for path in sorted({path for word in telling for path in self.bearers[word]}):
            held = self.words[path] & known
            own = frozenset(word for word in self.words[path] if not _DATED.search(word))
            shares[path] = self._sum(held & own) / self._sum(own)
            sums[path] = self._sum(held)
        best = max(sums.values(), default=0.0)
        return {path: shares[path] * sums[path] / best for path in shares}

    def _sum(self, words: Iterable[str]) -> float:
        return math.fsum(sorted(self.rarity[word] for word in words))


def _asked_words(question: str) -> frozenset[str]:
    """Return the question's stems, and those of neighbouring words written together ("best buy" as "bestbuy")."""
    folded = _SHORT_YEAR.sub(r"20\1", fold(question))
    plain = [w for w in re.findall(r"[^\W_]+", folded) if w not in STOP_WORDS and len(w) + w.isdigit() > 1]
    joined = ["".join(plain[i : i + n]) for n in range(1, _JOINED + 1) for i in range(len(plain) - n + 1)]
    return frozenset(stem for word in joined for stem in (word, *tokens(word)))


def _is_asked(word: str, asked: frozenset[str]) -> bool:
    if word in asked:
        return True
    starts = (word[:n] for n in range(_SHORTEST_PREFIX, len(word)))
    return any(start in asked and start.isalpha() for start in starts)


@lru_cache(maxsize=1 << 16)
def _name_words(path: str) -> frozenset[str]:
    stem = path.rpartition(".")[0] or path
    return frozenset(t for t in tokens(re.sub(r"[/_]", " ", stem)) if t not in STOP_WORDS and len(t) > 1)


class NamesKeeper:
    """Reads the files' names again when the library has changed."""

    def __init__(self) -> None:
        self._known: tuple[int, FileNames] | None = None

    def get(self, keywords: KeywordIndex) -> FileNames:
        """Return the names of the files that have passages."""
        version, known = keywords.version, self._known
        if known is None or known[0] != version:
            known = self._known = (version, FileNames.of(keywords.paths()))
        return known[1]
