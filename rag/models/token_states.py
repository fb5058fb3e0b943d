"""What a transformer makes of each token of a text on its way to the text's vector.

The last layer draws all tokens of a text towards its one vector; three quarters of the way up they still tell their own
words apart, and already know their context. Measured in bench/RESULTS.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rag.protocols import Spans, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_DEPTH = 0.75


class TokenStates:
    """Listens to a sentence-transformers model while it embeds. One thread at a time."""

    def __init__(self, model: SentenceTransformer) -> None:
        """Raises ValueError for a model that is no transformer, or whose tokenizer cannot tell where a token stands."""
        transformer: Any = model[0]
        self._config: Any = getattr(getattr(transformer, "auto_model", None), "config", None)
        layers = getattr(self._config, "num_hidden_layers", 0)
        if not layers or not getattr(model.tokenizer, "is_fast", False):
            raise ValueError("This model shows no states of tokens.")
        self._tokenizer = model.tokenizer
        self._layer = round(_DEPTH * layers)
        self._heard: Heard | None = None
        transformer.register_forward_hook(self._hear)

    @contextmanager
    def listening(self) -> Iterator[Heard]:
        """Give what the model makes of the texts that it embeds meanwhile."""
        self._heard, before = Heard(self._tokenizer), self._config.output_hidden_states
        self._config.output_hidden_states = True
        try:
            yield self._heard
        finally:
            self._config.output_hidden_states, self._heard = before, None

    def _hear(self, _module: Any, _inputs: Any, output: dict[str, Any]) -> None:
        if self._heard is None:
            return
        states = output["all_layer_embeddings"][self._layer].detach().float().cpu().numpy()
        masks = output["attention_mask"].cpu().numpy().astype(bool)
        for ids, mask, rows in zip(output["input_ids"].cpu().numpy(), masks, states, strict=True):
            self._heard.add(ids[mask].tolist(), rows[mask])


class Heard:
    """The states of the tokens of some texts, by the texts' tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._states: dict[tuple[int, ...], Vectors] = {}
        self._width = 0

    def add(self, ids: Sequence[int], states: Vectors) -> None:
        """Keep the states of one text, (tokens, width)."""
        self._states[tuple(ids)], self._width = states, states.shape[1]

    def of(self, prompt: str, text: str, spans: Spans) -> Vectors:
        """Return the states of stretches of a text that was embedded after the prompt, float32 (spans, width): the
        mean of a stretch's tokens, zeros where the model saw none of it. No stretches, no rows."""
        whole = prompt + text
        read = self._tokenizer(whole.strip(), return_offsets_mapping=True, truncation=True, verbose=False)
        states = self._states.get(tuple(read["input_ids"]))
        if states is None:
            return np.zeros((len(spans), self._width), np.float32)
        shift = len(whole) - len(whole.lstrip()) - len(prompt)
        places = np.array(read["offset_mapping"], np.int64).reshape(-1, 2)
        real = places[:, 1] > places[:, 0]
        starts, ends, states = places[real, 0] + shift, places[real, 1] + shift, states[real]
        wanted = np.array(spans, np.int64).reshape(-1, 2)
        first = np.searchsorted(ends, wanted[:, 0], "right")
        after = np.maximum(np.searchsorted(starts, wanted[:, 1], "left"), first)
        sums = np.vstack([np.zeros((1, states.shape[1])), np.cumsum(states, axis=0, dtype=np.float64)])
        return np.asarray((sums[after] - sums[first]) / np.maximum(after - first, 1)[:, None], np.float32)
