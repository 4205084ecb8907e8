"""Inertias as maps from motion to force, against their 6 x 6 matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.engine.spatial import inertia
from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat, random_transform, random_vector, six
from tests.engine.trees.projection import skew

rng = np.random.default_rng(6)


def full(S: inertia.Sym3) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = S
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def random_sym() -> inertia.Sym3:
    F = rng.normal(size=(3, 3))
    S = F @ F.T + np.eye(3)
    return (S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2])


def random_rigid() -> inertia.RigidInertia:
    return plucker.rigid_inertia(1.7, tuple(rng.normal(size=3)), random_sym())


def rigid_matrix(found: inertia.RigidInertia) -> np.ndarray:
    m, h, moments = found
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = full(moments), m * np.eye(3)
    M[:3, 3:], M[3:, :3] = skew(np.array(h)), -skew(np.array(h))
    return M


def matrix_of(found: inertia.ArticulatedInertia) -> np.ndarray:
    A, B, C = found
    return np.block([[full(A), np.array(B)], [np.array(B).T, full(C)]])


def test_a_rigid_body_has_the_momentum_of_its_matrix() -> None:
    body, v = random_rigid(), random_vector()
    M = rigid_matrix(body)
    assert np.allclose(flat(inertia.momentum_of(body, v)), M @ flat(v), atol=1e-13)
    assert abs(plucker.rigid_energy(body, v) - 0.5 * flat(v) @ M @ flat(v)) < 1e-13
    assert np.allclose(matrix_of(plucker.as_articulated(body)), M, atol=1e-14)


def test_steiner_is_the_parallel_axis_theorem() -> None:
    c, moments = rng.normal(size=3), random_sym()
    _, _, grown = plucker.rigid_inertia(2.0, tuple(c), moments)
    assert np.allclose(full(grown), full(moments) - 2.0 * skew(c) @ skew(c), atol=1e-13)


def test_inertias_change_frames_as_their_matrices() -> None:
    X, body = random_transform(), random_rigid()
    wanted = six(X).T @ rigid_matrix(body) @ six(X)
    assert np.allclose(rigid_matrix(plucker.rigid_back(X, body)), wanted, atol=1e-12)
    # any symmetric 6 x 6 matrix is an articulated inertia
    F = rng.normal(size=(6, 6))
    M = F @ F.T
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    felt: Any = (
        tuple(M[i, j] for i, j in order),
        tuple(map(tuple, M[:3, 3:])),
        tuple(M[3 + i, 3 + j] for i, j in order),
    )
    assert np.allclose(
        matrix_of(plucker.articulated_back(X, felt)), six(X).T @ M @ six(X), atol=1e-12
    )


def test_a_free_joint_takes_its_share_out() -> None:
    body, S = plucker.as_articulated(random_rigid()), random_vector()
    M, s = matrix_of(body), flat(S)
    U = inertia.force_of(body, S)
    D = plucker.power(U, S)
    left = matrix_of(inertia.without(body, U, 1.0 / D))
    assert np.allclose(left, M - np.outer(M @ s, M @ s) / (s @ M @ s), atol=1e-12)
    # along S nothing is felt any more
    assert np.abs(left @ s).max() < 1e-12


def test_symmetric_inverse() -> None:
    S = random_sym()
    assert np.allclose(full(inertia.sym_inverse(S)) @ full(S), np.eye(3), atol=1e-13)
