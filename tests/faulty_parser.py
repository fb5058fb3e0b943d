"""A child of `ParserProcess` whose parser does what the file's text says: hang, crash, eat memory."""

from __future__ import annotations

import ctypes
import os
import signal
import tempfile
import time
from pathlib import Path

from rag.errors import PasswordNeeded
from rag.messages import msg
from rag.parsing import ParseSettings, Progress
from rag.parsing.child import serve
from rag.types import Block, ParsedDocument


def parse(path: Path, settings: ParseSettings, progress: Progress) -> ParsedDocument:
    order = path.read_text(encoding="utf-8")
    match order:
        case "hang":
            tempfile.mkstemp()
            time.sleep(600)
        case "segfault":
            ctypes.string_at(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(3)
        case "memory":
            return ParsedDocument((Block("x" * (1 << 36)),))
        case "print":
            print("a library's chatter", flush=True)
            os.write(1, b"and from C\n")
        case "password":
            raise PasswordNeeded(msg("Locked: {name}.", name=path.name))
        case "pages":
            for page in range(1, 9):
                time.sleep(0.3)
                progress(page, 8)
    return ParsedDocument((Block(f"{os.getpid()} {order} {tempfile.gettempdir()}"),))


if __name__ == "__main__":
    serve(parse)
