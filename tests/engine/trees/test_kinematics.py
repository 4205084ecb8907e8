"""Where nodes are and how rates move them, against the joints of the scene and differences."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.accounting.extremes import joint_angle_error, joint_position_error
from cardan.engine.build.allocate import empty_state
from cardan.engine.constraints.joints.coordinates import coordinate
from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.trees.coordinates import advance_coordinates
from cardan.engine.trees.kinematics import write_frames, write_places, write_velocities
from tests.engine.trees.projection import project
from tests.engine.trees.trees import GRAVITY, KINDS, Case, random_tree


def poses(case: Case, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    write_places(case.tree, q, case.work)
    return case.work.p_WB.copy(), case.work.R.reshape(-1, 3, 3).copy()


@pytest.mark.parametrize("seed", range(4))
def test_places_are_products_of_matrices(seed: int) -> None:
    case = random_tree(seed, 12, floating=seed % 2 == 1)
    dense = project(case.tree, case.q, case.qd, np.array(GRAVITY))
    p, R = poses(case, case.q)
    assert np.abs(p - dense.place[:, :3, 3]).max() < 1e-13
    assert np.abs(R - dense.place[:, :3, :3]).max() < 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_frames_are_places_without_quaternions(seed: int) -> None:
    case = random_tree(seed, 12, floating=seed % 2 == 1)
    p, R = poses(case, case.q)
    S, arm = case.work.S.copy(), case.work.arm.copy()
    for array in (case.work.p_WB, case.work.R, case.work.S, case.work.arm):
        array[:] = np.nan
    write_frames(case.tree, case.q, case.work)
    assert np.abs(case.work.p_WB - p).max() < 1e-13
    assert np.abs(case.work.R.reshape(-1, 3, 3) - R).max() < 1e-13
    assert np.abs(case.work.S - S).max() < 1e-13
    assert np.abs(case.work.arm - arm).max() < 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_joints_hold_and_say_the_same_coordinates(seed: int) -> None:
    case = random_tree(seed, 30, floating=seed % 2 == 1)
    tree, joints = case.tree, case.model.joints
    p, _ = poses(case, case.q)
    state = empty_state(len(case.model.bodies.kind), len(joints.kind), 0, 1)
    for i in np.flatnonzero(tree.body >= 0):
        state.p_WB[tree.body[i]], state.q_WB[tree.body[i]] = p[i], case.work.q_WB[i]
    assert tree.inner.all()
    for j in range(len(joints.kind)):
        frame = joint_frame(joints, state, j)
        assert joint_position_error(joints, state, j, frame) < 1e-13
        assert joint_angle_error(joints, state, j, frame) < 3e-8
    for i in np.flatnonzero((tree.axis >= 0) & (np.diff(tree.q_start) == 1)):
        j, axis = int(tree.joint[i]), int(tree.axis[i])
        found = coordinate(joints, state, j, axis, joint_frame(joints, state, j))
        assert abs(found - case.q[tree.q_start[i]]) < 1e-13


@pytest.mark.parametrize("kinds", [(kind,) for kind in KINDS])
@pytest.mark.parametrize("floating", [False, True])
def test_rates_are_the_derivative_of_places(kinds: tuple[str, ...], floating: bool) -> None:
    case = random_tree(5, 6, kinds=("hinge", *kinds), floating=floating)
    poses(case, case.q)
    write_velocities(case.tree, case.qd, case.work)
    V = case.work.V.copy()
    R = poses(case, case.q)[1]
    h = 1e-4
    found = []
    for factor in (1.0, 0.5):
        ends = []
        for side in (-1.0, 1.0):
            q = case.q.copy()
            advance_coordinates(case.tree, q, case.qd, side * factor * h)
            ends.append(poses(case, q))
        dp = (ends[1][0] - ends[0][0]) / (2.0 * factor * h)
        W = ((ends[1][1] - ends[0][1]) / (2.0 * factor * h)) @ R.transpose(0, 2, 1)
        found.append(np.column_stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0], dp]))
    best = (4.0 * found[1] - found[0]) / 3.0
    assert np.abs(best - V).max() < 1e-9 * np.abs(V).max()


def test_a_free_body_follows_a_screw_exactly() -> None:
    case = random_tree(1, 1, floating=True)
    once, often = case.q.copy(), case.q.copy()
    advance_coordinates(case.tree, once, case.qd, 0.8)
    for _ in range(64):
        advance_coordinates(case.tree, often, case.qd, 0.8 / 64)
    assert np.abs(once - often).max() < 1e-13
