"""The past of sessions, seen from the API process: orders to processes of their own.

One process for each session whose past somebody looks at, `MOST_PROCESSES` in all; the one that was
asked longest ago makes room. They are nicer than the live workers.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import ProtocolError, encode, read
from cardan.service.processes.worker import Hello, Stop, Worker, WorkerLostError
from cardan.service.sessions import replay_messages as m

log = logging.getLogger("cardan.sessions")

MOST_PROCESSES = 4
ANSWER_SECONDS = 60.0
IDLE_SECONDS = 120.0
GRACE_SECONDS = 1.0


class Replayer:
    """The process of one session; it is started when something is asked."""

    def __init__(self, start: Callable[[], Worker], folder: Path) -> None:
        """`start` starts a worker, and may take a moment."""
        self._start = start
        self._folder = folder
        self._number = 0
        self._waiting: dict[int, asyncio.Future[m.Found]] = {}
        self._outbox: asyncio.Queue[m.Order | m.Skip] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        # of the first order that the process has said nothing since
        self._asked: float | None = None
        self.last_used = clock.monotonic()

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waiting)

    async def ask(self, order: m.Order) -> m.Found:
        """The answer to an order, whose number is set here. Raises ServiceError.

        A caller that is cancelled gives the order up.
        """
        self.last_used = clock.monotonic()
        self._number += 1
        number = self._number
        answer: asyncio.Future[m.Found] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._asked = self._asked or self.last_used
        self._outbox.put_nowait(replace(order, number=number))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError as error:
            detail = f"The step was not computed within {ANSWER_SECONDS:g} s."
            raise ServiceError(ErrorCode.COMPUTE_TIMED_OUT, detail) from error
        finally:
            self.last_used = clock.monotonic()
            if self._waiting.pop(number, None) is not None:
                self._outbox.put_nowait(m.Skip(number))

    async def close(self) -> None:
        """End the process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._refuse(ErrorCode.SESSION_CLOSED, "The session has ended.")

    async def _work(self) -> None:
        while self._waiting:
            try:
                worker = await asyncio.to_thread(self._start)
            except WorkerLostError as error:
                self._fail(str(error))
                return
            await self._use(worker)

    async def _use(self, worker: Worker) -> None:
        reader, writer = await worker.streams()
        sender = asyncio.create_task(self._send(writer))
        try:
            await self._listen(reader)
        finally:
            sender.cancel()
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.write(encode(Stop()))
            writer.close()
            await asyncio.shield(asyncio.to_thread(worker.end, GRACE_SECONDS))

    async def _send(self, writer: asyncio.StreamWriter) -> None:
        writer.write(encode(m.ReplayFolder(str(self._folder))))
        while True:
            writer.write(encode(await self._outbox.get()))
            await writer.drain()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hand out answers until the process ends, hangs, or nothing was asked for a while."""
        self._asked = clock.monotonic() if self.busy else None
        while True:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    message = await read(reader)
            except TimeoutError:
                if not self.busy:
                    return
                # orders are given up sooner, and it would say so
                if self._asked is not None and clock.monotonic() - self._asked > IDLE_SECONDS:
                    self._fail(f"it has said nothing for {IDLE_SECONDS:g} s")
                    return
                continue
            except ProtocolError as error:
                self._fail(str(error))
                return
            if message is None:
                self._fail("its connection closed")
                return
            if not isinstance(message, Hello):
                self._take(message)
            self._asked = clock.monotonic() if self.busy else None

    def _take(self, message: m.Message) -> None:
        if not isinstance(message, m.Found | m.NotFound):
            return
        # from here on nobody needs to skip it
        answer = self._waiting.pop(message.number, None)
        if answer is None or answer.done():
            return
        if isinstance(message, m.Found):
            answer.set_result(message)
        else:
            answer.set_exception(ServiceError.of(message.problem))

    def _fail(self, reason: str) -> None:
        log.warning("the past of %s: worker lost: %s", self._folder.name, reason)
        self._refuse(
            ErrorCode.WORKER_LOST, f"The process that computes the past was lost: {reason}."
        )

    def _refuse(self, code: ErrorCode, detail: str) -> None:
        """Answer all who wait with an error."""
        waiting, self._waiting = self._waiting, {}
        self._outbox = asyncio.Queue()
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(ServiceError(code, detail))


class Replayers:
    """All of them, by session."""

    def __init__(self, start: Callable[[], Worker]) -> None:
        """Begin without replayers; `start` starts the process of one."""
        self._start = start
        self._replayers: dict[str, Replayer] = {}

    async def ask(self, session_id: str, folder: Path, order: m.Order) -> m.Found:
        """The answer of the session's process; a lost one is replaced once. Raises ServiceError."""
        found = self._replayers.get(session_id)
        if found is None:
            await self._make_room()
            found = self._replayers.setdefault(session_id, Replayer(self._start, folder))
        try:
            return await found.ask(order)
        except ServiceError as error:
            if error.code is not ErrorCode.WORKER_LOST:
                raise
        return await found.ask(order)

    async def close(self, session_id: str) -> None:
        """The session has ended."""
        found = self._replayers.pop(session_id, None)
        if found is not None:
            await found.close()

    async def close_all(self) -> None:
        """The service stops."""
        await asyncio.gather(*(self.close(session_id) for session_id in list(self._replayers)))

    async def _make_room(self) -> None:
        if len(self._replayers) < MOST_PROCESSES:
            return
        idle = [name for name, one in self._replayers.items() if not one.busy]
        if not idle:
            detail = f"{MOST_PROCESSES} sessions already have steps of their past computed."
            raise ServiceError(ErrorCode.ENGINE_NOT_READY, detail, retry_after_s=2)
        await self.close(min(idle, key=lambda name: self._replayers[name].last_used))
