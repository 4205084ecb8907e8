"""Energy that velocities were scaled for: what a drift of the energy does not show.

Joints get the energy back that their equations take (decision 0051), and free flight of trees keeps
its kinetic energy by scaling rates (decision 0143). Both hide errors of a step from the energy: how
much they moved is kept here, as sums of magnitudes.

    RETURNED_SUM, _NET         what joints got back over the run [J], magnitudes and with signs
    RETURNED_LARGEST, _TIME    the largest of one step [J], and the end of that step [s]
    FLIGHT_SUM                 magnitudes by which trees in free flight were scaled [J]
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.state import (
    RETURNED_LARGEST,
    RETURNED_NET,
    RETURNED_SUM,
    RETURNED_TIME,
)
from cardan.engine.world.world import World


@kernel
def record_return(world: World, total: float, net: float) -> None:
    """Note what the joints of all bodies or loops got back in this step.

    Reads   total, net [J]: sum over sets of bodies, of magnitudes and with signs
    Writes  state.extremes
    Check   tests/laws/test_stabilisation.py
    """
    if total == 0.0:
        return
    extremes = world.state.extremes
    extremes[RETURNED_SUM] += total
    extremes[RETURNED_NET] += net
    if total > extremes[RETURNED_LARGEST]:
        extremes[RETURNED_LARGEST] = total
        extremes[RETURNED_TIME] = (world.state.step[0] + 1) * world.options.time_step
