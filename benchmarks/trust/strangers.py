"""Families that somebody built who had not seen the others: machines of daily work and lessons."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from benchmarks.trust.case import (
    Case,
    Document,
    G,
    axis,
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
from benchmarks.trust.mechanisms import rotor
from benchmarks.trust.touching import box, sphere


def series(of: Callable[[float], float], end: float, n: int = 400) -> Document:
    """A target that follows a function of time."""
    times = np.linspace(0.0, end, n + 1)
    return {"times": times.tolist(), "values": [float(of(t)) for t in times]}


def about_y(angle: float) -> list[float]:
    """A turn about y."""
    return [math.cos(0.5 * angle), 0, math.sin(0.5 * angle), 0]


@family([(0.001,), (0.01,), (0.03,)])
def atwoods(form: str, dt: float) -> Case:
    """Two weights on a rope over a pulley that has inertia."""
    r, inertia, m1, m2 = 0.1, 0.05, 3.0, 2.0
    pulley = {"name": "pulley", "mass": 1.0, "inertia": [inertia] * 3}
    joints = [joint("hinge", "pulley", anchor=[0, 0, 0], axis=[0, 1, 0])]
    for name, x in (("a", r), ("b", -r)):
        wheel = {"radius": r, "axis": [0, math.copysign(1.0, x), 0]}
        joints.append(
            joint("distance", name, "pulley", anchor=[0, 0, 0], anchor2=[x, 0, -1], wheel=wheel)
        )
    falls = (m1 - m2) * G / (m1 + m2 + inertia / r**2)
    return Case(
        "Atwood machine",
        f"dt {dt}, {form}",
        scene([pulley, mass("a", [r, 0, -1], m1), mass("b", [-r, 0, -1], m2)], joints, dt=dt,
              duration=0.8, formulation=form),
        height("a"),
        lambda t: [-1.0 - 0.5 * falls * t * t],
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def carousels(form: str, dt: float) -> Case:
    """A weight on a rod at the end of an arm that a motor brings up to speed."""
    drive = {"type": "position", "target": series(lambda t: 1.5 * t * t / (1.0 + t), 3.0)}
    bodies = [mass("arm", [0.5, 0, 0], 1.0)]
    bodies.append(mass("bob", [1.0, 0, -0.6], 1.0, linear_velocity=[0, 3.0, 0]))
    joints = [
        joint("hinge", "arm", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("distance", "bob", "arm", anchor=[1.0, 0, 0], anchor2=[1.0, 0, -0.6]),
    ]
    return Case(
        "carousel",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, formulation=form),
        place("bob"),
    )


@family([(0.0005,), (0.002,), (0.01,)])
def rocking_blocks(_form: str, dt: float) -> Case:
    """A slender block that rocks from edge to edge, and loses speed at each change (Housner)."""
    tall, wide, tilt = 0.5, 0.12, 0.15
    c, s = math.cos(tilt), math.sin(tilt)
    x = 0.5 * wide - 0.5 * wide * c + 0.5 * tall * s
    z = 0.5 * wide * s + 0.5 * tall * c
    block = {
        "name": "block", "mass": 2.0, "position": [x, 0, z], "orientation": about_y(tilt),
        "shapes": [{"type": "box", "size": [wide, 0.2, tall], "material": "m"}],
    }  # fmt: skip
    return Case(
        "rocking block",
        f"dt {dt}",
        scene([floor("m"), block], dt=dt, duration=1.2, materials={"m": {"friction": 1.0}}),
        axis("block"),
        scale=0.2,
    )


@family([(0.0005,), (0.002,), (0.01,)])
def shaft_trains(form: str, dt: float) -> Case:
    """Four discs on elastic shafts, and a torque that sets in: the twist of one shaft."""
    bodies, joints = [], []
    push = {"type": "force", "target": series(lambda t: 20.0 if t > 0.1 else 0.0, 2.0)}
    for k, inertia in enumerate((0.5, 0.1, 0.1, 0.3)):
        bodies.append(rotor(f"d{k}", inertia, 5.0, position=[0.2 * k, 0, 0]))
        parent, more = ("world", {"motor": push}) if k == 0 else (f"d{k - 1}", {})
        if k > 0:
            more = {"spring": {"stiffness": 5000.0, "damping": 0.5}}
        joints.append(
            joint("hinge", f"d{k}", parent, anchor=[0.2 * k, 0, 0], axis=[1, 0, 0], **more)
        )
    return Case(
        "shaft train",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=0.6, gravity=0.0, formulation=form),
        turn("d1-d2"),
    )


@family([(0.0005,), (0.003,), (0.01,)])
def jumping_legs(form: str, dt: float) -> Case:
    """A leg whose motor pushes it off the ground, with the foot in the air behind it."""
    push = {"type": "force", "target": series(lambda t: 150.0 if t > 0.1 else 40.0, 2.0)}
    stop = {"upper": 0.2, "lower": -0.05, "restitution": 0.0}
    bodies = [floor("m"), box("foot", [0, 0, 0.05], 0.1, 1.0), mass("body", [0, 0, 0.3], 5.0)]
    slide = joint("slider", "body", "foot", axis=[0, 0, 1], limits=stop, motor=push)
    return Case(
        "jumping leg",
        f"dt {dt}, {form}",
        scene(bodies, [slide], dt=dt, duration=0.9, formulation=form,
              materials={"m": {"friction": 0.5}}),
        height("body"),
    )  # fmt: skip


@family([(0.001,), (0.005,), (0.02,)])
def lifting_grippers(form: str, dt: float) -> Case:
    """Two jaws that close on a box, and lift it."""
    lift = series(lambda t: 0.0 if t < 0.3 else 0.3 * (1.0 - math.cos(3.0 * (t - 0.3))), 2.0)
    bodies = [floor("m"), box("object", [0, 0, 0.1], 0.2, 1.0), mass("palm", [0, 0, 0.5], 2.0)]
    joints = [joint("slider", "palm", axis=[0, 0, 1], motor={"type": "position", "target": lift})]
    shape = {"type": "box", "size": [0.04, 0.1, 0.1], "material": "m"}
    for name, side in (("left", -1), ("right", 1)):
        position = [side * 0.15, 0, 0.1]
        bodies.append({"name": name, "mass": 0.3, "position": position, "shapes": [shape]})
        squeeze = {"type": "force", "target": 25.0}
        joints.append(joint("slider", name, "palm", axis=[-side, 0, 0], motor=squeeze))
    return Case(
        "gripper that lifts",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.3, formulation=form,
              materials={"m": {"friction": 0.6}}),
        height("object"),
    )  # fmt: skip


@family([(0.0005,), (0.003,), (0.01,)])
def elastic_belts(form: str, dt: float) -> Case:
    """A motor that drives a braked wheel by a belt: how far the belt is stretched."""
    drive = {"type": "velocity", "target": series(lambda t: min(60.0 * t, 30.0), 2.0)}
    bodies = [rotor("motor", 0.02, 1.0), rotor("load", 0.5, 5.0, position=[1, 0, 0])]
    terms = [
        {"joint": "world-motor", "factor": 0.05},
        {"joint": "world-load", "factor": -0.15},
    ]
    joints = [
        joint("hinge", "motor", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("hinge", "load", anchor=[1, 0, 0], axis=[0, 0, 1], friction=2.0),
        {"name": "belt", "type": "coupling", "terms": terms, "stiffness": 2e4, "damping": 20.0},
    ]
    first, last = turn("world-motor"), turn("world-load")
    return Case(
        "elastic belt",
        f"dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.2, gravity=0.0, formulation=form),
        lambda simulation: [0.05 * first(simulation)[0] - 0.15 * last(simulation)[0]],
    )


@family([(0.0005,), (0.005,), (0.02,)])
def cliffs(_form: str, dt: float) -> Case:
    """A roller that comes down a slope and falls over its edge."""
    slope, r = 0.4, 0.1
    c, s = math.cos(slope), math.sin(slope)
    plate = {"type": "box", "size": [2, 1, 0.2], "position": [-1, 0, -0.1], "material": "m"}
    hill = {"name": "hill", "type": "static", "orientation": about_y(slope), "shapes": [plate]}
    shape = {"type": "cylinder", "radius": r, "length": 0.2, "orientation": LYING, "material": "m"}
    position = [-1.2 * c + r * s, 0, 1.2 * s + r * c]
    roller = {"name": "roller", "mass": 1.0, "position": position, "shapes": [shape]}
    return Case(
        "roller over a cliff",
        f"dt {dt}",
        scene([hill, roller], dt=dt, duration=1.4, materials={"m": {"friction": 0.6}}),
        place("roller"),
    )


@family([(0.001,), (0.01,), (0.03,)])
def turntables(_form: str, dt: float) -> Case:
    """A ball that rolls on a turntable runs on a circle, at 2/7 of its rate."""
    rate, r, v, start = 5.0, 0.1, 0.6, 0.3
    disc = {"type": "cylinder", "radius": 3.0, "length": 0.1, "material": "m"}
    table = {
        "name": "table", "type": "kinematic", "angular_velocity": [0, 0, rate],
        "position": [0, 0, -0.05], "shapes": [disc],
    }  # fmt: skip
    ball = sphere("ball", [start, 0, r], r, linear_velocity=[0, v, 0])
    ball["angular_velocity"] = [(rate * start - v) / r, 0, 0]
    turned = 2.0 / 7.0 * rate
    return Case(
        "ball on a turntable",
        f"dt {dt}",
        scene([table, ball], dt=dt, duration=4.0, materials={"m": {"friction": 1.0}}),
        lambda simulation: simulation.poses()[1, :2],
        lambda t: [
            start - v / turned * (1.0 - math.cos(turned * t)),
            v / turned * math.sin(turned * t),
        ],
    )


FAMILIES = (
    atwoods, carousels, rocking_blocks, shaft_trains, jumping_legs, lifting_grippers,
    elastic_belts, cliffs, turntables,
)  # fmt: skip
