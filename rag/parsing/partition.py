"""`unstructured`, kept offline, silent and light: its HTML reader needs no model, no download and no network here."""

from __future__ import annotations

import os
import sys
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from unstructured.documents.elements import Element

_TOKENIZER = "unstructured.nlp.tokenize"


def html_elements(html: str) -> list[Element]:
    """Partition a page that `web` has prepared into titles, texts, list items and code, in order."""
    return _partition_html()(text=html, languages=[""])


@cache
def _partition_html() -> Callable[..., list[Element]]:
    """Import the reader without its telemetry and without its tokenizer.

    The tokenizer module loads spaCy (and with it torch), and downloads an English model at its first use. The reader
    asks it only whether a text is prose or a fragment, and that is not used here: words cut at spaces will do.
    """
    for switch in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE"):
        os.environ[switch] = "1"
    if _TOKENIZER not in sys.modules:
        sys.modules[_TOKENIZER] = _plain_tokenizer()
    from unstructured.partition.html import partition_html

    return partition_html


def _plain_tokenizer() -> ModuleType:
    module = ModuleType(_TOKENIZER, "Words and sentences without a model.")
    module.word_tokenize = str.split  # type: ignore[attr-defined]
    module.sent_tokenize = lambda text: [text]  # type: ignore[attr-defined]
    module.pos_tag = lambda text: [(word, "") for word in text.split()]  # type: ignore[attr-defined]
    return module
