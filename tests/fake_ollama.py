"""A small Ollama server on loopback that lists, shows and embeds; what it answers can be bent."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeOllama:
    """Serves the models in `digests`. `limit` is the context in its own tokens (four characters each);
    `bend` may change a list of vectors before it is sent."""

    def __init__(self) -> None:
        self.digests = {"tiny:latest": "d" * 64}
        self.context: int | None = 128
        self.limit = 10_000
        self.requests: list[dict[str, Any]] = []
        self.bend: Any = lambda vectors: vectors
        self.failure: tuple[int, str] | None = None
        self.url = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/api/tags":
            return 200, {"models": [{"model": m, "name": m, "digest": d} for m, d in self.digests.items()]}
        name = body["model"] if ":" in body["model"] else body["model"] + ":latest"
        if name not in self.digests:
            return 404, {"error": f'model "{name}" not found, try pulling it first'}
        if path == "/api/show":
            return 200, {"model_info": {"bert.context_length": self.context} if self.context else {}}
        self.requests.append(body)
        if self.failure:
            return self.failure[0], {"error": self.failure[1]}
        texts = body["input"]
        if any(len(text) // 4 > self.limit for text in texts):
            return 400, {"error": "the input length exceeds the context length"}
        vectors = self.bend([_vector(text) for text in texts])
        return 200, {"model": name, "embeddings": vectors, "prompt_eval_count": sum(len(t) // 4 for t in texts)}


def _vector(text: str) -> list[float]:
    return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


@contextmanager
def served(fake: FakeOllama) -> Iterator[FakeOllama]:
    """Run the server on a free port and tell its address in `fake.url`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: dict[str, Any]) -> None:
            status, content = fake.answer(self.path, body)
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the tests' output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
