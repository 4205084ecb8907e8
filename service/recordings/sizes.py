"""How much the recordings take where they are stored."""

import threading
from collections.abc import Callable, Iterable


class RecordingSizes:
    """Sizes of recordings [bytes], each read once: a recording never changes."""

    def __init__(self, read: Callable[[str], int]) -> None:
        """`read` gives the size of a recording by its name; 0 when it is not there (yet)."""
        self._read = read
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Size of one recording."""
        with self._lock:
            size = self._known.get(name) or self._read(name)
            if size:
                self._known[name] = size
            return size

    def total(self, names: Iterable[str]) -> int:
        """Size of several together."""
        return sum(map(self.of, names))

    def forget(self, name: str) -> None:
        """Drop a recording that is removed."""
        with self._lock:
            self._known.pop(name, None)
