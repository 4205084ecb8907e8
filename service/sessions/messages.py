"""Messages between a live session and its worker, as frozen dataclasses; `body` holds bytes."""

from dataclasses import dataclass, field
from typing import Any

from cardan.service.processes.worker import Hello, Stop


@dataclass(frozen=True, slots=True)
class PlaybackState:
    """What a worker does with time: part of every key frame, so that a successor does the same.

    `pending_steps` are unfinished `step` commands in order; `speed` is simulated seconds per
    second, `None` for as fast as possible.
    """

    paused: bool = True
    speed: float | None = 1.0
    epoch: int = 0
    pending_steps: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prepare:
    """First message to a worker that nobody needs yet: `Start` comes later."""


@dataclass(frozen=True, slots=True)
class Start:
    """First task of a worker: the folder of the session, and how to begin one that is new.

    A worker goes on from the latest key frame of the folder to the step that viewers have seen:
    `seen` is an epoch and a step of it. `channels` is what viewers ask for; events up to `told`,
    the epoch and step of the last frame, have been sent. `fatal` is the number of a command that
    workers were lost with: it is refused, and not done again; 0: there is none.
    """

    folder: str
    run: PlaybackState
    seen: tuple[int, int]
    channels: list[str]
    told: tuple[int, int]
    heartbeat_seconds: float
    snapshot_seconds: float
    history_bytes: int
    fatal: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """One command; the answer is a `Result` with the same number."""

    number: int
    op: str
    arguments: dict[str, Any]
    body: bytes = b""
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class SetChannels:
    """Which optional channels at least one viewer asked for."""

    channels: list[str]


@dataclass(frozen=True, slots=True)
class Ready:
    """The scene is built (and resumed); the loop runs."""

    body_names: list[str]
    joint_names: list[str]
    time_step: float
    total_steps: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The scene cannot be built; the worker exits. `problem` has code, detail, errors."""

    problem: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """An encoded frame, sequence 0; the API process numbers it."""

    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A `step` command begins at `step`; its `Result` follows when the goal is reached."""

    number: int
    step: int
    taken_at: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Answer to a command: `problem` is None when it was applied, at `applied_step`.

    `taken_at` is when the worker took the command from its channel [s since 1970].
    """

    number: int
    applied_step: int
    step: int
    time: float
    value: dict[str, Any] | None
    problem: dict[str, Any] | None
    body: bytes = b""
    taken_at: float | None = None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Sign of life with the progress since the last one."""

    epoch: int
    step: int
    time: float
    real_time_factor: float


@dataclass(frozen=True, slots=True)
class Status:
    """The phase of the run changed: running, paused, finished or failed.

    `first_step` is the step at which the epoch begins.
    """

    phase: str
    epoch: int
    first_step: int
    step: int
    time: float
    speed: float | None
    failure: dict[str, Any] | None


Message = (
    Prepare | Start | Command | SetChannels | Stop
    | Hello | Ready | Refused | Frame | Accepted | Result | Heartbeat | Status
)  # fmt: skip
