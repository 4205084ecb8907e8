"""Spatial vectors of the tests: frames change, powers stay."""

from __future__ import annotations

import numpy as np

from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat, random_transform, random_vector, six


def test_transforms_are_the_matrices_of_the_text() -> None:
    X, m, f = random_transform(), random_vector(), random_vector()
    M = six(X)
    assert np.allclose(flat(plucker.move(X, m)), M @ flat(m), atol=1e-14)
    assert np.allclose(flat(plucker.move_back(X, m)), np.linalg.solve(M, flat(m)), atol=1e-13)
    assert np.allclose(flat(plucker.push(X, f)), np.linalg.solve(M.T, flat(f)), atol=1e-13)
    assert np.allclose(flat(plucker.push_back(X, f)), M.T @ flat(f), atol=1e-14)


def test_transforms_compose_and_invert() -> None:
    X, Y = random_transform(), random_transform()
    assert np.allclose(six(plucker.then(X, Y)), six(Y) @ six(X), atol=1e-14)
    assert np.allclose(six(plucker.inverted(X)) @ six(X), np.eye(6), atol=1e-14)


def test_power_does_not_depend_on_the_frame() -> None:
    X, m, f = random_transform(), random_vector(), random_vector()
    there = plucker.power(plucker.push(X, f), plucker.move(X, m))
    assert abs(plucker.power(f, m) - there) < 1e-13


def test_crosses_are_dual_and_commute_with_transforms() -> None:
    X, v, m, f = random_transform(), random_vector(), random_vector(), random_vector()
    # (v x m) . f = -m . (v x* f)
    left = plucker.power(f, plucker.cross_motion(v, m))
    assert abs(left + plucker.power(plucker.cross_force(v, f), m)) < 1e-13
    moved = plucker.cross_motion(plucker.move(X, v), plucker.move(X, m))
    assert np.allclose(flat(moved), flat(plucker.move(X, plucker.cross_motion(v, m))), atol=1e-13)
    pushed = plucker.cross_force(plucker.move(X, v), plucker.push(X, f))
    assert np.allclose(flat(pushed), flat(plucker.push(X, plucker.cross_force(v, f))), atol=1e-13)
