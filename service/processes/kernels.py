"""The compiled kernels: whether they are there, and how far compiling them has come."""

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compiled:
    """How many kernels of how many are compiled or loaded, and which one comes next."""

    done: int = 0
    total: int = 0
    what: str = ""


class Kernels:
    """What every process waits for before it starts: two that compile the same do it twice."""

    def __init__(self, *, ready: bool = True) -> None:
        """Compiled already, unless somebody compiles them and calls `finish`."""
        self.compiled = Compiled()
        self._ready = ready
        self._known = threading.Event()
        if ready:
            self._known.set()

    @property
    def ready(self) -> bool:
        """Whether processes may start."""
        return self._ready

    @property
    def failed(self) -> bool:
        """Whether nobody compiles them any more, and they are not there."""
        return self._known.is_set() and not self._ready

    def finish(self, *, ready: bool) -> None:
        """End the waiting of everybody: they are compiled, or they will not be."""
        if not self._known.is_set():
            self._ready = ready
            self._known.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait, at most so long, until they are ready or never will be; whether they are."""
        self._known.wait(seconds if seconds is None else max(0.0, seconds))
        return self._ready
