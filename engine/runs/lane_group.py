"""A group of runs: each in its lane, or alone for as long as it needs what lanes cannot do.

Lanes compute a stretch of steps at a time. A world that leaves its lane within one goes on alone
from the beginning of the stretch, in its simulation, and enters its lane again at the beginning of
another once nothing touches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardan.engine.accounting.body_records import (
    BRAKED_NOW,
    EARLY_TIME,
    PASSED_TIME,
    STRUCK_STEP,
)
from cardan.engine.accounting.crossings import GATE_EARLY, GATE_STRUCK
from cardan.engine.compiler.lanes import W
from cardan.engine.lanes.arrays import read_lane, write_lane, write_state
from cardan.engine.lanes.step import run
from cardan.engine.lanes.transfer import read_motion
from cardan.engine.outputs.sampler import no_sampler
from cardan.engine.runs.recording import Recording
from cardan.engine.simulation import Simulation
from cardan.engine.verdict.estimates import variations
from cardan.engine.world.lanes import LaneWorld

# steps of a world alone between two calls of `should_stop`
STEPS_OF_A_LOOK = 32
# time for which a world is computed alone, without a stretch in its lane, before it leaves [s]
MOST_ALONE_S = 0.5
# what is booked with the end of a step: there is none of it between steps in lanes
BOOKED = (EARLY_TIME, PASSED_TIME, BRAKED_NOW)


def may_enter(simulation: Simulation) -> bool:
    """Whether lanes can do the next step: nothing touches, and no impact is still booked."""
    state, model = simulation.state, simulation.model
    touches = simulation.work.contacts.count[0] > 0 or state.contacts.count[0] > 0
    if touches or simulation.failure is not None:
        return False
    if state.extremes[GATE_STRUCK] == 1.0 or state.extremes[GATE_EARLY] == 1.0:
        return False
    bodies = variations(model, state)
    is_struck = bodies[:, STRUCK_STEP] >= simulation.step_count
    return not (is_struck.any() or bodies[:, BOOKED].any())


class LaneGroup:
    """Simulations of one structure that have done the same number of steps, at least one."""

    def __init__(
        self,
        world: LaneWorld,
        handle: Any,
        simulations: Sequence[Simulation],
        recordings: Sequence[Recording],
    ) -> None:
        """Put simulation k into lane k; recordings: one of each, or none."""
        self._world, self._handle = world, handle
        self._simulations, self._recordings = simulations, recordings
        self._h = float(simulations[0].options.time_step)
        self._done = self._kept_step = simulations[0].step_count
        n = len(simulations)
        self._is_alone, self._is_gone, self._alone_s = [True] * n, [False] * n, [0.0] * n
        self.steps = [0] * n
        """How many steps of each were done in its lane."""
        for lane in range(W):
            # lanes without a run of their own repeat the last one
            write_lane(world, lane, simulations[min(lane, n - 1)].built)
        world.state.left["lane"][0] = 1.0
        self._kept = type(world.state)(*map(np.copy, world.state))
        self._bytes = [
            (kept.view(np.uint8), now.view(np.uint8))
            for kept, now in zip(self._kept, world.state, strict=True)
        ]
        self.begin_stretch()

    @property
    def is_over(self) -> bool:
        """Whether all have left the group."""
        return all(self._is_gone)

    def begin_stretch(self) -> None:
        """Let worlds enter their lanes, or leave the group, and keep what others go on from."""
        state = self._world.state
        state.step[0] = self._done
        for lane, one in enumerate(self._simulations):
            if not self._is_alone[lane]:
                self.steps[lane] += self._done - self._kept_step
                self._alone_s[lane] = 0.0
            elif self._alone_s[lane] > MOST_ALONE_S:
                self._is_gone[lane] = True
            elif may_enter(one):
                self._enter(lane)
        self._kept_step = self._done
        for kept, now in self._bytes:
            np.copyto(kept, now)

    def _enter(self, lane: int) -> None:
        write_state(self._world.state, lane, self._simulations[lane].state)
        self._is_alone[lane] = False
        if self._recordings:
            # what steps beside the lane tell from now on is told again if it is left
            self._recordings[lane].keep_events()

    def advance(self, step: int, should_stop: Callable[[], bool]) -> bool:
        """Advance all worlds to a step; False: stopped, and those that are alone are before it."""
        if step > self._done and not all(self._is_alone):
            run(self._handle, self._h, step - self._done)
        self._done = step
        left = self._world.state.left["lane"][0]
        goes_on = True
        for lane in range(len(self._simulations)):
            if not self._is_alone[lane] and left[lane] != 0.0:
                self._leave(lane, should_stop)
            elif self._is_alone[lane] and not self._is_gone[lane] and goes_on:
                goes_on = self._advance_alone(lane, should_stop)
        return goes_on and not should_stop()

    def _leave(self, lane: int, should_stop: Callable[[], bool]) -> None:
        """Go on alone from the beginning of the stretch, whose frames are recorded."""
        one = self._simulations[lane]
        read_lane(self._kept, lane, one.state, self._h)
        one.events()
        one.failure, self._is_alone[lane] = None, True
        while not self._advance_alone(lane, should_stop):
            pass

    def _advance_alone(self, lane: int, should_stop: Callable[[], bool]) -> bool:
        """Advance a simulation to the step of the lanes; False: stopped on the way."""
        one, began = self._simulations[lane], time.perf_counter()
        # frames are due where `record` is called
        sampler, one.sampler = one.sampler, no_sampler()
        stopped = False
        while one.step_count < self._done and one.failure is None and not stopped:
            one.advance(min(STEPS_OF_A_LOOK, self._done - one.step_count))
            stopped = should_stop()
        one.sampler = sampler
        self._alone_s[lane] += time.perf_counter() - began
        if one.failure is not None:
            self._is_gone[lane] = True
        return one.step_count == self._done or one.failure is not None

    def record(self, steps: int) -> None:
        """Record a frame of every world, so many steps (0 or 1) after the present one.

        The simulation of a world in its lane does that step beside it: it says more than lanes do.
        """
        for lane, recording in enumerate(self._recordings):
            one = self._simulations[lane]
            if not self._is_alone[lane]:
                read_motion(self._handle, lane, one.handle)
            elif one.step_count != self._done or one.failure is not None:
                continue
            if steps == 0:
                recording.observe()
            else:
                one.advance(steps)

    def end(self, seconds: float) -> None:
        """Leave every simulation where its world is; seconds: that all their steps took."""
        for lane, one in enumerate(self._simulations):
            if not self._is_alone[lane]:
                self.steps[lane] += self._done - self._kept_step
                read_lane(self._world.state, lane, one.state, self._h)
            one.count_elsewhere(seconds / len(self._simulations))
