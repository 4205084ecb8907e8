"""Control of a session: one client has it until it releases it; without a holder anybody may steer.

This keeps people from steering against each other. It is no protection: whoever may write to the
session may name any client. A holder that is silent for SILENCE_SECONDS loses control without a
call of `changed`.
"""

from collections.abc import Callable

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError

SILENCE_SECONDS = 90.0


class Control:
    """Held by at most one client, by its `client_id`."""

    def __init__(
        self, changed: Callable[[str | None], None], now: Callable[[], float] = clock.monotonic
    ) -> None:
        """Begin without a holder; `changed` is called with every new one, `now` is a clock [s]."""
        self._changed = changed
        self._now = now
        self._holder: str | None = None
        self._heard = 0.0

    @property
    def holder(self) -> str | None:
        """The client that steers; None: anybody may."""
        if self._holder is not None and self._now() - self._heard > SILENCE_SECONDS:
            self._holder = None
        return self._holder

    def check(self, client_id: str | None) -> None:
        """Let the holder or, if there is none, anybody pass. Raises ServiceError."""
        holder = self.holder
        if holder is None:
            return
        if holder != client_id:
            left = SILENCE_SECONDS - (self._now() - self._heard)
            raise ServiceError(
                ErrorCode.CONTROL_TAKEN,
                f"The client {holder!r} steers this session; it may let go, or lose control when "
                f"it has said nothing for {SILENCE_SECONDS:g} s.",
                retry_after_s=max(1, round(left)),
                holder=holder,
            )
        self._heard = self._now()

    def change(self, op: str, client_id: str) -> None:
        """Do `take_control` or `release_control` for a client. Raises ServiceError."""
        if op == "take_control":
            self.take(client_id)
        else:
            self.release(client_id)

    def take(self, client_id: str) -> None:
        """Give control to a client, or extend it. Raises ServiceError if another one has it."""
        self.check(client_id)
        before, self._holder, self._heard = self.holder, client_id, self._now()
        if before != client_id:
            self._changed(client_id)

    def release(self, client_id: str) -> None:
        """End the control of a client, if it has it."""
        if self.holder == client_id:
            self._holder = None
            self._changed(None)
