"""The simulated time of sessions, counted for the keys that made them."""

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Protocol

from cardan.service.errors import ServiceError
from cardan.service.sessions.states import Phase

if TYPE_CHECKING:
    from cardan.service.sessions.live_session import LiveSession

log = logging.getLogger("cardan.sessions")

ADVANCING = frozenset({"step", "resume"})
"""Commands that a key without simulated time left cannot give."""


class Meter(Protocol):
    """Counts simulated time by the name of a key."""

    def check(self, key: str, units: float) -> None:
        """Raise when the key has not so much left [s]."""

    def spend(self, key: str, units: float) -> bool:
        """Count what was simulated [s]; False: it is more than the key may use."""


class NoMeter:
    """A meter that counts nothing."""

    def check(self, key: str, units: float) -> None:
        """Let everything pass."""

    def spend(self, key: str, units: float) -> bool:
        """Count nothing."""
        return True


class SessionMeter:
    """What one session simulates; it is paused when its key has no time left."""

    def __init__(self, meter: Meter, session: "LiveSession") -> None:
        """Belong to a session."""
        self._meter = meter
        self._session = session
        self._pausing: asyncio.Future[Any] | None = None

    def check(self, op: str) -> None:
        """Raise what the meter raises when this command would simulate and there is no time."""
        owner = self._session.about.created_by
        if owner is not None and op in ADVANCING:
            self._meter.check(owner, self._session.progress.time_step)

    def spend(self, steps: int) -> None:
        """Count steps that were done."""
        session = self._session
        owner = session.about.created_by
        if owner is None or self._meter.spend(owner, steps * session.progress.time_step):
            return
        paused = self._pausing is not None and not self._pausing.done()
        if session.phase is Phase.RUNNING and not paused:
            log.info("session %s: its key %s has no simulated time left", session.id, owner)
            with contextlib.suppress(ServiceError):
                self._pausing = session.submit("pause", {})
