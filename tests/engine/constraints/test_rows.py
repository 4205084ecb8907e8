"""Every row is the derivative of what it constrains: J v = dC/dt, and its curvature d2C/dt2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.constraints.joints.coordinates import coordinate, n_coordinates, write_coordinate
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.constraints.limits import write_ball_limits
from cardan.engine.constraints.row import row_speed
from cardan.engine.integrators.advance_poses import advance_poses
from cardan.engine.simulation import Simulation
from tests.engine.scenes import brick, document, ground, simulate

pytestmark = pytest.mark.law

AXIS, AXIS2 = [0.2, -0.4, 0.8], [0.9, 0.3, 0.1]
# normal to the line of the distance joints, but for 3 degrees
ACROSS = [0.08, 0.45, 0.8]
KINDS: dict[str, dict[str, Any]] = {
    "ball": {},
    "hinge": {"axis": AXIS},
    "slider": {"axis": AXIS},
    "fixed": {},
    "hinge2": {"axis": AXIS, "axis2": AXIS2},
    "hinge2 sprung": {"axis": AXIS, "axis2": AXIS2, "spring": {"stiffness": 10.0}},
    "universal": {"axis": [0, 0, 1], "axis2": [1, 0, 0]},
    "cylindrical": {"axis": AXIS},
    "planar": {"axis": AXIS},
    "distance": {"anchor2": [0.9, -0.3, 0.4]},
    "distance from a wheel": {
        "anchor2": [0.9, -0.3, 0.4],
        "wheel": {"radius": 0.12, "axis": ACROSS},
    },
    "distance onto a wheel": {
        "anchor2": [0.9, -0.3, 0.4],
        "wheel2": {"radius": 0.12, "axis": ACROSS},
    },
    "screw": {"axis": AXIS, "pitch": 0.7},
    "gear": {"axis": AXIS, "axis2": AXIS2, "ratio": -1.7},
    "rack": {"axis": AXIS, "axis2": AXIS2, "ratio": 0.3},
}
# gears and racks relate motions in W, which takes the difference
IN_WORLD = ("gear", "rack")
# what the coordinates of a joint with limits, a spring or a motor are functions of
CONES = {"axis": AXIS, "limits": {"swing": 0.01, "twist": 0.01}}


def jointed(kind: str, disturbed: float, seed: int, **more: Any) -> Simulation:
    """Two tumbling bricks with one joint, moved off the constraint by up to `disturbed`."""
    joint = {
        "name": "j",
        "type": kind.split()[0],
        "parent": "a",
        "child": "b",
        **({} if kind in IN_WORLD else {"anchor": [0.3, 0.1, 0.2]}),
        **KINDS[kind],
        **more,
    }
    bodies = [
        brick("a", orientation=[0.8, 0.6, 0.0, 0.0], center_of_mass=[0.1, -0.05, 0.02]),
        brick("b", position=[0.7, 0.2, -0.1], orientation=[0.5, 0.5, -0.5, 0.5]),
    ]
    # without the gyroscopic term bodies turn at constant angular velocity between kicks
    simulation = simulate(document(bodies, [joint], simulation={"gyroscopic": "off"}))
    state, rng = simulation.state, np.random.default_rng(seed)
    state.v_WB_W[:2], state.w_WB_W[:2] = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    state.p_WB[:2] += disturbed * rng.normal(size=(2, 3))
    state.q_WB[:2] += disturbed * rng.normal(size=(2, 4))
    state.q_WB[:2] /= np.linalg.norm(state.q_WB[:2], axis=1)[:, None]
    return simulation


def equations(simulation: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """C, J v and d2C/dt2 (from the bias) of every equation now."""
    joints, rows, h = simulation.model.joints, simulation.work.rows, 1.0
    joints.erp[:] = 0.0
    rows.count[:] = 0
    state, still = simulation.state, np.zeros((3, 6))
    write_equations(rows, state, joints, 0, joint_frame(joints, state, 0), h, still)
    n = int(rows.count[0])
    speed = np.array([row_speed(rows, i, simulation.state) for i in range(n)])
    return rows.error[:n].copy(), speed, rows.bias[:n] / (0.5 * h)


def coordinates(simulation: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of every joint coordinate."""
    joints, rows, state = simulation.model.joints, simulation.work.rows, simulation.state
    frame = joint_frame(joints, state, 0)
    found = []
    for axis in range(n_coordinates(int(joints.kind[0]))):
        rows.body_a[0], rows.body_b[0] = 0, 1
        curvature = write_coordinate(rows, 0, joints, 0, axis, frame)
        value = coordinate(joints, state, 0, axis, frame)
        found.append((value, row_speed(rows, 0, state), curvature))
    values = np.array(found).reshape(-1, 3)
    return values[:, 0], values[:, 1], values[:, 2]


def at(simulation: Simulation, t: float, what: Any) -> Any:
    """Evaluate something after free motion at constant velocities for a time t."""
    state = simulation.state
    p, q = state.p_WB.copy(), state.q_WB.copy()
    advance_poses(simulation.world, t)
    value = what(simulation)
    state.p_WB[:], state.q_WB[:] = p, q
    return value


@pytest.mark.parametrize("disturbed", [0.0, 0.2])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_equation_rows_are_derivatives_of_their_errors(kind: str, disturbed: float) -> None:
    for seed in range(5):
        simulation = jointed(kind, disturbed, seed)
        _, speed, curvature = equations(simulation)
        d = 1e-5
        ahead, behind = (at(simulation, s * d, equations) for s in (1.0, -1.0))
        assert speed == pytest.approx((ahead[0] - behind[0]) / (2 * d), abs=2e-9, rel=1e-8)
        assert curvature == pytest.approx((ahead[1] - behind[1]) / (2 * d), abs=2e-8, rel=1e-7)


COORDINATES = ["hinge", "slider", "cylindrical", "universal", "hinge2", "planar"]
COORDINATES += ["distance", "screw", "gear", "rack"]
CABLES = ["distance from a wheel", "distance onto a wheel"]


@pytest.mark.parametrize("kind", COORDINATES + CABLES)
def test_coordinate_rows_are_rates_on_the_constraint(kind: str) -> None:
    for seed in range(5):
        simulation = jointed(kind, 0.0, seed)
        # velocities the joint allows: what its equations forbid is projected out
        state, rows = simulation.state, simulation.work.rows
        equations(simulation)
        n = 0 if "distance" in kind else int(rows.count[0])
        J = np.concatenate([rows.J_a[:n], rows.J_b[:n]], axis=1)
        v = np.concatenate([state.w_WB_W[0], state.v_WB_W[0], state.w_WB_W[1], state.v_WB_W[1]])
        v = v - np.linalg.pinv(J) @ (J @ v)
        state.w_WB_W[0], state.v_WB_W[0], state.w_WB_W[1], state.v_WB_W[1] = v.reshape(4, 3)
        _, speed, curvature = coordinates(simulation)
        d = 1e-5
        ahead, behind = (at(simulation, s * d, coordinates) for s in (1.0, -1.0))
        assert speed == pytest.approx((ahead[0] - behind[0]) / (2 * d), abs=1e-8, rel=1e-8)
        if kind not in ("universal", "hinge2"):
            expected = (ahead[1] - behind[1]) / (2 * d)
            assert curvature == pytest.approx(expected, abs=1e-7, rel=1e-6)


@pytest.mark.parametrize("kind", ["distance", *CABLES, "screw", "gear", "rack"])
def test_some_coordinate_rows_are_exact_for_any_error(kind: str) -> None:
    for seed in range(5):
        simulation = jointed(kind, 0.2, seed)
        _, speed, curvature = coordinates(simulation)
        d = 1e-5
        ahead, behind = (at(simulation, s * d, coordinates) for s in (1.0, -1.0))
        assert speed == pytest.approx((ahead[0] - behind[0]) / (2 * d), abs=1e-8, rel=1e-8)
        assert curvature == pytest.approx((ahead[1] - behind[1]) / (2 * d), abs=1e-7, rel=1e-6)


def cones(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """C and J v of the swing limit and of both twist limits of a ball joint."""
    joints, rows, state = simulation.model.joints, simulation.work.rows, simulation.state
    rows.count[:] = 0
    simulation.world.clock.h[0] = 1e9  # of a step so long all limits are within reach
    write_ball_limits(simulation.world, 0, joint_frame(joints, state, 0))
    simulation.world.clock.h[0] = simulation.time_step
    n = int(rows.count[0])
    return rows.error[:n].copy(), np.array([row_speed(rows, i, state) for i in range(n)])


def test_swing_and_twist_rows_are_derivatives_of_their_limits() -> None:
    for seed in range(20):
        simulation = jointed("ball", 0.6, seed, **CONES)
        C, speed = cones(simulation)
        assert C.shape == (3,)
        d = 1e-6
        ahead, behind = (at(simulation, s * d, cones)[0] for s in (1.0, -1.0))
        assert speed == pytest.approx((ahead - behind) / (2 * d), abs=1e-8, rel=1e-7)


def test_swing_and_twist_rows_conserve_angular_momentum() -> None:
    simulation = jointed("ball", 0.6, 3, **CONES)
    cones(simulation)
    rows = simulation.work.rows
    assert rows.J_a[:3] == pytest.approx(-rows.J_b[:3], abs=1e-15)
    assert rows.J_a[:3, 3:] == pytest.approx(np.zeros((3, 3)), abs=0.0)


def test_ball_coordinates_turn_at_the_relative_angular_velocity_near_zero() -> None:
    simulation = jointed("ball", 0.0, 0)
    _, speed, _ = coordinates(simulation)
    d = 1e-6
    ahead, behind = (at(simulation, s * d, coordinates) for s in (1.0, -1.0))
    assert speed == pytest.approx((ahead[0] - behind[0]) / (2 * d), abs=1e-8, rel=1e-8)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(IN_WORLD)))
def test_rows_conserve_both_momenta_for_any_error(kind: str) -> None:
    simulation = jointed(kind, 0.2, 3)
    equations(simulation)
    rows, p = simulation.work.rows, simulation.state.p_WB
    n = int(rows.count[0])
    assert rows.J_a[:n, 3:] == pytest.approx(-rows.J_b[:n, 3:], abs=1e-15)
    moment_a = rows.J_a[:n, :3] + np.cross(p[0], rows.J_a[:n, 3:])
    moment_b = rows.J_b[:n, :3] + np.cross(p[1], rows.J_b[:n, 3:])
    assert moment_a + moment_b == pytest.approx(np.zeros((n, 3)), abs=1e-14)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("ball", 3),
        ("hinge", 5),
        ("slider", 5),
        ("fixed", 6),
        ("hinge2", 4),
        ("universal", 4),
        ("cylindrical", 4),
        ("planar", 3),
        ("distance", 1),
        ("screw", 5),
        ("gear", 1),
        ("rack", 1),
    ],
)
def test_joint_leaves_its_degrees_of_freedom(kind: str, rows: int) -> None:
    simulation = jointed(kind, 0.0, 0)
    equations(simulation)
    n = int(simulation.work.rows.count[0])
    J = np.concatenate([simulation.work.rows.J_a[:n], simulation.work.rows.J_b[:n]], axis=1)
    assert n == rows
    assert np.linalg.matrix_rank(J) == rows


def test_angle_is_counted_across_turns() -> None:
    simulation = jointed("hinge", 0.0, 0)
    state = simulation.state
    state.v_WB_W[:], state.w_WB_W[:] = 0.0, 0.0
    joints = simulation.model.joints
    axis = np.array(joint_frame(joints, state, 0).s)
    state.w_WB_W[1] = axis
    for k in range(100):
        advance_poses(simulation.world, 0.2)
        state.joint_q[0, 0] = coordinate(joints, state, 0, 0, joint_frame(joints, state, 0))
        assert state.joint_q[0, 0] == pytest.approx(0.2 * (k + 1), abs=1e-9)


def test_turning_rows_are_angular_velocities_about_the_contact_axes() -> None:
    """Normal first, then both tangents; they name the normal row of their contact."""
    ball = {
        "name": "ball",
        "position": [0, 0, 0.1],
        "linear_velocity": [0.3, -0.2, 0.0],
        "angular_velocity": [1.0, 2.0, 3.0],
        "mass": 1.0,
        "shapes": [{"type": "sphere", "radius": 0.1, "material": "felt"}],
    }
    smooth = {**ball, "name": "smooth", "position": [1, 0, 0.1]}
    smooth["shapes"] = [{"type": "sphere", "radius": 0.1}]
    felt = {"rolling_friction": 1e-3, "spinning_friction": 2e-4}
    sim = simulate(document([ground(), ball, smooth], materials={"felt": felt}))
    sim.advance(1)
    rows, contacts = sim.work.rows, sim.work.contacts
    assert list(rows.count[:2]) == [9, 3]
    assert list(contacts.rolling[:2]) == [1e-3, 0.0]
    # contact 0 is that of the felt ball: its normal row comes first behind the boxes
    assert list(rows.normal_row[:9]) == [3, 3, 3, -1, 3, 3, -1, 6, 6]
    assert list(rows.mu[:3]) == [2e-4, 1e-3, 1e-3]
    for k in range(3):
        assert list(rows.J_b[k, 3:]) == [0.0, 0.0, 0.0]
        np.testing.assert_array_equal(rows.J_b[k, :3], rows.J_b[3 + k, 3:])
        np.testing.assert_array_equal(rows.J_a[k, :3], -rows.J_b[k, :3])
