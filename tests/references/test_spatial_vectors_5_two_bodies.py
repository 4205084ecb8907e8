"""Featherstone 2022, fifth part: the two-body problem by 3-D and by spatial vectors, and by ABA."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from cardan.engine.spatial.inertia import force_of, without
from cardan.engine.trees.aba import forward_dynamics
from tests.engine.spatial.plucker import as_articulated, rigid_inertia
from tests.engine.spatial.test_inertia import matrix_of
from tests.engine.trees.projection import skew
from tests.engine.trees.trees import random_tree
from tests.references.spatial_vectors import inertia_matrix, pair, rotation_about, three
from tests.references.two_bodies import (
    TwoBodies,
    by_3d_vectors,
    by_spatial_vectors,
    coefficients,
)

pytestmark = pytest.mark.reference
Array = np.ndarray
SEEDS = range(8)


def close(a: Array | float, b: Array | float) -> bool:
    scale = max(1.0, float(np.abs(b).max()))
    return bool(np.abs(a - b).max() <= 1e-12 * scale)


class Moved(NamedTuple):
    """What the engine's articulated-body algorithm finds for two bodies of a scene."""

    bodies: TwoBodies
    f: Array
    n: Array
    a1: Array
    turn1: Array
    alpha: float
    a2: Array
    turn2: Array


def by_aba(seed: int) -> Moved:
    """A free body with another on a hinge, at rest, pushed by f through C1 and turned by n."""
    case = random_tree(seed, 2, kinds=("hinge",), floating=True)
    tree, work = case.tree, case.work
    case.qd[:] = 0.0
    f, n = np.random.default_rng(900 + seed).normal(size=(2, 3))
    wrench, qdd = np.zeros((2, 6)), np.zeros(7)
    wrench[0] = np.concatenate([n, f])
    forward_dynamics(tree, case.q, case.qd, np.zeros(7), wrench, (0.0, 0.0, 0.0), work, qdd)
    R = work.R.reshape(2, 3, 3)
    moments = []
    for i in range(2):
        xx, yy, zz, xy, xz, yz = tree.inertia_B[i]
        moments.append(R[i] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R[i].T)
    to_P = R[1] @ tree.anchor_B[1]
    bodies = TwoBodies(
        float(tree.mass[0]),
        float(tree.mass[1]),
        moments[0],
        moments[1],
        work.p_WB[1] + to_P - work.p_WB[0],
        to_P,
        R[1] @ tree.axis_B[1],
    )
    A = work.A
    return Moved(bodies, f, n, A[0, 3:], A[0, :3], float(qdd[6]), A[1, 3:], A[1, :3])


def spatial_at_C1(b: TwoBodies) -> tuple[Array, Array, Array]:
    """I1, I2 and s in Pluecker coordinates at C1."""
    I1 = inertia_matrix(b.m1, np.zeros(3), b.I1)
    I2 = inertia_matrix(b.m2, b.r1 - b.r2, b.I2)
    return I1, I2, rotation_about(b.s, b.r1)


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_a1_to_a18_forces_and_accelerations(seed: int) -> None:
    b, f, n, a1, turn1, alpha, a2, turn2 = by_aba(seed)
    f1, n1 = b.m1 * a1, b.I1 @ turn1  # A1, A2
    f2, n2 = b.m2 * a2, b.I2 @ turn2  # A3, A4
    P_a1 = a1 - np.cross(b.r1, turn1)  # A5
    P_a2 = a2 - np.cross(b.r2, turn2)  # A6
    # A7-A9: angular accelerations and forces are the same at P
    P_n2 = n2 - np.cross(b.r2, f2)  # A10
    C1_n2 = n2 + np.cross(b.r1 - b.r2, f2)  # A11
    assert close(f1 + f2, f)  # A12
    assert close(n1 + C1_n2, n)  # A13
    assert close(P_a2, P_a1)  # A14
    assert close(turn2, turn1 + b.s * alpha)  # A15, A17
    assert close(b.s @ P_n2, 0.0)  # A16
    assert close(a2, a1 + np.cross(b.r2 - b.r1, turn1) + np.cross(b.r2, b.s * alpha))  # A18


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_a19_to_a25_joint_acceleration(seed: int) -> None:
    b, _, _, a1, turn1, alpha, _, _ = by_aba(seed)
    *_, J, K = coefficients(b)
    R1, R2 = skew(b.r1), skew(b.r2)
    across = np.cross(b.r2, a1 + np.cross(b.r2 - b.r1, turn1))
    below = b.s @ (b.I2 @ b.s - b.m2 * np.cross(b.r2, np.cross(b.r2, b.s)))
    assert close(-(b.s @ (b.I2 @ turn1 - b.m2 * across)) / below, alpha)  # A19
    assert close(below, b.s @ J @ b.s)
    assert close(J, b.I2 + b.m2 * R2.T @ R2)  # A20
    assert np.linalg.eigvalsh(J)[0] > 0.0
    shifted = np.cross(b.r2, a1 - np.cross(b.r1, turn1))
    assert close(-(b.s @ (J @ turn1 - b.m2 * shifted)) / below, alpha)  # A21
    assert close(K, b.I2 + b.m2 * (R1 - R2) @ R2)  # A24
    assert close(-(b.s @ (K.T @ turn1 - b.m2 * R2 @ a1)) / below, alpha)  # A25


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_a22_to_a31_coefficients(seed: int) -> None:
    b, f, n, a1, turn1, alpha, _, _ = by_aba(seed)
    A, B, C, D, J, K = coefficients(b)
    R1, R2, ss = skew(b.r1), skew(b.r2), np.outer(b.s, b.s)
    d = b.s @ J @ b.s
    first = (b.m1 + b.m2) * a1 + b.m2**2 * R2 @ ss @ R2 @ a1 / d
    second = b.m2 * (R2 - R1) @ turn1 - b.m2 * R2 @ ss @ (J + b.m2 * R2 @ R1) @ turn1 / d
    assert close(first + second, f)  # A22; the text prints m2 for its first m2^2
    whole = b.I1 + b.I2 - b.m2 * (R1 - R2) @ (R1 - R2)
    n_found = whole @ turn1 + b.m2 * (R1 - R2) @ a1 + K @ b.s * alpha
    assert close(n_found, n)  # A23
    turned = (whole - K @ ss @ K.T / d) @ turn1
    assert close(turned + (b.m2 * (R1 - R2) + b.m2 * K @ ss @ R2 / d) @ a1, n)  # A26
    assert close(A @ a1 + B @ turn1, f)  # A27 with A28, A29
    assert close(C @ a1 + D @ turn1, n)  # A27 with A30, A31
    assert close(A, A.T)
    assert close(D, D.T)
    assert close(B, C.T)
    assert np.linalg.eigvalsh(np.block([[A, B], [C, D]]))[0] > 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_equation_a32_is_what_aba_finds(seed: int) -> None:
    moved = by_aba(seed)
    a1, turn1 = by_3d_vectors(moved.bodies, moved.f, moved.n)
    assert close(a1, moved.a1)
    assert close(turn1, moved.turn1)


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_b1_to_b7_are_what_aba_finds(seed: int) -> None:
    moved = by_aba(seed)
    I1, I2, s = spatial_at_C1(moved.bodies)
    f = np.concatenate([moved.n, moved.f])
    a1, alpha, f_J = by_spatial_vectors(I1, I2, s, f)
    a2 = a1 + s * alpha  # B3
    assert close(f - f_J, I1 @ a1)  # B1
    assert close(f_J, I2 @ a2)  # B2, B5
    assert close(s @ f_J, 0.0)  # B4
    assert close(alpha, moved.alpha)  # B6
    assert close(a1, np.concatenate([moved.turn1, moved.a1]))  # B7


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_a32_and_b7_have_the_same_matrix(seed: int) -> None:
    b = by_aba(seed).bodies
    A, B, C, D, _, _ = coefficients(b)
    I1, I2, s = spatial_at_C1(b)
    U = I2 @ s
    felt = I1 + I2 - np.outer(U, U) / (s @ U)
    assert close(np.block([[D, C], [B, A]]), felt)
    # which is positive definite, as the text says of it, and the engine's articulated inertia
    assert np.linalg.eigvalsh(felt)[0] > 0.0
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    moments = tuple(float(b.I2[i, j]) for i, j in order)
    body = as_articulated(rigid_inertia(b.m2, three(b.r1 - b.r2), moments))  # type: ignore[arg-type]
    found = without(body, force_of(body, pair(s)), float(1.0 / (s @ U)))
    assert close(I1 + matrix_of(found), felt)
