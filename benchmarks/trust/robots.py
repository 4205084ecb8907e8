"""Families of robots and machines that stood nowhere when limits were chosen."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.trust.case import (
    Case,
    Document,
    family,
    floor,
    height,
    joint,
    mass,
    place,
    scene,
    turn,
)
from benchmarks.trust.further import LYING
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.strangers import series
from benchmarks.trust.touching import sphere

Y, Z = [0, 1, 0], [0, 0, 1]


def servo(
    target: Callable[[float], float], stiffness: float, damping: float, **more: float
) -> Document:
    """A drive to a position over time; without stiffness a rigid one."""
    motor = {"type": "position", "target": series(target, 3.0, 2000), **more}
    return motor | ({"stiffness": stiffness, "damping": damping} if stiffness else {})


def soft_step(height: float, end: float) -> Callable[[float], float]:
    """A function of time that rises from 0 to a height without a jump of its rate."""

    def at(t: float) -> float:
        s = min(t / end, 1.0)
        return height * (3.0 * s**2 - 2.0 * s**3)

    return at


def run_up(speed: float, end: float) -> Callable[[float], float]:
    """A function of time that rises evenly from 0 to a speed."""
    return lambda t: speed * min(t / end, 1.0)


@family([(0.0005,), (0.003,), (0.01,), (0.02,)])
def tracking_arms(form: str, dt: float) -> Case:
    """An arm of two links whose drives, springs and dampers, follow a trajectory."""
    first = servo(lambda t: 0.8 * math.sin(3.0 * t), 400.0, 20.0)
    second = servo(lambda t: 0.6 * (1.0 - math.cos(4.0 * t)), 200.0, 10.0)
    joints = [
        joint("hinge", "upper", anchor=[0, 0, 0], axis=Y, motor=first),
        joint("hinge", "lower", "upper", anchor=[0.5, 0, 0], axis=Y, motor=second),
    ]
    bodies = [mass("upper", [0.25, 0, 0], 3.0), mass("lower", [0.7, 0, 0], 1.5)]
    return Case(
        "arm that tracks",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, formulation=form),
        place("lower"),
    )


@family([(0.001,), (0.005,), (0.02,), (0.03,)])
def six_axis_arms(form: str, dt: float) -> Case:
    """An arm of six joints with stiff drives of bounded torque, from one pose to another."""
    bodies, joints = [], []
    axes = (Z, Y, Y, [1, 0, 0], Y, [1, 0, 0])
    places, masses = (0, 0.1, 0.5, 0.9, 1.0, 1.1), (10, 8, 6, 2, 1.5, 0.8)
    for k, k_drive in enumerate((8000.0, 8000.0, 4000.0, 800.0, 400.0, 100.0)):
        bodies.append(mass(f"l{k}", [places[k] + 0.1, 0, 0.3], masses[k]))
        goal, bound = 0.6 if k % 2 else -0.5, 500.0 if k < 3 else 80.0
        drive = servo(soft_step(goal, 1.0), k_drive, 0.05 * k_drive, max_force=bound)
        parent = "world" if k == 0 else f"l{k - 1}"
        where = {"anchor": [places[k], 0, 0.3], "axis": axes[k]}
        joints.append(joint("hinge", f"l{k}", parent, motor=drive, **where))
    return Case(
        "arm of six joints",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.5, formulation=form),
        place("l5"),
    )


@family([(1000.0, 60.0, 0.001), (1000.0, 60.0, 0.01), (1e5, 600.0, 0.005), (300.0, 5.0, 0.015)])
def sine_servos(form: str, k: float, d: float, dt: float) -> Case:
    """A drive, soft or hard for the step, that follows a sine of 3 Hz."""
    drive = servo(lambda t: 0.5 * math.sin(19.0 * t), k, d)
    return Case(
        "servo on a sine",
        f"{k} N m/rad, {d} N m s/rad, dt {dt}, {form}",
        scene([rotor("arm", 1.0)], [joint("hinge", "arm", anchor=[0, 0, 0], axis=Z, motor=drive)],
              dt=dt, duration=1.5, gravity=0.0, formulation=form),
        turn("world-arm"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,), (0.035,)])
def arms_with_loads(form: str, dt: float) -> Case:
    """A rigid drive swings an arm with a load that hangs from it."""
    drive = servo(soft_step(1.2, 0.8), 0.0, 0.0)
    joints = [
        joint("hinge", "arm", anchor=[0, 0, 0], axis=Z, motor=drive),
        joint("ball", "load", "arm", anchor=[0.8, 0, 0]),
    ]
    bodies = [mass("arm", [0.4, 0, 0], 3.0), mass("load", [0.8, 0, -0.5])]
    return Case(
        "arm with a load",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, formulation=form),
        place("load"),
    )


@family([(0.001,), (0.006,), (0.02,)])
def tower_cranes(form: str, dt: float) -> Case:
    """A crane that slews while its trolley runs out, with a load below it."""
    slew = {"type": "velocity", "target": series(run_up(0.6, 1.0), 6.0)}
    run = {"type": "velocity", "target": series(run_up(0.3, 1.0), 6.0)}
    joints = [
        joint("hinge", "jib", anchor=[0, 0, 0], axis=Z, motor=slew),
        joint("slider", "trolley", "jib", axis=[1, 0, 0], motor=run),
        joint("ball", "load", "trolley", anchor=[3.0, 0, 0]),
    ]
    bodies = [mass("jib", [2, 0, 0], 200.0), mass("trolley", [3, 0, 0], 20.0)]
    bodies.append(mass("load", [3, 0, -4.0], 100.0))
    return Case(
        "tower crane",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=4.0, formulation=form),
        place("load"),
    )


@family([(0.0005,), (0.003,), (0.01,)])
def unbalances(form: str, dt: float) -> Case:
    """A drum on springs whose weight off the middle runs up through resonance."""
    run = {"type": "velocity", "target": series(lambda t: 15.0 * t, 4.0)}
    joints = [
        joint("slider", "drum", axis=[1, 0, 0], spring={"stiffness": 8000.0, "damping": 60.0}),
        joint("hinge", "weight", "drum", anchor=[0, 0, 0], axis=Y, motor=run),
    ]
    bodies = [mass("drum", [0, 0, 0], 20.0), rotor("weight", 0.02, 2.0, position=[0.1, 0, 0])]
    return Case(
        "drum out of balance",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=3.0, gravity=0.0, formulation=form),
        along_x("drum"),
    )


@family([(8.0, 0.001), (8.0, 0.01), (40.0, 0.005), (25.0, 0.01)])
def curve_cams(form: str, speed: float, dt: float) -> Case:
    """A cam, given as a curve, that moves a follower against a spring."""

    def lift(angle: float) -> float:
        return 0.02 * (1.0 - math.cos(angle)) + 0.005 * (1.0 - math.cos(3.0 * angle))

    points = [[angle, lift(angle)] for angle in np.linspace(0.0, 2.0 * math.pi, 41).tolist()]
    points[-1][1] = points[0][1]
    terms = [
        {"joint": "world-cam", "factor": -1.0, "curve": {"points": points, "periodic": True}},
        {"joint": "world-follower", "factor": 1.0},
    ]
    joints = [
        joint("hinge", "cam", anchor=[0, 0, 0], axis=Y,
              motor={"type": "velocity", "target": speed}),
        joint("slider", "follower", axis=Z, spring={"stiffness": 500.0}),
        {"name": "law", "type": "coupling", "terms": terms},
    ]  # fmt: skip
    return Case(
        "cam by a curve",
        f"{speed} rad/s, dt {dt}, {form}",
        scene([rotor("cam", 0.1), mass("follower", [0, 0, 0.5])], joints, dt=dt, duration=1.0,
              formulation=form),
        lambda s: [s.poses()[1, 2] - 0.5],
        lambda t: [lift(speed * t)],
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def carts_on_wheels(form: str, dt: float) -> Case:
    """A robot on two driven wheels and a smooth support runs on a circle."""
    r = 0.1
    shapes = [
        {"type": "box", "size": [0.3, 0.2, 0.05], "collision_mask": 0},
        {"type": "sphere", "radius": 0.05, "position": [-0.15, 0, -0.05], "material": "slip"},
    ]
    base = {"name": "base", "mass": 5.0, "position": [0, 0, r], "shapes": shapes}
    bodies, joints = [floor("m"), base], []
    for name, y, speed in (("left", 0.15, 6.0), ("right", -0.15, 9.0)):
        bodies.append(sphere(name, [0.05, y, r], r, 0.5))
        run = series(run_up(speed, 0.5), 3.0)
        motor = {"type": "velocity", "target": run}
        joints.append(joint("hinge", name, "base", anchor=[0.05, y, r], axis=Y, motor=motor))
    return Case(
        "two driven wheels",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=3.0, formulation=form,
              materials={"m": {"friction": 1.0}, "slip": {"friction": 0.0}}),
        place("base"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def balanced_balls(form: str, dt: float) -> Case:
    """A ball that rolls on a plate which two drives tilt."""
    shape = {"type": "box", "size": [1.5, 1.5, 0.04], "material": "m"}
    bodies = [rotor("ring", 0.1), {"name": "plate", "mass": 5.0, "shapes": [shape]}]
    bodies.append(sphere("ball", [0.1, 0, 0.07], 0.05, 0.3))
    first = servo(lambda t: 0.08 * math.sin(3.0 * t), 3000.0, 150.0)
    second = servo(lambda t: 0.08 * (math.sin(2.3 * t + 0.5) - math.sin(0.5)), 3000.0, 150.0)
    joints = [
        joint("hinge", "ring", anchor=[0, 0, 0], axis=[1, 0, 0], motor=first),
        joint("hinge", "plate", "ring", anchor=[0, 0, 0], axis=Y, motor=second),
    ]
    return Case(
        "ball on a plate",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, formulation=form,
              materials={"m": {"friction": 0.8}}),
        place("ball"),
    )  # fmt: skip


@family([(0.0005,), (0.002,), (0.01,)])
def pogos(form: str, dt: float) -> Case:
    """A mass on a sprung foot that hops on the floor."""
    joints = [
        joint("slider", "foot", axis=Z),
        joint("slider", "body", "foot", axis=Z, spring={"stiffness": 1500.0, "damping": 4.0}),
    ]
    bodies = [floor("m"), sphere("foot", [0, 0, 0.3], 0.05, 0.2), mass("body", [0, 0, 0.8], 3.0)]
    return Case(
        "pogo stick",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.2, formulation=form,
              materials={"m": {"friction": 0.5}}),
        height("body"),
    )  # fmt: skip


@family([(0.0005,), (0.003,), (0.01,)])
def landing_gears(form: str, dt: float) -> Case:
    """A hull that lands on a strut, and a tyre that yields."""
    joints = [
        joint("slider", "wheel", axis=Z),
        joint("slider", "hull", "wheel", axis=Z, spring={"stiffness": 2e4, "damping": 1500.0}),
    ]
    bodies = [floor("tyre"), sphere("wheel", [0, 0, 0.5], 0.2, 10.0)]
    bodies.append(mass("hull", [0, 0, 1.2], 200.0))
    tyre = {"compliance": 4e-6, "damping": 300.0}
    return Case(
        "landing gear",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.2, formulation=form,
              materials={"m": {}, "tyre": tyre}),
        height("hull"),
    )  # fmt: skip


@family([(0.0005,), (0.002,), (0.01,)])
def pins(_form: str, dt: float) -> Case:
    """A ball that rolls into three pins: where the ball is."""
    r, v = 0.11, 6.0
    ball = sphere("ball", [-1.0, 0.03, r], r, 6.0, linear_velocity=[v, 0, 0])
    bodies = [floor("m"), ball | {"angular_velocity": [0, v / r, 0]}]
    pin = {"type": "cylinder", "radius": 0.05, "length": 0.38, "material": "m"}
    for k, (x, y) in enumerate(((0, 0), (0.26, 0.15), (0.26, -0.15))):
        bodies.append({"name": f"p{k}", "mass": 1.5, "position": [x, y, 0.19], "shapes": [pin]})
    return Case(
        "ball and pins",
        f"dt {dt}",
        scene(bodies, dt=dt, duration=0.35,
              materials={"m": {"friction": 0.2, "restitution": 0.4}}),
        place("ball"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def towed_rollers(_form: str, dt: float) -> Case:
    """A roller on a cart that a motor shakes to and fro."""
    r = 0.2
    shape = {"type": "cylinder", "radius": r, "length": 0.5, "orientation": LYING, "material": "m"}
    cart = mass("cart", [0, 0, -0.05], 1000.0)
    cart["shapes"] = [{"type": "box", "size": [6, 1, 0.1], "material": "m"}]
    roller = {"name": "roller", "mass": 2.0, "position": [0, 0, r], "shapes": [shape]}
    shake = {"type": "velocity", "target": series(lambda t: 0.5 * math.sin(5.0 * t), 3.0, 600)}
    return Case(
        "roller on a shaken cart",
        f"dt {dt}",
        scene([cart, roller], [joint("slider", "cart", axis=[1, 0, 0], motor=shake)], dt=dt,
              duration=2.0, materials={"m": {"friction": 0.8}}),
        place("roller"),
    )  # fmt: skip


FAMILIES = (
    tracking_arms, six_axis_arms, sine_servos, arms_with_loads, tower_cranes, unbalances,
    curve_cams, carts_on_wheels, balanced_balls, pogos, landing_gears, pins, towed_rollers,
)  # fmt: skip
