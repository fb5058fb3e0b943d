"""Embedding models served by Ollama, through its own client."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.errors import EmbeddingError
from rag.messages import msg
from rag.models.prompts import Prompts, prompts_for
from rag.protocols import ModelIdentity, Vectors

if TYPE_CHECKING:
    import ollama

OLLAMA_PREFIX = "ollama:"
_LARGEST_WINDOW = 2048  # the server reserves memory for the whole context; passages are much shorter
_DEFAULT_WINDOW = 512
_BATCH = 16
_SECONDS = 300.0
_MARGIN = 1.3  # texts with many names take more tokens a letter than the samples
_SPECIAL_TOKENS = 4
_SHORTEST_HALF = 64
_CONTEXT = re.compile("context length|context size|too long")
_SAMPLES = {
    "latin": "The process by which green plants turn light into chemical energy takes place in chloroplasts, "
             "whose membranes hold the pigments that absorb it.",
    "cyrillic": "Процесс, при котором зелёные растения превращают свет в химическую энергию, идёт в хлоропластах, "
                "мембраны которых содержат поглощающие его пигменты.",
}  # fmt: skip
_LETTERS = {"latin": re.compile(r"[A-Za-z]"), "cyrillic": re.compile(r"[\u0400-\u04ff]")}


class OllamaEmbedder:
    """A model on an Ollama server. The server is asked for its digest before each piece of work, so that a
    model pulled anew under the same name never mixes with the vectors of the old one.

    There is no tokenizer here: tokens are estimated on the safe side, from what the server counted for a
    sample of each script; a text that the server still finds too long is halved, never cut.
    """

    def __init__(self, model: str, url: str) -> None:
        """Ask the server about the model and try it. Raises EmbeddingError."""
        import httpx
        import ollama

        self.model, self.url = model, url
        with _our_errors(model, url):
            self._client = ollama.Client(url, timeout=httpx.Timeout(_SECONDS, connect=5.0))
        self.prompts: Prompts = prompts_for(model, {})
        digest = _listed_digest(self._client, model, url)
        with _our_errors(model, url):
            self._window = _window(self._client.show(model).modelinfo or {})
        replies = {script: self._request([sample]) for script, sample in _SAMPLES.items()}
        self._per_letter = {
            script: min(1.0, (reply.prompt_eval_count or len(_SAMPLES[script])) / _letters(script, _SAMPLES[script]))
            for script, reply in replies.items()
        }
        dimension = self._checked(replies["latin"], 1).shape[1]
        self._identity = ModelIdentity(
            OLLAMA_PREFIX + model, digest[:16], dimension, self.prompts.question, self.prompts.passage
        )

    @property
    def identity(self) -> ModelIdentity:
        """What made the vectors."""
        return self._identity

    @property
    def window(self) -> int:
        """The most tokens one passage may take, prefix and special tokens included."""
        return self._window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate, rather too many than too few, the tokens that embedding each text as a passage takes."""
        return [self._estimate(self.prompts.passage + text) for text in texts]

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimension), rows of length 1. Raises EmbeddingError."""
        self._check_unchanged()
        parts = [np.empty((0, self._identity.dimension), np.float32)]
        for start in range(0, len(texts), _BATCH):
            batch = [self.prompts.passage + text for text in texts[start : start + _BATCH]]
            parts.append(self._embed(batch))
            if progress:
                progress(min(start + _BATCH, len(texts)))
        return np.concatenate(parts)

    def embed_question(self, text: str) -> Vectors:
        """Return float32 (dimension,), of length 1. Raises EmbeddingError."""
        self._check_unchanged()
        vector: Vectors = self._embed([self.prompts.question + text])[0]
        return vector

    def _estimate(self, text: str) -> int:
        text = unicodedata.normalize("NFKC", text)
        known = {script: _letters(script, text) for script in _LETTERS}
        spaces = text.count(" ")
        others = sum(1 if char < "\u0800" else 3 for char in text) - sum(known.values()) - spaces
        letters = sum(min(1.0, _MARGIN * self._per_letter[script]) * n for script, n in known.items())
        return math.ceil(letters) + others + _SPECIAL_TOKENS

    def _embed(self, texts: list[str]) -> Vectors:
        """Embed texts; where the server finds one too long, it becomes the mean of its halves."""
        try:
            reply = self._request(texts)
        except _TooLong:
            if len(texts) > 1:
                return np.concatenate([self._embed([text]) for text in texts])
            if len(texts[0]) < _SHORTEST_HALF:
                raise
            halves = np.concatenate([self._embed([half]) for half in _halves(texts[0])])
            return self._unit(halves.mean(axis=0, keepdims=True))
        return self._checked(reply, len(texts))

    def _request(self, texts: list[str]) -> ollama.EmbedResponse:
        """Send one request. Raises EmbeddingError, or `_TooLong` where the server finds a text too long."""
        with _our_errors(self.model, self.url):
            return self._client.embed(self.model, texts, truncate=False, options={"num_ctx": self._window})

    def _checked(self, reply: ollama.EmbedResponse, count: int) -> Vectors:
        rows = [list(row) for row in reply.embeddings]
        expected = getattr(self, "_identity", None)
        dimension = expected.dimension if expected else len(rows[0]) if rows else 0
        if len(rows) != count or not dimension or any(len(row) != dimension for row in rows):
            raise EmbeddingError(
                msg("Ollama's model {model} gave vectors of a wrong number or length. Choose another embedding model.",
                    model=self.model)
            )  # fmt: skip
        return self._unit(np.array([[math.nan if x is None else x for x in row] for row in rows], np.float32))

    def _unit(self, vectors: Vectors) -> Vectors:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or (lengths < 1e-6).any():
            raise EmbeddingError(
                msg("Ollama's model {model} gave an unusable vector (zero or not a number). Update Ollama, or choose "
                    "another embedding model.", model=self.model)
            )  # fmt: skip
        return np.asarray(vectors / lengths, np.float32)

    def _check_unchanged(self) -> None:
        if not _listed_digest(self._client, self.model, self.url).startswith(self._identity.revision):
            raise EmbeddingError(
                msg("The model {model} has changed on the Ollama server. Restart Konspekt to index with the new one.",
                    model=self.model)
            )  # fmt: skip


class _TooLong(EmbeddingError):
    """The server finds a text longer than the model's context."""


def served_digest(model: str, url: str) -> str:
    """Return the digest that the Ollama server at `url` lists for a model. Raises EmbeddingError."""
    import httpx
    import ollama

    return _listed_digest(ollama.Client(url, timeout=httpx.Timeout(20.0, connect=5.0)), model, url)


def _listed_digest(client: ollama.Client, model: str, url: str) -> str:
    with _our_errors(model, url):
        listed = client.list().models
    wanted = model if ":" in model else f"{model}:latest"
    for known in listed:
        if known.model == wanted and known.digest:
            return known.digest.removeprefix("sha256:")
    raise _missing(model)


def _missing(model: str) -> EmbeddingError:
    return EmbeddingError(msg("Ollama has no model “{model}”. Get it with `ollama pull {model}`.", model=model))


@contextmanager
def _our_errors(model: str, url: str) -> Iterator[None]:
    """Turn the client's errors into ours."""
    import httpx
    import ollama
    import pydantic

    try:
        yield
    except ollama.ResponseError as error:
        if error.status_code == 404:
            raise _missing(model) from error
        told = msg("Ollama cannot embed with the model {model}: {reason}", model=model, reason=error.error)
        raise (_TooLong if _CONTEXT.search(error.error) else EmbeddingError)(told) from error
    except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
        raise EmbeddingError(
            msg("Ollama does not answer at {url}. Start it (open the Ollama app, or run `ollama serve`).", url=url)
        ) from error
    except (httpx.HTTPError, ValueError, pydantic.ValidationError) as error:
        raise EmbeddingError(
            msg("Ollama at {url} broke off or answered in an unknown way ({reason}). Try again, or update Ollama.",
                url=url, reason=type(error).__name__)
        ) from error  # fmt: skip


def _window(facts: Mapping[str, Any]) -> int:
    lengths = [value for key, value in facts.items() if key.endswith(".context_length") and isinstance(value, int)]
    return min([*lengths, _LARGEST_WINDOW]) if lengths else _DEFAULT_WINDOW


def _letters(script: str, text: str) -> int:
    return len(_LETTERS[script].findall(text))


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    space = text.rfind(" ", 1, middle)
    at = space if space > len(text) // 4 else middle
    return [text[:at], text[at:]]
