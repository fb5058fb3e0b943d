"""What parent and child of `worker` say to each other: pickled values, each after its length."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def send(pipe: IO[bytes], value: object) -> None:
    """Write one value. Raises `OSError` where nobody reads."""
    data = pickle.dumps(value)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one value that our own child, or our own parent, wrote. Raises `EOFError` at the end."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(pipe.read(_LENGTH.unpack(head)[0]))
