"""How many steps are due: simulated time follows the wall clock times `speed`."""

# behind by more than this the past is forgiven: a slow scene runs slower, it never catches up
MAX_DEBT_SECONDS = 0.1
# one call into the engine should take about this long, so that commands are heard in between
CHUNK_SECONDS = 0.004


class Pacer:
    """Turns wall time [s] into steps of `time_step` [s of simulated time]."""

    def __init__(self, time_step: float) -> None:
        """Begin at no speed; `restart` before asking."""
        self._time_step = time_step
        self._speed: float | None = None
        self._anchor_wall = 0.0
        self._anchor_step = 0
        self._step_seconds = 1e-4

    def restart(self, now: float, step: int, speed: float | None) -> None:
        """Let `step` belong to the moment `now`, and go on from there at this speed."""
        self._anchor_wall, self._anchor_step, self._speed = now, step, speed

    def due(self, now: float, step: int) -> int:
        """Steps to do now, at most one chunk; forgives a debt that is too large."""
        if self._speed is None:
            return self.chunk
        owed = self._owed(now, step)
        most = MAX_DEBT_SECONDS * self._speed / self._time_step
        if owed > most + 1.0:
            behind = most * self._time_step / self._speed
            self.restart(now - behind, step, self._speed)
            owed = self._owed(now, step)
        return max(0, min(int(owed), self.chunk))

    def learn(self, steps: int, seconds: float) -> None:
        """Note what `steps` steps cost."""
        if steps > 0:
            self._step_seconds += 0.2 * (seconds / steps - self._step_seconds)

    @property
    def chunk(self) -> int:
        """Steps that fit into one call."""
        return max(1, int(CHUNK_SECONDS / max(self._step_seconds, 1e-7)))

    def _owed(self, now: float, step: int) -> float:
        speed = self._speed or 0.0
        return (now - self._anchor_wall) * speed / self._time_step - (step - self._anchor_step)
