"""A run that leaves checkpoints on its way, and goes on from the last one of an attempt before."""

import logging
import time
from collections.abc import Callable
from typing import Any

from cardan.engine import Simulation
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.whole import advance_to_end
from cardan.service.simulations.checkpoints import CheckpointFolder, Mark

log = logging.getLogger("cardan.worker")

# the largest part of the time that writing checkpoints may take
CHECKPOINT_SHARE = 0.05


class ResumableRun:
    """A run as `engine.runs.whole.recorded` does it, with checkpoints."""

    def __init__(
        self,
        simulation: Simulation,
        folder: CheckpointFolder | None,
        every_s: float,
        *,
        keep: bool,
        recording: Recording | None = None,
    ) -> None:
        """Go on from the checkpoint of the folder, if there is one of this scene and engine.

        A simulation that has begun goes on where it is, with its `recording` if it keeps one.
        Without a folder there are no checkpoints; the first comes after `every_s` seconds.
        """
        self._simulation = simulation
        self._folder = folder
        self._every_s = every_s
        self.recording = recording
        if keep and recording is None:
            self.recording = Recording.of_run(simulation)
        self._parts = 0
        self._saved = (0, 0)
        self.resumed_step = simulation.step_count
        if self.resumed_step == 0 and not self._resume() and self.recording is not None:
            self.recording.observe()
        self._next = time.monotonic() + every_s

    def _resume(self) -> bool:
        folder = self._folder
        if folder is None:
            return False
        try:
            folder.take_over()
            found = folder.read()
            if found is None:
                folder.remove()
                return False
            mark, snapshot, parts = found
            folder.begin(mark.step)
            self._simulation.restore(snapshot)
        except (OSError, ValueError) as error:
            # of another engine, or not to be read: the run begins anew
            log.warning("the checkpoint in %s is not used: %s", folder.path, error)
            folder.remove()
            return False
        if self.recording is not None:
            self.recording.restore(parts)
        self._simulation.report.methods[0] |= mark.methods
        self._parts, self._saved = mark.parts, (mark.frames, mark.contacts)
        self.resumed_step = mark.step
        return True

    def finish(
        self, progress: Callable[[int, int], None], should_stop: Callable[[], bool]
    ) -> dict[str, Any]:
        """Simulate to the end, or until `should_stop`, with a last checkpoint; the summary."""

        def look(step: int, total: int) -> None:
            progress(step, total)
            if time.monotonic() >= self._next:
                self.save()

        simulation = self._simulation
        stopped = advance_to_end(simulation, look, should_stop)
        summary = simulation.summary()
        if stopped and summary["status"] == "running":
            summary["status"], summary["reason"] = "cancelled", "The run was stopped on request."
        return summary

    def save(self) -> None:
        """Store a checkpoint of the present moment; a full disk only costs the checkpoint."""
        simulation, folder = self._simulation, self._folder
        ended = simulation.failure is not None or simulation.step_count >= simulation.total_steps
        if folder is None or ended:
            return
        began = time.monotonic()
        part, size, parts = None, self._saved, self._parts
        if self.recording is not None:
            part, size, parts = self.recording.part(self._saved), self.recording.size, parts + 1
        methods = int(simulation.report.methods[0])
        mark = Mark(simulation.step_count, parts, *size, methods)
        try:
            folder.write(mark, simulation.snapshot(), part)
        except OSError as error:
            log.error("a checkpoint was not written: %s", error)
            self._next = float("inf")
            return
        self._parts, self._saved = parts, size
        now = time.monotonic()
        self._next = now + max(self._every_s, (now - began) / CHECKPOINT_SHARE)
