"""Runs of an order that the engine computes side by side, in the lanes of one core.

Which runs make a group depends on how fast the others were; each has the bits it has alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cardan.engine import Simulation, with_options
from cardan.engine.compiler.lanes import W
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.side_by_side import SideBySide, are_neighbours, may_be_side_by_side
from cardan.engine.runs.variants import Variants
from cardan.schemas import Limits, Scene
from cardan.service.simulations import messages as m
from cardan.service.simulations.checkpoints import CheckpointFolder

__all__ = ["Neighbour", "Together", "W"]

log = logging.getLogger("cardan.worker")

# of all recordings of a group [byte]; longer ones are made one by one
MOST_RECORDED = 1 << 28
# of the steps of a run: lanes that do less are not worth the try
LEAST_SHARE = 0.1


class Neighbour(NamedTuple):
    """A run of a group, with its recording if it is asked for one."""

    scene: Scene
    """As it was asked for."""
    simulation: Simulation
    recording: Recording | None

    @property
    def has_ended(self) -> bool:
        """Whether it has come to its end; else it goes on alone, or has failed."""
        one = self.simulation
        return one.step_count == one.total_steps and one.failure is None


class Together:
    """Arrays for as many variants of one scene as there are lanes."""

    def __init__(self, document: str, limits: Limits) -> None:
        """Build the base scene of an order, once for each lane."""
        self._pool = [Variants(document, limits) for _ in range(W)]
        self._lanes = SideBySide()
        # the first variant that does not fit says so for all: structure rarely varies
        self._fits = True

    def run(
        self, items: Sequence[m.RunItem], record: bool, should_stop: Callable[[int], bool]
    ) -> list[Neighbour]:
        """Run the first of these items that are neighbours; `record`: all of them.

        Returns them, valid until the next call, at their ends or where they have to go on alone;
        nothing where the first does not fit or has no neighbour.
        """
        group = self._neighbours(items, record) if self._fits else []
        if len(group) < 2:
            return []
        was_stopped = False

        def stop(step: int) -> bool:
            nonlocal was_stopped
            was_stopped = should_stop(step)
            return was_stopped

        recordings = [one.recording for one in group if one.recording is not None]
        steps = self._lanes.advance([one.simulation for one in group], recordings, stop)
        if not was_stopped and max(steps) < LEAST_SHARE * group[0].simulation.total_steps:
            # those that follow will not stay in their lanes either
            self._fits = False
        return group

    def _neighbours(self, items: Sequence[m.RunItem], record: bool) -> list[Neighbour]:
        found: list[Neighbour] = []
        for variants, item in zip(self._pool, items, strict=False):
            try:
                one = self._neighbour(variants, item, record)
            except Exception as error:
                # alone it says how it failed
                log.debug("a run is not computed with others: %s", error)
                break
            if one is None:
                self._fits = len(found) > 0
                break
            if found and not _fit_together(found[0], one):
                break
            found.append(one)
        return found

    def _neighbour(self, variants: Variants, item: m.RunItem, record: bool) -> Neighbour | None:
        """A run before its first step; None: lanes cannot compute it, or it has begun alone."""
        if item.checkpoint and CheckpointFolder(Path(item.checkpoint)).can_go_on:
            return None
        scene = variants.scene(item.overrides)
        if scene.simulation.accuracy is not None or scene.simulation.verify:
            return None
        simulation, recording = variants.simulation(with_options(scene)), None
        if record or item.record == "full":
            recording = Recording.of_run(simulation)
            if recording.nbytes * W > MOST_RECORDED:
                return None
        may = may_be_side_by_side(simulation, recording)
        return Neighbour(scene, simulation, recording) if may else None


def _fit_together(one: Neighbour, other: Neighbour) -> bool:
    both_or_none = (one.recording is None) == (other.recording is None)
    return both_or_none and are_neighbours(one.simulation, other.simulation)
