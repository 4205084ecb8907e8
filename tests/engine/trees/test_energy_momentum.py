"""Energies and momenta of trees against those of the same bodies in maximal coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.accounting import energy
from cardan.engine.build.allocate import empty_state
from cardan.engine.trees.articulated_inertia import write_inertias
from cardan.engine.trees.energy_momentum import gravitational_energy, kinetic_energy, momentum
from cardan.engine.trees.kinematics import write_places, write_velocities
from tests.engine.trees.projection import project
from tests.engine.trees.trees import GRAVITY, random_tree


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_bodies(seed: int) -> None:
    case = random_tree(seed, 25, floating=seed % 2 == 1)
    tree, work, bodies = case.tree, case.work, case.model.bodies
    write_places(tree, case.q, work)
    write_velocities(tree, case.qd, work)
    write_inertias(tree, work)
    state = empty_state(len(bodies.kind), 0, 0, 1)
    state.gravity_W[:] = GRAVITY
    for i in np.flatnonzero(tree.body >= 0):
        body = int(tree.body[i])
        state.p_WB[body], state.q_WB[body] = work.p_WB[i], work.q_WB[i]
        state.w_WB_W[body], state.v_WB_W[body] = work.V[i, :3], work.V[i, 3:]
    n = len(tree.kind)
    T = kinetic_energy(tree, work, 0, n)
    assert pytest.approx(energy.kinetic_energy(bodies, state), rel=1e-13) == T
    H = project(tree, case.q, case.qd, np.array(GRAVITY)).H
    assert pytest.approx(0.5 * case.qd @ H @ case.qd, rel=1e-12) == T
    V = gravitational_energy(tree, work, GRAVITY)
    assert pytest.approx(energy.gravitational_energy(bodies, state), rel=1e-13) == V
    angular, linear = momentum(tree, work, 0, n, (0.0, 0.0, 0.0))
    P, L = energy.momenta(bodies, state)
    assert np.allclose(linear, P, rtol=0, atol=1e-12 * np.abs(P).max())
    assert np.allclose(angular, L, rtol=0, atol=1e-12 * np.abs(L).max())
