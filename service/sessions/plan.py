"""How a session is created and kept, its pending commands, and the progress of its worker."""

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

# workers lost while a command was under way, at which it is refused
MOST_LOSSES = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """What a session is created with; `scene` is the JSON text of a checked scene."""

    scene: str
    name: str
    paused: bool = True
    speed: float | None = 1.0
    created_by: str | None = None
    """Name of the key; None: the service has no keys."""
    stored_scene: Mapping[str, Any] | None = None
    """Id and revision of the stored scene it is made from; None: of no stored scene."""

    def about(self, forked_from: Mapping[str, Any] | None = None) -> About:
        """What is stored about a session that is created by this plan now."""
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
    """Workers that were lost while it was the next to be executed."""

    def settle(self, result: Result) -> None:
        """Set the result, once, and end the spans of the whole command and of the worker's part."""
        fault = None if result.problem is None else str(result.problem["code"])
        taken_at = self.taken_at or result.taken_at
        if taken_at is not None:
            self.span.child("worker", taken_at).end(fault)
        self.span.end(fault)
        if not self.answer.done():
            self.answer.set_result(result)

    def refuse(self, error: ServiceError, progress: "Progress") -> None:
        """Answer it with an error, at the present step of the run."""
        step, number = progress.step, self.command.number
        self.settle(Result(number, step, step, progress.time, None, error.problem))


def blame(waiting: Iterable[Pending], *, ready: bool) -> int:
    """Number of the command that a lost worker may have been lost with; 0: there is none.

    `ready`: the worker had received the waiting commands. A worker that still repeats the log has
    not received them; it counts only for a command with which one was lost before.
    """
    under_way = next((one for one in waiting if not one.accepted), None)
    if under_way is None or not (ready or under_way.losses):
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
        """Continue where an earlier service left the session, by its files; return the epoch."""
        keys = folder.key_moments()
        epoch, step = keys[-1] if keys else (0, 0)
        self.first_step = min((s for e, s in keys if e == epoch), default=0)
        self.step = max(step, log.last_step(epoch))
        self.time = self.step * self.time_step
        return epoch
