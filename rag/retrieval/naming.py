"""Which files a question names: "Boeing in 2022" means BOEING_2022_10K.pdf before any other company's report."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

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
    """The words of each file's name, and how rare each is among the files."""

    words: Mapping[str, frozenset[str]]
    rarity: Mapping[str, float]

    @classmethod
    def of(cls, paths: Iterable[str]) -> FileNames:
        """Read the names of the files; folders count as well."""
        words = {path: _name_words(path) for path in sorted(paths)}
        counts = Counter(word for found in words.values() for word in found)
        rarity = {word: math.log((len(words) + 1) / count) for word, count in counts.items()}
        return cls(words, rarity)

    def named_by(self, question: str) -> dict[str, float]:
        """Return the files that the question names, each with its claim in 0..1: the share of the name's own words
        that are asked for, less where another file agrees better on years and quarters. A date or a number alone
        names no file, nor does a word that many files bear."""
        asked = _asked_words(question)
        shares: dict[str, float] = {}
        sums: dict[str, float] = {}
        for path, words in self.words.items():
            own = [word for word in words if not _DATED.search(word)]
            held = [word for word in words if _is_asked(word, asked)]
            if any(self.rarity[w] >= _DISTINCT and not _DATED.search(w) for w in held):
                shares[path] = self._sum(set(held) & set(own)) / self._sum(own)
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
    return any(len(a) >= _SHORTEST_PREFIX and a.isalpha() and word.startswith(a) for a in asked if len(word) > len(a))


@lru_cache(maxsize=1 << 16)
def _name_words(path: str) -> frozenset[str]:
    stem = path.rpartition(".")[0] or path
    return frozenset(t for t in tokens(re.sub(r"[/_]", " ", stem)) if t not in STOP_WORDS and len(t) > 1)
