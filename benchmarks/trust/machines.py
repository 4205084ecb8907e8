"""Families of machines: drives, gears, loops, arms."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.trust.case import (
    BOTH,
    Case,
    Document,
    G,
    Parameters,
    by_equation,
    joint,
    mass,
    place,
    scene,
    turn,
)

SERVOS: Parameters = [
    (20.0, 1.0, 0.001, 1.0),
    (50.0, 0.2, 0.001, 1.0),
    (200.0, 0.1, 0.001, 0.5),
    (20.0, 0.1, 0.02, 2.0),
    (500.0, 0.7, 0.001, 0.2),
    (100.0, 0.05, 0.01, 1.0),
    (10.0, 0.5, 0.005, 2.0),
    (1000.0, 1.0, 0.002, 0.5),
]


def servos(parameters: Parameters = SERVOS) -> Iterator[Case]:
    """An arm whose drive is a spring and damper: a damped oscillator."""
    for k, (w, ratio, dt, duration) in enumerate(parameters):
        inertia = 0.2
        drive = {"type": "position", "target": 1.0, "stiffness": inertia * w * w}
        drive["damping"] = 2.0 * ratio * w * inertia
        arm = {"name": "arm", "mass": 1.0, "inertia": [inertia] * 3}
        hinge = joint("hinge", "arm", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive)

        def law(_t, y, w=w, ratio=ratio):
            return [y[1], w * w * (1.0 - y[0]) - 2.0 * ratio * w * y[1]]

        form = BOTH[k % 2]
        yield Case(
            "servo",
            f"w {w}, damping ratio {ratio}, dt {dt}",
            scene([arm], [hinge], dt=dt, duration=duration, gravity=0.0, formulation=form),
            turn("world-arm"),
            by_equation(law, [0.0, 0.0], duration),
            1.0,
        )


ARMS: Parameters = [(200.0, 0.001), (50.0, 0.005), (2000.0, 0.002)]


def arms(parameters: Parameters = ARMS) -> Iterator[Case]:
    """A robot's arm that drives hold: it sags until the spring carries it."""
    for stiffness, dt in parameters:
        drive = {"type": "position", "target": 0.0, "stiffness": stiffness}
        drive["damping"] = 0.1 * stiffness
        arm = mass("arm", [0.5, 0, 0])
        hinge = joint("hinge", "arm", anchor=[0, 0, 0], axis=[0, 1, 0], motor=drive)
        sag = 0.0
        for _ in range(100):
            sag = G * 0.5 * math.cos(sag) / stiffness
        yield Case(
            "standing arm",
            f"{stiffness} N m/rad, dt {dt}",
            scene([arm], [hinge], dt=dt, duration=3.0),
            turn("world-arm"),
            lambda t, sag=sag: [sag],
            sag,
            from_time=2.0,
        )


GEARS: Parameters = [(2.0, 1.0, 0.001), (-5.0, 10.0, 0.005), (0.2, 0.5, 0.01)]


def gears(parameters: Parameters = GEARS) -> Iterator[Case]:
    """Two wheels on a gear, driven by a torque: a constant acceleration."""
    for k, (ratio, torque, dt) in enumerate(parameters):
        a = {"name": "a", "mass": 1.0, "inertia": [0.1] * 3}
        b = {"name": "b", "position": [1, 0, 0], "mass": 1.0, "inertia": [0.02] * 3}
        drive = {"type": "force", "target": torque}
        joints = [
            joint("hinge", "a", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
            joint("hinge", "b", anchor=[1, 0, 0], axis=[0, 0, 1]),
            joint("gear", "b", "a", axis=[0, 0, 1], ratio=ratio),
        ]
        rate = torque / (0.1 + 0.02 * ratio**2)
        yield Case(
            "gear",
            f"ratio {ratio}, {torque} N m, dt {dt}",
            scene([a, b], joints, dt=dt, duration=2.0, formulation=BOTH[k % 2]),
            turn("world-b"),
            lambda t, r=rate * ratio: [0.5 * r * t * t],
        )


SLIDERS: Parameters = [
    (5.0, 0.001, 2.0),
    (30.0, 0.001, 2.0),
    (60.0, 0.005, 1.0),
    (100.0, 0.01, 1.0),
    (10.0, 0.01, 3.0),
]


def sliders(parameters: Parameters = SLIDERS) -> Iterator[Case]:
    """A driven crank: where its slider is follows from geometry alone."""
    for k, (speed, dt, duration) in enumerate(parameters):
        crank, rod = 0.1, 0.3
        crank_body = mass("crank", [0.5 * crank, 0, 0], 0.5)
        rod_body = mass("rod", [crank + 0.5 * rod, 0, 0], 0.5)
        piston = mass("piston", [crank + rod, 0, 0], 1.0)
        drive = {"type": "velocity", "target": speed}
        joints = [
            joint("hinge", "crank", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
            joint("hinge", "rod", "crank", anchor=[crank, 0, 0], axis=[0, 0, 1]),
            joint("hinge", "piston", "rod", anchor=[crank + rod, 0, 0], axis=[0, 0, 1]),
            joint("slider", "piston", axis=[1, 0, 0]),
        ]

        def true(t, speed=speed, a=crank, b=rod):
            angle = speed * t
            return [a * math.cos(angle) + math.sqrt(b * b - (a * math.sin(angle)) ** 2)]

        yield Case(
            "slider-crank",
            f"{speed} rad/s, dt {dt}, {BOTH[k % 2]}",
            scene(
                [crank_body, rod_body, piston],
                joints,
                dt=dt,
                duration=duration,
                gravity=0.0,
                formulation=BOTH[k % 2],
            ),
            lambda s: [s.poses()[s.body_names.index("piston"), 0]],
            true,
            2.0 * crank,
        )


FOUR_BARS: Parameters = [
    (0.001, 3.0, 1.0),
    (0.005, 5.0, 0.5),
    (0.02, 5.0, 1.0),
    (0.001, 5.0, 2.0),
    (0.05, 5.0, 0.5),
]


def four_bars(parameters: Parameters = FOUR_BARS) -> Iterator[Case]:
    """A free parallelogram of bars: all its points swing as one pendulum does."""
    for k, (dt, duration, angle) in enumerate(parameters):
        x, z = math.sin(angle), -math.cos(angle)
        turned = [math.cos(-0.5 * angle), 0.0, math.sin(-0.5 * angle), 0.0]
        left = mass("left", [0.5 * x, 0, 0.5 * z], orientation=turned)
        right = mass("right", [1 + 0.5 * x, 0, 0.5 * z], orientation=turned)
        bar = mass("bar", [0.5 + x, 0, z])
        y = {"axis": [0, -1, 0]}
        joints = [
            joint("hinge", "left", anchor=[0, 0, 0], **y),
            joint("hinge", "right", anchor=[1, 0, 0], **y),
            joint("hinge", "bar", "left", anchor=[x, 0, z], **y),
            joint("hinge", "bar", "right", anchor=[1 + x, 0, z], **y),
        ]
        inertia = 2.0 * (0.01 / 6.0 + 0.25) + 1.0
        rate = G * 2.0 / inertia

        def law(_t, q, rate=rate):
            return [q[1], -rate * np.sin(q[0])]

        true = by_equation(law, [angle, 0.0], duration)
        yield Case(
            "four-bar",
            f"{angle} rad, dt {dt}, {BOTH[k % 2]}",
            scene([left, right, bar], joints, dt=dt, duration=duration, formulation=BOTH[k % 2]),
            turn("world-left"),
            lambda t, true=true, angle=angle: [true(t)[0] - angle],
            2.0 * angle,
        )


def kept(name: str) -> Document:
    """A scene of this folder."""
    found: Document = json.loads((Path(__file__).parent / "scenes" / f"{name}.json").read_text())
    return found


LOOPS: Parameters = [
    ("bennett-maximal", "l2", "maximal"),
    ("spherical4-reduced", "out", "reduced"),
    ("sarrus-reduced", "top", "reduced"),
    ("bennett-maximal", "l2", "reduced"),
    ("spherical4-reduced", "out", "maximal"),
    ("sarrus-reduced", "top", "maximal"),
]


def loops(parameters: Parameters = LOOPS) -> Iterator[Case]:
    """Spatial loops with more equations than motions."""
    for name, body, form in parameters:
        document = kept(name)
        document["simulation"] = {**document["simulation"], "formulation": form}
        yield Case(
            "redundant loop",
            f"{name.split('-')[0]}, {form}",
            document,
            place(body),
            other="reduced" if form == "maximal" else "maximal",
        )


CRANKS: Parameters = [
    (5.0, 0.001, 3.0, "maximal"),
    (5.0, 0.001, 3.0, "reduced"),
    (20.0, 0.001, 1.0, "maximal"),
    (20.0, 0.002, 1.0, "reduced"),
]


def cranks(parameters: Parameters = CRANKS) -> Iterator[Case]:
    """Three parallel cranks with a rod, as of a locomotive: the rod moves on a circle."""
    length = 0.2
    for speed, dt, duration, form in parameters:
        turning = {"linear_velocity": [0.5 * length * speed, 0, 0]}
        turning["angular_velocity"] = [0, speed, 0]
        bodies = [mass(f"c{k}", [0.5 * k, 0, 0.5 * length], 0.3, **turning) for k in range(3)]
        bodies.append(mass("rod", [0.5, 0, length], linear_velocity=[length * speed, 0, 0]))
        joints = []
        for k in range(3):
            drive = {"motor": {"type": "velocity", "target": speed}} if k == 0 else {}
            at = {"axis": [0, 1, 0], "anchor": [0.5 * k, 0, 0]}
            joints.append(joint("hinge", f"c{k}", **at, **drive))
            joints.append(joint("hinge", "rod", f"c{k}", **at | {"anchor": [0.5 * k, 0, length]}))
        yield Case(
            "parallel cranks",
            f"{speed} rad/s, dt {dt}, {form}",
            scene(bodies, joints, dt=dt, duration=duration, formulation=form),
            place("rod"),
            lambda t, w=speed: [0.5 + length * math.sin(w * t), 0.0, length * math.cos(w * t)],
            2.0 * length,
        )
