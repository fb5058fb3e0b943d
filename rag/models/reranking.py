"""Chooses and loads the reranker that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rag.errors import RerankingError
from rag.messages import Message
from rag.models.files import model_folder
from rag.models.sentence_reader import SentenceReader
from rag.protocols import Reranker
from rag.settings import NO_RERANKER, SENTENCE_RERANKER


def load_reranker(
    name: str,
    data: Path,
    sentences: SentenceReader,
    progress: Callable[[Message], None] | None = None,
    *,
    device: str = "",
    threads: int | None = None,
) -> Reranker | None:
    """Load a reranker: "" is none, "sentences" needs no download and uses those, else a folder or a
    Hugging Face name, downloaded into the data folder at the first use. Raises RerankingError with the remedy.
    """
    if name == NO_RERANKER:
        return None
    if name == SENTENCE_RERANKER:
        from rag.models.sentence_reranking import SentenceReranker

        return SentenceReranker(sentences)
    from rag.models.cross_encoders import CrossEncoderReranker

    folder = model_folder(name, data / "models", progress, RerankingError, default_owner="cross-encoder")
    return CrossEncoderReranker(folder, name, device=device, threads=threads)
