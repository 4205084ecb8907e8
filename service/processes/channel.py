"""The framed channel between the service and a worker process: one Unix stream socket.

On the wire: `<Q` the length, then the message, a frozen dataclass, as a pickle. A scene may have
subverted the process at the other end, and a pickle may name any function to call: here it may name
dataclasses and enumerations of this package, and two types of NumPy, nothing else.
"""

import asyncio
import dataclasses
import enum
import io
import logging
import pickle
import select
import socket
import struct
import sys
from typing import Any

from cardan.service.clock import AwakeClock

log = logging.getLogger("cardan.workers")

PREFIX = struct.Struct("<Q")
MAX_BYTES = 4 * 1024**3
RECEIVE_BYTES = 256 * 1024
SEND_BUFFER_BYTES = 1024 * 1024
# of one wait: a process that was stopped meanwhile notices
LOOK_SECONDS = 0.5


# numbers of NumPy within values
NUMBERS = frozenset({("numpy", "dtype"), ("numpy._core.multiarray", "scalar")})


class ProtocolError(Exception):
    """The bytes on the socket are no message of this version."""


class Channel:
    """One end of the socket, for a thread that may wait."""

    def __init__(self, sock: socket.socket) -> None:
        """Take over the socket."""
        self.sock = sock
        self._received = bytearray()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def send(self, message: Any) -> None:
        """Send; waits while the receiver is slow. Raises OSError when the other end is gone."""
        self.sock.sendall(encode(message))

    def send_within(self, message: Any, seconds: float) -> None:
        """Send to a receiver that may have been stopped.

        Raises OSError, which is TimeoutError when it takes nothing for so long.
        """
        clock = AwakeClock()
        room = select.poll()
        room.register(self.sock, select.POLLOUT)
        until = clock.look() + seconds
        left = memoryview(encode(message))
        while left:
            if room.poll(1000.0 * min(seconds, LOOK_SECONDS)):
                left = left[self.sock.send(left, socket.MSG_DONTWAIT) :]
                until = clock.look() + seconds
            elif clock.look() >= until:
                raise TimeoutError("the other end takes nothing")

    def can_send(self) -> bool:
        """Return whether sending would begin at once: a frame is skipped rather than delayed."""
        return bool(select.select([], [self.sock], [], 0)[1])

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next message, `None` after so much silence. Raises EOFError at the end."""
        clock = AwakeClock()
        while True:
            message = self._first()
            if message is not None:
                return message
            left = None if seconds is None else min(max(0.0, seconds - clock.look()), LOOK_SECONDS)
            if not self._poll.poll(None if left is None else 1000.0 * left):
                if left == 0.0:
                    return None
                continue
            try:
                data = self.sock.recv(RECEIVE_BYTES)
            except ConnectionError:
                data = b""
            if not data:
                raise EOFError("the other end is closed")
            self._received += data

    def close(self) -> None:
        """Close this end."""
        self.sock.close()

    def __del__(self) -> None:
        """Close it with its owner, such as a thread that was ended from outside."""
        self.sock.close()

    def _first(self) -> Any:
        """Take the first message out of what was received; `None` while it is not complete."""
        if len(self._received) < PREFIX.size:
            return None
        end = PREFIX.size + _size(self._received[: PREFIX.size])
        if len(self._received) < end:
            return None
        with memoryview(self._received) as view:
            message = decode(view[PREFIX.size : end])
        del self._received[:end]
        return message


def encode(message: Any) -> bytes:
    """The message as it travels."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return PREFIX.pack(len(data)) + data


def decode(data: bytes | memoryview) -> Any:
    """The message of a frame. Raises ProtocolError."""
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except Exception as error:
        raise ProtocolError(f"not a message: {error}") from error


class _Unpickler(pickle.Unpickler):
    """Finds classes of messages only."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the class of a name. Raises UnpicklingError for all that is no message."""
        if (module, name) in NUMBERS:
            return super().find_class(module, name)
        # a module that is not loaded is none of messages; a dot would lead into another one
        loaded = sys.modules.get(module) if module.startswith("cardan.") else None
        found = getattr(loaded, name, None)
        if isinstance(found, type) and found.__module__ == module and _is_message(found):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no message")


def _is_message(kind: type) -> bool:
    """Whether objects of a class are values alone."""
    return dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum)


async def read(reader: asyncio.StreamReader) -> Any:
    """The next message for a coroutine; `None`: the other end is gone, or sends anything else."""
    try:
        data = await reader.readexactly(_size(await reader.readexactly(PREFIX.size)))
        return decode(data)
    except ProtocolError as error:
        log.error("a worker is given up: %s", error)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    return None


def _size(prefix: bytes | bytearray) -> int:
    size: int = PREFIX.unpack(prefix)[0]
    if size > MAX_BYTES:
        raise ProtocolError(f"a message of {size} bytes")
    return size
