"""Topics inside a section: a run-in title ("Задача 7.3.6.", "Th. Формула Байеса.") names the text that follows it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.types import Block

_LEAST_TEXT = 350
_LONGEST = 90
_EXERCISE = re.compile(
    r"(задача|упражнение|задание|билет|вопрос|problem|exercise|question)\s+№?\s*[\d.]+", re.IGNORECASE
)
_LABEL = re.compile(
    r"(def|th|nota|ex|mem|lab|опр(еделение)?|теорема|лемма|следствие|утверждение|замечание|пример|доказательство|"
    r"свойств[оа]|смысл|\w+ый смысл|числовые характеристики|"
    r"definition|theorem|lemma|corollary|remark|example|proof|note)"
    r"[\s.:\d]*[a-z]?\.?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")


def topic_of(lead: str) -> str:
    """Return the topic that a bold beginning of a paragraph names, "" where it is a mere label ("Def.", "Свойства")."""
    title = lead.strip().rstrip(".:—–- ")
    if not 4 <= len(title) <= _LONGEST or len(_LETTER.findall(title)) < 4 or title[0].islower():
        return ""
    return "" if _LABEL.fullmatch(lead.strip().rstrip(":—–- ")) else title


def with_topics(blocks: Sequence[Block], leads: Mapping[int, str]) -> list[Block]:
    """Add topics to the heading paths. `leads` gives the bold beginning of blocks by index.

    A topic lasts to the next one or the next heading. Short ones stay without a name of their own, so that a row of
    one-line definitions is not torn into as many passages; exercises always have one.
    """
    result = list(blocks)
    starts = [i for i in leads if topic_of(leads[i])]
    for i in starts:
        end = i + 1
        while end < len(blocks) and blocks[end].heading == blocks[i].heading and blocks[end].kind != "heading":
            if end in leads and topic_of(leads[end]):
                break
            end += 1
        topic = topic_of(leads[i])
        if _EXERCISE.match(topic) or sum(len(block.text) for block in blocks[i:end]) >= _LEAST_TEXT:
            for k in range(i, end):
                result[k] = replace(result[k], heading=(*result[k].heading, topic))
    return result
