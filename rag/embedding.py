"""Chooses and loads the embedder that the settings name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rag.bundled_model import MANIFEST, UNPACKER_VERSION, packed_weights, unpacked_model
from rag.messages import Message, msg
from rag.model_files import content_digest, model_folder
from rag.protocols import Embedder
from rag.settings import BUNDLED_EMBEDDER

BUNDLED_ORIGINAL = "intfloat/multilingual-e5-small"


def load_embedder(
    name: str,
    data: Path,
    ollama_url: str,
    progress: Callable[[Message], None] | None = None,
    device: str = "",
    threads: int | None = None,
) -> Embedder:
    """Load an embedder; the first time this may unpack or download the model, told to `progress`.

    `name` is "bundled", "ollama:NAME", a folder, or a Hugging Face name. `data` is the data folder.
    `device` ("cpu", "cuda", "mps") and `threads` default to the best of this machine.
    Raises EmbeddingError with the remedy.
    """
    from rag.sentence_models import SentenceTransformerEmbedder

    models = data / "models"
    packed = packed_weights() if name == BUNDLED_EMBEDDER else None
    if packed:
        folder = unpacked_model(packed, models, progress)
        source = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["source_sha256"]
        return SentenceTransformerEmbedder(
            folder, BUNDLED_EMBEDDER, f"{source[:16]}-{UNPACKER_VERSION}", device, threads
        )
    if name == BUNDLED_EMBEDDER:
        name = BUNDLED_ORIGINAL
    folder = model_folder(name, models, progress)
    embedder = SentenceTransformerEmbedder(folder, name, content_digest(folder, models), device, threads)
    if progress and embedder.prompts.source == "unknown":
        progress(msg("The model {model} does not say which words it wants before questions and passages: "
                     "none are added.", model=name))  # fmt: skip
    return embedder
