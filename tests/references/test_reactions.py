"""Reactions of joints: statics by closed form, moving bodies by Newton and Euler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.engine.scenes import brick, document, simulate

pytestmark = pytest.mark.reference

G = 9.81
M = 2.0
ARM = np.array([0.4, 0.1, -0.2])  # from the anchor, the origin, to the centre of mass
WEIGHT = np.array([0.0, 0.0, -M * G])
MOMENT = np.cross(ARM, WEIGHT)


def loaded(
    joint: dict[str, Any], torque: Any = (0, 0, 0), force: Any = (0, 0, 0), steps: int = 200
) -> np.ndarray:
    """Reaction (6,) on a body whose weight acts at ARM, with a wrench at its centre of mass."""
    body = {"name": "b", "mass": M, "inertia": [0.3, 0.4, 0.5], "position": ARM.tolist()}
    full = {"name": "j", "parent": "world", "child": "b", "anchor": [0, 0, 0], **joint}
    wrench = {"type": "wrench", "body": "b", "torque": list(torque), "force": list(force)}
    sim = simulate(document([body], [full], forces=[wrench], simulation={"dt": 1e-3}))
    sim.advance(steps)
    assert sim.poses()[0, :3] == pytest.approx(ARM, abs=1e-9)
    return reaction(sim)


def reaction(sim: Any, joint: int = 0) -> np.ndarray:
    """Force and torque on the child at the anchor, W."""
    table = sim.joint_table()
    row = table[table["joint"] == joint][0]
    return np.array([row[name] for name in ("fx", "fy", "fz", "tx", "ty", "tz")])


def test_cantilever() -> None:
    assert loaded({"type": "fixed"}) == pytest.approx(np.r_[-WEIGHT, -MOMENT], abs=1e-9)


def test_cantilever_under_force_and_torque() -> None:
    force, torque = np.array([3.0, -2.0, 5.0]), np.array([0.3, 0.7, -0.4])
    expected = np.r_[-WEIGHT - force, -MOMENT - np.cross(ARM, force) - torque]
    assert loaded({"type": "fixed"}, torque, force) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("joint", "free"),
    [
        ({"type": "hinge", "axis": [0, 0, 1]}, [[0, 0, 1]]),
        ({"type": "hinge", "axis": [0, 3, 4]}, [[0, 0.6, 0.8]]),
        ({"type": "universal", "axis": [0, 0, 1], "axis2": [1, 0, 0]}, [[0, 0, 1], [1, 0, 0]]),
        ({"type": "hinge2", "axis": [0, 0, 1], "axis2": [1, 1, 0]}, [[0, 0, 1], [1, 1, 0]]),
        ({"type": "ball"}, np.eye(3)),
    ],
)
def test_rotary_joints_bear_all_but_torques_about_their_axes(joint: Any, free: Any) -> None:
    # a torque keeps the free axes in balance, the joint bears the rest of the moment
    axes = np.linalg.qr(np.array(free, float).T)[0]
    borne = MOMENT - axes @ (axes.T @ MOMENT)
    held = -axes @ (axes.T @ MOMENT)
    assert loaded(joint, held) == pytest.approx(np.r_[-WEIGHT, -borne], abs=1e-9)


@pytest.mark.parametrize(
    ("joint", "free", "turns"),
    [
        ({"type": "slider", "axis": [0, 0.6, 0.8]}, [0, 0.6, 0.8], False),
        ({"type": "cylindrical", "axis": [0, 0.6, 0.8]}, [0, 0.6, 0.8], True),
    ],
)
def test_sliding_joints_bear_all_but_forces_along_their_axis(
    joint: Any, free: Any, turns: bool
) -> None:
    s = np.array(free)
    force = -(s @ WEIGHT) * s
    moment = MOMENT + np.cross(ARM, force)
    torque = -(s @ moment) * s if turns else np.zeros(3)
    expected = np.r_[-WEIGHT - force, -moment - torque]
    assert loaded(joint, torque, force) == pytest.approx(expected, abs=1e-9)


def test_planar_joint_bears_the_force_across_and_the_tilt() -> None:
    result = loaded({"type": "planar", "axis": [0, 0, 1]})
    assert result == pytest.approx(np.r_[-WEIGHT, -MOMENT], abs=1e-9)


def test_screw_bears_what_its_thread_does_not_turn_into_motion() -> None:
    lead = 0.02
    joint = {"type": "screw", "axis": [0, 0, 1], "pitch": 2 * math.pi * lead}
    # thrust -W bears the weight and makes a torque lead W about the axis, which a torque balances
    result = loaded(joint, [0, 0, M * G * lead])
    expected = np.r_[-WEIGHT, -MOMENT + [0, 0, -M * G * lead]]
    assert result == pytest.approx(expected, abs=1e-9)


def test_limit_and_spring_bear_what_the_axis_lets_through() -> None:
    stop = {"type": "hinge", "axis": [0, 1, 0], "limits": {"upper": 0.0}}
    assert loaded(stop) == pytest.approx(np.r_[-WEIGHT, -MOMENT], abs=1e-9)
    rope = {"type": "slider", "axis": [0, 0, 1], "limits": {"lower": 0.0}}
    assert loaded(rope) == pytest.approx(np.r_[-WEIGHT, -MOMENT], abs=1e-9)
    rest = -M * G / 5000.0
    spring = {"stiffness": 5000.0, "damping": 10.0, "rest": -rest}
    sprung = {"type": "slider", "axis": [0, 0, 1], "spring": spring}
    assert loaded(sprung) == pytest.approx(np.r_[-WEIGHT, -MOMENT], abs=1e-9)


def test_rods_share_a_weight_as_statics_says() -> None:
    # two rods from a point mass up to the ceiling, at 30 and 45 degrees from the vertical
    body = {"name": "b", "mass": M, "inertia": [0.1] * 3}
    a, b = math.radians(30), math.radians(45)
    joints = [
        {"name": n, "type": "distance", "parent": "world", "child": "b", "anchor": top}
        | {"anchor2": [0, 0, 0]}
        for n, top in (("l", [-math.tan(a), 0, 1]), ("r", [math.tan(b), 0, 1]))
    ]
    sim = simulate(document([body], joints, simulation={"dt": 1e-3}))
    sim.advance(200)
    left = M * G * math.sin(b) / math.sin(a + b)
    right = M * G * math.sin(a) / math.sin(a + b)
    assert reaction(sim, 0)[:3] == pytest.approx(
        [-left * math.sin(a), 0, left * math.cos(a)], abs=1e-9
    )
    assert reaction(sim, 1)[:3] == pytest.approx(
        [right * math.sin(b), 0, right * math.cos(b)], abs=1e-9
    )


def test_gear_in_balance_passes_its_torque_on() -> None:
    bodies = [
        {"name": n, "mass": 1.0, "inertia": [0.1] * 3, "position": [x, 0, 0]}
        for n, x in (("a", 0.0), ("b", 1.0))
    ]
    joints: list[dict[str, Any]] = [
        {"name": f"h{n}", "type": "hinge", "parent": "world", "child": n, "axis": [0, 0, 1]}
        | {"anchor": [x, 0, 0]}
        for n, x in (("a", 0.0), ("b", 1.0))
    ]
    joints.append({"name": "g", "type": "gear", "parent": "a", "child": "b", "axis": [0, 0, 1]})
    joints[-1] |= {"ratio": -3.0}
    forces = [
        {"type": "wrench", "body": "a", "torque": [0, 0, 6.0]},
        {"type": "wrench", "body": "b", "torque": [0, 0, 2.0]},
    ]
    sim = simulate(document(bodies, joints, forces=forces, simulation={"dt": 1e-3}))
    sim.advance(100)
    assert sim.velocities() == pytest.approx(np.zeros((2, 6)), abs=1e-12)
    assert reaction(sim, 2) == pytest.approx([0, 0, 0, 0, 0, -2.0], abs=1e-9)


MOVING = [
    {"type": "ball"},
    {"type": "hinge", "axis": [0.2, -0.4, 0.8]},
    {"type": "slider", "axis": [0.2, -0.4, 0.8]},
    {"type": "fixed"},
    {"type": "hinge2", "axis": [0, 0, 1], "axis2": [0, 1, 0.2], "spring": {"stiffness": 300.0}},
    {"type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0]},
    {"type": "cylindrical", "axis": [0, 1, 0.3]},
    {"type": "planar", "axis": [0.1, 1, 0.3]},
    {"type": "screw", "axis": [0.1, 1, 0.3], "pitch": 0.4},
    {"type": "distance", "anchor2": [0.7, 0.3, 0.2]},
    {"type": "distance", "anchor2": [0.7, 0.3, 0.2], "spring": {"stiffness": 90.0}},
    {"type": "hinge", "axis": [1, 1, 0], "limits": {"lower": -0.01, "upper": 0.01}},
    {"type": "ball", "axis": [0, 0, 1], "limits": {"swing": 0.05, "twist": 0.02}},
]


@pytest.mark.parametrize("joint", MOVING, ids=lambda j: "-".join(j))
def test_reaction_is_mass_times_acceleration(joint: dict[str, Any]) -> None:
    bodies = [
        brick("a", linear_velocity=[0.5, 0.1, -0.2], angular_velocity=[0.4, -1.0, 2.0]),
        brick("b", position=[0.6, 0.1, 0.2], angular_velocity=[-1.0, 0.5, 0.3]),
    ]
    full = {"name": "j", "parent": "a", "child": "b", "anchor": [0.3, 0.0, 0.1], **joint}
    h = 1e-3
    # what is moved after the kick is no force: this is about the kick alone
    options = {"dt": h, "gyroscopic": "off", "stabilisation": "baumgarte"}
    sim = simulate(document(bodies, [full], simulation=options))
    sim.advance(100)
    v, q = sim.velocities()[1], sim.poses()[1, 3:]
    arm_b = sim.model.joints.anchor_B[0]
    inertia = sim.model.bodies.inertia_B[1]
    # the kick acts in the middle of the step: half a step of turning at the old angular velocity
    middle = Rotation.from_rotvec(0.5 * h * v[3:]) * Rotation.from_quat(q[[1, 2, 3, 0]])
    sim.advance(1)
    change = (sim.velocities()[1] - v) / h
    f = reaction(sim)
    assert f[:3] == pytest.approx(2.0 * (change[:3] + np.array([0, 0, G])), abs=1e-9)
    R = middle.as_matrix()
    moment = f[3:] + np.cross(R @ arm_b, f[:3])
    assert moment == pytest.approx(R @ inertia @ R.T @ change[3:], abs=1e-9)
