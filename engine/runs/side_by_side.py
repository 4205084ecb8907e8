"""Runs side by side: W simulations of one structure, advanced in the lanes of SIMD registers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan.engine.compiler.lanes import W, lanes_handle
from cardan.engine.lanes.arrays import lane_world, read_lane, write_lane
from cardan.engine.lanes.fits import fit_together, fits
from cardan.engine.lanes.step import run
from cardan.engine.lanes.transfer import read_motion
from cardan.engine.runs.recording import Recording, recording_steps
from cardan.engine.simulation import Simulation
from cardan.engine.world.lanes import LaneWorld

# steps of a group between two calls of `should_stop`
STEPS_OF_A_LOOK = 1000
# steps of a frame from which on lanes are faster, where a step is done for each
STEPS_OF_A_FRAME = 3


def may_be_side_by_side(simulation: Simulation, recording: Recording | None = None) -> bool:
    """Whether lanes can compute a run, and are faster where it is recorded."""
    if simulation.total_steps < 2:
        return False
    frames = 0
    if recording is not None and recording.needs_step:
        frames = len(recording_steps(simulation.scene))
    are_far_apart = STEPS_OF_A_FRAME * frames <= simulation.total_steps
    return are_far_apart and fits(simulation.scene, simulation.model, simulation.options)


def are_neighbours(one: Simulation, other: Simulation) -> bool:
    """Whether two runs can be computed side by side."""
    same_steps = np.array_equal(recording_steps(one.scene), recording_steps(other.scene))
    return same_steps and fit_together(one.built, other.built)


class SideBySide:
    """Arrays of W worlds, made once for runs of one structure."""

    def __init__(self) -> None:
        """Without arrays."""
        self._first: Simulation | None = None
        self._world: LaneWorld | None = None
        self._handle: Any = None

    def _arrays(self, first: Simulation) -> LaneWorld:
        """Arrays for the structure of a simulation."""
        if self._world is None or self._first is not first:
            self._world = lane_world(first.built)
            self._handle = lanes_handle(self._world)
            self._first = first
        return self._world

    def advance(
        self,
        simulations: Sequence[Simulation],
        recordings: Sequence[Recording] = (),
        should_stop: Callable[[int], bool] | None = None,
    ) -> list[bool]:
        """Advance up to W simulations, which are neighbours, from their start to their end.

        Their first step is done alone: it begins with velocities that were set. Recordings, one of
        each simulation or none, get their frames. Returns which came to their ends; one that did
        not, because it left the lanes, is somewhere in its run, and so is its recording.
        should_stop(step) is asked on the way; all leave the lanes when it returns True.
        """
        first = simulations[0]
        world = self._arrays(first)
        for one in simulations:
            one.leave_scene()
        for recording in recordings:
            recording.observe()
        for lane in range(W):
            # lanes without a run of their own repeat the last one
            if lane < len(simulations):
                simulations[lane].advance(1)
            write_lane(world, lane, simulations[min(lane, len(simulations) - 1)].built)
        began = time.perf_counter()
        ended = self._run(simulations, recordings, should_stop)
        spent = time.perf_counter() - began
        left = (world.state.left["lane"][0] != 0.0) | (not ended)
        came = [not left[k] and one.failure is None for k, one in enumerate(simulations)]
        for lane, one in enumerate(simulations):
            if came[lane]:
                read_lane(world, lane, one.state, float(one.options.time_step))
                one.count_elsewhere(spent / len(simulations))
        return came

    def _run(
        self,
        simulations: Sequence[Simulation],
        recordings: Sequence[Recording],
        should_stop: Callable[[int], bool] | None,
    ) -> bool:
        """All steps from the second one to the end, with looks at the frames; False: stopped."""
        h, total = float(simulations[0].options.time_step), simulations[0].total_steps
        steps = recording_steps(simulations[0].scene) if recordings else np.zeros(0, np.int64)
        due = set(steps[steps > 1].tolist())
        before = 1 if any(recording.needs_step for recording in recordings) else 0
        done = 1
        for step in sorted(due.union(range(STEPS_OF_A_LOOK, total, STEPS_OF_A_LOOK), [total])):
            if step in due:
                done = self._advance_lanes(h, done, step - before)
                self._record(simulations, recordings, before)
            done = self._advance_lanes(h, done, step)
            if should_stop is not None and should_stop(step):
                return False
        return True

    def _advance_lanes(self, h: float, done: int, step: int) -> int:
        """Advance all lanes from one step to another, which it returns."""
        if step > done:
            run(self._handle, h, step - done)
        return step

    def _record(
        self, simulations: Sequence[Simulation], recordings: Sequence[Recording], steps: int
    ) -> None:
        """Record a frame of every world in a lane, so many steps (0 or 1) after the present one.

        The simulation does that step beside the lanes: it says more than they do.
        """
        assert self._world is not None
        left = self._world.state.left["lane"][0]
        for lane, (one, recording) in enumerate(zip(simulations, recordings, strict=True)):
            if left[lane] == 0.0:
                read_motion(self._handle, lane, one.handle)
                if steps == 0:
                    recording.observe()
                else:
                    one.advance(steps)
