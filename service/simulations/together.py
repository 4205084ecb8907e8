"""Runs of an order that the engine computes side by side, in the lanes of one core.

Which runs make a group depends on how fast the others were; each has the bits it has alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from cardan.engine import Simulation, with_options
from cardan.engine.compiler.lanes import W
from cardan.engine.runs.side_by_side import SideBySide, are_neighbours, may_be_side_by_side
from cardan.engine.runs.variants import Variants
from cardan.schemas import Limits
from cardan.service.simulations import messages as m

__all__ = ["Together", "W"]

log = logging.getLogger("cardan.worker")


class Together:
    """Arrays for as many variants of one scene as there are lanes."""

    def __init__(self, document: str, limits: Limits) -> None:
        """Of the base scene of an order."""
        self._pool = [Variants(document, limits) for _ in range(W)]
        self._lanes = SideBySide()
        # the first variant that does not fit says so for all: structure rarely varies
        self._fits = True

    def run(
        self, items: Sequence[m.RunItem], should_stop: Callable[[int], bool]
    ) -> list[Simulation | None]:
        """Run the first of these items that are neighbours to their ends.

        Returns their simulations, valid until the next call; None for one that has to run alone,
        and nothing where the first does not fit or has no neighbour.
        """
        simulations = self._neighbours(items) if self._fits else []
        if len(simulations) < 2:
            return []
        was_stopped = False

        def stop(step: int) -> bool:
            nonlocal was_stopped
            was_stopped = should_stop(step)
            return was_stopped

        tracks = self._lanes.advance(simulations, keep=False, should_stop=stop)
        found: list[Simulation | None] = []
        for one, track in zip(simulations, tracks, strict=True):
            found.append(None if track is None else one)
        if not was_stopped and found.count(None) == len(found):
            # where nobody gets to the end, the variants that follow will not either
            self._fits = False
        return found

    def _neighbours(self, items: Sequence[m.RunItem]) -> list[Simulation]:
        found: list[Simulation] = []
        for variants, item in zip(self._pool, items, strict=False):
            try:
                simulation = self._simulation(variants, item)
            except Exception as error:
                # alone it says how it failed
                log.debug("a run is not computed with others: %s", error)
                break
            if simulation is None:
                self._fits = len(found) > 0
                break
            if found and not are_neighbours(found[0], simulation):
                break
            found.append(simulation)
        return found

    def _simulation(self, variants: Variants, item: m.RunItem) -> Simulation | None:
        """A run before its first step; None: lanes cannot compute it as it would be alone."""
        scene = variants.scene(item.overrides)
        whole = scene.simulation.accuracy is not None or scene.simulation.verify
        if whole or item.record == "full":
            return None
        simulation = variants.simulation(with_options(scene))
        return simulation if may_be_side_by_side(simulation, keep=False) else None
