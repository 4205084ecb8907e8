"""Runs side by side: W simulations of one structure, advanced in the lanes of SIMD registers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from cardan.engine.compiler.lanes import lanes_handle
from cardan.engine.lanes.arrays import lane_world
from cardan.engine.lanes.fits import fit_together, fits
from cardan.engine.runs.lane_group import LaneGroup
from cardan.engine.runs.recording import Recording, recording_steps
from cardan.engine.simulation import Simulation
from cardan.engine.world.lanes import LaneWorld

# steps after which worlds may enter their lanes again
STRETCH = 128
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
    ) -> list[int]:
        """Advance up to W simulations, which are neighbours, from their start towards their end.

        Their first step is done alone: it begins with velocities that were set. Recordings, one of
        each simulation or none, get their frames. A world that needs what lanes cannot do is
        computed alone meanwhile; one that does for long, or fails, leaves the others before its
        end, and so do all when should_stop(step), which is asked on the way, returns True: they go
        on where they are (`whole.advance_to_end`). Returns how many steps each did in its lane.
        """
        first = simulations[0]
        world = self._arrays(first)
        for one in simulations:
            one.leave_scene()
        for recording in recordings:
            recording.observe()
        for one in simulations:
            one.advance(1)
        group = LaneGroup(world, self._handle, simulations, recordings)
        began = time.perf_counter()
        steps = recording_steps(first.scene) if recordings else np.zeros(0, np.int64)
        before = 1 if any(recording.needs_step for recording in recordings) else 0
        _run(group, first.total_steps, steps[steps > 1].tolist(), before, should_stop)
        group.end(time.perf_counter() - began)
        return group.steps


def _run(
    group: LaneGroup,
    total: int,
    due: Collection[int],
    before: int,
    should_stop: Callable[[int], bool] | None,
) -> None:
    """All steps from the second one to the end, with frames after those that are due."""
    frames = set(due)
    for step in sorted(frames.union(range(STRETCH, total, STRETCH), [total])):

        def stops(step: int = step) -> bool:
            return should_stop is not None and should_stop(step)

        goes_on = True
        if step in frames:
            goes_on = group.advance(step - before, stops)
            if goes_on or before == 0:
                group.record(before)
        if not (goes_on and group.advance(step, stops)):
            return
        if step % STRETCH == 0:
            group.begin_stretch()
            if group.is_over:
                return
