"""Velocities that somebody set become those of trees: what ideal joints make of them."""

from __future__ import annotations

from engine.articulated.exchange import settle
from engine.diagnostics.energy import momenta, moving_energy
from engine.kernel import kernel
from engine.world.model import Model
from engine.world.state import (
    EXTREME_KINETIC,
    FIRST_ENERGY,
    FIRST_MOMENTUM,
    LEDGER_WORK_IN,
    State,
)
from engine.world.tree import TreeWork


@kernel
def settle_trees(model: Model, state: State, work: TreeWork) -> None:
    """Joints of trees pass on at once what was set, as an impulse; it is booked as from outside.

    What the scene's own velocities change belongs to what the run began with.

    Writes  state.tree_qd, velocities of bodies of trees; ledger and momentum_in, or extremes
    Check   tests/laws/test_reduced.py
    """
    if model.tree.kind.shape[0] == 0:
        return
    energy = moving_energy(model, state)
    P, L = momenta(model.bodies, state)
    settle(model.tree, state, work)
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
