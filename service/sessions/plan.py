"""What a session is created with, how it is kept, and what is known of its worker."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cardan.service import clock
from cardan.service.errors import ServiceError
from cardan.service.sessions.folder import About, SessionFolder
from cardan.service.sessions.log import CommandLog
from cardan.service.sessions.messages import Command, PlaybackState, Result, Start
from cardan.service.sessions.metering import Meter
from cardan.service.sessions.supervisor import Watch
from cardan.service.streams.viewer import Viewer
from cardan.service.tracing import Span

# workers that may be lost with one command
MOST_LOSSES = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is created with; `scene` is the JSON text of a checked scene."""

    scene: str
    name: str
    paused: bool = True
    speed: float | None = 1.0
    created_by: str | None = None
    """Name of the key; none: the service has no keys."""
    stored_scene: Mapping[str, Any] | None = None
    """Id and revision of the stored scene it is made from."""

    def about(self, forked_from: Mapping[str, Any] | None = None) -> About:
        """What is known of a session of this plan that is made now."""
        session_id, now = clock.new_id("ses"), clock.now()
        return About(
            session_id,
            self.name,
            now,
            self.paused,
            self.speed,
            forked_from,
            created_by=self.created_by,
            stored_scene=self.stored_scene,
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """How a session is kept."""

    watch: Watch
    max_restarts: int
    ring_bytes: int
    """Of the frames kept in memory."""
    history_bytes: int
    """Of the key frames on the disk."""
    meter: Meter
    """Of simulated time."""

    def start(
        self,
        folder: SessionFolder,
        about: About,
        seen: tuple[int, int],
        channels: frozenset[str],
        told: tuple[int, int],
    ) -> Start:
        """The first task of a worker for the session of a folder; the rest as in `Start`."""
        return Start(
            folder=str(folder.path),
            run=PlaybackState(about.paused, about.speed),
            seen=seen,
            channels=sorted(channels),
            told=told,
            heartbeat_seconds=self.watch.heartbeat,
            snapshot_seconds=self.watch.snapshot,
            history_bytes=self.history_bytes,
        )


@dataclass(slots=True)
class Pending:
    """A command whose result has not come."""

    command: Command
    answer: asyncio.Future[Result]
    viewer: Viewer | None
    span: Span = field(default_factory=Span)
    accepted: bool = False
    taken_at: float | None = None
    losses: int = 0
    """Workers that were lost while it was the next to be done."""

    def settle(self, result: Result) -> None:
        """Answer it, once, and write what was waited for: all of it, and the worker's part."""
        fault = None if result.problem is None else str(result.problem["code"])
        taken_at = self.taken_at or result.taken_at
        if taken_at is not None:
            self.span.child("worker", taken_at).end(fault)
        self.span.end(fault)
        if not self.answer.done():
            self.answer.set_result(result)

    def refuse(self, error: ServiceError, progress: "Progress") -> None:
        """Answer it with an error, where the run is now."""
        step, number = progress.step, self.command.number
        self.settle(Result(number, step, step, progress.time, None, error.problem))


def blame(waiting: Iterable[Pending], *, told: bool) -> int:
    """A worker was lost: the number of the command that may be the cause; 0: there is none.

    `told`: the worker had been told of the commands that wait; who repeats the log has not.
    """
    under_way = next((one for one in waiting if not one.accepted), None)
    if under_way is None or not (told or under_way.losses):
        return 0
    under_way.losses += 1
    return under_way.command.number if under_way.losses >= MOST_LOSSES else 0


@dataclass(slots=True)
class Progress:
    """The latest progress reported by the worker."""

    first_step: int = 0
    step: int = 0
    time: float = 0.0
    speed: float | None = 1.0
    real_time_factor: float = 0.0
    body_names: list[str] = field(default_factory=list)
    joint_names: list[str] = field(default_factory=list)
    time_step: float = 0.0
    total_steps: int = 0
    started_in: float = 0.0

    def nothing_done(self) -> Result:
        """The answer to a command that has nothing to do."""
        return Result(0, self.step, self.step, self.time, None, None)

    def read(self, folder: SessionFolder, log: CommandLog) -> int:
        """Go to where an earlier service has left a session, by its files; the epoch."""
        keys = folder.key_moments()
        epoch, step = keys[-1] if keys else (0, 0)
        self.first_step = min((s for e, s in keys if e == epoch), default=0)
        self.step = max(step, log.last_step(epoch))
        self.time = self.step * self.time_step
        return epoch
