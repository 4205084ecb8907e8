"""Signals changes of a run or a batch to waiting requests.

Dispatcher threads publish; coroutines of one event loop wait. Signals are not stored: a waiter
reads the database afterwards, so a missed or repeated signal is harmless.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from anyio import CapacityLimiter

# threads in which those who follow something look at it again
LOOKING = 4


class Changes:
    """Signals by id, from any thread to one event loop."""

    def __init__(self) -> None:
        """Signals are ignored until `bind`."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        # however many follow something, all other threads are left to requests
        self.looks = CapacityLimiter(LOOKING)
        self.is_closed = False

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver to waiters of this loop."""
        self._loop = loop

    def publish(self, key: str) -> None:
        """Wake all watchers of this id; from any thread.

        Who begins to watch now reads the database later than what this tells.
        """
        loop = self._loop
        if loop is not None and key in self._waiting:
            # the loop may be closed while the last threads of the dispatcher still finish
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._deliver, key)

    def publish_all(self) -> None:
        """Wake all watchers: changes may have been missed."""
        for key in list(self._waiting):
            self.publish(key)

    def close(self) -> None:
        """Wake all watchers for the last time: the service stops. In the thread of their loop."""
        self.is_closed = True
        for key in self._waiting:
            self._deliver(key)

    @contextmanager
    def watch(self, key: str) -> Iterator[asyncio.Event]:
        """An event that is set at every change of this id; the watcher clears it."""
        signal = asyncio.Event()
        self._waiting[key].add(signal)
        try:
            yield signal
        finally:
            self._waiting[key].discard(signal)
            if not self._waiting[key]:
                del self._waiting[key]

    def _deliver(self, key: str) -> None:
        for signal in self._waiting.get(key, ()):
            signal.set()
