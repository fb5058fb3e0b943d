"""The child's side of `worker`: parses what it is asked for until its parent closes the pipe or dies."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from rag.errors import KonspektError
from rag.parsing import ParseSettings, Progress, parse
from rag.parsing.pipes import receive, send
from rag.types import ParsedDocument

Parse = Callable[[Path, ParseSettings, Progress], ParsedDocument]
Requests = queue.SimpleQueue[tuple[Path, ParseSettings]]
MEMORY = 4 * 2**30


def serve(parser: Parse = parse) -> None:
    """Answer requests from standard input on standard output, for ever."""
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    _limit_memory()
    requests: Requests = queue.SimpleQueue()
    threading.Thread(target=_take_requests, args=(requests,), daemon=True).start()
    send(answers, ("ready",))
    while True:
        path, settings = requests.get()
        try:
            document = parser(path, settings, lambda done, total: send(answers, ("progress", done, total)))
            send(answers, ("document", document, peak_memory()))
        except KonspektError as error:
            send(answers, ("error", error, peak_memory()))


def _take_requests(requests: Requests) -> None:
    """Runs beside the parsing, so that a child whose parent has died ends at once, even in the middle of a file."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            requests.put(receive(sys.stdin.buffer))
    os._exit(0)


def _limit_memory() -> None:
    """Let allocations fail beyond 4 GB where the system can limit them (Linux)."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def peak_memory() -> int:
    """The most memory this process has had resident, in bytes; 0 where that is not told."""
    if sys.platform == "win32":
        return 0
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux `ru_maxrss` begins at what the parent had when it started this process, a loaded model and all.
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    serve()
