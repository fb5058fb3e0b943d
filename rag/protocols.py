"""The seams: where another model or store can be put in, and where tests put fakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What made a vector. Two vectors may be compared only if their identities are equal.
    `revision` is a digest of the model's weights or its server's digest, never a mere name."""

    name: str
    revision: str
    dimension: int
    question_prefix: str
    passage_prefix: str


class Embedder(Protocol):
    """Turns text into unit vectors. Implementations are safe to call from several threads."""

    @property
    def identity(self) -> ModelIdentity:
        """What made the vectors; loads the model if need be."""

    @property
    def window(self) -> int:
        """The most tokens one passage may take, prefix and special tokens included."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens that embedding each text as a passage takes, prefix and special tokens included."""

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimension), rows of length 1. `progress` gets the count done so far."""

    def embed_question(self, text: str) -> Vectors:
        """Return float32 (dimension,), of length 1."""


@runtime_checkable
class WordReader(Protocol):
    """An embedder that can also show what it makes of each word in its context."""

    @property
    def reads_words(self) -> bool:
        """Whether this model can."""

    def embed_with_words(
        self, texts: Sequence[str], spans: Sequence[Spans], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        """Return what `embed_passages` returns, and for each text the states of its spans, (spans, width)."""

    def question_words(self, text: str, spans: Spans) -> Vectors:
        """Return the states of a question's spans, (spans, width); zeros for what was cut off."""


class Reranker(Protocol):
    """Judges candidate passages against a question."""

    @property
    def name(self) -> str:
        """What is shown and stored in run records."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one relevance per passage, calibrated to 0..1."""


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """A piece of a streamed answer. `thinking` text is not part of the answer.
    The last piece of a complete answer has `done`, and the server's own counts where it gives them; `full` tells that
    it ended because no more fitted."""

    text: str = ""
    thinking: bool = False
    done: bool = False
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    full: bool = False


class ChatModel(Protocol):
    """A chat model on a server."""

    @property
    def name(self) -> str:
        """As shown, e.g. "ollama:qwen3:8b"."""

    @property
    def revision(self) -> str:
        """The server's digest of the model's weights, for run records; empty where the server tells none."""

    @property
    def context_limit(self) -> int:
        """The most tokens that prompt and answer may take together."""

    def stream(self, messages: Sequence[Mapping[str, str]], *, num_ctx: int, num_predict: int) -> Iterator[ChatPiece]:
        """Yield the answer piece by piece, deterministic (temperature 0, fixed seed).
        Closing the iterator ends the request. Raises `ChatError`."""


class ChunkStore(Protocol):
    """Vectors by id. Several vectors may belong to one chunk: ids and metadata are the caller's."""

    def add(self, ids: Sequence[str], vectors: Vectors, chunk_ids: Sequence[str], paths: Sequence[str]) -> None:
        """Add or replace vectors, (n, dimension). A crash may leave a part of them: ids of no chunk are harmless."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove vectors; unknown ids are ignored."""

    def query(self, vector: Vectors, n: int, paths: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """Return at most n (chunk id, cosine of its best vector), best first, ties by chunk id.
        `paths` restricts to those files."""

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the stored vectors of those ids that exist."""

    def of_chunks(self, chunk_ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors, (n, dimension), of each of those chunks that has any."""

    def ids(self) -> set[str]:
        """Return the ids of all vectors."""
