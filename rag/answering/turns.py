"""One answer at a time per chat model: a laptop that works on two is slower at both. Others wait in line."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """First come, first served, a line for each model."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: defaultdict[str, list[object]] = defaultdict(list)

    @contextmanager
    def turn(self, model: str, waiting: Callable[[int], None], stopped: Callable[[], bool]) -> Iterator[bool]:
        """Wait for the model, telling `waiting` how many are ahead whenever that changes. Yields whether the turn
        has come:
        False where `stopped()` became true first."""
        ticket = object()
        with self._changed:
            self._lines[model].append(ticket)
        try:
            yield self._wait(model, ticket, waiting, stopped)
        finally:
            with self._changed:
                self._lines[model].remove(ticket)
                if not self._lines[model]:
                    del self._lines[model]
                self._changed.notify_all()

    def ahead(self, model: str) -> int:
        """How many answers the model has in hand or in line."""
        with self._changed:
            return len(self._lines.get(model, ()))

    def _wait(self, model: str, ticket: object, waiting: Callable[[int], None], stopped: Callable[[], bool]) -> bool:
        told = -1
        with self._changed:
            while not stopped():
                ahead = self._lines[model].index(ticket)
                if ahead != told:
                    waiting(ahead)
                    told = ahead
                if ahead == 0:
                    return True
                self._changed.wait(0.2)
        return False


SHARED_TURNS = Turns()  # a model server is shared by all that runs in this process, whichever library asks
