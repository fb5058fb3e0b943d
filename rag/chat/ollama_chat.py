"""Chat models served by Ollama, through its own client and its native endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rag.chat.streams import ClosableStream
from rag.errors import ChatError
from rag.messages import Message, msg
from rag.protocols import ChatPiece

if TYPE_CHECKING:
    import ollama

Answer = TypeVar("Answer")

SEED = 20260101
DEFAULT_CONTEXT = 8192
# No proxy from the environment and no redirect: only the server that the user named is talked to.
_CLIENT: dict[str, Any] = {"trust_env": False, "follow_redirects": False}
_EMBEDDING_FAMILIES = ("bert", "nomic-bert", "xlm-roberta", "gte", "jina-bert-v2")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait: for the connection, for a short request, for the first piece of an answer (the model may have
    to be loaded from a slow disk and read a long prompt), and between later pieces."""

    connect: float = 5.0
    request: float = 20.0
    first: float = 300.0
    between: float = 60.0


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download has come: `done` of `total` bytes of the layer named by `status`; total 0 = unknown."""

    status: str
    done: int = 0
    total: int = 0


class OllamaChat:
    """One model on an Ollama server. Safe to use from several threads; every stream has its own connection."""

    def __init__(self, model: str, url: str, keep_alive: str = "5m", timeouts: Timeouts | None = None) -> None:
        self.model, self.url = model, url
        self._keep_alive = keep_alive
        self._timeouts = timeouts or Timeouts()

    @property
    def name(self) -> str:
        """As shown and stored: "ollama:MODEL"."""
        return f"ollama:{self.model}"

    @property
    def revision(self) -> str:
        """The digest that the server lists for the model, empty if it does not list it."""
        wanted = full_name(self.model)
        return next(
            (m.digest or "" for m in _listed(self.url, self._timeouts) if full_name(m.model or "") == wanted), ""
        )

    @property
    def context_limit(self) -> int:
        """The model's own limit, at most `DEFAULT_CONTEXT`: a longer one costs memory that a student's machine
        lacks."""
        limits = [v for k, v in self._about.items() if k.endswith(".context_length") and isinstance(v, int) and v > 0]
        return min([DEFAULT_CONTEXT, *limits])

    @cached_property
    def _about(self) -> dict[str, Any]:
        shown = _ask(self.url, self._timeouts, self.model, lambda client: client.show(self.model))
        capabilities = list(shown.capabilities or [])
        return {**(shown.modelinfo or {}), "capabilities": capabilities}

    def _think(self) -> bool | str | None:
        """Reasoning is switched off where the model has it: an answer from given passages needs none, and on a laptop
        it costs minutes. The gpt-oss family cannot switch it off, only lower it."""
        if "thinking" not in self._about["capabilities"]:
            return None
        return "low" if "gpt-oss" in self.model else False

    def stream(
        self, messages: Sequence[Mapping[str, str]], *, num_ctx: int, num_predict: int
    ) -> ClosableStream[ChatPiece]:
        """Stream one answer. `close()` from any thread ends the request at once, and so frees the server."""
        options = {"num_ctx": num_ctx, "num_predict": num_predict, "temperature": 0, "seed": SEED, "top_k": 1}
        request = {"model": self.model, "messages": messages, "options": options, "think": self._think()}
        return ClosableStream(lambda: self._pieces(request))

    async def _pieces(self, request: Mapping[str, Any]) -> AsyncGenerator[ChatPiece, None]:
        done = False
        try:
            async with _async_client(self.url, self._timeouts) as client:
                parts = await client.chat(**request, stream=True, keep_alive=self._keep_alive)
                async for part in _timed(parts, self._timeouts):
                    done = bool(part.done)
                    if part.message.thinking:
                        yield ChatPiece(part.message.thinking, thinking=True)
                    counts = part.prompt_eval_count, part.eval_count
                    yield ChatPiece(part.message.content or "", False, done, *counts, part.done_reason == "length")
        except Exception as error:
            raise _as_chat_error(error, self.url, self.model) from error
        if not done:
            raise ChatError(broken_off("Ollama"))


def list_models(url: str, timeouts: Timeouts | None = None) -> list[str]:
    """Return the names of the models on the server that can chat, in the server's order. Raises `ChatError`."""
    return [
        model.model
        for model in _listed(url, timeouts or Timeouts())
        if model.model and not (model.details and (model.details.family or "") in _EMBEDDING_FAMILIES)
    ]


def pull_model(url: str, name: str, timeouts: Timeouts | None = None) -> ClosableStream[PullProgress]:
    """Download a model to the server; iterate over the progress, `close()` to stop. Raises `ChatError` while
    iterating."""
    return ClosableStream(lambda: _pulling(url, name, timeouts or Timeouts()))


async def _pulling(url: str, name: str, timeouts: Timeouts) -> AsyncGenerator[PullProgress, None]:
    status = ""
    try:
        async with _async_client(url, timeouts) as client:
            async for part in _timed(await client.pull(name, stream=True), timeouts):
                status = part.status or ""
                yield PullProgress(status, part.completed or 0, part.total or 0)
    except Exception as error:
        raise _as_chat_error(error, url, name) from error
    if status != "success":
        raise ChatError(broken_off("Ollama"))


def full_name(model: str) -> str:
    """Ollama's full name of a model: "qwen3" is "qwen3:latest"."""
    return model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"


def broken_off(server: str) -> Message:
    """What to say when a connection ends before the answer does."""
    return msg("The connection to {server} broke off. Check that it is still running, and ask again.", server=server)


def silent(seconds: float) -> Message:
    """What to say when a server keeps a connection open and sends nothing."""
    return msg(
        "The model has sent nothing for {seconds} s. It may be too large for this computer: choose a smaller one.",
        seconds=round(seconds),
    )


async def _timed(parts: Any, timeouts: Timeouts) -> AsyncGenerator[Any, None]:
    iterator = aiter(parts)
    limit = timeouts.first
    try:
        while True:
            try:
                async with asyncio.timeout(limit):  # `wait_for` may swallow a cancellation in Python 3.11
                    part = await anext(iterator)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise ChatError(silent(limit)) from error
            yield part
            limit = timeouts.between
    finally:
        await iterator.aclose()


def _listed(url: str, timeouts: Timeouts) -> Sequence[ollama.ListResponse.Model]:
    return _ask(url, timeouts, "", lambda client: client.list().models)


def _ask(url: str, timeouts: Timeouts, model: str, request: Callable[[ollama.Client], Answer]) -> Answer:
    import httpx
    import ollama

    try:
        with ollama.Client(url, timeout=httpx.Timeout(timeouts.request, connect=timeouts.connect), **_CLIENT) as client:
            return request(client)
    except Exception as error:
        raise _as_chat_error(error, url, model) from error


def _async_client(url: str, timeouts: Timeouts) -> ollama.AsyncClient:
    import httpx
    import ollama

    return ollama.AsyncClient(url, timeout=httpx.Timeout(None, connect=timeouts.connect), **_CLIENT)


def _as_chat_error(error: Exception, url: str, model: str) -> Exception:
    import httpx
    import ollama
    from pydantic import ValidationError

    if isinstance(error, ollama.ResponseError):
        return ChatError(_refusal(error, model))
    if isinstance(error, ConnectionError | httpx.ConnectError | httpx.ConnectTimeout):
        return ChatError(
            msg("Ollama does not answer at {url}. Start it (open the Ollama app, or run `ollama serve`).", url=url)
        )
    if isinstance(error, httpx.TimeoutException):
        return ChatError(msg("Ollama at {url} is too slow to answer. Try again, or restart it.", url=url))
    if isinstance(error, httpx.HTTPError):
        return ChatError(broken_off("Ollama"))
    if isinstance(error, json.JSONDecodeError | ValidationError | httpx.InvalidURL | ValueError | OverflowError):
        return ChatError(msg("What answers at {url} is not Ollama. Check the address in KONSPEKT_OLLAMA.", url=url))
    return error


def _refusal(error: ollama.ResponseError, model: str) -> Message:
    if error.status_code == 404 and model:
        return msg("Ollama has no model “{model}”. Get it with `ollama pull {model}`.", model=model)
    reason = error.error.rstrip(".")
    return msg("Ollama failed: {reason}. If memory is short, choose a smaller model.", reason=reason)
