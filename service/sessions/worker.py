"""The worker process: receive commands, advance the simulation in real time, report events.

One thread, one loop. The loop waits on the socket until the next frame is due, so a command is
received at once; one call into the engine takes about 4 ms, so commands are received between.
"""

import contextlib
import logging
import time
from pathlib import Path
from typing import Any

from cardan.engine import SceneError
from cardan.service import clock
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import Channel, ProtocolError
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop, next_task
from cardan.service.sessions import frames
from cardan.service.sessions.folder import FolderError, KeyFrame, LogWriter, SessionFolder
from cardan.service.sessions.key_frames import KeyFrames
from cardan.service.sessions.live_run import LiveRun, too_large, without_series
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import (
    Accepted,
    Command,
    Frame,
    Heartbeat,
    Message,
    Prepare,
    Ready,
    Refused,
    Result,
    SetChannels,
    Start,
    Status,
)
from cardan.service.sessions.queries import QUERIES
from cardan.service.sessions.rehearsal import rehearse

log = logging.getLogger("cardan.worker")

FRAME_SECONDS = 1.0 / 60.0
REWINDS = frozenset({"reset", "restore"})
# the largest part of the time that writing key frames may take
KEY_FRAME_SHARE = 0.05
# these do not change the simulation, so they may be interrupted
QUESTIONS = frozenset({"state", "summary", "snapshot", *QUERIES})
RESTARTING_CLOCK = REWINDS | {"resume", "speed"}


class AbandonedError(Exception):
    """A command has left the simulation half changed: a successor goes on from what is kept."""


def main(channel: Channel, _limits: WorkerLimits) -> None:
    """Serve one session until a stop command or until the connection closes."""
    start = next_task(channel)
    if isinstance(start, Prepare):
        rehearse()
        start = next_task(channel)
    if not isinstance(start, Start):
        return
    began = time.monotonic()
    try:
        _serve(channel, start, began)
    except MemoryError:
        # a successor would need as much
        channel.send(Refused(too_large("The scene")))
    except AbandonedError as error:
        log.error("%s", error)


def _serve(channel: Channel, start: Start, began: float) -> None:
    folder = SessionFolder(Path(start.folder))
    try:
        key = _latest_key(folder)
        run = LiveRun(folder.scene(), start.run, key)
        loop = Loop(channel, run, start)
        inside = key.logged if key else 0
        # the last of those that are inside may be one that was not answered
        entries = folder.log(max(0, inside - 1))
    except SceneError as error:
        faults = [fault.model_dump() for fault in error.errors]
        refused = ServiceError(ErrorCode.SCENE_INVALID, faults[0]["message"], errors=faults)
        channel.send(Refused(refused.problem))
        return
    except (FolderError, ValueError) as error:
        detail = f"The session cannot go on: {error}."
        channel.send(Refused(ServiceError(ErrorCode.SESSION_UNUSABLE, detail).problem))
        return
    except OSError as error:
        detail = f"The folder of the session cannot be used: {error.strerror or error}."
        channel.send(Refused(ServiceError(ErrorCode.STORAGE_FAILED, detail).problem))
        return
    simulation = run.simulation
    channel.send(
        Ready(
            list(simulation.body_names),
            list(simulation.joint_names),
            simulation.time_step,
            simulation.total_steps,
            time.monotonic() - began,
        )
    )
    loop.catch_up(entries, min(inside, 1), start)
    loop.serve()


def _latest_key(folder: SessionFolder) -> KeyFrame | None:
    """The key frame to go on from; none of a new session. Raises FolderError."""
    key = next(folder.latest_keys(), None)
    if key is None and folder.key_moments():
        raise FolderError("all its key frames are damaged")
    return key


class Loop:
    """The loop of the worker between messages."""

    def __init__(self, channel: Channel, run: LiveRun, start: Start) -> None:
        """Begin with everything due."""
        self._line = channel
        self._run = run
        self._heartbeat_seconds = start.heartbeat_seconds
        self._snapshot_seconds = start.snapshot_seconds
        self._channels = frozenset(start.channels)
        self._stopped = False
        self._told_phase: tuple[Any, ...] = ()
        self._told_frame: tuple[Any, ...] = ()
        folder = SessionFolder(Path(start.folder))
        self._log = LogWriter(folder)
        self._keys = KeyFrames(folder, start.history_bytes)
        self._kept: tuple[int, int, int] | None = None
        self._repeated: LoggedCommand | None = None
        self._fatal = start.fatal
        self._seen = max(start.seen, folder.seen())
        now = time.monotonic()
        self._next_frame = now
        self._next_heartbeat = now
        self._next_checkpoint = now + start.snapshot_seconds
        self._beat_time, self._beat_at = run.simulation.time, now
        self._taken_at = 0.0
        self.real_time_factor = 0.0

    def catch_up(self, entries: list[LoggedCommand], inside: int, start: Start) -> None:
        """Repeat what the log says since the key frame, and go to the last step that was seen.

        The first entries are `inside` the key frame. What happens on the way, and no frame has told
        of yet, goes with the next one.
        """
        run, seen = self._run, self._seen
        run.watch_events("events" in self._channels)
        if len(entries) > inside and entries[-1].number == start.fatal:
            self._log.withdraw()
            del entries[-1]
        for place, entry in enumerate(entries):
            if entry.epoch == run.epoch and self._repeats(entry, inside=place < inside):
                self._repeated = entry
        if entries and entries[-1].epoch > run.epoch:
            # its epoch has not begun: whoever waits for it asks again
            self._log.withdraw()
        if seen[0] == run.epoch:
            self._recompute(seen[1])
        if start.told[0] == run.epoch:
            run.simulation.forget_events(start.told[1])
        first = self._keys.first_step
        if first is None:
            self._keep_key_frame()
        else:
            run.first_step = first

    def _repeats(self, entry: LoggedCommand, *, inside: bool) -> bool:
        """Do a command of the log again, unless it is inside; False: it is none that was done."""
        if inside or entry.op in REWINDS:
            return True
        self._recompute(entry.step)
        try:
            self._run.replay(entry)
        except ServiceError:
            # a predecessor wrote it down, and died before it could withdraw it
            self._log.withdraw()
            return False
        except MemoryError as error:
            raise AbandonedError(f"{entry.op} of the log needs too much memory") from error
        return True

    def serve(self) -> None:
        """Run until a stop command or until the connection closes."""
        self._run.start_clock(time.monotonic())
        more = False
        self._tell(time.monotonic())
        while not self._stopped:
            message = self._line.receive(0.0 if more else self._idle_seconds())
            while message is not None:
                self._hear(message)
                message = self._line.receive(0.0)
            began = time.monotonic()
            done, more = self._run.work(began)
            if done:
                self._run.learn(done, time.monotonic() - began)
            self._tell(time.monotonic())
        self._keep_if_changed()

    def _recompute(self, until: int) -> None:
        while self._run.replay_chunk(until):
            self._beat(time.monotonic())

    def _idle_seconds(self) -> float:
        """Return the time until the next task, without messages."""
        now = time.monotonic()
        due = self._next_heartbeat
        if self._run.phase == "running" or self._frame_key() != self._told_frame:
            due = min(due, self._next_frame)
        return max(0.0, due - now)

    def _hear(self, message: Message) -> None:
        match message:
            case Command():
                self._command(message)
            case SetChannels(channels):
                self._channels = frozenset(channels)
                self._run.watch_events("events" in channels)
                self._told_frame = ()
            case Stop():
                self._stopped = True
            case _:
                raise ProtocolError(f"a worker does not take {type(message).__name__}")

    def _command(self, command: Command) -> None:
        run, number = self._run, command.number
        self._taken_at = clock.now()
        before = run.simulation.step_count
        repeated = self._repeated
        if repeated is not None and repeated.number == number:
            # a predecessor wrote it down, and died before it could answer
            self._accepted(command, repeated.step, None, None, b"")
            return
        problem, value, data = None, None, b""
        try:
            value, data = self._apply(command)
        except ServiceError as refusal:
            problem = refusal.problem
        except MemoryError as error:
            if command.op not in QUESTIONS:
                self._accepted(command, before, None, too_large("The command"), b"")
                raise AbandonedError(f"{command.op} needs too much memory") from error
            problem = too_large("The answer")
        if command.op in RESTARTING_CLOCK:
            run.start_clock(time.monotonic())
        # a successor that begins with the new epoch knows nothing of steps that it interrupted
        self._answers()
        if problem is None and command.op in REWINDS:
            # the key frame is the new epoch, with its line inside, which only tells what happened
            with contextlib.suppress(ServiceError):
                self._write_down(command)
            self._keep_key_frame()
        now = time.monotonic()
        self._phase(now)
        applied = run.simulation.step_count if command.op in REWINDS else before
        self._accepted(command, applied, value, problem, data)
        if command.op in REWINDS:
            # the history of an epoch begins with its first moment, whatever is asked for next
            self._frame(now)

    def _apply(self, command: Command) -> tuple[dict[str, Any] | None, bytes]:
        """Write a command down, then do it. Raises ServiceError, and nothing was written."""
        if command.number == self._fatal:
            detail = f"The workers that did {command.op} were lost; the session goes on without it."
            raise ServiceError(ErrorCode.WORKER_LOST, detail)
        logged = command.op not in QUESTIONS and command.op not in REWINDS
        if logged:
            self._write_down(command)
        try:
            return self._run.apply(command.number, command.op, command.arguments, command.body)
        except (ServiceError, MemoryError):
            if logged:
                self._log.withdraw()
            raise

    def _write_down(self, command: Command) -> None:
        run = self._run
        step = run.simulation.step_count
        entry = LoggedCommand(
            command.number, run.epoch, step, command.op, command.arguments, command.client_id
        )
        try:
            self._log.append(entry)
        except OSError as error:
            detail = f"The log of the session cannot be written: {error.strerror or error}."
            raise ServiceError(ErrorCode.STORAGE_FAILED, detail) from error

    def _accepted(
        self,
        command: Command,
        applied_step: int,
        value: dict[str, Any] | None,
        problem: dict[str, Any] | None,
        data: bytes,
    ) -> None:
        """Answer a command; the result of a `step` follows when its goal is reached."""
        if problem is None and command.op == "step":
            self._line.send(Accepted(command.number, applied_step, self._taken_at))
            return
        simulation = self._run.simulation
        step, at = simulation.step_count, simulation.time
        moment = (applied_step, step, at)
        taken_at = self._taken_at
        self._line.send(Result(command.number, *moment, value, problem, data, taken_at))

    def _tell(self, now: float) -> None:
        self._phase(now)
        self._answers()
        self._frame(now)
        self._beat(now)
        if now >= self._next_checkpoint:
            self._keep_if_changed()
            spent = (time.monotonic() - now) / KEY_FRAME_SHARE
            self._next_checkpoint = now + max(self._snapshot_seconds, spent)

    def _answers(self) -> None:
        while self._run.answers:
            result = self._run.answers.popleft()
            # without room on the disk a successor comes to this step later
            with contextlib.suppress(OSError):
                self._log.note_seen(self._run.epoch, result.step)
            try:
                self._line.send(result)
            except MemoryError:
                self._line.send(without_series(result))

    def _phase(self, now: float) -> None:
        run = self._run
        key = (run.phase, run.epoch, run.speed)
        if key != self._told_phase:
            self._told_phase = key
            self._next_frame = now
            step, at = run.simulation.step_count, run.simulation.time
            self._line.send(
                Status(run.phase, run.epoch, run.first_step, step, at, run.speed, run.failure())
            )

    def _frame(self, now: float) -> None:
        key = self._frame_key()
        if key == self._told_frame or now < self._next_frame or not self._line.can_send():
            return
        self._told_frame = key
        due = self._next_frame + FRAME_SECONDS
        self._next_frame = due if due > now else now + FRAME_SECONDS
        shot = frames.Shot(self._run.epoch, self._run.phase, self.real_time_factor)
        self._line.send(Frame(frames.frame(self._run.simulation, shot, self._channels)))

    def _frame_key(self) -> tuple[Any, ...]:
        run = self._run
        return (run.epoch, run.simulation.step_count, run.phase, run.touched)

    def _beat(self, now: float) -> None:
        if now < self._next_heartbeat:
            return
        simulation = self._run.simulation
        if now > self._beat_at:
            passed = max(0.0, simulation.time - self._beat_time)
            self.real_time_factor = passed / (now - self._beat_at)
        self._beat_time, self._beat_at = simulation.time, now
        self._next_heartbeat = now + self._heartbeat_seconds
        step = simulation.step_count
        beat = Heartbeat(self._run.epoch, step, simulation.time, self.real_time_factor)
        self._line.send(beat)

    def _keep_if_changed(self) -> None:
        run = self._run
        if (run.epoch, run.simulation.step_count, self._log.lines) != self._kept:
            self._keep_key_frame()

    def _keep_key_frame(self) -> None:
        run = self._run
        if not run.can_checkpoint:
            return
        self._kept = (run.epoch, run.simulation.step_count, self._log.lines)
        self._keys.write(run.key_frame(self._log.lines))
