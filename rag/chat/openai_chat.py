"""Chat models on a server with OpenAI's protocol: LM Studio, llama.cpp's server, vLLM and others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rag.chat.ollama_chat import DEFAULT_CONTEXT, SEED, Timeouts, broken_off, silent
from rag.chat.streams import ClosableStream
from rag.errors import ChatError
from rag.messages import msg
from rag.protocols import ChatPiece

if TYPE_CHECKING:
    import httpx

_SERVER = "The model server"
_END = "data:[DONE]"


class OpenAIChat:
    """One model on such a server. Safe to use from several threads; every stream has its own connection."""

    def __init__(
        self, model: str, url: str, context_limit: int = DEFAULT_CONTEXT, timeouts: Timeouts | None = None
    ) -> None:
        self.model = model
        self.url = url.rstrip("/").removesuffix("/v1") + "/v1"
        self._context_limit = context_limit
        self._timeouts = timeouts or Timeouts()

    @property
    def name(self) -> str:
        """As shown and stored: "openai:MODEL"."""
        return f"openai:{self.model}"

    @property
    def revision(self) -> str:
        """Empty: the protocol tells no digest."""
        return ""

    @property
    def context_limit(self) -> int:
        """What the user says the server was started with: the protocol does not tell."""
        return self._context_limit

    def models(self) -> list[str]:
        """Return the names of the server's models. Raises `ChatError`."""
        import httpx

        try:
            with httpx.Client(timeout=self._timeouts.request, trust_env=False) as client:
                answer = client.get(self.url + "/models")
                answer.raise_for_status()
                return [str(model["id"]) for model in answer.json()["data"]]
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            raise self._as_chat_error(error) from error

    def stream(
        self, messages: Sequence[Mapping[str, str]], *, num_ctx: int, num_predict: int
    ) -> ClosableStream[ChatPiece]:
        """Stream one answer. The server was started with its context, so `num_ctx` has no effect here."""
        request = {
            "model": self.model,
            "messages": [dict(message) for message in messages],
            "temperature": 0,
            "seed": SEED,
            "max_tokens": num_predict,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return ClosableStream(lambda: self._pieces(request))

    async def _pieces(self, request: Mapping[str, Any]) -> AsyncGenerator[ChatPiece, None]:
        import httpx

        timeout = httpx.Timeout(None, connect=self._timeouts.connect)
        try:
            async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
                sent = client.build_request("POST", self.url + "/chat/completions", json=request)
                async with asyncio.timeout(self._timeouts.first):
                    answer = await client.send(sent, stream=True)
                try:
                    await self._check(answer)
                    async for piece in self._read(answer):
                        yield piece
                finally:
                    await answer.aclose()
        except TimeoutError as error:
            raise ChatError(silent(self._timeouts.first)) from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError) as error:
            raise self._as_chat_error(error) from error

    async def _check(self, answer: httpx.Response) -> None:
        if answer.is_success:
            return
        if answer.status_code == 404:
            raise ChatError(
                msg(
                    "The server at {url} has no model “{model}”. Load it there, or choose another.",
                    url=self.url,
                    model=self.model,
                )
            )
        text = (await answer.aread()).decode("utf-8", "replace")
        raise ChatError(msg("The model server failed: {reason}", reason=_reason(text)))

    async def _read(self, answer: httpx.Response) -> AsyncGenerator[ChatPiece, None]:
        lines = aiter(answer.aiter_lines())
        limit = self._timeouts.first
        usage: dict[str, Any] = {}
        reason = ""
        while True:
            try:
                async with asyncio.timeout(limit):
                    line = await anext(lines)
            except StopAsyncIteration:
                if not reason:
                    raise ChatError(broken_off(_SERVER)) from None
                line = _END  # some servers close without a last word
            if not line.startswith("data:"):
                continue
            if line[5:].strip() == _END[5:]:
                counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
                yield ChatPiece("", False, True, *counts, reason == "length")
                return
            data = json.loads(line[5:])
            if "error" in data:
                raise ChatError(msg("The model server failed: {reason}", reason=_reason(line[5:])))
            usage = data.get("usage") or usage
            for choice in data.get("choices", ()):
                reason = choice.get("finish_reason") or reason
                delta = choice.get("delta") or {}
                thought = delta.get("reasoning_content") or delta.get("reasoning")
                if thought:
                    yield ChatPiece(thought, thinking=True)
                if delta.get("content"):
                    yield ChatPiece(delta["content"])
            limit = self._timeouts.between

    def _as_chat_error(self, error: Exception) -> ChatError:
        import httpx

        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.InvalidURL | httpx.UnsupportedProtocol):
            return ChatError(
                msg(
                    "The model server does not answer at {url}. Start it, or mend its address in Settings.",
                    url=self.url,
                )
            )
        if isinstance(error, httpx.TimeoutException):
            return ChatError(silent(self._timeouts.request))
        if isinstance(error, httpx.HTTPStatusError):
            return ChatError(msg("The model server failed: {reason}", reason=str(error.response.status_code)))
        if isinstance(error, httpx.HTTPError):
            return ChatError(broken_off(_SERVER))
        return ChatError(
            msg("What answers at {url} does not speak OpenAI's protocol. Mend its address in Settings.", url=self.url)
        )


def _reason(text: str) -> str:
    try:
        error = json.loads(text).get("error", text)
    except (ValueError, AttributeError):
        return text.strip()[:300]
    return str(error.get("message", error) if isinstance(error, dict) else error)[:300]
