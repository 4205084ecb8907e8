"""Screws, gears and racks against closed forms, over many turns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import Document, brick, document, simulate

pytestmark = pytest.mark.reference

LEAD = 0.05  # m/rad


def disc(name: str, inertia: float, **more: Any) -> dict[str, Any]:
    """A round body of 2 kg."""
    return {"name": name, "mass": 2.0, "inertia": [inertia] * 3, **more}


def hinge(child: str, parent: str = "world", **more: Any) -> dict[str, Any]:
    """A hinge about z through the origin unless told otherwise."""
    joint = {"name": f"hinge-{child}", "type": "hinge", "parent": parent, "child": child}
    return joint | {"anchor": [0, 0, 0], "axis": [0, 0, 1]} | more


def gear(parent: str, child: str, ratio: float, **more: Any) -> dict[str, Any]:
    """A gear about z."""
    joint = {"name": f"gear-{child}", "type": "gear", "parent": parent, "child": child}
    return joint | {"axis": [0, 0, 1], "ratio": ratio} | more


def free(bodies: list[Any], joints: list[Any], **more: Any) -> Any:
    """A scene without gravity."""
    more = {"gravity": [0, 0, 0], "simulation": {"dt": 1e-3}} | more
    return simulate(document(bodies, joints, **more))


def screw(**more: Any) -> Any:
    """2 kg and 0.3 kg m^2 on a vertical screw."""
    joint: Document = {"name": "s", "type": "screw", "parent": "world", "child": "nut"}
    joint |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "pitch": 2 * math.pi * LEAD}
    gravity = more.pop("gravity", [0, 0, 0])
    body = disc("nut", 0.3, **more.pop("body", {}))
    return free([body], [joint | more], gravity=gravity)


def test_screw_falls_with_the_inertia_of_its_spin() -> None:
    sim = screw(gravity=[0, 0, -9.81])
    sim.advance(1000)
    # (I/lead + m lead) a = -m g lead
    a = -2.0 * 9.81 * LEAD / (0.3 + 2.0 * LEAD**2)
    row = sim.joint_table()[0]
    assert row["q"] == pytest.approx(0.5 * a, rel=1e-9)
    assert row["qd"] == pytest.approx(a, rel=1e-9)
    assert sim.poses()[0, 2] == pytest.approx(LEAD * row["q"], abs=1e-12)
    assert sim.summary()["energy"]["balance_error"] < 1e-12
    # the thread turns the nut and bears what is left of its weight
    assert row["tz"] == pytest.approx(0.3 * a, rel=1e-9)
    assert row["fz"] == pytest.approx(2.0 * (LEAD * a + 9.81), rel=1e-9)


def test_screw_counts_its_turns() -> None:
    sim = screw(motor={"type": "velocity", "target": 50.0})
    sim.advance(2000)
    assert float(sim.joint_table()["q"][0]) == pytest.approx(100.0, rel=1e-3)
    assert sim.poses()[0, 2] == pytest.approx(LEAD * float(sim.joint_table()["q"][0]), abs=1e-9)
    assert sim.summary()["joints"]["max_position_error"] < 1e-9


def test_screw_limits_friction_damping_and_spring_act_on_its_angle() -> None:
    inertia = 0.3 + 2.0 * LEAD**2
    spin = {"angular_velocity": [0, 0, 4.0], "linear_velocity": [0, 0, 4.0 * LEAD]}
    stopped = screw(limits={"upper": 7.0}, body=spin)
    stopped.advance(3000)
    assert float(stopped.joint_table()["q"][0]) == pytest.approx(7.0, abs=1e-6)
    rubbing = screw(friction=0.2, body=spin)
    rubbing.advance(1000)
    assert float(rubbing.joint_table()["qd"][0]) == pytest.approx(4.0 - 0.2 / inertia, rel=1e-9)
    damped = screw(damping=0.2, body=spin)
    damped.advance(1000)
    decayed = 4.0 * math.exp(-0.2 / inertia)
    assert float(damped.joint_table()["qd"][0]) == pytest.approx(decayed, rel=1e-6)
    sprung = screw(spring={"stiffness": 100.0 * inertia}, body=spin)
    sprung.advance(1000)
    assert float(sprung.joint_table()["q"][0]) == pytest.approx(0.4 * math.sin(10.0), abs=1e-4)


def test_gears_divide_the_torque_and_keep_their_ratio_over_many_turns() -> None:
    ratio, torque = -2.5, 3.0
    wheels = [disc("a", 0.5), disc("b", 0.1, position=[1, 0, 0])]
    motor = {"type": "force", "target": torque}
    joints = [hinge("a", motor=motor), hinge("b", anchor=[1, 0, 0]), gear("a", "b", ratio)]
    sim = free(wheels, joints)
    sim.advance(10000)
    a = torque / (0.5 + ratio**2 * 0.1)
    table = sim.joint_table()
    turns = table["q"][table["joint"] == 2]
    assert turns[0] == pytest.approx(0.5 * a * 100.0, rel=1e-9)
    assert abs(turns[0]) > 20 * math.pi
    assert turns[1] == pytest.approx(ratio * turns[0], abs=1e-9)
    # what the gear does to the child
    assert table["tz"][table["joint"] == 2][0] == pytest.approx(0.1 * ratio * a, rel=1e-9)
    assert sim.summary()["energy"]["balance_error"] < 1e-10
    assert sim.summary()["momentum"]["max_angular_drift"] < 1e-9
    assert sim.summary()["joints"]["max_angle_error"] < 1e-9


def test_gear_remembers_its_turns_in_a_snapshot() -> None:
    wheels = [disc("a", 0.5, angular_velocity=[0, 0, 7.0]), disc("b", 0.1, position=[1, 0, 0])]
    joints = [hinge("a"), hinge("b", anchor=[1, 0, 0]), gear("a", "b", 3.0)]
    sim, again = free(wheels, joints), free(wheels, joints)
    sim.advance(3000)
    again.restore(sim.snapshot())
    sim.advance(500)
    again.advance(500)
    assert again.state_hash() == sim.state_hash()
    assert float(sim.joint_table()["q"][3]) > 2 * math.pi


def test_bevel_gear_turns_about_crossed_axes() -> None:
    wheels = [disc("a", 0.5, angular_velocity=[0, 0, 4.0]), disc("b", 0.1)]
    joints = [hinge("a"), hinge("b", axis=[1, 0, 0]), gear("a", "b", 2.0, axis2=[1, 0, 0])]
    sim = free(wheels, joints)
    sim.advance(3000)
    # the blow of meshing at the first step keeps I_a w_a + ratio I_b w_b ... = 0.5 * 4
    w = 0.5 * 4.0 / (0.5 + 4.0 * 0.1)
    assert sim.velocities()[0, 5] == pytest.approx(w, rel=1e-9)
    assert sim.velocities()[1, 3] == pytest.approx(2.0 * w, rel=1e-9)


def test_planet_rolls_in_a_fixed_ring() -> None:
    # sun 1, planet 0.5, ring 2: with the ring fixed every mesh relates two turns in W
    sun, planet = 1.0, 0.5
    arm = sun + planet
    bodies = [disc("carrier", 0.4), disc("planet", 0.1, position=[arm, 0, 0]), disc("sun", 0.2)]
    joints = [
        hinge("carrier", motor={"type": "force", "target": 1.0}),
        hinge("planet", "carrier", anchor=[arm, 0, 0]),
        hinge("sun"),
        gear("carrier", "planet", -arm / planet),
        gear("planet", "sun", -2.0 * planet / sun) | {"name": "mesh"},
    ]
    sim = free(bodies, joints)
    sim.advance(4000)
    table = sim.joint_table()
    carrier = table["qd"][table["joint"] == 0][0]
    turning = sim.velocities()[:, 5]
    assert turning[1] == pytest.approx(-arm / planet * carrier, rel=1e-9)
    assert turning[2] == pytest.approx(2.0 * arm / sun * carrier, rel=1e-9)
    inertia = 0.4 + 2.0 * arm**2 + 0.1 * (arm / planet) ** 2 + 0.2 * (2.0 * arm / sun) ** 2
    assert carrier == pytest.approx(4.0 / inertia, rel=1e-6)


def test_rack_follows_its_pinion() -> None:
    slide = {
        "name": "rail",
        "type": "slider",
        "parent": "world",
        "child": "rack",
        "axis": [1, 0, 0],
    }
    mesh: Document = {"name": "mesh", "type": "rack", "parent": "pinion", "child": "rack"}
    mesh |= {"axis": [0, 0, 1], "axis2": [1, 0, 0], "ratio": 0.2}
    bodies = [disc("pinion", 0.5), disc("rack", 0.1, position=[0, -0.2, 0])]
    sim = free(bodies, [hinge("pinion", motor={"type": "force", "target": 3.0}), slide, mesh])
    sim.advance(3000)
    a = 3.0 / (0.5 + 0.2**2 * 2.0)
    table = sim.joint_table()
    turn, way = table["q"][table["joint"] == 2]
    assert turn == pytest.approx(0.5 * a * 9.0, rel=1e-9)
    assert way == pytest.approx(0.2 * turn, abs=1e-9)
    assert table["fx"][table["joint"] == 2][0] == pytest.approx(2.0 * 0.2 * a, rel=1e-9)
    assert sim.summary()["energy"]["balance_error"] < 1e-10
    assert sim.summary()["momentum"]["max_linear_drift"] < 1e-9


def test_isolated_screw_keeps_both_momenta() -> None:
    bodies = [
        brick("a", linear_velocity=[0.5, 0.1, -0.2], angular_velocity=[0.4, -1.0, 2.0]),
        brick("b", position=[0.6, 0.1, 0.2], angular_velocity=[-1.0, 0.5, 0.3]),
    ]
    joint: Document = {
        "name": "j",
        "type": "screw",
        "parent": "a",
        "child": "b",
        "anchor": [0.3, 0.0, 0.1],
    }
    joint |= {"axis": [1, 2, 0], "pitch": 0.3, "limits": {"upper": 1.0, "restitution": 0.5}}
    sim = free(bodies, [joint])
    start = sim.momentum()
    for _ in range(20):
        sim.advance(100)
        assert np.abs(sim.momentum() - start).max() <= 1e-12 * np.abs(start).max() * 50
    assert sim.summary()["energy"]["balance_error"] < 1e-9
