"""Featherstone 2022, second part: motion, force, and the power between them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.spatial import plucker
from tests.engine.spatial.plucker import flat
from tests.references.spatial_vectors import (
    I3,
    O3,
    X3,
    Y3,
    Z3,
    close,
    couple,
    field,
    force_along,
    pair,
    power,
    rotation_about,
    three,
    translation,
)

pytestmark = pytest.mark.reference
rng = np.random.default_rng(102)
Array = np.ndarray

# figure 1: line A through O in the y-z plane, line B parallel to z through (1, 2)
ANGLE = 0.6
ALONG_A = np.array([0.0, np.cos(ANGLE), np.sin(ANGLE)])
ON_B = np.array([1.0, 2.0, 0.0])
# figure 2: two links, joints along z through O and through (1, 0); P at (1, 1)
S1, S2 = rotation_about(Z3, O3), rotation_about(Z3, X3)
P = np.array([1.0, 1.0, 0.0])


def test_section_18_a_rotation_elsewhere_is_one_here_and_a_translation() -> None:
    w, Q, origin, at = rng.normal(size=(4, 3))
    V_Q, V_O = np.cross(w, at - Q), np.cross(w, at - origin)
    assert close(V_Q, V_O + np.cross(w, origin - Q))
    assert close(field(rotation_about(w, Q), at), V_Q)


def test_section_19_velocity_of_the_point_at_the_origin() -> None:
    w, v_P, OP = rng.normal(size=(3, 3))
    v = flat(plucker.move_back((I3, three(OP)), pair(np.concatenate([w, v_P]))))
    assert close(v[:3], w)
    assert close(v[3:], v_P + np.cross(OP, w))
    # six elementary motions: about Ox, Oy, Oz and along x, y, z
    about = sum(w[i] * rotation_about(e, O3) for i, e in enumerate(np.eye(3)))
    along = sum(v[3 + i] * translation(e) for i, e in enumerate(np.eye(3)))
    assert close(v, about + along)


def test_exercise_a1_motions_about_lines() -> None:
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    assert close(rotation_about(ALONG_A, O3), np.array([0, c, s, 0, 0, 0]))
    assert close(translation(ALONG_A), np.array([0, 0, 0, 0, c, s]))
    assert close(rotation_about(Z3, ON_B), np.array([0, 0, 1, 2, -1, 0]))
    assert close(translation(Z3, 2.0), np.array([0, 0, 0, 0, 0, 2]))
    twist = rotation_about(Z3, ON_B, 2.0) + translation(Z3, 1.0)
    assert close(twist, np.array([0, 0, 2, 4, -2, 1]))


def test_exercise_a2_velocity_at_a_point() -> None:
    v, OP = rng.normal(size=6), rng.normal(size=3)
    (wx, wy, wz, vx, vy, vz), (px, py, pz) = v, OP
    assert close(field(v, OP), v[3:] - np.cross(OP, v[:3]))
    written = [vx - py * wz + pz * wy, vy - pz * wx + px * wz, vz - px * wy + py * wx]
    assert close(field(v, OP), np.array(written))


def test_exercise_a3_magnitude_along_and_pitch_of_a_twist() -> None:
    axis, point = rng.normal(size=(2, 3))
    axis /= np.linalg.norm(axis)
    turn, way = 1.4, 0.35
    v = rotation_about(axis, point, turn) + translation(axis, way)
    w, v_O = v[:3], v[3:]
    assert close(np.linalg.norm(w), turn)
    assert close(v_O @ w / np.linalg.norm(w), way)
    assert close(v_O @ w / (w @ w), way / turn)
    assert not close(np.linalg.norm(v_O), way)


def test_exercise_a4_instantaneous_screw_axis() -> None:
    v = rng.normal(size=6)
    w, v_O = v[:3], v[3:]
    OP = np.cross(w, v_O) / (w @ w)
    assert close(OP @ w, 0.0)
    for s in (-1.0, 0.0, 2.0):
        assert close(np.cross(w, field(v, OP + s * w)), O3)
    # and nowhere else
    assert not close(np.cross(w, field(v, OP + np.cross(w, X3))), O3)


def test_section_22_moments_couples_torques() -> None:
    f, Q, at = rng.normal(size=(3, 3))
    whole = force_along(f, Q)
    moved = flat(plucker.push((I3, three(at)), pair(whole)))
    assert close(moved, np.concatenate([np.cross(Q - at, f), f]))
    # a system of forces is one force through a point and a moment about it
    points, forces = rng.normal(size=(2, 4, 3))
    total = sum(force_along(one, where) for one, where in zip(forces, points, strict=True))
    moment = sum(np.cross(where, one) for one, where in zip(forces, points, strict=True))
    assert close(total, np.concatenate([moment, forces.sum(axis=0)]))
    # two opposite forces on parallel lines are a couple without a line
    r = rng.normal(size=3)
    assert close(force_along(f, Q + r) + force_along(-f, Q), couple(np.cross(r, f)))
    # a torque on a turning shaft: power; a force at a radius
    shaft, torque, rate, radius = rotation_about(Z3, Q), 2.5, 1.6, 0.25
    assert close(power(couple(Z3, torque), rate * shaft), torque * rate)
    push = force_along(Y3, Q + radius * X3, torque / radius)
    assert close(power(push, shaft), torque)


def test_section_23_moment_about_another_point() -> None:
    n_P, f, OP = rng.normal(size=(3, 3))
    at_P = pair(np.concatenate([n_P, f]))
    seen = flat(plucker.push_back((I3, three(OP)), at_P))
    assert close(seen, np.concatenate([n_P + np.cross(OP, f), f]))


def test_section_25_bases_of_motion_and_force_are_reciprocal() -> None:
    axes = np.eye(3)
    D = [rotation_about(e, O3) for e in axes] + [translation(e) for e in axes]
    E = [couple(e) for e in axes] + [force_along(e, O3) for e in axes]
    assert close(np.array([[power(e, d) for e in E] for d in D]), np.eye(6))
    # an angular coordinate meets a couple although neither knows where the other is
    assert close(power(couple(Z3), rotation_about(Z3, rng.normal(size=3))), 1.0)


def test_section_26_sums_differences_and_power() -> None:
    v_A, v_B, f_1, f_2 = rng.normal(size=(4, 6))
    relative = v_B - v_A
    assert close(power(f_1, v_B) - power(f_1, v_A), power(f_1, relative))
    assert close(power(f_1 + f_2, v_A), power(f_1, v_A) + power(f_2, v_A))
    assert close(power(f_1, v_A) + power(-f_1, v_A), 0.0)
    # a multiple of a twist has its axis and its pitch
    w, v_O = v_A[:3], v_A[3:]
    pitch, axis = v_O @ w / (w @ w), np.cross(w, v_O) / (w @ w)
    w, v_O = 3.0 * w, 3.0 * v_O
    assert close(v_O @ w / (w @ w), pitch)
    assert close(np.cross(w, v_O) / (w @ w), axis)


def test_exercise_b1_forces_along_lines() -> None:
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    assert close(force_along(ALONG_A, O3), np.array([0, 0, 0, 0, c, s]))
    assert close(couple(Z3), np.array([0, 0, 1, 0, 0, 0]))
    wrench = force_along(ALONG_A, O3) + force_along(Z3, ON_B)
    assert close(wrench, np.array([2, -1, 0, 0, c, 1 + s]))


def test_exercise_b2_a_planar_arm() -> None:
    assert close(S1, np.array([0, 0, 1, 0, 0, 0]))
    assert close(S2, np.array([0, 0, 1, 0, -1, 0]))
    q1, q2 = 0.7, -1.9
    v1, v2 = q1 * S1, q1 * S1 + q2 * S2
    assert close(v1, np.array([0, 0, q1, 0, 0, 0]))
    assert close(v2, np.array([0, 0, q1 + q2, 0, -q2, 0]))
    J = np.stack([S1, S2], axis=1)
    assert close(J @ np.array([q1, q2]), v2)
    assert close(field(v2, P), np.array([-q1 - q2, q1, 0.0]))


def test_exercise_b3_a_planar_arm_in_balance() -> None:
    pushed = force_along(-X3, P)
    assert close(pushed, np.array([0, 0, 1, -1, 0, 0]))
    # net force on each link is zero; the text prints the joint's force without its minus
    f2 = -pushed
    f1 = f2
    assert close(f1, np.array([0, 0, -1, 1, 0, 0]))
    assert close(power(f1, S1), -1.0)
    assert close(power(f2, S2), -1.0)
