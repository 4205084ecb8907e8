"""The live sessions: creation within limits, look-up, idle expiry, shutdown."""

import asyncio
import contextlib
import logging
import threading

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Worker
from cardan.service.sessions.live_session import LiveSession, Plan, Policy
from cardan.service.sessions.states import Phase
from cardan.service.sessions.supervisor import Watch

log = logging.getLogger("cardan.sessions")

WORKER = "cardan.service.sessions.worker"
KEEP_CLOSED = 256
LEAST_PAUSE_SECONDS = 0.1
MOST_PAUSE_SECONDS = 30.0


class Sessions:
    """All live sessions of this process."""

    def __init__(
        self,
        *,
        idle_seconds: float = 1800.0,
        abandoned_seconds: float = 60.0,
        max_sessions: int = 16,
        history_bytes: int = 64 * 1024**2,
        start_method: str | None = None,
        max_restarts: int = 5,
        worker_memory_bytes: int = 4 * 1024**3,
        watch: Watch | None = None,
    ) -> None:
        """Set the limits; `start_method` None takes the best one of the platform.

        An unused session ends after `idle_seconds`; one whose viewers have all left may end
        after `abandoned_seconds` already, when another needs its place.
        """
        self.idle_seconds = idle_seconds
        self.abandoned_seconds = abandoned_seconds
        self.max_sessions = max_sessions
        self._policy = Policy(watch or Watch(), history_bytes, max_restarts)
        self._launcher = WorkerLauncher(start_method)
        self._limits = WorkerLimits(worker_memory_bytes)
        self._closing = threading.Event()
        self._sessions: dict[str, LiveSession] = {}
        self._closed: dict[str, str] = {}
        self._warm: asyncio.Task[float] | None = None
        self._reaper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether a session can be started at once: the kernels are loaded."""
        warm = self._warm
        return warm is not None and warm.done() and not warm.cancelled() and not warm.exception()

    async def start(self) -> None:
        """Load the kernels in the background and begin to watch for idle sessions."""
        self._launcher.prepare()
        self._warm = asyncio.create_task(self._until_warm())
        self._reaper = asyncio.create_task(self._reap())

    async def warm(self) -> float:
        """Wait until the kernels are loaded; seconds that took. Raises RuntimeError unstarted."""
        if self._warm is None:
            raise RuntimeError("the sessions are not started")
        return await asyncio.shield(self._warm)

    async def close(self) -> None:
        """End every session, and return when no worker is left."""
        self._closing.set()
        for task in (self._reaper, self._warm):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, RuntimeError):
                    await task
        await asyncio.gather(*(self._end(one, "the service stops") for one in self.all()))

    def all(self) -> list[LiveSession]:
        """Every session, oldest first."""
        return list(self._sessions.values())

    def get(self, session_id: str) -> LiveSession:
        """The session, whose idle time begins anew. Raises ServiceError."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.touch()
            return session
        if session_id in self._closed:
            reason = self._closed[session_id]
            detail = f"The session {session_id} was closed: {reason}."
            raise ServiceError(ErrorCode.SESSION_CLOSED, detail)
        detail = f"There is no session {session_id!r}."
        raise ServiceError(ErrorCode.SESSION_NOT_FOUND, detail)

    async def create(self, plan: Plan) -> LiveSession:
        """A new session, its scene built. Raises ServiceError."""
        ended = None
        if len(self._sessions) >= self.max_sessions:
            ended = self._longest_abandoned()
            if ended is None:
                detail = f"{self.max_sessions} sessions are alive, and no more are allowed; "
                detail += "delete one."
                raise ServiceError(ErrorCode.NO_CAPACITY, detail, retry_after_s=10)
            del self._sessions[ended.id]
        session = LiveSession(clock.new_id("ses"), plan, self._policy, self._start_worker)
        self._sessions[session.id] = session
        try:
            if ended is not None:
                log.info("session %s: makes room for %s", ended.id, session.id)
                await self._end(ended, "its viewers had left, and another session needed its place")
            await self._started(session)
        except BaseException:
            await self._end(session, "it could not be started")
            raise
        return session

    async def delete(self, session_id: str, viewer: str | None = None) -> None:
        """End a session; returns when its process is gone. Raises ServiceError.

        With `viewer`, a client id: only when no other viewer is connected.
        """
        session = self.get(session_id)
        others = {one.client_id for one in session.fanout} - {viewer}
        if viewer is not None and others:
            detail = f"Others look at the session {session_id}: {len(others)}."
            raise ServiceError(ErrorCode.SESSION_IN_USE, detail)
        await self._end(session, "it was deleted")

    def _start_worker(self) -> Worker:
        return self._launcher.start(WORKER, self._limits)

    def _longest_abandoned(self) -> LiveSession | None:
        """The session whose last viewer left longest ago; one that never had any is not left."""
        latest = clock.monotonic() - self.abandoned_seconds
        left = [s for s in self.all() if s.abandoned and s.last_used <= latest]
        return min(left, key=lambda session: session.last_used, default=None)

    async def _started(self, session: LiveSession) -> None:
        if not self.ready:
            await self._wait_warm()
        await session.start()

    async def _wait_warm(self) -> None:
        try:
            async with asyncio.timeout(self._policy.watch.start):
                await self.warm()
        except TimeoutError as error:
            detail = "The compiled kernels are still being prepared; try again soon."
            raise ServiceError(ErrorCode.WARMING_UP, detail, retry_after_s=10) from error

    async def _until_warm(self) -> float:
        """Prove with a worker that the kernels are loaded, until one is; seconds that took."""
        pause = LEAST_PAUSE_SECONDS
        while True:
            try:
                seconds = await asyncio.to_thread(
                    self._launcher.warm, WORKER, self._limits, self._closing.is_set
                )
            except RuntimeError as error:
                log.error("%s; next try in %.1f s", error, pause)
                await asyncio.sleep(pause)
                pause = min(2.0 * pause, MOST_PAUSE_SECONDS)
            else:
                log.info("kernels loaded in %.2f s", seconds)
                return seconds

    async def _end(self, session: LiveSession, reason: str) -> None:
        self._sessions.pop(session.id, None)
        self._closed[session.id] = reason
        while len(self._closed) > KEEP_CLOSED:
            del self._closed[next(iter(self._closed))]
        await session.close(reason)

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, self.idle_seconds / 4))
            now = clock.monotonic()
            for session in self.all():
                idle = len(session.fanout) == 0 and session.phase is not Phase.STARTING
                if idle and now - session.last_used > self.idle_seconds:
                    log.info("session %s: idle for %g s", session.id, self.idle_seconds)
                    await self._end(session, f"nobody used it for {self.idle_seconds:g} s")
