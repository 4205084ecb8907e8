"""One live simulation in real time: commands in, steps, results out.

Sockets and processes belong to `worker.py`. Everything that influences the physics is
either in the engine's snapshot or in the `PlaybackState`, and commands take effect between two
steps, so a successor that replays the log from a snapshot computes the same numbers.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cardan.engine import Simulation
from cardan.schemas import Scene
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.sessions import frames
from cardan.service.sessions.commands import COMMANDS, apply_command
from cardan.service.sessions.folder import KeyFrame
from cardan.service.sessions.log import LoggedCommand
from cardan.service.sessions.messages import PlaybackState, Result
from cardan.service.sessions.pacing import Pacer
from cardan.service.sessions.queries import QUERIES, answer_query


@dataclass(slots=True)
class PendingSteps:
    """An unfinished `step`: run to the step `target`, note a sample every `sample_every` steps."""

    number: int
    start: int
    target: int
    sample_every: int | None = None
    samples: list[dict[str, Any]] = field(default_factory=list)
    is_series_lost: bool = False

    def next_stop(self, step: int) -> int:
        """The next step at which there is something to do."""
        if self.sample_every is None:
            return self.target
        done = (step - self.start) // self.sample_every + 1
        return min(self.target, self.start + done * self.sample_every)


def too_large(what: str) -> dict[str, Any]:
    """Return the problem of what exceeds the memory of this process."""
    detail = f"{what} needs more memory than a worker may use."
    hint = "Use fewer bodies or coarser shapes, or allow more: CARDAN_WORKER_MEMORY_BYTES."
    fault = {"pointer": "", "code": "too_large", "message": detail, "got": None, "hint": hint}
    return ServiceError(ErrorCode.SCENE_TOO_LARGE, detail, errors=[fault]).problem


def without_series(result: Result) -> Result:
    """Return the answer to a `step` whose series does not fit into memory; the steps are done."""
    detail = "The series needs more memory than a worker may use; the steps were done without it."
    hint = "Take fewer steps at once, or a larger sample_every."
    fault = {"pointer": "/sample_every", "code": "too_large", "message": detail, "hint": hint}
    error = ServiceError(ErrorCode.SCENE_TOO_LARGE, detail, errors=[fault | {"got": None}])
    return replace(result, value=None, problem=error.problem)


class LiveRun:
    """The simulation of a session inside its worker."""

    def __init__(self, scene: str, run: PlaybackState, key: KeyFrame | None) -> None:
        """Build the scene, and go on from the key frame if there is one.

        Raises SceneError, and ValueError when another scene or engine wrote the key frame.
        """
        self.simulation = Simulation(Scene.model_validate_json(scene))
        self._initial = self.simulation.snapshot()
        if key is not None:
            self.simulation.restore(key.snapshot)
            run = key.run
        self.paused = run.paused
        self.speed = run.speed
        self.epoch = run.epoch
        self.first_step = self.simulation.step_count
        self.touched = 0
        self.answers: deque[Result] = deque()
        self._pending_steps = deque(PendingSteps(**pending) for pending in run.pending_steps)
        self._pacer = Pacer(self.simulation.time_step)

    @property
    def phase(self) -> str:
        """Running, paused, finished or failed."""
        if self.simulation.failure is not None:
            return "failed"
        if self.simulation.step_count >= self.simulation.total_steps:
            return "finished"
        return "paused" if self.paused else "running"

    @property
    def busy(self) -> bool:
        """Whether steps follow without waiting for the clock."""
        moving = self.phase in ("running", "paused")
        return moving and (bool(self._pending_steps) or (not self.paused and self.speed is None))

    @property
    def can_checkpoint(self) -> bool:
        """Whether a successor could resume here: samples already noted would be lost.

        A failure is not part of a snapshot; a successor meets it again.
        """
        noted = any(pending.samples for pending in self._pending_steps)
        return self.simulation.failure is None and not noted

    def state(self) -> PlaybackState:
        """Return the part of a key frame that is not in the engine's snapshot."""
        pending_steps = [asdict(pending) for pending in self._pending_steps]
        return PlaybackState(
            paused=self.paused, speed=self.speed, epoch=self.epoch, pending_steps=pending_steps
        )

    def watch_events(self, on: bool) -> None:
        """Collect contact events for the frames, or stop collecting."""
        self.simulation.watch_events(on)
        if not on:
            self.simulation.events()

    def failure(self) -> dict[str, Any] | None:
        """Where and why the simulation failed."""
        failure = self.simulation.failure
        if failure is None:
            return None
        names = ("step", "time", "body", "quantity", "message")
        return {"code": "engine_diverged", **{name: getattr(failure, name) for name in names}}

    def start_clock(self, now: float) -> None:
        """Let simulated time follow the wall clock from the moment `now` on."""
        self._pacer.restart(now, self.simulation.step_count, self.speed)

    def apply(
        self, number: int, op: str, arguments: dict[str, Any], body: bytes
    ) -> tuple[dict[str, Any] | None, bytes]:
        """Apply a command between two steps; return its value and bytes. Raises ServiceError."""
        if op in COMMANDS:
            apply_command(self.simulation, op, arguments)
            self.touched += 1
            return None, b""
        if op in QUERIES:
            return answer_query(self.simulation, op, arguments), b""
        value: dict[str, Any] | None = None
        data = b""
        match op:
            case "pause":
                self._drop_pending("paused")
                self.paused = True
            case "resume":
                self._drop_pending("resumed")
                self.paused = False
            case "speed":
                self.speed = arguments["factor"]
            case "step":
                self._add_pending(number, **arguments)
            case "reset":
                self._reset(arguments.get("q") or {}, arguments.get("qd") or {})
            case "restore":
                self._restore(body, let_go=arguments.get("let_go", False))
            case "snapshot":
                data = self.simulation.snapshot()
                value = {"state_hash": self.simulation.state_hash()}
            case "state":
                value = frames.describe(self.simulation)
            case "summary":
                value = frames.plain(self.simulation.summary())
            case _:
                raise ServiceError(ErrorCode.UNKNOWN_OP, f"There is no command {op!r}.")
        return value, data

    def work(self, now: float) -> tuple[int, bool]:
        """Do the steps that are due; return their number, and whether more are already due."""
        if self.phase not in ("running", "paused"):
            return 0, False
        step = self.simulation.step_count
        if self._pending_steps:
            wanted = self._pending_steps[0].next_stop(step) - step
        elif self.paused:
            return 0, False
        else:
            wanted = self._pacer.due(now, step)
        done = self._advance(min(wanted, self._pacer.chunk))
        return done, self.busy or done >= self._pacer.chunk

    def learn(self, steps: int, seconds: float) -> None:
        """Record the cost of the last steps, for the size of the next chunk."""
        self._pacer.learn(steps, seconds)

    def replay_chunk(self, until: int) -> bool:
        """Recompute towards the step `until`; return whether more remains."""
        step = self.simulation.step_count
        if step >= until or self.phase in ("finished", "failed"):
            return False
        stop = min(until, self._pending_steps[0].next_stop(step)) if self._pending_steps else until
        done = self._advance(min(stop - step, self._pacer.chunk))
        return done > 0

    def replay(self, entry: LoggedCommand) -> None:
        """Apply a logged command again; it was accepted before, so it is valid."""
        self.apply(entry.number, entry.op, entry.arguments, b"")

    def key_frame(self, logged: int) -> KeyFrame:
        """The present moment, with so many lines of the log inside."""
        simulation = self.simulation
        snapshot = simulation.snapshot()
        return KeyFrame(simulation.step_count, simulation.time, self.state(), logged, snapshot)

    def _advance(self, steps: int) -> int:
        left = self.simulation.total_steps - self.simulation.step_count
        done = self.simulation.advance(max(0, min(steps, left)))
        self._settle()
        if self.phase not in ("running", "paused"):
            self._drop_pending(self.phase)
        return done

    def _settle(self) -> None:
        """Record a due sample; send the results of completed `step` commands."""
        step = self.simulation.step_count
        while self._pending_steps:
            pending = self._pending_steps[0]
            noted = pending.samples[-1]["step"] if pending.samples else pending.start
            every = pending.sample_every
            due = every is not None and (
                (step - pending.start) % every == 0 or step == pending.target
            )
            if due and step > noted:
                self._note(pending)
            if step < pending.target:
                return
            self._pending_steps.popleft()
            self._answer(pending, "failed" if self.phase == "failed" else None)

    def _note(self, pending: PendingSteps) -> None:
        """Record a sample; without room for it, the steps are done without the series.

        A successor with more room, too, then comes to the same step.
        """
        try:
            pending.samples.append(frames.sample(self.simulation))
        except MemoryError:
            pending.samples, pending.sample_every, pending.is_series_lost = [], None, True

    def _add_pending(self, number: int, n: int, sample_every: int | None = None) -> None:
        self.paused = True
        step = self.simulation.step_count
        start = self._pending_steps[-1].target if self._pending_steps else step
        self._pending_steps.append(PendingSteps(number, start, start + n, sample_every))
        if self.phase not in ("running", "paused"):
            # the run ended before the session knew, and nothing would ever come to these steps
            self._drop_pending(self.phase)

    def _drop_pending(self, why: str) -> None:
        while self._pending_steps:
            self._answer(self._pending_steps.popleft(), why)

    def _answer(self, pending: PendingSteps, interrupted: str | None) -> None:
        step = self.simulation.step_count
        value: dict[str, Any] = {"steps_done": max(0, step - pending.start)}
        if interrupted is not None:
            value["interrupted"] = interrupted
        if pending.sample_every is not None:
            value["series"] = pending.samples
        start = min(pending.start, step)
        result = Result(pending.number, start, step, self.simulation.time, value, None)
        self.answers.append(without_series(result) if pending.is_series_lost else result)

    def _reset(self, q: dict[str, Any], qd: dict[str, Any]) -> None:
        """Go back to the start, then to coordinates; what the scene refuses changes nothing."""
        if not q and not qd:
            self._go_back(self._initial)
            return
        with self._tried():
            self.simulation.restore(self._initial)
            apply_command(self.simulation, "set_state", {"q": q, "qd": qd}, asked="reset")
            begin = self.simulation.snapshot()
        self._go_back(begin)

    def _restore(self, snapshot: bytes, *, let_go: bool) -> None:
        """Go to another state; one that cannot be restored changes nothing."""
        try:
            with self._tried():
                self.simulation.restore(snapshot)
        except ValueError as error:
            raise ServiceError(
                ErrorCode.SNAPSHOT_INVALID, f"The snapshot cannot be restored: {error}"
            ) from error
        self._go_back(snapshot)
        if let_go:
            self.simulation.release()

    @contextmanager
    def _tried(self) -> Iterator[None]:
        """Come back to the present state, whatever the block does to it."""
        before, failure = self.simulation.snapshot(), self.simulation.failure
        try:
            yield
        finally:
            self.simulation.restore(before)
            # it is not part of a snapshot
            self.simulation.failure = failure

    def _go_back(self, snapshot: bytes) -> None:
        """Enter another state of the same scene: a new epoch; an ended run becomes paused."""
        if self.phase in ("finished", "failed"):
            self.paused = True
        self._drop_pending("reset")
        self.simulation.restore(snapshot)
        self.epoch += 1
        self.first_step = self.simulation.step_count
        self.touched += 1
