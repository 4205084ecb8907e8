"""Signals of changes between services that share a PostgreSQL database.

Each sends the ids of what it has changed and hears those of the others (NOTIFY, LISTEN). Like
signals within a service they say only that it is time to read: one that is lost while a connection
is made anew is made good by waking everybody then.
"""

import logging
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlalchemy import Engine

from cardan.service import clock

log = logging.getLogger("cardan.jobs")

CHANNEL = "cardan_changes"
MOST_BYTES = 7900  # a notification of PostgreSQL has less than 8000
LISTEN_SECONDS = 0.5
PAUSE_SECONDS = 1.0
EVERYTHING = "*"


class Signals:
    """Two threads: one sends, one listens."""

    def __init__(self, engine: Engine, heard: Callable[[str], None]) -> None:
        """`heard(id)` is called for every change that another service makes.

        EVERYTHING as the id means that anything may have changed.
        """
        self._engine = engine
        self._heard = heard
        self._name = clock.new_id("service")
        self._outgoing: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(work,), name=work.__name__, daemon=True)
            for work in (self._send, self._listen)
        ]

    def start(self) -> None:
        """Begin to send and to listen."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both threads."""
        self._stopping.set()
        self._outgoing.put("")
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def send(self, key: str) -> None:
        """Tell the others that this id has changed; from any thread, without waiting."""
        self._outgoing.put(key)

    def _repeat(self, work: Callable[[Any], None]) -> None:
        """Work on a connection, and on another one when it breaks."""
        while not self._stopping.is_set():
            try:
                connection = self._engine.raw_connection()
                try:
                    driver: Any = connection.driver_connection
                    driver.autocommit = True
                    work(driver)
                finally:
                    # a connection that listens is of no use to others
                    connection.invalidate()
            except Exception as error:
                log.error("signals between services pause: %s", error)
                self._stopping.wait(PAUSE_SECONDS)

    def _send(self, driver: Any) -> None:
        # what was to be sent when the connection broke is lost
        keys = {EVERYTHING}
        while True:
            for text in packed(keys - {""}, MOST_BYTES - len(self._name) - 1):
                driver.execute("SELECT pg_notify(%s, %s)", (CHANNEL, f"{self._name} {text}"))
            if self._stopping.is_set():
                return
            keys = {self._outgoing.get()}
            while not self._outgoing.empty():
                keys.add(self._outgoing.get())

    def _listen(self, driver: Any) -> None:
        driver.execute(f"LISTEN {CHANNEL}")
        self._heard(EVERYTHING)
        while not self._stopping.is_set():
            for notice in driver.notifies(timeout=LISTEN_SECONDS):
                sender, _, text = notice.payload.partition(" ")
                if sender != self._name:
                    for key in text.split(","):
                        self._heard(key)


def packed(keys: Iterable[str], most: int) -> Iterator[str]:
    """Join ids by commas into texts of at most so many bytes.

    >>> list(packed(["a", "b", "c"], 3))
    ['a,b', 'c']
    """
    text = ""
    for key in sorted(keys):
        if text and len(text) + 1 + len(key) > most:
            yield text
            text = ""
        text = f"{text},{key}" if text else key
    if text:
        yield text
