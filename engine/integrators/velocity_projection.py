"""Projection of velocities that were set onto the joints, at once.

A blow on a body of a mechanism, or velocities that its joints forbid, is shared by all of it in an
instant: of all velocities the joints allow, those of the least kinetic energy relative to what was
set,

    minimise  1/2 (v+ - v)^T M (v+ - v)   with   J v+ = 0

In the kick this would be half a step late, and its work an error of positions.
"""

from __future__ import annotations

from cardan.engine.accounting.contradictions import contradicts
from cardan.engine.accounting.energy import momenta, moving_energy
from cardan.engine.bodies.predict import hold_velocity
from cardan.engine.bodies.world_inertia import write_world_inertia
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.impact_rows import write_instant_equations
from cardan.engine.integrators.apply_impulses import apply_impulses
from cardan.engine.problem.assemble import assemble
from cardan.engine.solvers.islands import solve_problem
from cardan.engine.trees.body_sync import prepare, settle
from cardan.engine.trees.impulses import hold_trees
from cardan.engine.world.state import (
    EXTREME_KINETIC,
    FIRST_ENERGY,
    FIRST_MOMENTUM,
    LEDGER_WORK_IN,
    State,
)
from cardan.engine.world.workspace import Motion
from cardan.engine.world.world import World


@kernel
def hold_velocities(state: State, motion: Motion) -> None:
    """No forces: v_free = v; nothing to book but the rows."""
    for i in range(state.p_WB.shape[0]):
        hold_velocity(state, motion, i)
        for k in range(6):
            motion.wrench[i, k] = 0.0
            motion.booked[i, k] = 0.0
            motion.bias_acceleration[i, k] = 0.0


@kernel
def hold_motion(world: World) -> None:
    """The masses of this moment, and the velocities there are as those before an instant.

    Writes  work.motion, work.tree
    """
    model, state, work = world.model, world.state, world.work
    write_world_inertia(world)
    hold_velocities(state, work.motion)
    prepare(model.tree, state, work.tree)
    hold_trees(state, work.tree)


@kernel
def solve_rows(world: World) -> None:
    """Velocities after the impulses that obey the rows of an instant.

    Reads   work.rows, as `hold_motion` left the rest
    Writes  velocities of state; work.problem, motion.scratch; report
    """
    assemble(world)
    solve_problem(world)
    apply_impulses(world)


@kernel
def join_velocities(world: World) -> None:
    """Velocities that all joints allow which are not coordinates of a tree.

    Writes  velocities of state; work
    """
    write_instant_equations(world, False)
    if contradicts(world):
        hold_motion(world)
        write_instant_equations(world, False)
        solve_rows(world)


@kernel
def project_velocities(world: World) -> None:
    """Project the velocities onto the joints; book the change as external.

    First those of bodies of trees on their trees, then all on the other joints: the least change of
    both, since each is measured by the masses. For the initial velocities of the scene, the change
    belongs to the initial energy and momenta.

    Writes  state.tree_qd, velocities of bodies; ledger and momentum_in, or extremes; work
    Check   tests/laws/test_moments.py, tests/laws/test_reduced.py
    """
    model, state = world.model, world.state
    if model.joints.kind.shape[0] + model.tree.kind.shape[0] == 0:
        return
    energy = moving_energy(model, state)
    P, L = momenta(model.bodies, state)
    if model.tree.kind.shape[0] > 0:
        settle(model.tree, state, world.work.tree)
    join_velocities(world)
    now = moving_energy(model, state)
    P_now, L_now = momenta(model.bodies, state)
    if state.step[0] == 0:
        state.extremes[FIRST_ENERGY] += now - energy
        state.extremes[EXTREME_KINETIC] = now
        for k in range(3):
            state.extremes[FIRST_MOMENTUM + k] += P_now[k] - P[k]
            state.extremes[FIRST_MOMENTUM + 3 + k] += L_now[k] - L[k]
    else:
        state.ledger[LEDGER_WORK_IN] += now - energy
        for k in range(3):
            state.momentum_in[k] += P_now[k] - P[k]
            state.momentum_in[3 + k] += L_now[k] - L[k]
