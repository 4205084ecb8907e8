"""Jacobians of points against velocities and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.trees.coordinates import advance_coordinates
from cardan.engine.trees.jacobian import (
    write_point_jacobian,
    write_point_jacobian_rate,
)
from cardan.engine.trees.kinematics import write_places, write_velocities, write_velocity_products
from tests.engine.trees.trees import Case, random_tree

POINT = (0.3, -0.2, 0.1)


def point_drift(case: Case, node: int) -> np.ndarray:
    """Acceleration (6,) of POINT of a node while no rate changes, by recursion from the root."""
    tree, work = case.tree, case.work
    A = np.zeros_like(work.V)
    for i, parent in enumerate(tree.parent):
        if parent >= 0:
            turn, arm = A[parent, :3], work.arm[i]
            A[i] = [*turn, *(A[parent, 3:] + np.cross(turn, arm))]
        A[i] += work.velocity_product[i]
    arm, w = point_of(case, node) - work.p_WB[node], work.V[node, :3]
    turn, a = A[node, :3], A[node, 3:]
    return np.array([*turn, *(a + np.cross(turn, arm) + np.cross(w, np.cross(w, arm)))])


def look(case: Case, q: np.ndarray, node: int) -> np.ndarray:
    """J of POINT of a node at coordinates q."""
    J = np.zeros((6, len(case.qd)))
    write_places(case.tree, q, case.work)
    write_point_jacobian(case.tree, case.work, node, POINT, J)
    return J


def point_of(case: Case, node: int) -> np.ndarray:
    return case.work.p_WB[node] + case.work.R[node].reshape(3, 3) @ np.array(POINT)


@pytest.mark.parametrize("seed", range(6))
def test_jacobian_times_rates_is_the_velocity_of_the_point(seed: int) -> None:
    case = random_tree(seed, 12, floating=seed % 2 == 1)
    node = len(case.tree.kind) - 1
    J = look(case, case.q, node)
    write_velocities(case.tree, case.qd, case.work)
    w, v = case.work.V[node, :3], case.work.V[node, 3:]
    arm = point_of(case, node) - case.work.p_WB[node]
    found = J @ case.qd
    assert (
        np.abs(found - np.concatenate([w, v + np.cross(w, arm)])).max()
        < 1e-13 * np.abs(found).max()
    )
    h, ends = 1e-5, []
    for side in (-1.0, 1.0):
        q = case.q.copy()
        advance_coordinates(case.tree, q, case.qd, side * h)
        look(case, q, node)
        ends.append(point_of(case, node))
    difference = (ends[1] - ends[0]) / (2.0 * h)
    assert np.abs(difference - found[3:]).max() < 1e-8 * np.abs(found).max()


@pytest.mark.parametrize("seed", range(6))
def test_drift_is_the_derivative_of_the_jacobian_times_rates(seed: int) -> None:
    case = random_tree(seed, 12, floating=seed % 2 == 1)
    node = len(case.tree.kind) - 1
    h, ends = 1e-5, []
    for side in (-1.0, 1.0):
        q = case.q.copy()
        advance_coordinates(case.tree, q, case.qd, side * h)
        ends.append(look(case, q, node) @ case.qd)
    difference = (ends[1] - ends[0]) / (2.0 * h)
    write_places(case.tree, case.q, case.work)
    write_velocities(case.tree, case.qd, case.work)
    write_velocity_products(case.tree, case.qd, case.work)
    drift = point_drift(case, node)
    assert np.abs(difference - drift).max() < 1e-7 * np.abs(drift).max()


@pytest.mark.parametrize("seed", range(6))
def test_rate_of_the_jacobian_is_its_derivative(seed: int) -> None:
    case = random_tree(seed, 12, floating=seed % 2 == 1)
    node = len(case.tree.kind) - 1
    h, ends = 1e-5, []
    for side in (-1.0, 1.0):
        q = case.q.copy()
        advance_coordinates(case.tree, q, case.qd, side * h)
        ends.append(look(case, q, node))
    difference = (ends[1] - ends[0]) / (2.0 * h)
    write_places(case.tree, case.q, case.work)
    write_velocities(case.tree, case.qd, case.work)
    rate = np.zeros_like(difference)
    write_point_jacobian_rate(case.tree, case.work, node, POINT, rate)
    assert np.abs(difference - rate).max() < 1e-8 * np.abs(rate).max()
    # exactly: its product with the rates is the point's acceleration while none of them changes
    write_velocity_products(case.tree, case.qd, case.work)
    drift = point_drift(case, node)
    assert np.abs(rate @ case.qd - drift).max() < 1e-12 * np.abs(drift).max()
