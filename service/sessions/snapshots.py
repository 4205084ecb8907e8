"""Stored states of a session."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cardan.service.errors import ErrorCode, ServiceError

MAX_SNAPSHOTS = 16


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state; `data` is what the engine restores, bit for bit."""

    id: str
    epoch: int
    step: int
    time: float
    state_hash: str
    data: bytes

    def describe(self) -> dict[str, Any]:
        """The snapshot as JSON, without its bytes."""
        return {
            "id": self.id,
            "epoch": self.epoch,
            "step": self.step,
            "time": self.time,
            "state_hash": self.state_hash,
            "bytes": len(self.data),
        }


class Snapshots:
    """The newest `MAX_SNAPSHOTS` of a session, by id."""

    def __init__(self) -> None:
        """Begin empty."""
        self._kept: dict[str, Snapshot] = {}
        self._number = 0

    def __iter__(self) -> Iterator[Snapshot]:
        """Oldest first."""
        return iter(tuple(self._kept.values()))

    def keep(self, moment: tuple[int, int, float], state_hash: str, data: bytes) -> Snapshot:
        """Keep the state of a moment (epoch, step, time [s]); the oldest of too many goes."""
        self._number += 1
        snapshot = Snapshot(f"snap_{self._number}", *moment, state_hash, data)
        self._kept[snapshot.id] = snapshot
        while len(self._kept) > MAX_SNAPSHOTS:
            del self._kept[next(iter(self._kept))]
        return snapshot

    def get(self, snapshot_id: str) -> Snapshot:
        """The snapshot of the id. Raises ServiceError."""
        if snapshot_id not in self._kept:
            known = ", ".join(self._kept) or "none"
            detail = f"There is no snapshot {snapshot_id!r}; the session keeps: {known}."
            raise ServiceError(ErrorCode.SNAPSHOT_NOT_FOUND, detail)
        return self._kept[snapshot_id]
