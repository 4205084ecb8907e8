"""Featherstone 2022, fourth part: momentum, inertia, constrained bodies, robot algorithms."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.trees.arrays import tree_work
from cardan.engine.trees.articulated_inertia import write_inertias
from cardan.engine.trees.energy_momentum import kinetic_energy, momentum
from cardan.engine.trees.kinematics import write_places, write_velocities
from cardan.engine.trees.rnea import inverse_dynamics
from cardan.engine.world.tree import NODE_HINGE
from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat, random_transform, six
from tests.engine.trees.projection import skew
from tests.engine.trees.trees import GRAVITY, Case, random_tree
from tests.references.spatial_vectors import (
    O3,
    Z3,
    cross_f,
    cross_m,
    cross_matrix,
    inertia_matrix,
    pair,
    power,
    random_inertia,
    rotation_about,
)
from tests.references.test_spatial_vectors_3_coordinates import displaced, slope

pytestmark = pytest.mark.reference
rng = np.random.default_rng(104)
Array = np.ndarray


def close(a: Array | float, b: Array | float, within: float = 1e-12) -> bool:
    return bool(np.allclose(a, b, rtol=0.0, atol=within))


def complement(S: Array) -> Array:
    """T: the forces that do no work along S."""
    U, _, _ = np.linalg.svd(S)
    return U[:, S.shape[1] :]


def carried(v: Array, t: float, M: Array) -> Array:
    """X^T M X: the inertia of a body that has moved with v for a time t, seen from W."""
    X = six(displaced(v, t))
    return X.T @ M @ X


def test_section_44_spatial_momentum() -> None:
    m, c, I_c = random_inertia(rng)
    v = rng.normal(size=6)
    h = m * (v[3:] + np.cross(v[:3], c))
    h_O = I_c @ v[:3] + np.cross(c, h)
    assert close(inertia_matrix(m, c, I_c) @ v, np.concatenate([h_O, h]))


def test_sections_45_and_46_inertia() -> None:
    m, c, I_c = random_inertia(rng)
    M = inertia_matrix(m, c, I_c)
    blocks = np.block([[I_c - m * skew(c) @ skew(c), m * skew(c)], [m * skew(c).T, m * np.eye(3)]])
    assert close(M, blocks)
    v, u = rng.normal(size=(2, 6))
    assert close(power(M @ v, u), power(M @ u, v))
    assert np.linalg.eigvalsh(M)[0] > 0.0
    speed = v[3:] + np.cross(v[:3], c)
    assert close(0.5 * power(M @ v, v), 0.5 * (m * speed @ speed + v[:3] @ I_c @ v[:3]))
    starred = -cross_matrix(v).T
    change = slope(lambda t: carried(v, t, M))
    assert close(change, starred @ M - M @ cross_matrix(v), 1e-10)
    # two bodies that move as one
    other = random_inertia(rng)
    total = m + other[0]
    middle = (m * c + other[0] * other[1]) / total
    about = sum(
        (
            moments - mass * skew(at - middle) @ skew(at - middle)
            for mass, at, moments in ((m, c, I_c), other)
        ),
        np.zeros((3, 3)),
    )
    assert close(M + inertia_matrix(*other), inertia_matrix(total, middle, about))


def test_section_46_congruence_keeps_definiteness_but_not_eigenvalues() -> None:
    M, X = inertia_matrix(*random_inertia(rng)), random_transform()
    there = np.linalg.inv(six(X)).T @ M @ np.linalg.inv(six(X))
    v = rng.normal(size=6)
    pushed = flat(plucker.push(X, pair(M @ v)))
    assert close(there @ flat(plucker.move(X, pair(v))), pushed, 1e-11)
    assert np.linalg.eigvalsh(there)[0] > 0.0
    assert not close(np.linalg.eigvalsh(there), np.linalg.eigvalsh(M), 1e-3)


def test_section_47_force_is_the_rate_of_momentum() -> None:
    M = inertia_matrix(*random_inertia(rng))
    v, a = rng.normal(size=(2, 6))
    found = slope(lambda t: carried(v, t, M) @ (v + t * a))
    assert close(found, M @ a + cross_f(v, M @ v), 1e-10)


def test_exercise_a1_inertia_times_velocity_is_the_momentum() -> None:
    m, c, I_c = random_inertia(rng)
    w, v_O = rng.normal(size=(2, 3))
    # the text's second line reads I_C where it prints I_O
    upper = I_c @ w - m * np.cross(c, np.cross(c, w)) + m * np.cross(c, v_O)
    v_C = v_O - np.cross(c, w)
    assert close(upper, I_c @ w + np.cross(c, m * v_C))
    found = inertia_matrix(m, c, I_c) @ np.concatenate([w, v_O])
    assert close(found, np.concatenate([upper, m * v_C]))


def test_exercise_a2_inverse_inertia_in_another_frame() -> None:
    M, X = inertia_matrix(*random_inertia(rng)), six(random_transform())
    starred = np.linalg.inv(X).T
    there = starred @ M @ np.linalg.inv(X)
    assert close(np.linalg.inv(there), X @ np.linalg.inv(M) @ np.linalg.inv(starred), 1e-11)


def test_exercise_a3_relative_inertia_is_the_harmonic_sum() -> None:
    I_A, I_B = inertia_matrix(*random_inertia(rng)), inertia_matrix(*random_inertia(rng))
    f = rng.normal(size=6)
    a_rel = np.linalg.solve(I_B, f) - np.linalg.solve(I_A, -f)
    I_rel = np.linalg.inv(np.linalg.inv(I_A) + np.linalg.inv(I_B))
    assert close(I_rel @ a_rel, f, 1e-11)
    assert np.linalg.eigvalsh(I_A + I_B - 4.0 * I_rel)[0] > -1e-12


def test_exercise_a4_newton_and_euler() -> None:
    m, _, I_c = random_inertia(rng)
    w, w_dot, v_C, c_ddot = rng.normal(size=(4, 3))
    M = inertia_matrix(m, O3, I_c)
    v = np.concatenate([w, v_C])
    a = np.concatenate([w_dot, c_ddot - np.cross(w, v_C)])
    f = M @ a + cross_f(v, M @ v)
    assert close(f[:3], I_c @ w_dot + np.cross(w, I_c @ w))
    assert close(f[3:], m * c_ddot)


@pytest.mark.parametrize("freedom", range(1, 6))
def test_sections_49_and_50_motion_and_constraint_force_subspaces(freedom: int) -> None:
    S = rng.normal(size=(6, freedom))
    T = complement(S)
    assert T.shape == (6, 6 - freedom)
    assert close(S.T @ T, 0.0)
    v, f = S @ rng.normal(size=freedom), T @ rng.normal(size=6 - freedom)
    assert close(power(f, v), 0.0)
    # the subspaces are given, their matrices are not
    mixed = S @ (rng.normal(size=(freedom, freedom)) + 3.0 * np.eye(freedom))
    assert close(mixed.T @ T, 0.0)


@pytest.mark.parametrize("freedom", range(1, 6))
def test_section_52_constrained_body_by_s_and_by_t(freedom: int) -> None:
    M, f = inertia_matrix(*random_inertia(rng)), rng.normal(size=6)
    S = rng.normal(size=(6, freedom))
    T = complement(S)
    by_S = S @ np.linalg.solve(S.T @ M @ S, S.T @ f)
    inverse = np.linalg.inv(M)
    # the text's lambda = -D T^T I^-1 lacks its f
    lam = -np.linalg.solve(T.T @ inverse @ T, T.T @ inverse @ f)
    by_T = inverse @ (f + T @ lam)
    assert close(by_S, by_T)
    assert close(T.T @ by_T, 0.0)
    assert close(M @ by_S - f, T @ lam, 1e-11)
    D = np.linalg.inv(T.T @ inverse @ T)
    phi = inverse - inverse @ T @ D @ T.T @ inverse
    assert close(phi @ f, by_S)


def apparent(M: Array, S: Array, S_dot: Array, alpha: Array) -> tuple[Array, Array]:
    """Exercise B1's apparent inverse inertia and bias acceleration: a = Phi f + b."""
    v = S @ alpha
    phi = S @ np.linalg.solve(S.T @ M @ S, S.T)
    return phi, S_dot @ alpha - phi @ (M @ S_dot @ alpha + cross_f(v, M @ v))


@pytest.mark.parametrize("freedom", range(1, 6))
def test_exercise_b1_constrained_body_in_motion(freedom: int) -> None:
    M, f = inertia_matrix(*random_inertia(rng)), rng.normal(size=6)
    S, S_dot = rng.normal(size=(2, 6, freedom))
    alpha = rng.normal(size=freedom)
    phi, b = apparent(M, S, S_dot, alpha)
    a, v = phi @ f + b, S @ alpha
    # what is left of the equation of motion is a constraint force
    f_c = M @ a + cross_f(v, M @ v) - f
    assert close(S.T @ f_c, 0.0, 1e-11)
    # and the motion stays in the subspace
    left = a - S_dot @ alpha
    assert close(left, S @ np.linalg.lstsq(S, left, rcond=None)[0], 1e-11)
    # Phi is symmetric, has the rank of S, and takes constraint forces to nothing
    assert close(phi, phi.T)
    assert np.linalg.matrix_rank(phi) == freedom
    assert close(phi @ complement(S), 0.0, 1e-11)


def test_exercise_b2_a_subspace_fixed_in_the_body() -> None:
    S, alpha, alpha_dot = rng.normal(size=(6, 2)), rng.normal(size=2), rng.normal(size=2)
    v = S @ alpha
    S_dot = np.stack([cross_m(v, s) for s in S.T], axis=1)
    assert close(S_dot @ alpha, 0.0)
    assert close(S @ alpha_dot + S_dot @ alpha, S @ alpha_dot)
    T = complement(S)
    T_dot = np.stack([cross_f(v, one) for one in T.T], axis=1)
    assert close(T_dot.T @ S + T.T @ S_dot, 0.0)
    assert close(T_dot.T @ v, 0.0)


def test_exercises_b3_and_b4_joint_space_inertia_and_energy() -> None:
    M, f = inertia_matrix(*random_inertia(rng)), rng.normal(size=6)
    S, S_dot, qd = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=3)
    v = S @ qd
    H = S.T @ M @ S
    C = S.T @ (M @ S_dot @ qd + cross_f(v, M @ v))
    phi, b = apparent(M, S, S_dot, qd)
    a = phi @ f + b
    qdd = np.linalg.lstsq(S, a - S_dot @ qd, rcond=None)[0]
    assert close(H @ qdd + C, S.T @ f, 1e-11)
    assert close(0.5 * v @ M @ v, 0.5 * qd @ H @ qd)


def test_exercise_b3_is_what_the_engine_computes_for_one_hinge() -> None:
    case = random_tree(31, 1, kinds=("hinge",))
    bodies = TreeInWorld(case)
    s = bodies.S[:, [0]]
    v = s[:, 0] * case.qd[0]
    S_dot = cross_m(v, s[:, 0])[:, None]
    M = bodies.inertia[0]
    C = s.T @ (M @ S_dot[:, 0] * case.qd[0] + cross_f(v, M @ v))
    qdd = np.array([0.7])
    tau = np.zeros(1)
    inverse_dynamics(case.tree, case.q, case.qd, qdd, (0.0, 0.0, 0.0), tree_work(case.tree), tau)
    assert close(tau, s.T @ M @ s @ qdd + C)


class TreeInWorld:
    """Joint axes and inertias of a tree of hinges at the origin of W (Featherstone 2022)."""

    def __init__(self, case: Case) -> None:
        write_places(case.tree, case.q, case.work)
        tree, work = case.tree, case.work
        n = len(tree.kind)
        self.parent = tree.parent
        self.inertia = np.zeros((n, 6, 6))
        self.S = np.zeros((6, n))
        for i in range(n):
            assert tree.kind[i] == NODE_HINGE
            R = work.R[i].reshape(3, 3)
            xx, yy, zz, xy, xz, yz = tree.inertia_B[i]
            I_W = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
            self.inertia[i] = inertia_matrix(float(tree.mass[i]), work.p_WB[i], I_W)
            anchor = work.p_WB[i] + R @ tree.anchor_B[i]
            self.S[:, i] = rotation_about(R @ tree.axis_B[i], anchor)

    def velocities(self, qd: Array) -> Array:
        V = np.zeros((len(self.parent), 6))
        for i, up in enumerate(self.parent):
            V[i] = (V[up] if up >= 0 else 0.0) + self.S[:, i] * qd[i]
        return V


def rnea(bodies: TreeInWorld, qd: Array, qdd: Array, gravity: Array) -> Array:
    """Section 55, word for word."""
    n = len(qd)
    V, A, F = bodies.velocities(qd), np.zeros((n, 6)), np.zeros((n, 6))
    a_0 = np.concatenate([O3, -gravity])
    for i, up in enumerate(bodies.parent):
        s, M = bodies.S[:, i], bodies.inertia[i]
        A[i] = (A[up] if up >= 0 else a_0) + s * qdd[i] + cross_m(V[i], s * qd[i])
        F[i] = M @ A[i] + cross_f(V[i], M @ V[i])
    tau = np.zeros(n)
    for i in range(n - 1, -1, -1):
        tau[i] = power(F[i], bodies.S[:, i])
        if bodies.parent[i] >= 0:
            F[bodies.parent[i]] += F[i]
    return tau


@pytest.mark.parametrize("seed", range(4))
def test_section_55_recursive_newton_euler(seed: int) -> None:
    case = random_tree(seed, 12, kinds=("hinge",))
    qdd = np.random.default_rng(seed).normal(size=len(case.qd))
    wanted = rnea(TreeInWorld(case), case.qd, qdd, np.array(GRAVITY))
    tau = np.zeros_like(qdd)
    inverse_dynamics(case.tree, case.q, case.qd, qdd, GRAVITY, tree_work(case.tree), tau)
    assert np.abs(tau - wanted).max() <= 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(4))
def test_exercise_c1_energy_and_momentum_of_a_mechanism(seed: int) -> None:
    case = random_tree(seed, 12, kinds=("hinge",))
    bodies = TreeInWorld(case)
    n = len(bodies.parent)
    V = bodies.velocities(case.qd)
    T = np.array([0.5 * V[i] @ bodies.inertia[i] @ V[i] for i in range(n)])
    h = np.array([bodies.inertia[i] @ V[i] for i in range(n)])
    for i in range(n - 1, -1, -1):
        if bodies.parent[i] >= 0:
            T[bodies.parent[i]] += T[i]
            h[bodies.parent[i]] += h[i]
    roots = np.flatnonzero(bodies.parent < 0)
    write_places(case.tree, case.q, case.work)
    write_velocities(case.tree, case.qd, case.work)
    write_inertias(case.tree, case.work)
    found = kinetic_energy(case.tree, case.work, 0, n)
    assert abs(found - T[roots].sum()) <= 1e-12 * found
    whole = flat(momentum(case.tree, case.work, 0, n, (0.0, 0.0, 0.0)))
    assert np.abs(whole - h[roots].sum(axis=0)).max() <= 1e-12 * np.abs(whole).max()
    assert power(h[roots].sum(axis=0), rotation_about(Z3, O3)) == pytest.approx(whole[2], rel=1e-12)
