"""How fast one client may speak: whoever sends more is read later, and others are not."""

from collections.abc import Callable

# a page sends some hundred a second: acknowledgements, and moves of a body that it pulls
MESSAGES_PER_S = 2000.0
# what may come at once, as after a pause of the network
BURST = 2000


class MessagePace:
    """A bucket of so many messages that fills again at a rate; `clock` in s."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin with a full bucket."""
        self._clock = clock
        self._due = clock() - BURST / MESSAGES_PER_S

    def take(self) -> float:
        """Count a message; return how long the next one has to wait [s]."""
        now = self._clock()
        self._due = max(self._due, now - BURST / MESSAGES_PER_S) + 1.0 / MESSAGES_PER_S
        return max(0.0, self._due - now)
