"""How many runs of a batch make a group: about a second of processor time."""

import threading

GROUP_SECONDS = 1.0
MOST_RUNS = 500
MOST_BATCHES = 1000


class Pace:
    """Processor time per run of each batch, as measured; safe to use from many threads."""

    def __init__(self, slots: int) -> None:
        """Leave work for so many slots."""
        self._slots = max(slots, 1)
        self._seconds: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, batch_id: str, seconds: float, runs: int) -> None:
        """A group of `runs` runs took so much processor time [s]."""
        with self._lock:
            self._seconds.pop(batch_id, None)
            self._seconds[batch_id] = seconds / max(runs, 1)
            if len(self._seconds) > MOST_BATCHES:
                del self._seconds[next(iter(self._seconds))]

    def group_size(self, batch_id: str, waiting: int) -> int:
        """Runs that are claimed at once while so many wait; 1 until one has been measured."""
        with self._lock:
            seconds = self._seconds.get(batch_id)
        if seconds is None:
            return 1
        fitting = int(GROUP_SECONDS / max(seconds, GROUP_SECONDS / MOST_RUNS))
        return max(1, min(fitting, -(-waiting // self._slots)))
