"""The worker process: receive commands, advance the simulation in real time, report events.

One thread, one loop. The loop waits on the socket until the next frame is due, so a command is
received at once; one call into the engine takes about 4 ms, so commands are received between.
"""

import logging
import time
from typing import Any

from cardan.engine import SceneError
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.processes.channel import Channel, ProtocolError
from cardan.service.processes.limits import WorkerLimits
from cardan.service.processes.worker import Stop
from cardan.service.sessions import frames
from cardan.service.sessions.live_run import LiveRun
from cardan.service.sessions.messages import (
    Accepted,
    Checkpoint,
    Command,
    Frame,
    Heartbeat,
    Message,
    Ready,
    Refused,
    Result,
    SetChannels,
    Start,
    Status,
)
from cardan.service.sessions.queries import QUERIES

log = logging.getLogger("cardan.worker")

FRAME_SECONDS = 1.0 / 60.0
REWINDS = frozenset({"reset", "restore"})
# these do not change the simulation, so they may be interrupted
QUESTIONS = frozenset({"state", "summary", "snapshot", *QUERIES})
RESTARTING_CLOCK = REWINDS | {"resume", "speed"}


def main(channel: Channel, _limits: WorkerLimits) -> None:
    """Serve one session until a stop command or until the connection closes."""
    began = time.monotonic()
    start = channel.receive()
    if not isinstance(start, Start):
        return
    try:
        _serve(channel, start, began)
    except MemoryError:
        # a successor would need as much
        channel.send(Refused(_too_large("The scene")))


def _serve(channel: Channel, start: Start, began: float) -> None:
    try:
        run = LiveRun(start.scene, start.run, start.body)
    except SceneError as error:
        faults = [fault.model_dump() for fault in error.errors]
        refused = ServiceError(ErrorCode.SCENE_INVALID, faults[0]["message"], errors=faults)
        channel.send(Refused(refused.problem))
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
    loop = Loop(channel, run, start)
    loop.catch_up(start)
    loop.serve()


def _too_large(what: str) -> dict[str, Any]:
    """Return the problem of a scene that exceeds the memory of this process."""
    detail = f"{what} needs more memory than a worker may use."
    hint = "Use fewer bodies or coarser shapes, or allow more: CARDAN_WORKER_MEMORY_BYTES."
    fault = {"pointer": "", "code": "too_large", "message": detail, "got": None, "hint": hint}
    return ServiceError(ErrorCode.SCENE_TOO_LARGE, detail, errors=[fault]).problem


class Loop:
    """The loop of the worker between messages."""

    def __init__(self, channel: Channel, run: LiveRun, start: Start) -> None:
        """Begin with everything due."""
        self._line = channel
        self._run = run
        self._heartbeat_seconds = start.heartbeat_seconds
        self._snapshot_seconds = start.snapshot_seconds
        self._channels: frozenset[str] = frozenset()
        self._stopped = False
        self._told_phase: tuple[Any, ...] = ()
        self._told_frame: tuple[Any, ...] = ()
        self._told_checkpoint = (start.run.epoch, run.simulation.step_count, 0)
        now = time.monotonic()
        self._next_frame = now
        self._next_heartbeat = now
        self._next_checkpoint = now + start.snapshot_seconds
        self._beat_time, self._beat_at = run.simulation.time, now
        self.real_time_factor = 0.0

    def catch_up(self, start: Start) -> None:
        """Replay the log of a lost predecessor up to the last step that was seen of it."""
        for entry in start.replay:
            self._recompute(entry.step)
            self._run.replay(entry)
        self._recompute(start.until_step)

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
        before = run.simulation.step_count
        problem, value, data = None, None, b""
        try:
            value, data = run.apply(number, command.op, command.arguments, command.body)
        except ServiceError as refusal:
            problem = refusal.problem
        except MemoryError:
            if command.op not in QUESTIONS:
                raise
            problem = _too_large("The answer")
        if command.op in RESTARTING_CLOCK:
            run.start_clock(time.monotonic())
        if problem is None and command.op in REWINDS:
            self._checkpoint()
        self._answers()
        now = time.monotonic()
        self._phase(now)
        if problem is None and command.op == "step":
            self._line.send(Accepted(number, before))
            return
        step, at = run.simulation.step_count, run.simulation.time
        applied = step if command.op in REWINDS else before
        self._line.send(Result(number, applied, step, at, value, problem, data))
        if command.op in REWINDS:
            # the history of an epoch begins with its first moment, whatever is asked for next
            self._frame(now)

    def _tell(self, now: float) -> None:
        self._phase(now)
        self._answers()
        self._frame(now)
        self._beat(now)
        if now >= self._next_checkpoint:
            self._next_checkpoint = now + self._snapshot_seconds
            self._periodic_checkpoint()

    def _answers(self) -> None:
        while self._run.answers:
            self._line.send(self._run.answers.popleft())

    def _phase(self, now: float) -> None:
        run = self._run
        key = (run.phase, run.epoch, run.speed)
        if key != self._told_phase:
            self._told_phase = key
            self._next_frame = now
            step, at = run.simulation.step_count, run.simulation.time
            self._line.send(Status(run.phase, run.epoch, step, at, run.speed, run.failure()))

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

    def _periodic_checkpoint(self) -> None:
        run = self._run
        key = (run.epoch, run.simulation.step_count, run.touched)
        if key != self._told_checkpoint and run.can_checkpoint:
            self._checkpoint()

    def _checkpoint(self) -> None:
        run = self._run
        self._told_checkpoint = (run.epoch, run.simulation.step_count, run.touched)
        step, at = run.simulation.step_count, run.simulation.time
        self._line.send(Checkpoint(step, at, run.state(), run.simulation.snapshot()))
