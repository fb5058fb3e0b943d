"""Embedders that sentence-transformers runs, from a folder."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.errors import EmbeddingError
from rag.messages import msg
from rag.models.prompts import Prompts, prompts_for
from rag.models.token_states import Heard, TokenStates
from rag.protocols import ModelIdentity, Spans, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

UNLIMITED_WINDOW = 8192  # for models that read a text of any length
_CPU_BATCH_TOKENS = 1024  # measured: larger batches only wait longer for memory
_GPU_BATCH_TOKENS = 16_384
_LONGEST_BATCH = 64
_QUESTIONS_KEPT = 64


class SentenceTransformerEmbedder:
    """Any sentence-transformers model in a folder, with the prompts it was trained with.

    The same text gives the same bits whatever it is embedded with: batches hold texts of one length in
    tokens, so that nothing is padded. One thread at a time uses the model, questions before passages.
    """

    def __init__(self, folder: Path, name: str, revision: str, *, device: str = "", threads: int | None = None) -> None:
        """Load the model, never asking the network. `device` is "cpu", "cuda", "mps", ... or "" for the best here.

        Raises EmbeddingError if the folder holds no such model.
        """
        self._model = load_sentence_transformer(folder, device, threads)
        self.prompts = _prompts(self._model, name)
        self._turns = Turns()
        self._asked: OrderedDict[str, tuple[Vectors, Heard | None]] = OrderedDict()
        self._states = _token_states(self._model)
        self._window = model_window(self._model)
        self._batch_tokens = _CPU_BATCH_TOKENS if self._model.device.type == "cpu" else _GPU_BATCH_TOKENS
        dimension = self._encode([""], self.prompts.question, "query").shape[1]
        self._identity = ModelIdentity(name, revision, dimension, self.prompts.question, self.prompts.passage)

    @property
    def identity(self) -> ModelIdentity:
        """What made the vectors."""
        return self._identity

    @property
    def window(self) -> int:
        """The most tokens one passage may take, prefix and special tokens included."""
        return self._window

    @property
    def device(self) -> str:
        """Where the model runs: "cpu", "cuda:0", ..."""
        return str(self._model.device)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens that embedding each text as a passage takes, prefix and special tokens included."""
        if not texts:
            return []
        with self._turns.first():
            return token_counts(self._model.tokenizer, [self.prompts.passage + text for text in texts])

    def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """Return float32 (len(texts), dimension), rows of length 1. `progress` gets the count done so far.

        Raises EmbeddingError if a text exceeds the window or the model gives a vector that is no number.
        """
        return self._passages(texts, None, progress)[0]

    def embed_question(self, text: str) -> Vectors:
        """Return float32 (dimension,), of length 1. A question over the window is cut at its end."""
        return self._question(text)[0].copy()

    @property
    def reads_words(self) -> bool:
        """Whether the model is a transformer whose tokens can be found in the text."""
        return self._states is not None

    def embed_with_words(
        self, texts: Sequence[str], spans: Sequence[Spans], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        """Return what `embed_passages` returns, and for each text the states of its spans, float32 (spans, width)."""
        return self._passages(texts, spans, progress)

    def question_words(self, text: str, spans: Spans) -> Vectors:
        """Return the states of a question's spans, float32 (spans, width); zeros for what was cut off."""
        heard = self._question(text)[1]
        assert heard is not None, "only where reads_words"
        with self._turns.first():
            return heard.of(self.prompts.question, text, spans)

    def _passages(
        self, texts: Sequence[str], spans: Sequence[Spans] | None, progress: Callable[[int], None] | None
    ) -> tuple[Vectors, list[Vectors]]:
        vectors = np.empty((len(texts), self._identity.dimension), np.float32)
        words = [np.empty((0, 0), np.float32)] * len(texts)
        done = 0
        for batch in self._batches(self.count_tokens(texts)):
            with self._turns.later():
                with self._listening(spans is not None) as heard:
                    vectors[batch] = self._encode([texts[i] for i in batch], self.prompts.passage, "document")
                if heard is not None and spans is not None:
                    for i in batch:
                        words[i] = heard.of(self.prompts.passage, texts[i], spans[i])
            done += len(batch)
            if progress:
                progress(done)
        return vectors, words

    def _question(self, text: str) -> tuple[Vectors, Heard | None]:
        with self._turns.first():
            if text not in self._asked:  # retrieval, reranking and checking an answer ask for the same one
                with self._listening(True) as heard:
                    vector = self._encode([text], self.prompts.question, "query")[0]
                self._asked[text] = (vector, heard)
            while len(self._asked) > _QUESTIONS_KEPT:
                self._asked.popitem(last=False)
            return self._asked[text]

    def _listening(self, wanted: bool) -> AbstractContextManager[Heard | None]:
        return self._states.listening() if wanted and self._states is not None else nullcontext()

    def _batches(self, counts: list[int]) -> Iterator[list[int]]:
        """Yield indices of texts of one length, longest first."""
        same: dict[int, list[int]] = defaultdict(list)
        for index, tokens in enumerate(counts):
            if tokens > self._window:
                raise EmbeddingError(
                    msg("A passage of {tokens} tokens does not fit the window of {window} of the model {model}.",
                        tokens=tokens, window=self._window, model=self._identity.name)
                )  # fmt: skip
            same[tokens].append(index)
        for tokens in sorted(same, reverse=True):
            size = max(1, min(_LONGEST_BATCH, self._batch_tokens // max(tokens, 1)))
            for start in range(0, len(same[tokens]), size):
                yield same[tokens][start : start + size]

    def _encode(self, texts: list[str], prompt: str, task: str) -> Vectors:
        vectors = self._model.encode(
            texts, prompt=prompt, batch_size=len(texts), show_progress_bar=False, normalize_embeddings=True, task=task
        )
        return unit_vectors(np.asarray(vectors, np.float32))


class Turns:
    """Lets one thread at a time use a model; who wants to be first waits for one piece of work at most."""

    def __init__(self) -> None:
        self._model, self._next, self._later = threading.Lock(), threading.Lock(), threading.Lock()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Hold the model, before all who come `later`."""
        with self._next:
            self._model.acquire()
        try:
            yield
        finally:
            self._model.release()

    @contextmanager
    def later(self) -> Iterator[None]:
        """Hold the model after those who want to be first."""
        with self._later, self.first():
            yield


def _token_states(model: SentenceTransformer) -> TokenStates | None:
    try:
        return TokenStates(model)
    except ValueError:
        return None


def unit_vectors(vectors: Vectors) -> Vectors:
    """Scale rows to length 1. Raises EmbeddingError where a row is zero or holds no numbers."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < 1e-6).any():
        raise EmbeddingError(msg("The embedding model gave an unusable vector (zero or not a number). Try another."))
    return np.asarray(vectors / lengths, np.float32)


def load_sentence_transformer(folder: Path, device: str, threads: int | None) -> SentenceTransformer:
    """Load a folder in float32 on a CPU, quietly, without the network. Raises EmbeddingError."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import get_device_name

    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    device = device or get_device_name()
    if threads:
        torch.set_num_threads(threads)
    try:
        model = SentenceTransformer(
            str(folder), device=device, local_files_only=True, trust_remote_code=False,
            model_kwargs={"dtype": torch.float32} if device == "cpu" else None,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError) as error:
        raise EmbeddingError(
            msg("The folder {folder} holds no embedding model that can be loaded: {reason}",
                folder=str(folder), reason=str(error).splitlines()[0] if str(error) else type(error).__name__)
        ) from error  # fmt: skip
    return model.eval()


def token_counts(tokenizer: Any, texts: list[str]) -> list[int]:
    """Count the tokens of whole texts, special ones included. `tokenizer` is transformers' or tokenizers'."""
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is None and not hasattr(tokenizer, "encode_batch_fast"):
        return [len(ids) for ids in tokenizer(texts, truncation=False, padding=False, verbose=False)["input_ids"]]
    if fast is not None:  # transformers sets these anew whenever it is called
        fast.no_truncation()
        fast.no_padding()
        fast.encode_special_tokens = bool(getattr(tokenizer, "split_special_tokens", False))
    return [len(encoding) for encoding in (fast or tokenizer).encode_batch_fast(texts)]


def model_window(model: Any) -> int:
    """Return the smallest of the limits that the model, its tokenizer and its position table state."""
    limits = [model.max_seq_length, getattr(model.tokenizer, "model_max_length", None)]
    limits.append(getattr(getattr(model, "config", None), "max_position_embeddings", None))
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
            first = 0 if module.padding_idx is None else module.padding_idx + 1  # RoBERTa counts from there
            limits.append(module.num_embeddings - first)
    stated = [int(limit) for limit in limits if limit and 0 < limit < 10_000_000]
    return min(stated, default=UNLIMITED_WINDOW)


def _prompts(model: SentenceTransformer, name: str) -> Prompts:
    origin = getattr(getattr(model, "config", None), "_name_or_path", "") or ""
    chosen = prompts_for(name, model.prompts)
    return prompts_for(origin, {}) if chosen.source == "unknown" else chosen
