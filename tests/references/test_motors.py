"""Motors against closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference


def flywheel(inertia: float, dt: float = 1e-3, **joint: Any) -> Any:
    """A disc on a hinge without gravity."""
    disc = {"name": "disc", "mass": 1.0, "inertia": [inertia, inertia, inertia]}
    axle = {
        "name": "axle",
        "type": "hinge",
        "parent": "world",
        "child": "disc",
        "anchor": [0, 0, 0],
        "axis": [0, 0, 1],
        **joint,
    }
    return simulate(document([disc], [axle], gravity=[0, 0, 0], simulation={"dt": dt}))


def test_saturated_velocity_motor_takes_six_seconds() -> None:
    motor = {"type": "velocity", "target": 3.0, "max_force": 0.5}
    sim = flywheel(1.0, motor=motor)
    sim.advance(5990)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(0.5 * 5.99, rel=1e-9)
    assert float(sim.joint_table()["motor_force"][0]) == pytest.approx(0.5)
    sim.advance(20)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(3.0, abs=1e-12)
    assert float(sim.joint_table()["motor_force"][0]) == pytest.approx(0.0, abs=1e-9)


def test_torque_against_viscous_damping() -> None:
    sim = flywheel(0.5, damping=0.1, motor={"type": "force", "target": 2.0})
    sim.advance(5000)
    exact = 20.0 * (1.0 - math.exp(-0.1 * 5.0 / 0.5))
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(exact, rel=1e-7)


def test_position_motor_with_stiffness_behaves_like_its_spring() -> None:
    motor = {"type": "position", "target": 0.5, "stiffness": 20.0, "damping": 2.0 * math.sqrt(20)}
    sim = flywheel(1.0, dt=1e-4, motor=motor)
    sim.advance(5000)
    w, t = math.sqrt(20.0), 0.5
    exact = 0.5 * (1.0 - (1.0 + w * t) * math.exp(-w * t))
    assert float(sim.joint_table()["q"][0]) == pytest.approx(exact, rel=2e-3)


def test_servo_goes_to_its_target_by_its_error_correction() -> None:
    sim = flywheel(1.0, motor={"type": "position", "target": 0.2})
    sim.advance(100)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(0.2, abs=1e-9)


def test_servo_never_exceeds_its_force() -> None:
    sim = flywheel(1.0, motor={"type": "position", "target": 0.2, "max_force": 5.0})
    forces = []
    for _ in range(1000):
        sim.advance(1)
        forces.append(float(sim.joint_table()["motor_force"][0]))
    assert np.abs(forces).max() == pytest.approx(5.0, rel=1e-12)


def test_target_over_time_is_followed() -> None:
    target = {"times": [0, 1, 2], "values": [0, 2, 2], "interpolation": "linear"}
    sim = flywheel(1.0, motor={"type": "velocity", "target": target})
    sim.advance(500)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(1.0, abs=2e-3)
    sim.advance(1000)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(2.0, abs=1e-12)


def test_commanded_target_replaces_the_scene() -> None:
    sim = flywheel(1.0, motor={"type": "velocity", "target": 1.0, "max_force": 100.0})
    sim.advance(100)
    sim.set_motor("axle", -2.0)
    sim.advance(100)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(-2.0, abs=1e-12)
    with pytest.raises(ValueError, match="no motor on axis 1"):
        sim.set_motor("axle", 1.0, axis=1)


def test_dry_friction_stops_a_wheel_in_its_time() -> None:
    disc_speed, friction = 4.0, 2.0
    sim = flywheel(1.0, friction=friction)
    sim.set_velocity("disc", [0, 0, 0], [0, 0, disc_speed])
    sim.advance(1000)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(disc_speed - friction, rel=1e-9)
    sim.advance(1500)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(0.0, abs=1e-12)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(
        disc_speed**2 / (2 * friction), rel=1e-3
    )


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("by", ["limits", "joint"])
def test_a_motor_pushes_against_a_lock_with_its_largest_torque(formulation: str, by: str) -> None:
    """The lock alone decides the motion; a ball rests beside it."""
    arm = {"name": "arm", "mass": 1.0, "inertia": [0.1] * 3, "position": [0.5, 0, 0]}
    ball = {"name": "ball", "mass": 1.0, "position": [2, 0, 0.1]}
    ball |= {"shapes": [{"type": "sphere", "radius": 0.1}]}
    motor = {"type": "velocity", "target": 1.0, "max_force": 7.0}
    hinge: dict[str, Any] = {"name": "h", "type": "hinge", "parent": "world", "child": "arm"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "motor": motor}
    joints = [hinge]
    if by == "limits":
        hinge["limits"] = {"lower": 0.0, "upper": 0.0}
    else:
        lock = {"name": "lock", "type": "fixed", "parent": "world", "child": "arm"}
        joints.append(lock | {"anchor": [0.5, 0, 0]})
    scene = document([arm, ball, ground()], joints, gravity=[0, 0, -9.81])
    sim = simulate(scene | {"simulation": {"dt": 1e-3, "formulation": formulation}})
    sim.advance(50)
    assert sim.joint_table()["motor_force"][0] == pytest.approx(7.0)
