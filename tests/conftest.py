"""Every test runs offline, with an environment of its own and nothing left behind."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag.settings import Paths

if TYPE_CHECKING:
    from tests.fake_library import FakeLibrary

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class NetworkUsed(BaseException):
    """Not an `Exception`, so that no handler hides it."""


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the developer's own shell may have set."""
    for name in [n for n in os.environ if n.startswith("KONSPEKT_")]:
        monkeypatch.delenv(name)
    # Nothing listens here, so no test meets an Ollama that happens to run on the machine.
    monkeypatch.setenv("KONSPEKT_OLLAMA", "http://127.0.0.1:9")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sockets reach this machine only."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise NetworkUsed(f"a test tried to reach {address}")
        connect(self, address)

    def local(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in (None, "127.0.0.1", "::1", "localhost", "0.0.0.0", b"localhost", b"127.0.0.1"):
            raise NetworkUsed(f"a test tried to look up {host}")
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", local)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """An empty notes folder and an empty data folder."""
    (tmp_path / "notes").mkdir()
    return Paths(tmp_path / "notes", tmp_path / "data")


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder whose bundled model is unpacked once for the whole run."""
    folder = tmp_path_factory.mktemp("shared") / "models"
    folder.mkdir()
    yield folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[FakeLibrary]:
    """The library in memory that the pages are run over; tests over a real one make their own."""
    import streamlit as st

    from pages.ui import opened
    from tests.fake_library import fake

    made = fake(tmp_path)
    opened.open_with(lambda paths: made)
    yield made
    opened.open_with(None)
    st.cache_resource.clear()
    st.cache_data.clear()
