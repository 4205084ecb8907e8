"""Featherstone 2022, third part: Pluecker coordinates, derivatives, accelerations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat, random_transform, six
from tests.engine.trees.projection import skew
from tests.references.spatial_vectors import (
    I3,
    O3,
    X3,
    Y3,
    Z3,
    close,
    cross_f,
    cross_m,
    cross_matrix,
    field,
    pair,
    power,
    rotation_about,
    three,
    translation,
)

pytestmark = pytest.mark.reference
rng = np.random.default_rng(103)
Array = np.ndarray


def slope(f: Callable[[float], Array], h: float = 1e-3) -> Array:
    """df/dt at 0, of sixth order."""
    parts = (45.0, -9.0, 1.0)
    steps = ((f((k + 1) * h) - f(-(k + 1) * h)) * part for k, part in enumerate(parts))
    return sum(steps, np.zeros(())) / (60.0 * h)


def displaced(v: Array, t: float) -> plucker.Transform:
    """X from W to a frame that lay in W at t = 0 and has moved with v since, by its series."""
    M, term = np.eye(6), np.eye(6)
    for k in range(1, 30):
        term = term @ (-t * cross_matrix(v)) / k
        M = M + term
    E = M[:3, :3]
    B = -E.T @ M[3:, :3]
    r = (B[2, 1], B[0, 2], B[1, 0])
    return tuple(tuple(row) for row in E), r  # type: ignore[return-value]


def test_section_28_columns_are_the_old_basis_in_the_new_one() -> None:
    old, new = rng.normal(size=(2, 5, 5))
    X = np.linalg.solve(new, old)  # columns: old vectors in the new basis
    u = rng.normal(size=5)
    assert close(old @ u, new @ (X @ u), 1e-11)
    # for frames: the columns of X are the old frame's motions, looked at from the new frame
    X_BA = random_transform()
    axes = np.eye(3)
    basis = [rotation_about(e, O3) for e in axes] + [translation(e) for e in axes]
    seen = np.stack([flat(plucker.move(X_BA, pair(d))) for d in basis], axis=1)
    assert close(seen, six(X_BA))


def test_section_31_forces_transform_by_the_inverse_transpose() -> None:
    X = random_transform()
    pushed = np.stack([flat(plucker.push(X, pair(e))) for e in np.eye(6)], axis=1)
    assert close(pushed, np.linalg.inv(six(X)).T)
    assert close(six(X).T @ pushed, np.eye(6))
    m, f = rng.normal(size=(2, 6))
    assert close(power(pushed @ f, six(X) @ m), power(f, m), 1e-12)


def test_section_35_transform_is_a_shift_and_a_turn() -> None:
    E, r = random_transform()
    shift = np.eye(6)
    shift[3:, :3] = skew(np.array(r)).T
    turn = np.kron(np.eye(2), np.array(E))
    columns = [flat(plucker.move((E, r), pair(e))) for e in np.eye(6)]
    assert close(np.stack(columns, axis=1), turn @ shift)


def test_exercise_a1_reciprocal_basis() -> None:
    for a in (-2.0, 0.0, 0.75):
        B = np.array([[1.0, 0.0], [a, 1.0]])
        C = np.linalg.inv(B).T
        assert close(C[:, 0], np.array([1.0, 0.0]))
        assert close(C[:, 1], np.array([-a, 1.0]))
        assert close(B.T @ C, np.eye(2))


def test_exercise_a2_two_parallel_frames() -> None:
    length = 0.8
    Q = length * Y3
    about_Q = [rotation_about(e, Q) for e in np.eye(3)]
    about_O = [rotation_about(e, O3) for e in np.eye(3)]
    assert close(about_Q[0], about_O[0] - length * translation(Z3))
    assert close(about_Q[1], about_O[1])
    assert close(about_Q[2], about_O[2] + length * translation(X3))
    v = rng.normal(size=6)
    wx, wy, wz, vx, vy, vz = v
    v_Q = flat(plucker.move((I3, three(Q)), pair(v)))
    assert close(v_Q, np.array([wx, wy, wz, vx - length * wz, vy, vz + length * wx]))
    moves = [translation(e) for e in np.eye(3)]
    again = sum(x * d for x, d in zip(v_Q, [*about_Q, *moves], strict=True))
    assert close(again, v)


def test_section_37_cross_operators() -> None:
    v, u, m, f = rng.normal(size=(4, 6))
    M = cross_matrix(v)
    assert close(cross_m(v, m), M @ m)
    assert close(cross_f(v, f), -M.T @ f)
    starred = np.zeros((6, 6))
    starred[:3, :3] = starred[3:, 3:] = skew(v[:3])
    starred[:3, 3:] = skew(v[3:])
    assert close(cross_f(v, f), starred @ f)
    assert close(cross_m(v, u), -cross_m(u, v))
    assert close(cross_m(v, v), np.zeros(6))
    assert close(cross_m(1.7 * v, m), 1.7 * cross_m(v, m))
    assert close(cross_m(v + u, m), cross_m(v, m) + cross_m(u, m))
    X = six(random_transform())
    assert close(cross_matrix(X @ v), X @ M @ np.linalg.inv(X), 1e-12)


def test_section_38_what_is_fixed_in_a_moving_body() -> None:
    v, m, f = rng.normal(size=(3, 6))
    moved = slope(lambda t: flat(plucker.move_back(displaced(v, t), pair(m))))
    assert close(moved, cross_m(v, m), 1e-11)
    pushed = slope(lambda t: flat(plucker.push_back(displaced(v, t), pair(f))))
    assert close(pushed, cross_f(v, f), 1e-11)


def test_section_39_derivatives_in_moving_coordinates() -> None:
    v, m0, m1, f0, f1 = rng.normal(size=(5, 6))
    # coordinates in the frame that moves with v change as m0 + t m1; seen from W at t = 0
    moved = slope(lambda t: flat(plucker.move_back(displaced(v, t), pair(m0 + t * m1))))
    assert close(moved, m1 + cross_m(v, m0), 1e-11)
    pushed = slope(lambda t: flat(plucker.push_back(displaced(v, t), pair(f0 + t * f1))))
    assert close(pushed, f1 + cross_f(v, f0), 1e-11)


def test_section_40_a_body_that_turns_steadily_has_no_spatial_acceleration() -> None:
    v = rotation_about(Z3, np.array([1.0, 0.5, 0.0]), 2.0)
    # its velocity, carried along with itself, stays what it is
    assert close(slope(lambda t: flat(plucker.move_back(displaced(v, t), pair(v)))), 0.0, 1e-11)
    # while every point of it goes round: w x (w x r)
    at = np.array([0.3, -0.2, 0.9])
    arm = at - np.array([1.0, 0.5, 0.0])

    def path(t: float) -> Array:
        E, r = displaced(v, t)
        return np.array(r) + np.array(E).T @ at

    wanted = np.cross(v[:3], np.cross(v[:3], arm))
    assert close(slope(lambda t: slope(lambda s: path(t + s))), wanted, 1e-8)
    assert np.linalg.norm(wanted) > 1.0


def test_section_41_spatial_acceleration_and_that_of_a_point() -> None:
    v, a = rng.normal(size=(2, 6))
    w = v[:3]

    def flow(t: float) -> Array:
        """Velocity at time t of the body-fixed point that was at O at time 0."""
        r = t * v[3:]  # to first order where it is then: enough for one derivative
        return field(v + t * a, r)

    r_dot, r_ddot = v[3:], slope(flow)
    assert close(a[3:], r_ddot - np.cross(w, r_dot), 1e-11)


def test_section_42_accelerations_add_without_a_coriolis_term() -> None:
    # v_2 = v_1 + s q': the derivative of the sum is the sum of derivatives
    v1, s = rng.normal(size=(2, 6))
    a1, rate, change = rng.normal(size=6), 0.8, -0.4
    relative = change * s + rate * cross_m(v1, s)

    def v2(t: float) -> Array:
        carried = flat(plucker.move_back(displaced(v1, t), pair(s)))
        return v1 + t * a1 + (rate + t * change) * carried

    assert close(slope(v2), a1 + relative, 1e-11)


def test_exercise_b1_accelerations_of_a_planar_arm() -> None:
    q1, q2, dd1, dd2 = 0.7, -1.9, 0.4, 1.1
    s1, s2 = rotation_about(Z3, O3), rotation_about(Z3, X3)
    v1 = q1 * s1
    a1 = dd1 * s1 + q1 * cross_m(np.zeros(6), s1)
    a2 = a1 + dd2 * s2 + cross_m(v1, q2 * s2)
    assert close(a1, np.array([0, 0, dd1, 0, 0, 0]))
    assert close(a2, np.array([0, 0, dd1 + dd2, q1 * q2, -dd2, 0]))

    def v2(t: float) -> Array:
        turned = q1 * t + 0.5 * dd1 * t * t
        elbow = np.array([np.cos(turned), np.sin(turned), 0.0])
        return (q1 + t * dd1) * s1 + (q2 + t * dd2) * rotation_about(Z3, elbow)

    assert close(slope(v2), a2, 1e-11)


def test_exercise_b2_a_rolling_cylinder() -> None:
    radius, speed, y0 = 0.3, 1.7, 0.9

    def velocity(t: float) -> Array:
        contact = np.array([0.0, y0 + speed * t, 0.0])
        return rotation_about(-X3, contact, speed / radius)

    for t in (0.0, 0.4):
        y = y0 + speed * t
        wanted = np.array([-speed / radius, 0, 0, 0, 0, y * speed / radius])
        assert close(velocity(t), wanted)
        centre = np.array([0.0, y, radius])
        assert close(field(velocity(t), centre), speed * Y3)
    found = slope(velocity)
    assert close(found, np.array([0, 0, 0, 0, 0, speed**2 / radius]), 1e-11)
    # at the moving centre: componentwise derivative (zero) and the frame's own velocity
    frame = translation(Y3, speed)
    at_C = np.concatenate([velocity(0.0)[:3], speed * Y3])
    moving = cross_m(frame, at_C)
    C = np.array([0.0, y0, radius])
    assert close(moving, flat(plucker.move((I3, three(C)), pair(found))), 1e-10)
