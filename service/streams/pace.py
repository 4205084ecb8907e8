"""Rate limit of one client's messages: those of a client that exceeds it are read later."""

from collections.abc import Callable

# a page sends about a hundred a second: acknowledgements, and targets of a grabbed body
MESSAGES_PER_S = 2000.0
# messages that may arrive at once, as after an interruption of the network
BURST = 2000


class MessagePace:
    """A token bucket of BURST messages, refilled at MESSAGES_PER_S; `clock` in s."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin with a full bucket."""
        self._clock = clock
        self._due = clock() - BURST / MESSAGES_PER_S

    def take(self) -> float:
        """Count a message; return how long the next one has to wait [s]."""
        now = self._clock()
        self._due = max(self._due, now - BURST / MESSAGES_PER_S) + 1.0 / MESSAGES_PER_S
        return max(0.0, self._due - now)
