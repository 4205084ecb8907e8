"""Time and ids, in one place so that tests can own them."""

import secrets
import time


def now() -> float:
    """Seconds since 1970-01-01 UTC."""
    return time.time()


def monotonic() -> float:
    """Seconds on a clock that never goes back; for durations."""
    return time.monotonic()


class AwakeClock:
    """A clock [s] that stands still while its process does; for those who look at it often.

    A container that is paused stops both ends of a channel: nobody was silent meanwhile. Between
    two looks at most `most` passes.
    """

    def __init__(self, most: float = 0.5) -> None:
        """Begin at 0."""
        self._most = most
        self._looked = monotonic()
        self._time = 0.0

    def look(self) -> float:
        """The time."""
        before, self._looked = self._looked, monotonic()
        self._time += min(self._looked - before, self._most)
        return self._time


def new_id(prefix: str) -> str:
    """A fresh id such as `sim_5f0c...`: 80 random bits, safe in URLs and file names."""
    return f"{prefix}_{secrets.token_hex(10)}"
