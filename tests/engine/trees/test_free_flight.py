"""Walks of free flight give what the algorithms give one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.free_flight import (
    factor_free_flight,
    repeat_free_flight,
    solve_free_flight,
)
from tests.engine.trees.trees import GRAVITY, Case, random_tree

ROUNDING = 1e-11
NOTHING = (0.0, 0.0, 0.0)


def plain(case: Case, qd: np.ndarray, gravity: Vec3) -> np.ndarray:
    """Accelerations by the articulated-body algorithm."""
    qdd, work = np.zeros(len(qd)), tree_work(case.tree)
    wrench = np.zeros((len(case.tree.kind), 6))
    forward_dynamics(case.tree, case.q, qd, np.zeros(len(qd)), wrench, gravity, work, qdd)
    return qdd


@pytest.mark.parametrize(("seed", "n", "floating"), [(1, 1, False), (2, 12, True), (3, 40, False)])
def test_flight_and_fall_are_the_accelerations(seed: int, n: int, floating: bool) -> None:
    case = random_tree(seed, n, floating=floating)
    tree, work = case.tree, case.work
    factor_free_flight(tree, case.q, case.qd, work)
    solve_free_flight(tree, work, GRAVITY)
    flight = plain(case, case.qd, NOTHING)
    assert np.abs(work.qdd - flight).max() <= ROUNDING * max(np.abs(flight).max(), 1.0)
    fall = plain(case, np.zeros_like(case.qd), GRAVITY)
    assert np.abs(work.fall - fall).max() <= ROUNDING * max(np.abs(fall).max(), 1.0)
    # seen from the ground: the whole acceleration of a root that nothing holds is gravity
    if floating:
        assert np.abs(work.drop).max() <= ROUNDING * 9.81


@pytest.mark.parametrize("floating", [False, True])
def test_another_look_is_at_other_rates(floating: bool) -> None:
    case = random_tree(4, 25, floating=floating)
    tree, work = case.tree, case.work
    factor_free_flight(tree, case.q, case.qd, work)
    solve_free_flight(tree, work, GRAVITY)
    other = np.random.default_rng(4).normal(size=len(case.qd))
    for t in range(len(tree.floating)):
        repeat_free_flight(tree, other, work, t)
    flight = plain(case, other, NOTHING)
    assert np.abs(work.qdd - flight).max() <= ROUNDING * max(np.abs(flight).max(), 1.0)
