"""The clock of a step, or of the part of a step that is under way."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.world import World


@kernel
def set_part(world: World, h: float, exact: int) -> None:
    """The clock of a part of the step: its length [s], and whether it ends at an impact."""
    clock = world.clock
    clock.h[0] = h
    clock.share[0] = h / world.options.time_step
    clock.exact[0] = exact
