"""Messages between the API process and a worker, over one Unix stream socket.

On the wire: `<II` length of head and of body, the head as JSON `[name, {fields}]`, then the body
as raw bytes (frames and snapshots are never re-encoded). Both sides run the same code, so a
message that cannot be read is a fault of this file and raises `ProtocolError`.
"""

import asyncio
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import orjson

PREFIX = struct.Struct("<II")
MAX_HEAD = 256 * 1024 * 1024
MAX_BODY = 1024 * 1024 * 1024


class ProtocolError(Exception):
    """The bytes on the socket are not a message of this version."""


@dataclass(frozen=True, slots=True)
class PlaybackState:
    """What a worker does with time: part of every snapshot, so that a successor does the same.

    `goals` are unfinished `step` commands in order; `speed` is simulated seconds per second,
    `None` for as fast as possible.
    """

    paused: bool = True
    speed: float | None = 1.0
    epoch: int = 0
    pending_steps: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An accepted command and the step it took effect at (before the step `step + 1` ran)."""

    number: int
    step: int
    op: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Start:
    """First message to a worker: what to build, where to resume, what to replay."""

    scene: str
    run: PlaybackState
    replay: list[LogEntry]
    until_step: int
    heartbeat_seconds: float
    snapshot_seconds: float
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Command:
    """One command; the answer is a `Result` with the same number."""

    number: int
    op: str
    arguments: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class SetChannels:
    """Which optional channels at least one viewer asked for."""

    channels: list[str]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave the loop and exit."""

    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Hello:
    """First message of a worker: whether its kernels were loaded before it was forked."""

    preloaded: bool
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Ready:
    """The scene is built (and resumed); the loop runs."""

    body_names: list[str]
    joint_names: list[str]
    time_step: float
    total_steps: int
    seconds: float
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Refused:
    """The scene cannot be built; the worker exits. `problem` has code, detail, errors."""

    problem: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Frame:
    """An encoded frame, sequence 0; the API process numbers it."""

    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A `step` command begins at `step`; its `Result` follows when the goal is reached."""

    number: int
    step: int
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Result:
    """Answer to a command: `problem` is None when it was applied, at `applied_step`."""

    number: int
    applied_step: int
    step: int
    time: float
    value: dict[str, Any] | None
    problem: dict[str, Any] | None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Sign of life with the progress since the last one."""

    epoch: int
    step: int
    time: float
    real_time_factor: float
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Status:
    """The phase of the run changed: running, paused, finished or failed."""

    phase: str
    epoch: int
    step: int
    time: float
    speed: float | None
    failure: dict[str, Any] | None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A snapshot (body) from which a successor resumes, with the run state of that moment."""

    step: int
    time: float
    run: PlaybackState
    body: bytes = b""


Message = (
    Start | Command | SetChannels | Stop
    | Hello | Ready | Refused | Frame | Accepted | Result | Heartbeat | Status | Checkpoint
)  # fmt: skip


class _Names:
    by_name: ClassVar[dict[str, type]] = {
        kind.__name__: kind
        for kind in (
            Start, Command, SetChannels, Stop, Hello, Ready, Refused, Frame, Accepted,
            Result, Heartbeat, Status, Checkpoint,
        )
    }  # fmt: skip


def encode(message: Message) -> bytes:
    """The message as it travels."""
    head = {f.name: getattr(message, f.name) for f in fields(message) if f.name != "body"}
    text = orjson.dumps([type(message).__name__, head])
    return PREFIX.pack(len(text), len(message.body)) + text + message.body


def decode(head: bytes, body: bytes) -> Message:
    """The message of a head and a body. Raises ProtocolError."""
    try:
        name, values = orjson.loads(head)
        kind = _Names.by_name[name]
        if "run" in values:
            values["run"] = PlaybackState(**values["run"])
        if "replay" in values:
            values["replay"] = [LogEntry(**entry) for entry in values["replay"]]
        message: Message = kind(**values, body=body)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"not a message: {error}") from error
    return message


class Splitter:
    """Cuts a stream of bytes into messages; for the blocking side."""

    def __init__(self) -> None:
        """Begin with nothing received."""
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield every message completed by `data`."""
        self._buffer += data
        while len(self._buffer) >= PREFIX.size:
            head_size, body_size = _sizes(bytes(self._buffer[: PREFIX.size]))
            end = PREFIX.size + head_size + body_size
            if len(self._buffer) < end:
                return
            middle = PREFIX.size + head_size
            head, body = bytes(self._buffer[PREFIX.size : middle]), bytes(self._buffer[middle:end])
            del self._buffer[:end]
            yield decode(head, body)


async def read(reader: asyncio.StreamReader) -> Message | None:
    """The next message, `None` when the other side is gone."""
    try:
        head_size, body_size = _sizes(await reader.readexactly(PREFIX.size))
        head = await reader.readexactly(head_size)
        body = await reader.readexactly(body_size)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return decode(head, body)


def send(sock: socket.socket, message: Message) -> None:
    """Send from the blocking side; raises OSError when the other side is gone."""
    sock.sendall(encode(message))


def _sizes(prefix: bytes) -> tuple[int, int]:
    head_size, body_size = PREFIX.unpack(prefix)
    if head_size > MAX_HEAD or body_size > MAX_BODY:
        raise ProtocolError(f"a message of {head_size} + {body_size} bytes")
    return head_size, body_size
