"""Forces of joints in smooth motion: those that its accelerations need.

They are left where a step leaves its own (trees/reactions.py, accounting/joint_reports.py): rows
with impulses over a step, bodies that do not change their velocity in it, but for what accelerates
them all the time.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.write_rows import write_rows
from cardan.engine.integrators.rates import is_smooth_equation, row_force
from cardan.engine.spatial.vec3 import load3
from cardan.engine.trees.reactions import write_reactions
from cardan.engine.trees.spatial_arrays import store6
from cardan.engine.world.world import World


@kernel
def write_impulses(world: World, time: float, powers: NDArray) -> None:
    """Write all rows at this time, with their forces over a step as impulses.

    Reads   problem.lam: forces of the equations alone, clock: as for smooth_rates
    Writes  work.rows, work.problem.lam; powers (scratch)
    """
    model, state, work = world.model, world.state, world.work
    rows, lam, h = work.rows, work.problem.lam, world.options.time_step
    # targets are read in the middle of a step
    now = state.time[0]
    state.time[0] = time - 0.5 * world.clock.h[0]
    write_rows(world)
    n, equation = rows.count[0], 0
    for i in range(n):
        equation += is_smooth_equation(model.joints, rows, i)
    # an equation is never before its place among the equations: from the last one on, none is lost
    for i in range(n - 1, -1, -1):
        if is_smooth_equation(model.joints, rows, i):
            equation -= 1
            lam[i] = h * lam[equation]
        else:
            lam[i] = h * row_force(model, state, rows, i, powers)
    work.problem.count[0] = n
    state.time[0] = now


@kernel
def write_smooth_forces_of_joints(handle: World, time: float, powers: NDArray) -> None:
    """Write reactions and forces of drives at the state that `smooth_rates` looked at last.

    Reads   motion.velocity_free: accelerations, motion.wrench; work.tree
    Writes  work: rows, problem.lam, motion, tree.reaction; clock; powers (8,) (scratch)
    Check   tests/references/test_smooth_reactions.py
    """
    world = struct_of(handle)
    state, motion = world.state, world.work.motion
    write_impulses(world, time, powers)
    for body in range(state.v_WB_W.shape[0]):
        store6(motion.velocity_old, body, (load3(state.w_WB_W, body), load3(state.v_WB_W, body)))
        for k in range(6):
            motion.bias_acceleration[body, k] = motion.velocity_free[body, k]
    world.clock.h[0], world.clock.share[0] = world.options.time_step, 1.0
    write_reactions(world, 0)
