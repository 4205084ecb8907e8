"""One live session: decisions from `states.py`, performed on a worker, viewers and history."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.worker import Hello, Worker
from cardan.service.sessions import messages, states
from cardan.service.sessions.control import Control
from cardan.service.sessions.folder import About, SessionFolder
from cardan.service.sessions.hand import Hand
from cardan.service.sessions.history import History, check_step
from cardan.service.sessions.log import QUERIES, UNANNOUNCED, CommandLog, LoggedCommand
from cardan.service.sessions.messages import Command, Message, Result
from cardan.service.sessions.metering import SessionMeter
from cardan.service.sessions.plan import Pending, Policy, Progress, blame
from cardan.service.sessions.session_spans import SessionSpans
from cardan.service.sessions.snapshots import Snapshot, Snapshots
from cardan.service.sessions.states import Phase
from cardan.service.sessions.supervisor import Supervisor
from cardan.service.streams import codec
from cardan.service.streams.fanout import Fanout
from cardan.service.streams.viewer import Viewer

log = logging.getLogger("cardan.sessions")

MAX_PENDING = 1024


class LiveSession:
    """A session of the API. All methods belong to the event loop's thread."""

    def __init__(
        self, folder: SessionFolder, about: About, policy: Policy, start: Callable[[], Worker]
    ) -> None:
        """Prepare a session whose folder is made; nothing runs before `start` or `open`."""
        self.folder = folder
        self.about = about
        self.id = about.id
        self.created_at = about.created_at
        self.last_used = clock.monotonic()
        self.progress = Progress(
            speed=about.speed, time_step=about.time_step, total_steps=about.total_steps
        )
        self.history = History(policy.ring_bytes)
        self.fanout = Fanout(self._want)
        self.log = CommandLog()
        self.control = Control(self._steered)
        self.snapshots = Snapshots(folder.path / "snapshots")
        self._policy = policy
        self._machine = states.Session(max_restarts=policy.max_restarts)
        self._seen = (0, 0)
        self._meter = SessionMeter(policy.meter, self)
        self._supervisor = Supervisor(start, policy.watch, self)
        self._spans = SessionSpans(self.id)
        self._pending: dict[int, Pending] = {}
        self._number = 0
        self._sequence = 0
        self._hand = Hand(self)
        self._worker_ready = False
        self._phase_changed = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None

    @staticmethod
    def stored(folder: SessionFolder, policy: Policy, start: Callable[[], Worker]) -> "LiveSession":
        """The session of a folder that an earlier service left. Raises FolderError."""
        session = LiveSession(folder, folder.about(), policy, start)
        folder.scene()
        session.log = CommandLog(folder.log())
        session._number = session.log.last_number
        epoch = session.progress.read(folder, session.log)
        if session.log.hand is not None:
            session._hand.is_of_one_who_left(session.log.hand)
        session._machine = replace(session._machine, phase=Phase.STORED, epoch=epoch)
        return session

    @property
    def name(self) -> str:
        """Title."""
        return self.about.name

    def change_about(self, **values: Any) -> None:
        """Change what is known of the session, also in its folder."""
        changed = replace(self.about, **values)
        if changed == self.about:
            return
        self.about = changed
        try:
            self.folder.write_about(changed)
        except OSError as error:
            log.error("session %s: session.json was not written: %s", self.id, error)

    @property
    def phase(self) -> Phase:
        """The `state` of the API."""
        return self._machine.phase

    @property
    def epoch(self) -> int:
        """Incremented by reset and restore."""
        return self._machine.epoch

    @property
    def failure(self) -> dict[str, Any] | None:
        """Why the session failed."""
        return self._machine.failure

    @property
    def restarts(self) -> int:
        """Workers lost since the session last ran for a while without a loss."""
        return self._machine.restarts

    @property
    def sequence(self) -> int:
        """Number of the newest frame."""
        return self._sequence

    @property
    def abandoned(self) -> bool:
        """Whether there were viewers and all have left."""
        return self.about.watched and len(self.fanout) == 0

    @property
    def has_worker(self) -> bool:
        """Whether commands will be done."""
        return self._machine.has_worker

    @property
    def grabs_under_way(self) -> list[Viewer | None]:
        """Viewers whose grabs have no answer yet, in the order in which they came."""
        return [one.viewer for one in self._pending.values() if one.command.op == "grab"]

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, for operators and tests."""
        return self._supervisor.pid

    def touch(self) -> None:
        """Restart the idle time."""
        self.last_used = clock.monotonic()

    async def start(self) -> None:
        """Start the worker and wait until the scene is built. Raises ServiceError."""
        self._handle(states.StartRequested())
        while self.phase is Phase.STARTING:
            await self._phase_changed.wait()
        states.check_started(self._machine)

    async def open(self) -> None:
        """Continue a stored session until it is where it was; one that begins is awaited."""
        self.touch()
        self._handle(states.OpenRequested())
        fresh = self.progress.started_in == 0.0
        while fresh and self.phase in states.BEGINNING:
            await self._phase_changed.wait()

    async def close(self, reason: str) -> None:
        """End the session and remove its folder; returns when its process is gone."""
        self._handle(states.CloseRequested(reason))
        await self._stopped()
        await asyncio.to_thread(self.folder.remove)

    async def store(self, reason: str) -> None:
        """End the process and keep the folder."""
        self._handle(states.StoreRequested(reason))
        await self._stopped()

    async def _stopped(self) -> None:
        if self._stopping is not None:
            await asyncio.shield(self._stopping)

    @property
    def kept_history(self) -> dict[str, int]:
        """First and last step that can be shown, and the largest gap between two kept frames."""
        first, last = self.progress.first_step, self.progress.step
        return {"from_step": first, "to_step": last, "spacing": self.history.spacing(first)}

    def check_step(self, step: int) -> None:
        """Refuse a step outside of the history. Raises ServiceError."""
        check_step(step, self.progress.first_step, self.progress.step)

    def submit(
        self, op: str, arguments: dict[str, Any], *, viewer: Viewer | None = None, body: bytes = b""
    ) -> asyncio.Future[Result]:
        """Hand a command to the worker, after all earlier ones; its result comes later.

        Raises ServiceError when the session cannot take it now, and what the meter raises.
        """
        self.touch()
        refused = states.refusal(self._machine, op)
        if refused is not None:
            raise ServiceError(*refused)
        if len(self._pending) >= MAX_PENDING and op != "release":
            detail = f"{MAX_PENDING} commands of this session wait for their result."
            raise ServiceError(ErrorCode.TOO_MANY_COMMANDS, detail)
        self._meter.check(op)
        self._handle(states.OpenRequested())
        answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if self._hand.is_empty_for(viewer, op):
            answer.set_result(self.progress.nothing_done())
            return answer
        self._number += 1
        command = Command(self._number, op, arguments, body, viewer.client_id if viewer else None)
        self._pending[self._number] = Pending(command, answer, viewer, self._spans.command(op))
        if self._worker_ready:
            self._supervisor.send(command)
        return answer

    async def command(
        self,
        op: str,
        arguments: dict[str, Any] | None = None,
        *,
        client_id: str | None = None,
        body: bytes = b"",
    ) -> Result:
        """Do a command and wait for its result. Raises ServiceError, also if another one steers."""
        if op not in QUERIES:
            self.control.check(client_id)
        result = await self.submit(op, arguments or {}, body=body)
        if result.problem is not None:
            raise ServiceError.of(result.problem)
        return result

    async def snapshot(self) -> Snapshot:
        """Store the current state under an id."""
        result = await self.command("snapshot")
        state_hash = str((result.value or {})["state_hash"])
        moment = (self.epoch, result.step, result.time)
        return await asyncio.to_thread(self.snapshots.keep, moment, state_hash, result.body)

    def join(self, viewer: Viewer) -> None:
        """A viewer is connected."""
        self.touch()
        self.change_about(watched=True)
        self.fanout.add(viewer)

    def leave(self, viewer: Viewer) -> None:
        """A viewer has disconnected; release its grab, and its control."""
        self.touch()
        self.fanout.remove(viewer)
        if all(one.client_id != viewer.client_id for one in self.fanout):
            self.control.release(viewer.client_id)
        self._hand.let_go()

    def _steered(self, holder: str | None) -> None:
        self._announce("control", {"client_id": holder})
        self._hand.let_go()

    def on_message(self, message: Message) -> None:
        """The worker sent a message."""
        self._spans.hear(message, self._supervisor.pid)
        match message:
            case messages.Frame(body):
                self._on_frame(body)
            case messages.Heartbeat(epoch, step, time, factor):
                self.progress.real_time_factor = factor
                self._on_progress(epoch, step, time)
                if self._pending:
                    self.touch()
            case messages.Result():
                self._on_result(message)
            case messages.Accepted():
                self._on_accepted(message)
            case messages.Status():
                self._on_status(message)
            case messages.Ready():
                self._on_ready(message)
            case messages.Refused(problem):
                self._handle(states.SceneRefused(problem))
            case _ if not isinstance(message, Hello):
                log.error("session %s: a worker sent %s", self.id, type(message).__name__)

    def on_lost(self, reason: str) -> None:
        """The worker is gone."""
        log.warning("session %s: worker lost: %s", self.id, reason)
        blamed = blame(self._pending.values(), ready=self._worker_ready)
        self._worker_ready = False
        self._spans.lost()
        self._handle(states.WorkerDied(reason, self.progress.step, blamed))

    def on_stable(self) -> None:
        """The worker has run for a while."""
        self._handle(states.WorkerStable())

    def _on_ready(self, ready: messages.Ready) -> None:
        progress = self.progress
        progress.body_names, progress.joint_names = ready.body_names, ready.joint_names
        progress.time_step, progress.total_steps = ready.time_step, ready.total_steps
        progress.started_in = ready.seconds
        self.change_about(time_step=ready.time_step, total_steps=ready.total_steps)
        self._worker_ready = True
        self._wake()
        self._supervisor.send(messages.SetChannels(sorted(self.fanout.channels)))
        self._handle(states.WorkerReady())

    def _on_progress(self, epoch: int, step: int, time: float) -> None:
        seen, self._seen = self._seen, max(self._seen, (epoch, step))
        if epoch == seen[0] and step > seen[1]:
            self._meter.spend(step - seen[1])
        self.progress.step, self.progress.time = step, time

    def _on_frame(self, body: bytes) -> None:
        self._sequence += 1
        frame = codec.split(body).numbered(self._sequence)
        self._on_progress(frame.header.epoch, frame.step, frame.header.time)
        self.history.add(frame)
        self.fanout.publish(frame)

    def _on_status(self, status: messages.Status) -> None:
        self.progress.speed = status.speed
        self.progress.first_step = status.first_step
        self._on_progress(status.epoch, status.step, status.time)
        self._handle(states.PhaseReported(Phase(status.phase), status.epoch, status.failure))

    def _on_accepted(self, accepted: messages.Accepted) -> None:
        pending = self._pending.get(accepted.number)
        if pending is not None and not pending.accepted:
            pending.accepted, pending.taken_at = True, accepted.taken_at
            self._note(pending, accepted.step)

    def _on_result(self, result: Result) -> None:
        pending = self._pending.pop(result.number, None)
        if pending is None:
            return
        self._on_progress(self.epoch, result.step, result.time)
        op = pending.command.op
        if result.problem is None and op not in QUERIES and not pending.accepted:
            self._note(pending, result.applied_step)
        pending.settle(result)
        self._hand.let_go()

    def _note(self, pending: Pending, step: int) -> None:
        """Log a command that took effect, and tell the viewers."""
        command, client_id = pending.command, pending.command.client_id
        number, op, arguments = command.number, command.op, command.arguments
        self.log.add(LoggedCommand(number, self.epoch, step, op, arguments, client_id))
        if op not in UNANNOUNCED:
            told = {"command": op, "arguments": arguments, "client_id": client_id}
            self._announce("command", {**told, "applied_step": step})
        self._hand.note(op, pending.viewer)

    def _want(self, channels: frozenset[str]) -> None:
        if self._worker_ready:
            self._supervisor.send(messages.SetChannels(sorted(channels)))

    def _handle(self, event: states.Event) -> None:
        before = self._machine.phase
        self._machine, effects = states.decide(self._machine, event)
        for effect in effects:
            self._perform(effect)
        if self._machine.phase is not before:
            self._wake()

    def _wake(self) -> None:
        """Whoever waits for a change looks again."""
        self._phase_changed.set()
        self._phase_changed = asyncio.Event()

    def _perform(self, effect: states.Effect) -> None:
        match effect:
            case states.SpawnWorker(resume, fatal):
                self._spans.begin(resume)
                newest = self.history.newest
                told = (newest.header.epoch, newest.step) if newest is not None else self._seen
                channels = self.fanout.channels
                start = self._policy.start(self.folder, self.about, self._seen, channels, told)
                self._supervisor.spawn(replace(start, fatal=fatal))
                self._hand.let_go()
            case states.StopWorker():
                self._spans.lost()
                self._worker_ready = False
                if self._stopping is None:
                    self._stopping = asyncio.create_task(self._supervisor.stop())
            case states.SendPending():
                for pending in self._pending.values():
                    if not pending.accepted:
                        self._supervisor.send(pending.command)
            case states.FailPending(code, detail):
                self._fail_pending(code, detail)
            case states.Announce(kind, data):
                self._announce(kind, data)
            case states.Disconnect(reason):
                self.fanout.close(1001, reason)

    def _fail_pending(self, code: ErrorCode, detail: str) -> None:
        waiting, self._pending = self._pending, {}
        for pending in waiting.values():
            pending.refuse(ServiceError(code, detail), self.progress)

    def _announce(self, kind: str, data: dict[str, Any]) -> None:
        moment = {"step": self.progress.step, "time": self.progress.time}
        extra = {"speed": self.progress.speed} if kind == "state" else {}
        self.fanout.announce(kind, self.epoch, self._sequence, {**moment, **extra, **data})
