"""The two bodies of Featherstone 2022 at rest, joined by a hinge: by 3-D and spatial vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.engine.trees.projection import skew

Array = np.ndarray


class TwoBodies(NamedTuple):
    """Two bodies at rest; the axis s of their hinge goes through P."""

    m1: float
    m2: float
    I1: Array  # (3, 3) about the centres of mass, W
    I2: Array
    r1: Array  # from C1 to P
    r2: Array  # from C2 to P
    s: Array  # unit axis


def coefficients(b: TwoBodies) -> tuple[Array, Array, Array, Array, Array, Array]:
    """A, B, C, D of equations A28-A31, with J and K of A20 and A24.

    The text prints m2 for the m2^2 of A22 and A28, which has no mass for its unit.
    """
    R1, R2, ss = skew(b.r1), skew(b.r2), np.outer(b.s, b.s)
    J = b.I2 - b.m2 * R2 @ R2  # A20
    K = J + b.m2 * R1 @ R2  # A24
    d = b.s @ J @ b.s
    A = (b.m1 + b.m2) * np.eye(3) + b.m2**2 * R2 @ ss @ R2 / d  # A28
    B = b.m2 * (R2 - R1) - b.m2 * R2 @ ss @ K.T / d  # A29
    C = b.m2 * (R1 - R2) + b.m2 * K @ ss @ R2 / d  # A30
    D = b.I1 + b.I2 - b.m2 * (R1 - R2) @ (R1 - R2) - K @ ss @ K.T / d  # A31
    return A, B, C, D, J, K


def by_3d_vectors(b: TwoBodies, f: Array, n: Array) -> tuple[Array, Array]:
    """a1 and dw1/dt from a force through C1 and a couple on the first body: A27 and A32."""
    A, B, C, D, _, _ = coefficients(b)
    found = np.linalg.solve(np.block([[A, B], [C, D]]), np.concatenate([f, n]))
    return found[:3], found[3:]


def by_spatial_vectors(I1: Array, I2: Array, s: Array, f: Array) -> tuple[Array, float, Array]:
    """a_1, alpha and the force f_J through the joint: B7, B6 and B5."""
    U = I2 @ s
    a1 = np.linalg.solve(I1 + I2 - np.outer(U, U) / (s @ U), f)
    alpha = -float(s @ I2 @ a1) / float(s @ U)
    return a1, alpha, I2 @ (a1 + s * alpha)
