"""`unstructured`, kept offline and silent: its HTML reader needs no model, no download and no network here."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from unstructured.documents.elements import Element


def html_elements(html: str) -> list[Element]:
    """Partition a page that `article.prepare` has made ready into titles, texts, list items and code, in order."""
    return _partition_html()(text=html, languages=[""])


@cache
def _partition_html() -> Callable[..., list[Element]]:
    """Import the reader without telemetry, and give it a blank pipeline in place of the English model that it
    would otherwise download. The pipeline only cuts words and sentences, for any language."""
    for switch in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE"):
        os.environ[switch] = "1"
    import spacy
    from unstructured.nlp import tokenize
    from unstructured.partition.html import partition_html

    pipeline = spacy.blank("xx")
    pipeline.add_pipe("sentencizer")
    tokenize._get_nlp = lambda: pipeline
    return partition_html
