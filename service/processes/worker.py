"""One worker process, seen from the service: send, receive, end."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Any

from cardan.service import clock
from cardan.service.processes.channel import Channel, ProtocolError
from cardan.service.processes.starting import is_gone

# SIGTERM comes first: the process may be writing
TERMINATE_SECONDS = 0.5
LOOK_SECONDS = 0.2
# a process that takes nothing for so long has been stopped
TAKE_SECONDS = 30.0
# one without a task answers a call in much less
HERE_SECONDS = 3.0
READ_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Hello:
    """First message of a worker: its kernels are loaded, perhaps before it was forked."""

    preloaded: bool
    parent: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Last message to a worker: leave."""


@dataclass(frozen=True, slots=True)
class Call:
    """The question to a worker without a task whether it is there; it answers `Here`."""


@dataclass(frozen=True, slots=True)
class Here:
    """Answer to a `Call`."""


class WorkerLostError(Exception):
    """The process is gone, was ended because it gave no sign of life, or could not be started."""


class GivenUpError(WorkerLostError):
    """A process that was still starting is no longer needed."""


def next_task(channel: Channel) -> Any:
    """The next message to this worker that is no call; calls are answered. Raises EOFError."""
    while isinstance(message := channel.receive(), Call):
        channel.send(Here())
    return message


class Worker:
    """A process and our end of its channel; used by one thread at a time."""

    def __init__(self, process: BaseProcess, sock: socket.socket) -> None:
        """Take over a started process."""
        self._process = process
        self._channel = Channel(sock)
        self._parent = 0
        self.preloaded = False
        self.pid = int(process.pid or 0)

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.is_alive()

    @property
    def orphaned(self) -> bool:
        """Whether the fork server it came from is gone: it dies with it, whatever it does."""
        return bool(self._parent) and is_gone(self._parent)

    def send(self, message: Any) -> None:
        """Send a message. Raises WorkerLostError if the process has ended, or takes nothing."""
        try:
            self._channel.send_within(message, TAKE_SECONDS)
        except TimeoutError as error:
            self.interrupt()
            lost = f"process {self.pid} took nothing for {TAKE_SECONDS:g} s"
            raise WorkerLostError(lost) from error
        except OSError as error:
            raise WorkerLostError(self._how_it_ended()) from error

    def hear(self, seconds: float) -> Any:
        """The worker's next message, `None` after `seconds` of silence. Raises WorkerLostError."""
        try:
            return self._channel.receive(seconds)
        except (EOFError, OSError) as error:
            raise WorkerLostError(self._how_it_ended()) from error
        except ProtocolError as error:
            # whatever it is now, it is no worker of ours any more
            self.interrupt()
            raise WorkerLostError(f"process {self.pid} sent {error}") from error

    def answers(self, within_s: float = HERE_SECONDS) -> bool:
        """Whether one without a task answers a call in time: a stopped process does not."""
        awake = clock.AwakeClock()
        try:
            self.send(Call())
            while (left := within_s - awake.look()) > 0.0:
                if isinstance(self.hear(min(left, LOOK_SECONDS)), Here):
                    return True
        except WorkerLostError:
            pass
        return False

    def wait_ready(self, within_s: float, given_up: Callable[[], bool]) -> None:
        """Wait for its Hello. Raises WorkerLostError, of which one is GivenUpError."""
        awake = clock.AwakeClock()
        while awake.look() < within_s:
            if given_up():
                raise GivenUpError("the worker is no longer needed")
            hello = self.hear(LOOK_SECONDS)
            if isinstance(hello, Hello):
                self.preloaded, self._parent = hello.preloaded, hello.parent
                return
        raise WorkerLostError(f"the worker was not ready after {within_s:.0f} s")

    async def streams(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The channel for coroutines, which then own it; `channel.read` and `encode` frame it."""
        self._channel.sock.setblocking(False)
        return await asyncio.open_connection(sock=self._channel.sock, limit=READ_LIMIT)

    def interrupt(self) -> None:
        """End the process from another thread; a pending receive fails with WorkerLostError."""
        self._process.kill()

    def kill(self) -> int | None:
        """Kill it now; its exit code."""
        self._process.kill()
        self._process.join()
        self._channel.close()
        return self._process.exitcode

    def end(self, grace_s: float) -> int | None:
        """Wait so long for its exit, then force it; its exit code."""
        self._process.join(grace_s)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(TERMINATE_SECONDS)
        return self.kill()

    def quit(self, grace_s: float) -> None:
        """Request it to exit, then force it; one that was killed stays so."""
        if self.alive:
            with contextlib.suppress(OSError):
                self._channel.send_within(Stop(), grace_s)
        self.end(grace_s)

    def _how_it_ended(self) -> str:
        self._process.join(1.0)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"process {self.pid} ended by signal {-code}"
        return f"process {self.pid} ended with status {code}"
