"""Projection of prescribed velocities onto the joints of trees."""

from __future__ import annotations

from cardan.engine.accounting.energy import momenta, moving_energy
from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.body_sync import settle
from cardan.engine.world.state import (
    EXTREME_KINETIC,
    FIRST_ENERGY,
    FIRST_MOMENTUM,
    LEDGER_WORK_IN,
)
from cardan.engine.world.world import World


@kernel
def project_velocities(world: World) -> None:
    """Project the velocities of bodies of trees onto their joints; book the change as external.

    For the initial velocities of the scene, the change belongs to the initial energy and momenta.

    Writes  state.tree_qd, velocities of bodies of trees; ledger and momentum_in, or extremes
    Check   tests/laws/test_reduced.py
    """
    model, state = world.model, world.state
    if model.tree.kind.shape[0] == 0:
        return
    energy = moving_energy(model, state)
    P, L = momenta(model.bodies, state)
    settle(model.tree, state, world.work.tree)
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
