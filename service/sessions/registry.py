"""The sessions: creation within limits, look-up, forks, idle expiry, shutdown and restart."""

import asyncio
import contextlib
import logging
import shutil
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from cardan.service import clock
from cardan.service.errors import ErrorCode, QuotaError, ServiceError
from cardan.service.processes.kernels import Kernels
from cardan.service.processes.launcher import WorkerLauncher
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.spare import SpareWorker
from cardan.service.processes.worker import Worker
from cardan.service.recordings.folder import folder_bytes
from cardan.service.sessions import replay_messages
from cardan.service.sessions.closed import Closed
from cardan.service.sessions.folder import About, FolderError, SessionFolder
from cardan.service.sessions.live_session import LiveSession
from cardan.service.sessions.messages import PlaybackState, Prepare
from cardan.service.sessions.metering import Meter, NoMeter
from cardan.service.sessions.plan import Plan, Policy
from cardan.service.sessions.replayer import Replayers
from cardan.service.sessions.states import Phase
from cardan.service.sessions.supervisor import Watch

log = logging.getLogger("cardan.sessions")

WORKER = "cardan.service.sessions.worker"
REPLAY_WORKER = "cardan.service.sessions.replay_worker"
# niceness of the processes that compute the past
REPLAYS_BEHIND = 10
LEAST_PAUSE_SECONDS = 0.1
MOST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Limits of sessions; times in seconds.

    An unused session ends after `idle_seconds`; one whose viewers have all left may end after
    `abandoned_seconds` already, when another needs its place. One API key has at most
    `sessions_per_key`; 0: any number. `start_method` `None` takes the best one of the platform.
    `ring_bytes` limits the frames of a session in memory, `history_bytes` its
    key frames on the disk.
    """

    idle_seconds: float = 1800.0
    abandoned_seconds: float = 60.0
    max_sessions: int = 16
    sessions_per_key: int = 0
    ring_bytes: int = 64 * 1024**2
    history_bytes: int = 256 * 1024**2
    start_method: str | None = None
    max_restarts: int = 5
    worker_memory_bytes: int = 4 * 1024**3
    threads: int = 1
    watch: Watch = field(default_factory=Watch)


class Sessions:
    """All sessions of a folder: one folder in it for each, and `closed.json`."""

    def __init__(
        self,
        folder: Path,
        options: SessionOptions,
        kernels: Kernels | None = None,
        meter: Meter | None = None,
    ) -> None:
        """Begin without sessions: `start` reads and starts them; processes wait for `kernels`."""
        self._folder = folder
        self._options = options
        self._policy = Policy(
            options.watch,
            options.max_restarts,
            options.ring_bytes,
            options.history_bytes,
            meter or NoMeter(),
        )
        self._launcher = WorkerLauncher(options.start_method, kernels)
        self._limits = WorkerLimits(options.worker_memory_bytes, threads=options.threads)
        self.spare = SpareWorker(self._start_worker, Prepare())
        self._refilling: asyncio.Task[None] | None = None
        self._closing = threading.Event()
        self._sessions: dict[str, LiveSession] = {}
        self._closed = Closed(folder / "closed.json")
        self._replayers = Replayers(self._start_replay_worker)
        self._warm: asyncio.Task[float] | None = None
        self._reaper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether a session can be started at once: the kernels are loaded."""
        warm = self._warm
        return warm is not None and warm.done() and not warm.cancelled() and not warm.exception()

    async def start(self) -> None:
        """Find what an earlier service left, and load the kernels in the background."""
        self._launcher.prepare()
        await asyncio.to_thread(self._find_stored)
        self._warm = asyncio.create_task(self._until_warm())
        self._reaper = asyncio.create_task(self._reap())

    async def warm(self) -> float:
        """Wait until the kernels are loaded; seconds that took. Raises RuntimeError unstarted."""
        if self._warm is None:
            raise RuntimeError("the sessions are not started")
        return await asyncio.shield(self._warm)

    async def close(self) -> None:
        """End every process; the sessions stay in their folders."""
        self._closing.set()
        for task in (self._reaper, self._warm, self._refilling):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, RuntimeError):
                    await task
        sessions, self._sessions = self.all(), {}
        await asyncio.gather(
            asyncio.to_thread(self.spare.close),
            self._replayers.close_all(),
            *(one.store("the service stops") for one in sessions),
        )

    def all(self) -> list[LiveSession]:
        """Every session, oldest first."""
        return list(self._sessions.values())

    def creator(self, session_id: str) -> tuple[bool, str | None]:
        """Whether there is such a session, and the name of the key that made it."""
        session = self._sessions.get(session_id)
        return (False, None) if session is None else (True, session.about.created_by)

    def stored_bytes(self, key: str) -> int:
        """Bytes of the folders of all sessions of an API key."""
        mine = [one.folder.path for one in self.all() if one.about.created_by == key]
        return sum(folder_bytes(path) for path in mine)

    def get(self, session_id: str) -> LiveSession:
        """The session, whose idle time begins anew. Raises ServiceError."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.touch()
            return session
        self._closed.check(session_id)
        detail = f"There is no session {session_id!r}."
        raise ServiceError(ErrorCode.SESSION_NOT_FOUND, detail)

    async def create(self, plan: Plan) -> LiveSession:
        """A new session, its scene built. Raises ServiceError."""
        about = plan.about()
        folder = SessionFolder(self._folder / about.id)
        await self._stored(asyncio.to_thread(folder.create, plan.scene))
        return await self._begin(folder, about)

    async def fork(
        self, source: LiveSession, step: int, plan: Callable[[str], Plan]
    ) -> LiveSession:
        """A new session in the state of a step of another. Raises ServiceError.

        `plan` makes its plan of the scene.
        """
        made = plan(await self.scene(source))
        moment = {"session": source.id, "epoch": source.epoch, "step": step}
        about = made.about(moment)
        folder = SessionFolder(self._folder / about.id)
        try:
            await self._stored(asyncio.to_thread(folder.create, made.scene))
            run = PlaybackState(made.paused, made.speed)
            order = replay_messages.ForkAt(0, source.epoch, step, str(folder.path), run)
            found = await self.past(source, order)
        except BaseException:
            await asyncio.to_thread(folder.remove)
            raise
        about = replace(about, forked_from={**moment, "time": found.time})
        return await self._begin(folder, about)

    async def scene(self, session: LiveSession) -> str:
        """The JSON text of the scene of a session. Raises ServiceError."""
        try:
            return await asyncio.to_thread(session.folder.scene)
        except FolderError as error:
            detail = f"The files of the session are gone or damaged: {error}."
            raise ServiceError(ErrorCode.SESSION_UNUSABLE, detail) from error

    async def past(
        self, session: LiveSession, order: replay_messages.Order
    ) -> replay_messages.Found:
        """The answer to an order about a past step of the session. Raises ServiceError."""
        session.check_step(order.step)
        return await self._replayers.ask(session.id, session.folder.path, order)

    async def _begin(self, folder: SessionFolder, about: About) -> LiveSession:
        """Start the session of a folder with a scene, within the limits. Raises ServiceError."""
        session = LiveSession(folder, about, self._policy, self.spare.take)
        ended = self._room_for(session)
        try:
            if ended is not None:
                log.info("session %s: makes room for %s", ended.id, session.id)
                await self._end(
                    ended, "replaced", "its viewers had left, and another session needed its place"
                )
            await self._stored(asyncio.to_thread(folder.write_about, about))
            await self._started(session)
        except BaseException:
            # who deleted it meanwhile has ended it
            if session.id in self._sessions:
                await self._end(session, "not_started", "it could not be started")
            raise
        return session

    def _room_for(self, session: LiveSession) -> LiveSession | None:
        """Enter a session; return the one that ends for it, if one must. Raises ServiceError."""
        self._check_quota(session)
        ended = None
        if len(self._sessions) >= self._options.max_sessions:
            ended = self._longest_abandoned()
            if ended is None:
                session.folder.remove()
                most = self._options.max_sessions
                detail = f"{most} sessions are alive, and no more are allowed; delete one."
                raise ServiceError(ErrorCode.NO_CAPACITY, detail, retry_after_s=10)
            del self._sessions[ended.id]
        self._sessions[session.id] = session
        return ended

    def _check_quota(self, session: LiveSession) -> None:
        """Raise QuotaError when the key of a session has all the sessions it may have."""
        key, most = session.about.created_by, self._options.sessions_per_key
        if key is None or not most:
            return
        alive = sum(one.about.created_by == key for one in self._sessions.values())
        if alive >= most:
            session.folder.remove()
            raise QuotaError("sessions", "sessions", alive, 1, most)

    async def delete(self, session_id: str, viewer: str | None = None) -> None:
        """End a session; returns when its process is gone. Raises ServiceError.

        With `viewer`, a client id: only when no other viewer is connected.
        """
        session = self.get(session_id)
        others = {one.client_id for one in session.fanout} - {viewer}
        if viewer is not None and others:
            detail = f"Others look at the session {session_id}: {len(others)}."
            raise ServiceError(ErrorCode.SESSION_IN_USE, detail)
        await self._end(session, "deleted", "it was deleted")

    def _start_worker(self) -> Worker:
        return self._launcher.start(WORKER, self._limits)

    def _start_replay_worker(self) -> Worker:
        return self._launcher.start(REPLAY_WORKER, replace(self._limits, nice=REPLAYS_BEHIND))

    def _longest_abandoned(self) -> LiveSession | None:
        """The session whose last viewer left longest ago; one that never had any is not left."""
        latest = clock.monotonic() - self._options.abandoned_seconds
        left = [s for s in self.all() if s.abandoned and s.last_used <= latest]
        return min(left, key=lambda session: session.last_used, default=None)

    async def _started(self, session: LiveSession) -> None:
        if not self.ready:
            await self._wait_warm()
        await session.start()
        self._refill()

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
                self._refill()
                return seconds

    def _refill(self) -> None:
        """Start the next spare worker in the background."""
        if self._refilling is None or self._refilling.done():
            self._refilling = asyncio.create_task(asyncio.to_thread(self.spare.refill))

    async def _end(self, session: LiveSession, reason: str, detail: str) -> None:
        self._sessions.pop(session.id, None)
        self._closed.add(session.id, reason, detail)
        await self._replayers.close(session.id)
        await session.close(detail)

    @staticmethod
    async def _stored(writing: Awaitable[None]) -> None:
        """Write into a folder. Raises ServiceError."""
        try:
            await writing
        except OSError as error:
            detail = f"The session cannot be stored: {error.strerror or error}."
            raise ServiceError(ErrorCode.STORAGE_FAILED, detail) from error

    def _find_stored(self) -> None:
        """Take the sessions of an earlier service; what is no session is removed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        found = []
        for path in self._folder.iterdir():
            if not path.is_dir():
                continue
            folder = SessionFolder(path)
            if not folder.is_begun:
                shutil.rmtree(path, ignore_errors=True)
                continue
            try:
                found.append(LiveSession.stored(folder, self._policy, self.spare.take))
            except (FolderError, OSError) as error:
                log.error("session %s is lost: %s", path.name, error)
                # its folder stays, for whoever can mend it
                self._closed.add(path.name, "damaged", str(error))
        found.sort(key=lambda session: session.created_at)
        self._sessions = {session.id: session for session in found}

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, self._options.idle_seconds / 4))
            now = clock.monotonic()
            for session in self.all():
                idle = len(session.fanout) == 0 and session.phase is not Phase.STARTING
                if idle and now - session.last_used > self._options.idle_seconds:
                    log.info("session %s: idle for %g s", session.id, self._options.idle_seconds)
                    detail = f"nobody used it for {self._options.idle_seconds:g} s"
                    await self._end(session, "idle", detail)
