"""Runs side by side: W simulations of one structure, advanced in the lanes of SIMD registers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import turn_all
from cardan.engine.compiler.lanes import W, lanes_handle
from cardan.engine.lanes.arrays import lane_world, read_lane, write_lane
from cardan.engine.lanes.fits import fit_together, fits
from cardan.engine.lanes.step import run
from cardan.engine.runs.recording import recording_steps
from cardan.engine.simulation import Simulation
from cardan.engine.world.lanes import LaneWorld

Array = NDArray[np.float64]

# steps of a group between two calls of `should_stop`
STEPS_OF_A_LOOK = 1000


@dataclass
class Track:
    """Poses over time of one run."""

    times: NDArray[Any]  # (frames,) s
    poses: Array  # (frames, bodies, 7)
    bodies: tuple[str, ...]


NO_TRACK = Track(np.zeros(0), np.zeros((0, 0, 7)), ())


def may_be_side_by_side(simulation: Simulation, keep: bool) -> bool:
    """Whether lanes can compute a run; `keep`: with the poses of its frames."""
    scene = simulation.scene
    if simulation.total_steps < 2 or (keep and "pose" not in scene.record.channels):
        return False
    return fits(scene, simulation.model, simulation.options)


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
        keep: bool,
        should_stop: Callable[[int], bool] | None = None,
    ) -> list[Track | None]:
        """Advance up to W simulations, which are neighbours, from their start to their end.

        Their first step is done alone: it begins with velocities that were set. Returns the track
        of each, without frames unless `keep`; None where it left the lanes: it is then somewhere in
        its run. should_stop(step) is asked on the way; all leave the lanes when it returns True.
        """
        first = simulations[0]
        frames = Frames(simulations) if keep else None
        world = self._arrays(first)
        for lane in range(W):
            # lanes without a run of their own repeat the last one
            if lane < len(simulations):
                simulations[lane].advance(1)
            one = simulations[min(lane, len(simulations) - 1)]
            write_lane(world, lane, one.built)
        failed = [one.failure is not None for one in simulations]
        began = time.perf_counter()
        ended = self._run(first, frames, should_stop)
        spent = time.perf_counter() - began
        left = (world.state.left["lane"][0] != 0.0) | (not ended)
        found: list[Track | None] = []
        for lane, one in enumerate(simulations):
            if left[lane] or failed[lane]:
                found.append(None)
                continue
            read_lane(world, lane, one.state, float(one.options.time_step))
            one.count_elsewhere(one.total_steps - 1, spent / len(simulations))
            found.append(NO_TRACK if frames is None else frames.track(one, lane))
        return found

    def _run(
        self,
        first: Simulation,
        frames: Frames | None,
        should_stop: Callable[[int], bool] | None,
    ) -> bool:
        """All steps from the second one to the end, with looks at the frames; False: stopped."""
        world, h, total = self._world, float(first.options.time_step), first.total_steps
        assert world is not None
        looks = np.arange(STEPS_OF_A_LOOK, total, STEPS_OF_A_LOOK)
        due = [total] if frames is None else frames.steps[frames.steps > 0]
        done = 1
        for step in np.union1d(looks, due).tolist():
            run(self._handle, h, step - done)
            done = step
            if frames is not None and frames.is_due(step):
                frames.observe(world)
            if should_stop is not None and should_stop(step):
                return False
        return True


class Frames:
    """Poses of centres of mass in all lanes at the steps that the scene records."""

    def __init__(self, simulations: Sequence[Simulation]) -> None:
        """Observe the start; all have the same steps."""
        first = simulations[0]
        names, record = first.body_names, first.scene.record
        kept = range(len(names)) if record.bodies is None else map(names.index, record.bodies)
        self.bodies = np.array(sorted(kept), np.int64)
        self.steps = recording_steps(first.scene)
        start = [np.concatenate([s.state.p_WB, s.state.q_WB], axis=1) for s in simulations]
        filled = start + [start[-1]] * (W - len(start))
        self._poses = [np.stack(filled, axis=-1)[self.bodies]]

    def is_due(self, step: int) -> bool:
        """Whether a frame is kept after this step."""
        k = int(np.searchsorted(self.steps, step))
        return k < len(self.steps) and bool(self.steps[k] == step)

    def observe(self, world: LaneWorld) -> None:
        """Keep the poses now."""
        p, q = world.state.p_WB["lane"][self.bodies], world.state.q_WB["lane"][self.bodies]
        self._poses.append(np.concatenate([p, q], axis=1))

    def track(self, simulation: Simulation, lane: int) -> Track:
        """Times and poses of origins of one run."""
        poses = np.ascontiguousarray(np.stack(self._poses)[..., lane])
        for k, i in enumerate(self.bodies):
            com_B = simulation.model.bodies.com_B[i]
            if com_B.any():
                poses[:, k, :3] -= turn_all(poses[:, k, 3:], com_B)
        names = tuple(simulation.body_names[i] for i in self.bodies)
        return Track(self.steps * float(simulation.options.time_step), poses, names)
