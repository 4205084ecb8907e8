"""What a session does next: pure, `(session, event) -> (session, effects)`.

    created -> starting -> paused <-> running -> finished
                  |           \\        |
                  |            recovering (a worker was lost) -> paused | running
                  v
               failed, closed, stored (the service stops) -> recovering

This module is independent of processes, sockets and clocks; the live session performs the effects.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from cardan.service.errors import ErrorCode, ServiceError


class Phase(StrEnum):
    """Phase of the life of a session; its value is the `state` of the API."""

    CREATED = "created"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    RECOVERING = "recovering"
    FINISHED = "finished"
    FAILED = "failed"
    CLOSED = "closed"
    STORED = "stored"


# nobody knows the bodies of a session that has not begun
BEGINNING = frozenset({Phase.CREATED, Phase.STARTING, Phase.RECOVERING})

# workers that may be lost without a step in between: the scene may be the cause
MAX_LOST = 3

# ops that advance time, refused where no step is possible
MOVING = frozenset({"resume", "step"})


@dataclass(frozen=True, slots=True)
class Session:
    """The state of a session, as far as decisions need it."""

    phase: Phase = Phase.CREATED
    epoch: int = 0
    restarts: int = 0
    max_restarts: int = 5
    has_worker: bool = False
    failure: dict[str, Any] | None = None
    lost_at: tuple[int, int] = (-1, -1)
    """Epoch and step at which the last worker was lost; -1: none was."""
    lost_there: int = 0
    """Workers lost since the session last advanced."""


@dataclass(frozen=True, slots=True)
class StartRequested:
    """The session was created."""


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """The worker has built the scene, or resumed it."""


@dataclass(frozen=True, slots=True)
class SceneRefused:
    """The engine cannot build the scene."""

    problem: dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker has ended or has been silent for too long; `step` is the last that was seen.

    `blamed` is the number of a command that may be the cause; 0: none is.
    """

    reason: str
    step: int = 0
    blamed: int = 0


@dataclass(frozen=True, slots=True)
class WorkerStable:
    """The worker has run for so long that earlier losses no longer count."""


@dataclass(frozen=True, slots=True)
class PhaseReported:
    """The worker reports the phase of its run: running, paused, finished or failed."""

    phase: Phase
    epoch: int
    failure: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class OpenRequested:
    """Somebody wants to use the session, which may be stored."""


@dataclass(frozen=True, slots=True)
class StoreRequested:
    """The service stops: the folder of the session remains."""

    reason: str


@dataclass(frozen=True, slots=True)
class CloseRequested:
    """The owner deleted the session, or it expired."""

    reason: str


Event = (
    StartRequested | WorkerReady | SceneRefused | WorkerDied | WorkerStable | PhaseReported
    | OpenRequested | StoreRequested | CloseRequested
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpawnWorker:
    """Start a worker, from the last checkpoint when `resume`, and without a `fatal` command."""

    resume: bool
    fatal: int = 0


@dataclass(frozen=True, slots=True)
class StopWorker:
    """End the worker and wait for it."""


@dataclass(frozen=True, slots=True)
class SendPending:
    """Send the commands to the worker that arrived while none was ready."""


@dataclass(frozen=True, slots=True)
class FailPending:
    """Fail all commands without a result."""

    code: ErrorCode
    detail: str


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell every viewer."""

    type: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Every viewer's connection ends."""

    reason: str


Effect = SpawnWorker | StopWorker | SendPending | FailPending | Announce | Disconnect
Decision = tuple[Session, tuple[Effect, ...]]


def decide(session: Session, event: Event) -> Decision:
    """Return the session after the event, and the effects to perform."""
    if session.phase is Phase.CLOSED:
        return session, ()
    match event:
        case StartRequested():
            return _start(session)
        case WorkerReady():
            return _ready(session)
        case SceneRefused(problem):
            return _refused(session, problem)
        case WorkerDied():
            return _died(session, event)
        case WorkerStable():
            return replace(session, restarts=0, lost_at=(-1, -1), lost_there=0), ()
        case PhaseReported(phase, epoch, failure):
            return _reported(session, phase, epoch, failure)
        case OpenRequested():
            return _open(session)
        case StoreRequested(reason):
            return _store(session, reason)
        case CloseRequested(reason):
            return _close(session, reason)


def refusal(session: Session, op: str) -> tuple[ErrorCode, str] | None:
    """Return why a command is refused now, as (code, detail); `None` if it is accepted."""
    phase = session.phase
    if phase is Phase.CLOSED:
        return ErrorCode.SESSION_CLOSED, "The session is closed."
    if phase is Phase.FAILED and not session.has_worker:
        return ErrorCode.SESSION_FAILED, "The session has failed; delete it and create another."
    if phase is Phase.FAILED and op in MOVING:
        return ErrorCode.SESSION_FAILED, "The simulation has failed; reset or restore it first."
    if phase is Phase.FINISHED and op in MOVING:
        detail = "The scene's duration is reached; reset or restore it first."
        return ErrorCode.SESSION_FINISHED, detail
    return None


def check_started(session: Session) -> None:
    """Raise ServiceError for a session that ended before it began, or could not be started.

    A simulation that failed in its first steps is a session all the same.
    """
    failure = session.failure
    if session.phase is Phase.CLOSED:
        raise ServiceError(ErrorCode.SESSION_CLOSED, "The session was closed before it began.")
    if failure is None or session.has_worker:
        return
    if failure["code"] == "worker_lost":
        raise ServiceError(ErrorCode.NO_WORKER, str(failure["message"]))
    raise ServiceError.of(failure)


def _start(session: Session) -> Decision:
    if session.phase is not Phase.CREATED:
        return session, ()
    started = replace(session, phase=Phase.STARTING, has_worker=True)
    return started, (SpawnWorker(resume=False),)


def _ready(session: Session) -> Decision:
    return session, (SendPending(),)


def _refused(session: Session, problem: dict[str, Any]) -> Decision:
    failed = replace(session, phase=Phase.FAILED, has_worker=False, failure=problem)
    return failed, (
        StopWorker(),
        FailPending(ErrorCode.SESSION_FAILED, "The scene cannot be built."),
        Announce("failed", {"failure": problem}),
    )


def _died(session: Session, event: WorkerDied) -> Decision:
    if not session.has_worker:
        return session, ()
    reason = event.reason
    lost = Announce("worker_lost", {"reason": reason, "restarts": session.restarts})
    at = (session.epoch, event.step)
    lost_there = session.lost_there + 1 if at <= session.lost_at else 1
    if session.restarts >= session.max_restarts or lost_there >= MAX_LOST:
        times = session.restarts + 1
        failure = {
            "code": "worker_lost",
            "message": f"The worker was lost {times} times, at last because: {reason}.",
        }
        failed = replace(session, phase=Phase.FAILED, has_worker=False, failure=failure)
        return failed, (
            StopWorker(),
            lost,
            FailPending(ErrorCode.SESSION_FAILED, failure["message"]),
            Announce("failed", {"failure": failure}),
        )
    phase = Phase.STARTING if session.phase is Phase.STARTING else Phase.RECOVERING
    recovering = replace(
        session,
        phase=phase,
        restarts=session.restarts + 1,
        lost_at=at,
        lost_there=0 if event.blamed else lost_there,
    )
    return recovering, (lost, SpawnWorker(resume=True, fatal=event.blamed))


def _reported(
    session: Session, phase: Phase, epoch: int, failure: dict[str, Any] | None
) -> Decision:
    after = replace(session, phase=phase, epoch=epoch, failure=failure)
    effects: list[Effect] = []
    if session.phase is Phase.RECOVERING:
        effects.append(Announce("worker_resumed", {"restarts": session.restarts}))
    if epoch != session.epoch:
        effects.append(Announce("reset", {"epoch": epoch}))
    effects.append(Announce("state", {"state": str(phase)}))
    if phase is not session.phase and phase is Phase.FINISHED:
        effects.append(Announce("finished", {}))
    if phase is not session.phase and phase is Phase.FAILED:
        effects.append(Announce("failed", {"failure": failure}))
    return after, tuple(effects)


def _open(session: Session) -> Decision:
    if session.phase is not Phase.STORED:
        return session, ()
    return replace(session, phase=Phase.RECOVERING, has_worker=True), (SpawnWorker(resume=True),)


def _store(session: Session, reason: str) -> Decision:
    stored = replace(session, phase=Phase.STORED, has_worker=False)
    return stored, (
        FailPending(ErrorCode.SERVICE_STOPS, f"The session is stored: {reason}."),
        Announce("state", {"state": str(Phase.STORED), "reason": reason}),
        Disconnect(reason),
        StopWorker(),
    )


def _close(session: Session, reason: str) -> Decision:
    closed = replace(session, phase=Phase.CLOSED, has_worker=False)
    return closed, (
        FailPending(ErrorCode.SESSION_CLOSED, f"The session was closed: {reason}."),
        Announce("state", {"state": str(Phase.CLOSED), "reason": reason}),
        Disconnect(reason),
        StopWorker(),
    )
