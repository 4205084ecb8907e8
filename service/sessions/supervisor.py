"""Supervises one worker: starts it, receives its messages, detects silence or exit, ends it.

Events go to an `Observer`; `sessions.states` decides how to respond to them.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from cardan.service import clock
from cardan.service.processes.channel import LOOK_SECONDS, ProtocolError, encode, read
from cardan.service.processes.worker import Stop, Worker, WorkerLostError
from cardan.service.sessions.messages import Message, Ready, Refused, Start

log = logging.getLogger("cardan.workers")


@dataclass(frozen=True, slots=True)
class Watch:
    """Times of the supervision, in seconds."""

    heartbeat: float = 0.5
    silence: float = 3.0
    start: float = 60.0
    snapshot: float = 1.0
    stable: float = 60.0
    grace: float = 1.0


class Observer(Protocol):
    """Receiver of the events."""

    def on_message(self, message: Message) -> None:
        """The worker sent a message."""

    def on_lost(self, reason: str) -> None:
        """The worker is gone; nothing more comes from it."""

    def on_stable(self) -> None:
        """The worker has run without a fault for `Watch.stable` seconds."""


class Supervisor:
    """One worker after the other, at most one at a time."""

    def __init__(self, start: Callable[[], Worker], watch: Watch, observer: Observer) -> None:
        """Begin without a worker; `start` starts one, and may take a moment."""
        self._start_worker = start
        self._watch = watch
        self._observer = observer
        self._pid: int | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The process id of the worker."""
        return self._pid

    def spawn(self, start: Start) -> None:
        """Start a worker; the observer receives all further events."""
        self._task = asyncio.create_task(self._supervise(start))

    def send(self, message: Message) -> bool:
        """Send to the worker; False when there is none."""
        if self._writer is None or self._writer.is_closing():
            return False
        self._writer.write(encode(message))
        return True

    async def stop(self) -> None:
        """Request the worker to exit, then force it; returns when the process has ended."""
        self._stopping = True
        self.send(Stop())
        task = self._task
        if task is not None:
            await asyncio.wait([task], timeout=self._watch.grace)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])

    async def _supervise(self, start: Start) -> None:
        try:
            worker = await asyncio.to_thread(self._start_worker)
        except WorkerLostError as error:
            log.error("no worker: %s", error)
            self._observer.on_lost(str(error))
            return
        reader, self._writer = await worker.streams()
        self._pid = worker.pid
        ended, reason = False, "the supervision was cancelled"
        try:
            self.send(start)
            if self._stopping:
                self.send(Stop())
            ended, reason = await self._listen(reader)
        finally:
            writer, self._writer, self._pid = self._writer, None, None
            code = await asyncio.shield(_end(worker, writer, self._watch.grace if ended else 0.0))
        if not self._stopping and not ended:
            self._observer.on_lost(f"{reason}; exit code {code}")

    async def _listen(self, reader: asyncio.StreamReader) -> tuple[bool, str]:
        """Receive messages until the worker ends; return whether it ended in order, and why."""
        watch, limit, stable_at = self._watch, self._watch.start, None
        while True:
            try:
                message = await _within(limit, read(reader))
            except TimeoutError:
                return False, f"silent for {limit:g} s"
            except ProtocolError as error:
                return False, str(error)
            if message is None:
                return self._stopping, "its connection closed"
            if isinstance(message, Ready):
                limit, stable_at = watch.silence, clock.monotonic() + watch.stable
            try:
                self._observer.on_message(message)
            except Exception as error:
                # nobody would hear this worker any more, and the session would wait for ever
                log.exception("a %s of a worker was not understood", type(message).__name__)
                return False, f"its {type(message).__name__} was not understood: {error}"
            if isinstance(message, Refused):
                return True, "the scene was refused"
            if stable_at is not None and clock.monotonic() > stable_at:
                stable_at = None
                self._observer.on_stable()


async def _within(seconds: float, hearing: Coroutine[Any, Any, Any]) -> Any:
    """What is heard; time in which this process stood still is not silence. Raises TimeoutError."""
    task = asyncio.create_task(hearing)
    awake = clock.AwakeClock()
    try:
        while not task.done():
            left = seconds - awake.look()
            if left <= 0.0:
                raise TimeoutError
            await asyncio.wait([task], timeout=min(left, LOOK_SECONDS))
        return task.result()
    finally:
        task.cancel()


async def _end(worker: Worker, writer: asyncio.StreamWriter, grace: float) -> int | None:
    # a process that was stopped would never take what is not sent yet
    writer.transport.abort()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return await asyncio.to_thread(worker.end, grace)
