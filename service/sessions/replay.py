"""A simulation of the past of a session: any step, from the key frame before it.

It reads the folder while the live worker writes it. The state of step n has the commands that
took effect at n inside.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from cardan.engine import Simulation
from cardan.schemas import Scene
from cardan.service.sessions.commands import COMMANDS, apply_command
from cardan.service.sessions.folder import SessionFolder

# one call into the engine should take about this long, so that a skip is heard in between
CHUNK_SECONDS = 0.02
MOST_CHUNK_STEPS = 4096
MOST_MARK_BYTES = 64 * 1024**2


class SkippedError(Exception):
    """Nobody waits for this step any more."""


class UnknownStepError(Exception):
    """The step is not part of the history; the text says why."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A state to begin from; `logged` lines of the log are inside it."""

    step: int
    logged: int
    snapshot: bytes


class Replay:
    """The simulation, and states it passed lately."""

    def __init__(self, folder: SessionFolder) -> None:
        """Build the scene. Raises FolderError and SceneError."""
        self.simulation = Simulation(Scene.model_validate_json(folder.scene()))
        self._folder = folder
        self._epoch = -1
        self._logged = 0
        self._chunk = 1
        self._stepped = False
        self._marks: OrderedDict[int, Mark] = OrderedDict()
        self._mark_bytes = 0

    def go_to(
        self, epoch: int, step: int, skipped: Callable[[], bool], lines: int | None = None
    ) -> None:
        """Reach the state of a step; contacts are those of the step that led to it.

        `lines`: so many of the log count, instead of all.

        Raises UnknownStepError, SkippedError, FolderError, and ValueError for another engine's key.
        """
        if epoch != self._epoch:
            self._epoch = epoch
            self._marks.clear()
            self._mark_bytes = 0
            self._stepped = False
        start = self._start(step)
        if start is not None:
            self.simulation.restore(start.snapshot)
            self._logged, self._stepped = start.logged, False
        self._run_to(step, skipped, lines)

    def _start(self, step: int) -> Mark | None:
        """The nearest state to begin from; `None`: the present one. Raises UnknownStepError."""
        present = self.simulation.step_count
        here = present if self._stepped and present <= step else -1
        mark = max((at for at in self._marks if at < step), default=-1)
        keys = [
            at for epoch, at in self._folder.key_moments() if epoch == self._epoch and at <= step
        ]
        # nothing is before the first step of an epoch
        before = [at for at in keys if at < step] or keys
        for at in reversed(before):
            if at <= max(here, mark):
                break
            key = self._folder.read_key(self._epoch, at)
            if key is not None:
                return Mark(key.step, key.logged, key.snapshot)
        if here >= max(mark, 0):
            return None
        if mark >= 0:
            self._marks.move_to_end(mark)
            return self._marks[mark]
        raise UnknownStepError(f"no key frame at or before step {step} of epoch {self._epoch}")

    def _run_to(self, step: int, skipped: Callable[[], bool], lines: int | None) -> None:
        """Simulate to a step, with the commands of the log."""
        for line, entry in enumerate(self._folder.log(self._logged), self._logged + 1):
            if (
                entry.epoch > self._epoch
                or entry.step > step
                or (lines is not None and line > lines)
            ):
                break
            self._advance(entry.step, step, skipped)
            if entry.op in COMMANDS:
                apply_command(self.simulation, entry.op, entry.arguments)
            self._logged = line
        self._advance(step, step, skipped)

    def _advance(self, until: int, target: int, skipped: Callable[[], bool]) -> None:
        """Simulate to a step on the way to the target, and mark states 1, 2, 4, ... before it."""
        simulation = self.simulation
        while (step := simulation.step_count) < until and simulation.failure is None:
            if skipped():
                raise SkippedError
            left = target - step
            far = left if left == 1 else left - 2 ** ((left - 1).bit_length() - 1)
            began = time.perf_counter()
            simulation.advance(min(until - step, far, self._chunk))
            spent = time.perf_counter() - began
            self._chunk = max(1, min(MOST_CHUNK_STEPS, 2 * self._chunk))
            if spent > CHUNK_SECONDS:
                self._chunk = max(1, self._chunk // 4)
            self._stepped = True
            left = target - simulation.step_count
            if left > 0 and left & (left - 1) == 0 and simulation.failure is None:
                self._mark()

    def _mark(self) -> None:
        step = self.simulation.step_count
        mark = Mark(step, self._logged, self.simulation.snapshot())
        old = self._marks.pop(step, None)
        self._marks[step] = mark
        self._mark_bytes += len(mark.snapshot) - (len(old.snapshot) if old else 0)
        while self._mark_bytes > MOST_MARK_BYTES and len(self._marks) > 1:
            _, oldest = self._marks.popitem(last=False)
            self._mark_bytes -= len(oldest.snapshot)
