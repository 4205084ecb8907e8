"""The mechanisms that benchmarks call algorithms on are trees of this engine."""

import numpy as np
import pytest

from benchmarks.algorithms import GRAVITY, Ours
from benchmarks.mechanisms import MECHANISMS
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.rnea import inverse_dynamics


@pytest.mark.parametrize("make", MECHANISMS, ids=lambda make: make.__name__)
def test_forward_dynamics_undoes_inverse_dynamics(make) -> None:
    one = make()
    ours = Ours(one)
    inverse_dynamics(one.tree, one.q, one.qd, one.qdd, GRAVITY, one.work, ours.tau)
    at = (one.tree, one.q, one.qd, ours.tau, ours.wrench, GRAVITY, one.work)
    forward_dynamics(*at, ours.found)
    assert np.abs(ours.found - one.qdd).max() <= 1e-9 * np.abs(one.qdd).max()
