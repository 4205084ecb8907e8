"""Stored states of a session, in its folder."""

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cardan.schemas import Fault
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.files import replace_file
from cardan.service.sessions.folder import FolderError
from cardan.service.sessions.log import CommandLog

MAX_SNAPSHOTS = 16


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state; its file is what the engine restores, bit for bit."""

    id: str
    epoch: int
    step: int
    time: float
    state_hash: str
    bytes: int

    def describe(self) -> dict[str, Any]:
        """The snapshot as JSON."""
        return asdict(self)


class Snapshots:
    """The newest `MAX_SNAPSHOTS` of a session, by id: a file each, and `index.json`."""

    def __init__(self, folder: Path) -> None:
        """Find those that are there. Raises FolderError."""
        self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[str, Snapshot] = {}
        try:
            found = json.loads((folder / "index.json").read_bytes())
            self._kept = {one["id"]: Snapshot(**one) for one in found}
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise FolderError(f"snapshots/index.json cannot be read: {error}") from error

    def __iter__(self) -> Iterator[Snapshot]:
        """Oldest first."""
        return iter(tuple(self._kept.values()))

    def keep(self, moment: tuple[int, int, float], state_hash: str, data: bytes) -> Snapshot:
        """Keep the state of a moment (epoch, step, time [s]); the oldest of too many goes.

        Raises ServiceError when it cannot be written.
        """
        with self._lock:
            return self._keep(moment, state_hash, data)

    def _keep(self, moment: tuple[int, int, float], state_hash: str, data: bytes) -> Snapshot:
        last = max((int(one.id.removeprefix("snap_")) for one in self), default=0)
        snapshot = Snapshot(f"snap_{last + 1}", *moment, state_hash, len(data))
        kept = [*self, snapshot]
        try:
            self._folder.mkdir(exist_ok=True)
            replace_file(self._folder / snapshot.id, data)
            index = [one.describe() for one in kept[-MAX_SNAPSHOTS:]]
            replace_file(self._folder / "index.json", json.dumps(index).encode())
        except OSError as error:
            detail = f"The snapshot cannot be stored: {error.strerror or error}."
            raise ServiceError(ErrorCode.STORAGE_FAILED, detail) from error
        for old in kept[:-MAX_SNAPSHOTS]:
            (self._folder / old.id).unlink(missing_ok=True)
        self._kept = {one.id: one for one in kept[-MAX_SNAPSHOTS:]}
        return snapshot

    def restoring(self, snapshot_id: str, log: CommandLog) -> tuple[dict[str, Any], bytes]:
        """The arguments of `restore`, and what the engine restores. Raises ServiceError.

        Whoever had hold of a body then has it no more.
        """
        kept = self._kept.get(snapshot_id)
        if kept is not None:
            let_go = {"let_go": True} if log.held_at(kept.epoch, kept.step) else {}
            try:
                return {"snapshot": kept.id, **let_go}, (self._folder / kept.id).read_bytes()
            except FileNotFoundError:
                self._kept.pop(snapshot_id, None)
        known = ", ".join(self._kept) or "none"
        detail = f"There is no snapshot {snapshot_id!r}; the session keeps: {known}."
        fault = Fault(pointer="/snapshot", code="unknown_snapshot", message=detail, got=snapshot_id)
        raise ServiceError(ErrorCode.SNAPSHOT_NOT_FOUND, detail, errors=[fault.model_dump()])
