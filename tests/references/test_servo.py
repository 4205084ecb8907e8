"""Position motors: the servo made of limits, springs of any characteristic, and what bounds do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine.constraints.motors import braking_speed
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

INERTIA = 0.5


def wheel(gravity: float = 0.0, stabilisation: str = "projection", **joint: Any) -> Any:
    """A disc on a hinge about y; with gravity its centre of mass is 0.1 m beside the axis."""
    options = {"dt": 1e-3, "stabilisation": stabilisation}
    disc = {"name": "disc", "mass": 2.0, "inertia": [INERTIA] * 3}
    disc |= {"position": [0.1 if gravity else 0.0, 0, 0]}
    axle = {"name": "axle", "type": "hinge", "parent": "world", "child": "disc", **joint}
    axle |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    return simulate(document([disc], [axle], gravity=[0, 0, -gravity], simulation=options))


def angle(sim: Any) -> float:
    """The coordinate of the only joint [rad]."""
    return float(sim.joint_table()["q"][0])


def test_servo_is_equal_limits_with_a_bounded_force() -> None:
    # Constraint Notes n.d.: least and largest coordinate are the target, and the force is limited
    servo = wheel(motor={"type": "position", "target": 0.3})
    # a servo removes erp of its error per step; so does a lock where velocities correct errors
    lock = wheel(stabilisation="baumgarte", limits={"lower": 0.3, "upper": 0.3})
    for _ in range(50):
        servo.advance(2)
        lock.advance(2)
        assert angle(servo) == pytest.approx(angle(lock), abs=1e-14)
        assert servo.joint_table()["motor_force"][0] == pytest.approx(
            lock.joint_table()["limit_force"][0], abs=1e-9
        )
    assert angle(servo) == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize(("strength", "holds"), [(1.9, False), (2.0, True)])
def test_servo_holds_a_weight_up_to_its_force_and_gives_way_beyond(
    strength: float, holds: bool
) -> None:
    # weight 2 kg * 9.81 * 0.1 m = 1.962 N m
    sim = wheel(9.81, motor={"type": "position", "target": 0.0, "max_force": strength})
    sim.advance(1000)
    force = float(sim.joint_table()["motor_force"][0])
    if holds:
        assert angle(sim) == pytest.approx(0.0, abs=1e-9)
        assert force == pytest.approx(-1.962, rel=1e-6)
    else:
        excess = (1.962 - 1.9) / (INERTIA + 2.0 * 0.01)
        assert angle(sim) == pytest.approx(0.5 * excess, rel=0.02)
        assert force == pytest.approx(-1.9, rel=1e-9)


def test_bounded_servo_brakes_ahead_with_half_of_its_torque() -> None:
    # full torque to the speed from which half of it brakes in time: x1 = x/3, v^2 = 2 a x1
    sim = wheel(motor={"type": "position", "target": 1.0, "max_force": 2.0})
    path, speeds = [], []
    for _ in range(2000):
        sim.advance(1)
        path.append(angle(sim))
        speeds.append(float(sim.joint_table()["qd"][0]))
    full = 2.0 / INERTIA
    assert max(path) < 1.0 + 1e-12
    assert max(speeds) == pytest.approx(math.sqrt(2.0 * full / 3.0), rel=5e-3)
    there = math.sqrt(2.0 / (3.0 * full)) + math.sqrt(2.0 * (2.0 / 3.0) / (0.5 * full))
    # a thousandth is left when half of the torque still brakes for sqrt(2 x/a)
    arrives = int(np.argmax(np.array(path) > 0.999)) * 1e-3
    assert arrives == pytest.approx(there - math.sqrt(2e-3 / (0.5 * full)), abs=5e-3)
    assert angle(sim) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("h", [1e-3, 0.02])
def test_the_speed_that_can_brake_falls_by_its_deceleration_each_step(h: float) -> None:
    left, speed = 0.9, braking_speed(2.0, 0.9, h)
    while left > 2.0 * h * h:
        left -= h * speed
        slower = braking_speed(2.0, left, h)
        assert speed - slower == pytest.approx(min(2.0 * h, speed), rel=1e-6, abs=1e-9)
        speed = slower


def bar(name: str, begin: Any, end: Any) -> Document:
    """A bar of 1 kg from one point of the plane to another."""
    way = np.subtract(end, begin)
    half = 0.5 * math.atan2(way[1], way[0])
    size = [float(np.hypot(*way)), 0.05, 0.05]
    return {
        "name": name,
        "mass": 1.0,
        "shapes": [{"type": "box", "size": size}],
        "position": [*(0.5 * np.add(begin, end)).tolist(), 0.0],
        "orientation": [math.cos(half), 0.0, 0.0, math.sin(half)],
    }


def hinge(name: str, parent: str, child: str, at: Any, force: float = 0.0) -> Document:
    """A hinge about z at a point of the plane; with a force its drive goes to 1 rad."""
    joint: Document = {"name": name, "type": "hinge", "parent": parent, "child": child}
    joint |= {"anchor": [*at, 0.0], "axis": [0, 0, 1], "collide_connected": False}
    if force:
        joint["motor"] = {"type": "position", "target": 1.0, "max_force": force}
    return joint


def arm(force: float) -> Document:
    """Two bars, the second driven to stay; the load is the weight of both."""
    bodies = [bar("upper", [0, 0], [1, 0]), bar("lower", [1, 0], [2, 0])]
    joints = [hinge("first", "world", "upper", [0, 0], force)]
    joints += [hinge("elbow", "upper", "lower", [1, 0], force)]
    joints[1]["motor"]["target"] = 0.0
    return {"bodies": bodies, "joints": joints, "gravity": [0, -9.81, 0]}


def four_bar(force: float) -> Document:
    """A crank of 0.5 m, a coupler of 2 m and a rocker of 1 m on a ground of 2 m."""
    corner = meeting([0.0, 0.5], 2.0, [2.0, 0.0], 1.0)
    bodies = [bar("crank", [0, 0], [0, 0.5]), bar("coupler", [0, 0.5], corner)]
    bodies += [bar("rocker", corner, [2, 0])]
    joints = [hinge("first", "world", "crank", [0, 0], force)]
    joints += [hinge("b", "crank", "coupler", [0, 0.5]), hinge("c", "coupler", "rocker", corner)]
    joints += [hinge("d", "world", "rocker", [2, 0])]
    return {"bodies": bodies, "joints": joints, "gravity": [0, 0, 0]}


def meeting(a: Any, near: float, b: Any, far: float) -> list[float]:
    """The upper point at these distances of two points of the plane."""
    apart = np.subtract(b, a)
    length = float(np.hypot(*apart))
    along = (near**2 - far**2 + length**2) / (2.0 * length)
    height = math.sqrt(near**2 - along**2)
    up = np.array([-apart[1], apart[0]]) / length
    return (np.array(a) + along * apart / length + height * up).tolist()


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize(
    ("scene", "force", "steps"),
    [(arm, 60.0, 2500), (four_bar, 5.0, 2500)],
    ids=["arm", "four-bar"],
)
def test_servo_of_a_mechanism_does_not_overshoot(
    scene: Any, force: float, steps: int, formulation: str
) -> None:
    # the row alone knows a bar about its own centre: a quarter of its moment about the hinge
    made = scene(force)
    options = {"dt": 1e-3, "formulation": formulation}
    sim = simulate(document(made.pop("bodies"), made.pop("joints"), simulation=options, **made))
    most = 0.0
    for _ in range(steps // 5):
        sim.advance(5)
        most = max(most, angle(sim))
    assert most < 1.001
    assert angle(sim) == pytest.approx(1.0, abs=1e-9)


def test_servo_of_a_steep_screw_counts_what_it_moves_along() -> None:
    # 2 kg that move by 6 m a turn weigh four times as much as the disc turns
    disc = {"name": "disc", "mass": 2.0, "inertia": [INERTIA] * 3}
    screw: Document = {"name": "screw", "type": "screw", "parent": "world", "child": "disc"}
    screw |= {"anchor": [0, 0, 0], "axis": [0, 1, 0], "pitch": 6.0}
    screw |= {"motor": {"type": "position", "target": 1.0, "max_force": 2.0}}
    sim = simulate(document([disc], [screw], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    moved = INERTIA + 2.0 * (6.0 / (2.0 * math.pi)) ** 2
    assert sim.model.joints.motor_inverse_mass[0, 0] == pytest.approx(1.0 / moved)
    most = 0.0
    for _ in range(4000):
        sim.advance(1)
        most = max(most, angle(sim))
    assert most < 1.0 + 1e-9
    assert angle(sim) == pytest.approx(1.0, abs=1e-6)


def ram(scale: float, formulation: str, **more: Any) -> Any:
    """A cylinder that lifts a box along a rail by its height of the ground, in free space."""
    size, top = [0.5 * scale] * 3, 0.75 * scale
    box = {"name": "box", "mass": 100.0, "position": [0, 0, scale]}
    box |= {"shapes": [{"type": "box", "size": size}]}
    ends = {"parent": "world", "child": "box"}
    rail: Document = {"name": "rail", "type": "slider", "axis": [0, 0, 1]} | ends
    motor = {"type": "position", "target": top + scale, "max_force": 2000.0 * scale}
    cylinder: Document = {"name": "ram", "type": "distance", "anchor": [0, 0, 0]} | ends
    cylinder |= {"anchor2": [0, 0, top], "motor": motor}
    options = {"dt": 1e-3, "formulation": formulation, "collisions": False}
    scene = document([box], [rail, cylinder], gravity=[0, 0, 0], simulation=options)
    return simulate(scene | more)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_a_cylinder_brakes_in_time_whatever_the_unit_of_length_is(
    scale: float, formulation: str
) -> None:
    # what a length moves is a mass; its moment about the anchor braked too late in centimetres,
    # and in tens of metres took two and a half times as long
    sim, path = ram(scale, formulation), []
    for _ in range(800):
        sim.advance(1)
        path.append(float(sim.poses()[0, 2]) / scale - 1.0)
    full = 20.0
    there = math.sqrt(2.0 / (3.0 * full)) + math.sqrt(2.0 * (2.0 / 3.0) / (0.5 * full))
    arrives = int(np.argmax(np.array(path) > 0.999)) * 1e-3
    assert max(path) < 1.0 + 1e-9
    assert arrives == pytest.approx(there - math.sqrt(2e-3 / (0.5 * full)), abs=5e-3)


def crane(lever: float, **load: Any) -> Any:
    """A boom of 2 m and 100 kg on a hinge, and a cylinder from below the hinge to the boom."""
    beam = {"name": "boom", "mass": 100.0, "position": [1, 0, 0]}
    beam |= {"shapes": [{"type": "box", "size": [2, 0.1, 0.1]}]}
    pin: Document = {"name": "pin", "type": "hinge", "parent": "world", "child": "boom"}
    pin |= {"anchor": [0, 0, 0], "axis": [0, -1, 0]}
    motor = {"type": "position", "target": 2.0 * lever * math.sin(math.radians(65.0))}
    cylinder: Document = {"name": "ram", "type": "distance", "parent": "world", "child": "boom"}
    cylinder |= {"anchor": [0, 0, -lever], "anchor2": [lever, 0, 0]}
    cylinder |= {"motor": motor | {"max_force": 3000.0}}
    joints, bodies = [cylinder, pin], [beam]
    if load:
        bodies.append({"name": "load", "mass": 50.0, "inertia": [1.0] * 3, "position": [2, 0, 0]})
        joints.append({"name": "end", "parent": "boom", "child": "load", **load})
    options = {"dt": 1e-3, "collisions": False}
    return simulate(document(bodies, joints, gravity=[0, 0, 0], simulation=options))


def test_a_cylinder_beside_a_hinge_knows_what_the_boom_weighs_there() -> None:
    # 133 kg m^2 about the pin at 0.21 m: thirty times the mass of the boom
    sim, most = crane(0.3), 0.0
    moment = 100.0 * (4.0 + 0.01) / 12.0 + 100.0
    lever = 0.3 / math.sqrt(2.0)
    assert sim.model.joints.motor_inverse_mass[0, 0] == pytest.approx(lever**2 / moment, rel=1e-9)
    for _ in range(2000):
        sim.advance(1)
        x, z = sim.poses()[0, [0, 2]]
        most = max(most, math.degrees(math.atan2(z, x)))
    # the lever falls by a half on the way; it went on to 177 degrees
    assert most < 41.0
    assert math.degrees(math.atan2(z, x)) == pytest.approx(40.0, abs=1e-6)


@pytest.mark.parametrize(
    ("load", "more"),
    [
        # a load that is fixed counts whole, one on a ball does not turn with the boom
        ({"type": "fixed"}, 50.0 * 4.0 + 1.0),
        ({"type": "ball", "anchor": [2, 0, 0]}, 50.0 * 4.0),
        ({"type": "hinge", "anchor": [2, 0, 0], "axis": [0, 1, 0]}, 50.0 * 4.0),
        # a drive holds its joint
        (
            {"type": "hinge", "anchor": [2, 0, 0], "axis": [0, 1, 0]}
            | {"motor": {"type": "velocity", "target": 0.0}},
            50.0 * 4.0 + 1.0,
        ),
        # a slider along the boom, across what its end does
        ({"type": "slider", "axis": [0, 0, 1]}, 1.0),
    ],
)
def test_what_hangs_on_the_boom_counts_as_its_joint_lets_it(load: Document, more: float) -> None:
    moment = 100.0 * (4.0 + 0.01) / 12.0 + 100.0 + more
    found = crane(0.3, **load).model.joints.motor_inverse_mass[0, 0]
    assert found == pytest.approx(0.5 * 0.3**2 / moment, rel=1e-9)


def test_cylinders_side_by_side_do_not_lock_one_another() -> None:
    scene = ram(1.0, "maximal").scene.model_dump(exclude_none=True)
    scene["joints"] = [*scene["joints"], {**scene["joints"][1], "name": "twin"}]
    sim = simulate(scene)
    assert sim.model.joints.motor_inverse_mass[1:, 0] == pytest.approx(0.01)
    sim.advance(1500)
    assert float(sim.poses()[0, 2]) == pytest.approx(2.0, abs=1e-6)


def test_a_cylinder_at_a_dead_centre_counts_a_hundred_times_the_mass_at_most() -> None:
    sim = crane(1e-3)
    assert sim.model.joints.motor_inverse_mass[0, 0] == pytest.approx(1.0 / (100.0 * 100.0))


def test_servo_of_a_ball_joint_counts_the_largest_moment() -> None:
    motor = {"type": "position", "target": [0.2, 0.0, 1.0], "max_force": 2.0}
    ball: Document = {
        "name": "ball",
        "type": "ball",
        "parent": "world",
        "child": "arm",
        "motor": motor,
    }
    ball |= {"anchor": [0, 0, 0]}
    options = {"dt": 1e-3}
    scene = document([bar("arm", [0, 0], [1, 0])], [ball], gravity=[0, 0, 0], simulation=options)
    sim = simulate(scene)
    assert sim.model.joints.motor_inverse_mass[0, :3] == pytest.approx(
        3.0 / (1.0 + 0.05**2 / 4), rel=1e-3
    )
    sim.advance(2000)
    assert sim.joint_table()["q"][2] == pytest.approx(1.0, abs=1e-9)


LOCKED = {"lower": 0.0, "upper": 0.0}
OFFSET = {"anchor": [0.1, 0.05, 0.3], "axis": [0.0, 0.6, 0.8]}
ACROSS = OFFSET | {"axis2": [1.0, 0.0, 0.0]}


def pair(parent: str, **joint: Any) -> Any:
    """Two bodies with a joint beside their centres, in free space, or one on the world."""
    child = {"name": "b", "mass": 3.0, "inertia": [0.4, 0.5, 0.3, 0.05, -0.02, 0.03]}
    bodies = [child | {"position": [0.4, -0.2, 0.5]}]
    if parent != "world":
        bodies.append({"name": "a", "mass": 2.0, "inertia": [0.2, 0.3, 0.25]})
    made = {"name": "j", "parent": parent, "child": "b", **joint}
    options = {"dt": 1e-5, "collisions": False}
    return simulate(document(bodies, [made], gravity=[0, 0, 0], simulation=options))


@pytest.mark.parametrize("parent", ["world", "a"])
@pytest.mark.parametrize(
    ("joint", "axis"),
    [
        ({"type": "hinge"} | OFFSET, 0),
        ({"type": "slider", "axis": [0.0, 0.6, 0.8]}, 0),
        ({"type": "screw", "pitch": 2.0} | OFFSET, 0),
        ({"type": "universal", "limits2": LOCKED} | ACROSS, 0),
        ({"type": "universal", "limits": LOCKED} | ACROSS, 1),
        ({"type": "cylindrical", "limits2": LOCKED} | OFFSET, 0),
        ({"type": "cylindrical", "limits": LOCKED} | OFFSET, 1),
    ],
    ids=lambda one: one["type"] if isinstance(one, dict) else str(one),
)
def test_a_drive_knows_what_it_moves(parent: str, joint: Document, axis: int) -> None:
    # as much as one newton accelerates it; two bodies in free space swing about their joint
    name = ("motor", "motor2")[axis]
    pushed = pair(parent, **joint, **{name: {"type": "force", "target": 1.0}})
    pushed.advance(1)
    moved = float(pushed.joint_table()["qd"][axis]) / 1e-5
    servo = {"type": "position", "target": 1.0, "max_force": 2.0}
    found = pair(parent, **joint, **{name: servo}).model.joints.motor_inverse_mass[0, axis]
    assert found == pytest.approx(moved, rel=1e-4)


def test_speed_limit_keeps_a_servo_that_can_brake_from_rushing() -> None:
    motor = {"type": "position", "target": 1.0, "max_force": 60.0, "max_speed": 0.5}
    sim = wheel(motor=motor)
    path, speeds = [], []
    for _ in range(3000):
        sim.advance(1)
        path.append(angle(sim))
        speeds.append(abs(float(sim.joint_table()["qd"][0])))
    assert max(path) < 1.0 + 1e-9
    assert max(speeds) == pytest.approx(0.5, rel=1e-9)
    assert path[1000] == pytest.approx(0.5, abs=1e-2)
    assert path[-1] == pytest.approx(1.0, abs=1e-9)


def test_bounded_drive_with_stiffness_and_damping_settles() -> None:
    damping = 2.0 * math.sqrt(40.0 * INERTIA)
    motor = {"type": "position", "target": 1.0, "stiffness": 40.0, "damping": damping}
    sim = wheel(motor={**motor, "max_force": 2.0})
    sim.advance(8000)
    assert angle(sim) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("stiffness", [30.0, [30.0, 0.0, 80.0], [0.0, 50.0, 0.0], [0.0, 0.0, 90.0]])
def test_drive_gives_way_by_its_characteristic(stiffness: Any) -> None:
    motor = {"type": "position", "target": 0.2, "stiffness": stiffness, "damping": 15.0}
    load = {"type": "wrench", "body": "disc", "torque": [0, 4.0, 0]}
    disc = {"name": "disc", "mass": 2.0, "inertia": [INERTIA] * 3}
    axle: Document = {
        "name": "axle",
        "type": "hinge",
        "parent": "world",
        "child": "disc",
        "motor": motor,
    }
    axle |= {"anchor": [0, 0, 0], "axis": [0, 1, 0]}
    scene = document([disc], [axle], forces=[load], gravity=[0, 0, 0], simulation={"dt": 1e-3})
    sim = simulate(scene)
    sim.advance(15000)
    x = angle(sim) - 0.2
    k1, k2, k3 = stiffness if isinstance(stiffness, list) else (stiffness, 0.0, 0.0)
    assert k1 * x + k2 * x * abs(x) + k3 * x**3 == pytest.approx(4.0, rel=1e-6)
    assert sim.joint_table()["motor_force"][0] == pytest.approx(-4.0, rel=1e-6)


def test_cubic_drive_without_damper_swings_with_its_period() -> None:
    # x'' = -c x^3: period = 4 K(1/sqrt 2)/(A sqrt c), lemniscate
    motor = {"type": "position", "target": 0.0, "stiffness": [0.0, 0.0, 20.0]}
    sim = wheel(motor=motor)
    sim.set_velocity("disc", [0, 0, 0], [0, 1.0, 0])
    # energy I w^2/2 = k A^4/4
    amplitude = (2.0 * INERTIA / 20.0) ** 0.25
    quarter = 1.8540746773013719 / (amplitude * math.sqrt(20.0 / INERTIA))
    sim.advance(round(quarter / 1e-3))
    assert angle(sim) == pytest.approx(amplitude, rel=5e-3)
    assert abs(float(sim.joint_table()["qd"][0])) < 0.02


@pytest.mark.parametrize("stiffness", [[40.0, 0.0, 900.0], [0.0, 300.0, 0.0]])
def test_stop_gives_way_by_its_characteristic(stiffness: Any) -> None:
    sim = wheel(9.81, limits={"upper": 0.1, "stiffness": stiffness, "damping": 5.0})
    sim.advance(8000)
    x = angle(sim) - 0.1
    k1, k2, k3 = stiffness
    torque = 1.962 * math.cos(angle(sim))
    assert k1 * x + k2 * x**2 + k3 * x**3 == pytest.approx(torque, rel=1e-5)
    assert sim.joint_table()["limit_force"][0] == pytest.approx(-torque, rel=1e-5)


def test_stop_of_damping_alone_slows_what_goes_deeper_and_lets_go() -> None:
    sim = wheel(limits={"upper": 0.1, "damping": 2.0})
    sim.set_velocity("disc", [0, 0, 0], [0, 1.0, 0])
    sim.advance(100)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(1.0, rel=1e-6)
    sim.advance(1000)
    # from the stop on: w = exp(-d t/I), the way to rest is w0 I/d
    assert angle(sim) == pytest.approx(
        0.1 + (1.0 - math.exp(-2.0 / INERTIA)) * INERTIA / 2.0, abs=2e-3
    )
    sim.set_velocity("disc", [0, 0, 0], [0, -1.0, 0])
    sim.advance(200)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(-1.0, rel=1e-12)


def test_ball_is_driven_to_an_orientation() -> None:
    turn = np.array([0.6, -0.4, 1.1])
    body = {"name": "b", "mass": 1.0, "inertia": [0.2, 0.3, 0.4]}
    joint = {"name": "j", "type": "ball", "parent": "world", "child": "b", "anchor": [0, 0, 0]}
    for motor in (
        {"type": "position", "target": turn.tolist()},
        {"type": "position", "target": turn.tolist(), "stiffness": 60.0, "damping": 10.0},
        {"type": "position", "target": turn.tolist(), "max_force": 5.0, "max_speed": 1.0},
    ):
        scene = document([body], [joint | {"motor": motor}], gravity=[0, 0, 0])
        sim = simulate(scene | {"simulation": {"dt": 1e-3}})
        sim.advance(4000)
        assert sim.joint_table()["q"] == pytest.approx(turn, abs=1e-6)
        assert sim.velocities()[0] == pytest.approx(np.zeros(6), abs=1e-5)


def test_ball_is_driven_at_an_angular_velocity_against_its_parent() -> None:
    bodies = [
        {"name": "a", "mass": 1.0, "inertia": [0.3] * 3, "orientation": [0.8, 0.6, 0, 0]},
        {"name": "b", "mass": 1.0, "inertia": [0.1] * 3, "position": [1, 0, 0]},
    ]
    joint: Document = {
        "name": "j",
        "type": "ball",
        "parent": "a",
        "child": "b",
        "anchor": [0, 0, 0],
    }
    joint |= {"motor": {"type": "velocity", "target": [0.5, 0.0, 2.0], "max_force": 50.0}}
    sim = simulate(document(bodies, [joint], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    start = sim.momentum()
    sim.advance(500)
    assert sim.joint_table()["qd"] == pytest.approx([0.5, 0.0, 2.0], abs=5e-3)
    assert sim.momentum() == pytest.approx(start, abs=1e-11)
    sim.set_motor("j", -1.0, axis=2)
    sim.advance(100)
    assert sim.joint_table()["qd"] == pytest.approx([0.5, 0.0, -1.0], abs=5e-3)


def test_ball_motor_applies_its_torque() -> None:
    body = {"name": "b", "mass": 1.0, "inertia": [0.5] * 3}
    joint: Document = {
        "name": "j",
        "type": "ball",
        "parent": "world",
        "child": "b",
        "anchor": [0, 0, 0],
    }
    joint |= {"motor": {"type": "force", "target": [0.1, 0.2, -0.3]}}
    sim = simulate(document([body], [joint], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(1000)
    assert sim.velocities()[0, 3:] == pytest.approx([0.2, 0.4, -0.6], rel=1e-9)
    assert sim.joint_table()["motor_force"] == pytest.approx([0.1, 0.2, -0.3], rel=1e-12)
    assert sim.energy()["work_in"] == pytest.approx(sim.energy()["kinetic"], rel=1e-12)


def test_planar_joint_has_limits_and_motors_on_all_three() -> None:
    body = {"name": "b", "mass": 2.0, "inertia": [0.5] * 3, "linear_velocity": [0, 0.4, 0]}
    joint: Document = {
        "name": "j",
        "type": "planar",
        "parent": "world",
        "child": "b",
        "axis": [0, 0, 1],
    }
    joint |= {"direction": [1, 0, 0], "limits2": {"upper": 0.1}}
    joint |= {"motor": {"type": "velocity", "target": 0.3, "max_force": 4.0}}
    joint |= {"motor3": {"type": "position", "target": 7.0}, "limits3": {"upper": 6.5}}
    sim = simulate(document([body], [joint], gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(100)
    assert float(sim.joint_table()["qd"][0]) == pytest.approx(0.2, rel=1e-9)
    sim.advance(1900)
    table = sim.joint_table()
    assert table["q"][0] == pytest.approx(0.3 * 2.0 - 0.3 * 0.15 / 2, rel=1e-3)
    assert table["q"][1] == pytest.approx(0.1, abs=1e-8)
    # a drive without bounds is as strong as the stop: both are met half way or better
    assert 6.0 < table["q"][2] < 7.01
    assert sim.poses()[0, :2] == pytest.approx(table["q"][:2], abs=1e-9)
