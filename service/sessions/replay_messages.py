"""Messages between a session and the process that computes its past; `body` holds bytes."""

from dataclasses import dataclass
from struct import Struct
from typing import Any

from cardan.service.processes.worker import Hello, Stop
from cardan.service.sessions.messages import PlaybackState

FRAME_LENGTH = Struct("<I")
"""Bytes of a frame, before each where several are one body."""


@dataclass(frozen=True, slots=True)
class ReplayFolder:
    """First message: the folder of the session."""

    folder: str


@dataclass(frozen=True, slots=True)
class FrameAt:
    """Answer with the frame of a step: encoded, or with `described` the whole state as JSON."""

    number: int
    epoch: int
    step: int
    described: bool = False


@dataclass(frozen=True, slots=True)
class FramesAt:
    """Answer with the frames of some steps, ascending, each behind its length, with channels."""

    number: int
    epoch: int
    steps: tuple[int, ...]
    channels: tuple[str, ...]

    @property
    def step(self) -> int:
        """The last one."""
        return self.steps[-1]


@dataclass(frozen=True, slots=True)
class ProblemAt:
    """Answer with the constraint problem of the step from the state of a step, as JSON."""

    number: int
    epoch: int
    step: int


@dataclass(frozen=True, slots=True)
class ForkAt:
    """Write the state of a step as the first key frame of another folder."""

    number: int
    epoch: int
    step: int
    folder: str
    run: PlaybackState


@dataclass(frozen=True, slots=True)
class Skip:
    """Nobody waits for the answer any more."""

    number: int


@dataclass(frozen=True, slots=True)
class Found:
    """The answer; `body` is the frame or the JSON, empty for a fork."""

    number: int
    step: int
    time: float
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class NotFound:
    """The step cannot be computed; `problem` has code, detail, errors."""

    number: int
    problem: dict[str, Any]


Order = FrameAt | FramesAt | ProblemAt | ForkAt
Message = ReplayFolder | Order | Skip | Stop | Hello | Found | NotFound
