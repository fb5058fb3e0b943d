"""Reads an asynchronous stream from ordinary code, so that another thread can end it at any moment.

A thread that waits in a socket's `recv` cannot be woken by closing the socket. A task in an event loop can be
cancelled while it waits, and its connection is closed at once, which makes the server stop working on it.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from typing import Generic, TypeVar

T = TypeVar("T")


class ClosableStream(Iterator[T], Generic[T]):
    """Iterates over what `source()` yields; its exceptions come out of `next`. `close` may be called from any
    thread."""

    def __init__(self, source: Callable[[], AsyncGenerator[T, None]]) -> None:
        self._source = source
        self._items: queue.SimpleQueue[tuple[T] | BaseException | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None

    def __iter__(self) -> ClosableStream[T]:
        return self

    def __next__(self) -> T:
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="chat-stream", daemon=True)
                self._thread.start()
        item = None if self._closed else self._items.get()
        if isinstance(item, tuple):
            return item[0]
        self._closed = True
        if item is None:
            raise StopIteration
        raise item

    def close(self) -> None:
        """End the request. Whoever waits for the next item gets the end of the stream."""
        with self._lock:
            self._closed = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._items.put(None)

    @property
    def closed(self) -> bool:
        """Whether it was closed or has ended."""
        return self._closed

    def join(self, seconds: float) -> bool:
        """Wait until the connection is closed; tell whether it is."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        try:
            asyncio.run(self._pump())
        except asyncio.CancelledError:
            self._items.put(None)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised in the reader's thread
            self._items.put(error)
        else:
            self._items.put(None)

    async def _pump(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            async with aclosing(self._source()) as items:
                async for item in items:
                    if self.closed:
                        return
                    self._items.put((item,))
        finally:
            with self._lock:
                self._loop = self._task = None


def close_stream(stream: object) -> None:
    """Close it if it can be closed. A plain generator that is just running cannot: its own thread closes it soon."""
    close = getattr(stream, "close", None)
    if close is not None:
        with suppress(ValueError):
            close()
