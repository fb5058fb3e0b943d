"""Rerankers that read question and passage together, run by sentence-transformers from a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rag.errors import RerankingError
from rag.messages import msg
from rag.models.sentence_models import Turns, model_window

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_BATCH = 16
_LARGEST_WINDOW = 4096
_TEMPLATE_TOKENS = 160  # what a chat template may add around question and passage
_SPECIAL_TOKENS = 5
_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"

# The form on which Qwen3-Reranker was trained, as its model card gives it. Its own chat template knows no pairs.
_QWEN3_TEMPLATE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    f"<Instruct>: {_INSTRUCTION}\n"
    "<Query>: {{ messages | selectattr('role', 'eq', 'query') | map(attribute='content') | first }}\n"
    "<Document>: {{ messages | selectattr('role', 'eq', 'document') | map(attribute='content') | first }}"
    "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>{{ '\n\n' }}"  # Jinja drops a template's last newline
)


class CrossEncoderReranker:
    """Any sentence-transformers CrossEncoder, among them causal language models that answer "yes" or "no".

    A passage that does not fit the window beside the question is read in overlapping windows, and its best
    one counts. Safe to call from several threads.
    """

    def __init__(self, folder: Path, name: str, *, device: str = "", threads: int | None = None) -> None:
        """Load the model, never asking the network. Raises RerankingError if it is no reranker."""
        self._name = name
        self._model = _load(folder, name, device, threads)
        self._turns = Turns()
        self._by_chat = _reads_messages(self._model)
        self._labels = int(self._model.num_labels)
        if self._labels > 2:
            raise RerankingError(
                msg("The model {model} sorts pairs into {n} classes: it is no reranker.", model=name, n=self._labels)
            )
        around = _TEMPLATE_TOKENS if self._by_chat else _SPECIAL_TOKENS
        self._room = min(model_window(self._model), _LARGEST_WINDOW) - around
        self.scores("a", ["b"])  # a model that cannot judge pairs says so now, not at the first question

    @property
    def name(self) -> str:
        """What is shown and stored in run records."""
        return self._name

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return one relevance per passage in 0..1: the probability that the model gives to "relevant".

        Raises RerankingError if the model gives no numbers.
        """
        with self._turns.first():
            asked = self._head(question, self._room // 2)
            room = self._room - self._count(asked)
            windows = [(i, part) for i, passage in enumerate(passages) for part in self._windows(passage, room)]
            logits = self._logits([(asked, part) for _, part in windows])
        best = np.full(len(passages), -np.inf)
        np.maximum.at(best, [i for i, _ in windows], logits)
        return [float(p) for p in 1 / (1 + np.exp(-np.clip(best, -500, 500)))]

    def _logits(self, pairs: list[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Return each pair's log-odds of being relevant, in double precision so that strong ones stay apart."""
        from torch import nn

        if not pairs:
            return np.empty(0)
        try:
            raw = self._model.predict(
                pairs, batch_size=_BATCH, show_progress_bar=False, activation_fn=nn.Identity(), apply_softmax=False
            )
        except (ValueError, KeyError, IndexError, RuntimeError, TypeError) as error:
            raise RerankingError(
                msg("The model {model} cannot judge questions and passages: {reason}",
                    model=self._name, reason=str(error).splitlines()[0])
            ) from error  # fmt: skip
        scores = np.asarray(raw, np.float64).reshape(len(pairs), -1)
        logits: npt.NDArray[np.float64] = scores[:, 1] - scores[:, 0] if self._labels == 2 else scores[:, 0]
        if not np.isfinite(logits).all():
            raise RerankingError(
                msg("The reranker {model} gave scores that are no numbers. Choose another.", model=self._name)
            )
        return logits

    def _spans(self, text: str) -> list[tuple[int, int]]:
        encoded = self._model.tokenizer(
            text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]

    def _count(self, text: str) -> int:
        return len(self._spans(text))

    def _head(self, text: str, room: int) -> str:
        spans = self._spans(text)
        return text if len(spans) <= room else text[: spans[room - 1][1]]

    def _windows(self, text: str, room: int) -> list[str]:
        spans = self._spans(text)
        if len(spans) <= room:
            return [text]
        step = max(1, room * 3 // 4)
        starts = range(0, len(spans) - room + step, step)
        return [text[spans[s][0] : spans[min(s + room, len(spans)) - 1][1]] for s in starts]


def _load(folder: Path, name: str, device: str, threads: int | None) -> CrossEncoder:
    import torch
    import transformers
    from sentence_transformers import CrossEncoder
    from sentence_transformers.util import get_device_name

    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    device = device or get_device_name()
    if threads:
        torch.set_num_threads(threads)
    template = _template(folder, name)
    try:
        model: CrossEncoder = CrossEncoder(
            str(folder), device=device, local_files_only=True, trust_remote_code=False,
            model_kwargs={"dtype": torch.float32} if device == "cpu" else None,
            processor_kwargs={"chat_template": template} if template else None,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError) as error:
        raise RerankingError(
            msg("The folder {folder} holds no reranker that can be loaded: {reason}",
                folder=str(folder), reason=str(error).splitlines()[0] if str(error) else type(error).__name__)
        ) from error  # fmt: skip
    model.eval()
    return model


def _template(folder: Path, name: str) -> str | None:
    """Return the chat template that a causal reranker lacks, or None where it brings one for pairs, or needs none.

    Raises RerankingError where none is known: without its template such a model scores at random.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # loading it says what is wrong
    if not str((config.get("architectures") or [""])[0]).endswith("ForCausalLM"):
        return None
    texts = [p.read_text(encoding="utf-8") for p in (folder / "chat_template.jinja", folder / "tokenizer_config.json")
             if p.exists()]  # fmt: skip
    if any(re.search(r"""role.{1,40}["'\\]document""", text) for text in texts):
        return None
    known = f"{name} {folder.name} {config.get('_name_or_path', '')}".casefold()
    if "qwen3-reranker" in known:
        return _QWEN3_TEMPLATE
    raise RerankingError(
        msg("The model {model} is a language model without a template for judging passages. Choose a reranker.",
            model=name)
    )  # fmt: skip


def _reads_messages(model: Any) -> bool:
    return "message" in getattr(model, "modalities", ())
