"""Families that stood nowhere when the limits were last chosen: what a workshop would bring."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.trust.case import (
    Case,
    G,
    axis,
    by_equation,
    family,
    joint,
    mass,
    scene,
    solved,
    turn,
)
from benchmarks.trust.mechanisms import rotor
from benchmarks.trust.strangers import series


def between(a: str, b: str, k: int):
    """How far body b is beyond body a along a coordinate k of W [m]."""

    def look(s) -> list[float]:
        poses = s.poses()
        return [poses[s.body_names.index(b), k] - poses[s.body_names.index(a), k]]

    return look


@family([(80.0, 0.0005), (80.0, 0.003), (80.0, 0.01), (30.0, 0.02)])
def dual_mass_flywheels(form: str, rate: float, dt: float) -> Case:
    """Two flywheels on one spring, whose engine turns them unevenly: the twist between them."""
    first, second, k, d = 0.15, 0.1, 400.0, 0.8
    speed, torque = 100.0, 60.0
    push = {
        "type": "force",
        "target": series(lambda t: torque * math.sin(rate * t), 2.0, 4000),
    }
    spin = {"angular_velocity": [speed, 0, 0]}
    bodies = [rotor("primary", first, 8.0, **spin)]
    bodies.append(rotor("secondary", second, 6.0, position=[0.1, 0, 0], **spin))
    spring = {"stiffness": k, "damping": d}
    joints = [
        joint("hinge", "primary", anchor=[0, 0, 0], axis=[1, 0, 0], motor=push),
        joint("hinge", "secondary", "primary", anchor=[0.1, 0, 0], axis=[1, 0, 0], spring=spring),
    ]

    def rates(t, y):
        twist = (k * y[0] + d * y[1]) * (1.0 / first + 1.0 / second)
        return [y[1], -twist - torque * math.sin(rate * t) / first]

    return Case(
        "dual-mass flywheel",
        f"{rate} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        turn("primary-secondary"),
        by_equation(rates, (0.0, 0.0), 1.0),
    )


@family([(20.0, 0.001), (20.0, 0.005), (20.0, 0.02), (40.0, 0.01)])
def quarter_cars(form: str, speed: float, dt: float) -> Case:
    """A quarter of a car that meets a step of the road at speed: the stroke of its suspension."""
    body, wheel, k, d, tyre = 300.0, 30.0, 2e4, 1200.0, 1.8e5
    rise = 0.03
    move = {"linear_velocity": [speed, 0, 0]}
    bodies = [mass("wheel", [0, 0, 0.3], wheel, **move), mass("body", [0, 0, 0.9], body, **move)]
    bodies.append(mass("patch", [0, 0, 0.0], 1.0, **move))
    lift = {
        "type": "position",
        "target": series(lambda t: rise * min(max(t - 0.2, 0.0) / 0.02, 1.0), 2.0, 2000),
    }
    joints = [
        joint("slider", "patch", axis=[1, 0, 0]),
        joint("slider", "shoe", "patch", axis=[0, 0, 1], motor=lift),
        joint("slider", "wheel", "patch", axis=[0, 0, 1]),
        joint("slider", "body", "patch", axis=[0, 0, 1]),
    ]
    bodies.append(mass("shoe", [0, 0, 0.1], 1.0, **move))
    forces = [
        {"type": "spring", "parent": a, "child": b, "anchor": [0, 0, low], "anchor2": [0, 0, high],
         "stiffness": c, "damping": loss}
        for a, b, low, high, c, loss in (
            ("shoe", "wheel", 0.1, 0.3, tyre, 100.0), ("wheel", "body", 0.3, 0.9, k, d),
        )
    ]  # fmt: skip

    def rates(t, y):
        ground = rise * min(max(t - 0.2, 0.0) / 0.02, 1.0)
        going = rise / 0.02 if 0.2 < t < 0.22 else 0.0
        low = tyre * (y[0] - ground) + 100.0 * (y[1] - going)
        high = k * (y[2] - y[0]) + d * (y[3] - y[1])
        return [y[1], (high - low) / wheel, y[3], -high / body]

    found = solve_ivp(
        rates, (0.0, 1.01), [0.0] * 4, "DOP853", rtol=1e-9, atol=1e-11, max_step=1e-3,
        dense_output=True,
    ).sol  # fmt: skip
    return Case(
        "quarter of a car",
        f"{speed} m/s, dt {dt}, {form}",
        scene(bodies, joints, forces, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        between("wheel", "body", 2),
        lambda t: [0.6 + found(t)[2] - found(t)[0]],
    )


@family([(3e4, 0.001), (3e4, 0.01), (3e5, 0.01), (3e5, 0.03)])
def hoists(form: str, stiffness: float, dt: float) -> Case:
    """A drum that lifts a load on an elastic rope, and starts at once: the stretch of the rope."""
    r, m, d, speed = 0.2, 200.0, 200.0, 4.0
    drive = {"type": "velocity", "target": series(lambda t: min(20.0 * t, speed), 2.0, 2000)}
    bodies = [rotor("drum", 1.0, 10.0), mass("load", [1, 0, -3], m)]
    joints = [
        joint("hinge", "drum", anchor=[0, 0, 0], axis=[0, 1, 0], motor=drive),
        joint("slider", "load", axis=[0, 0, 1]),
        {
            "name": "rope", "type": "coupling", "stiffness": stiffness, "damping": d,
            "terms": [{"joint": "world-drum", "factor": r}, {"joint": "world-load", "factor": -1}],
        },
    ]  # fmt: skip
    drum, load = turn("world-drum"), turn("world-load")

    def rates(t, y):
        turned = 10.0 * t * t if t < speed / 20.0 else speed * t - speed * speed / 40.0
        stretch, rate = r * turned - y[0], r * min(20.0 * t, speed) - y[1]
        return [y[1], (stiffness * stretch + d * rate) / m - G]

    true = by_equation(rates, (0.0, 0.0), 1.0)
    return Case(
        "hoist with an elastic rope",
        f"{stiffness} N/m, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.0, formulation=form),
        lambda s: [r * drum(s)[0] - load(s)[0]],
        lambda t: [
            r * (10.0 * t * t if t < speed / 20.0 else speed * t - speed * speed / 40.0)
            - true(t)[0]
        ],
    )


@family([(300.0, 0.0005), (300.0, 0.005), (600.0, 0.003), (300.0, 0.02)])
def rate_gyros(form: str, spin: float, dt: float) -> Case:
    """A gyroscope in a sprung frame on a table that turns: how far the frame leans."""
    disc, frame, k, d, rate = 2e-4, 3e-4, 0.5, 0.02, 0.4
    across = 1.2e-4
    bodies = [
        rotor("table", 0.1, 2.0, angular_velocity=[0, 0, rate]),
        rotor("frame", frame, 0.2, angular_velocity=[0, 0, rate]),
        {
            "name": "disc", "mass": 0.2, "inertia": [disc, across, across],
            "angular_velocity": [spin, 0, rate],
        },
    ]  # fmt: skip
    turned = {"type": "velocity", "target": rate}
    spring = {"stiffness": k, "damping": d}
    joints = [
        joint("hinge", "table", anchor=[0, 0, 0], axis=[0, 0, 1], motor=turned),
        joint("hinge", "frame", "table", anchor=[0, 0, 0], axis=[0, 1, 0], spring=spring),
        joint("hinge", "disc", "frame", anchor=[0, 0, 0], axis=[1, 0, 0]),
    ]

    return Case(
        "rate gyroscope",
        f"{spin} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=0.5, gravity=0.0, formulation=form),
        turn("table-frame"),
        other="reduced" if form == "maximal" else "maximal",
    )


@family([(2.0, 0.001), (2.0, 0.02), (10.0, 0.02), (30.0, 0.03)])
def satellites(form: str, speed: float, dt: float) -> Case:
    """A satellite that drives two weights outwards, and turns the slower for it."""
    inertia, m, start, end, rush = 2.0, 1.0, 0.3, 1.0, 1.0
    bodies = [rotor("hub", inertia, 20.0, angular_velocity=[0, 0, speed])]
    joints = []

    def out(t: float) -> float:
        s = min(t / rush, 1.0)
        return (end - start) * (3.0 * s * s - 2.0 * s**3)

    drive = {"type": "position", "target": series(out, 2.0, 2000)}
    for name, side in (("left", -1.0), ("right", 1.0)):
        weight = rotor(name, 1e-3, m, position=[side * start, 0, 0])
        weight |= {"angular_velocity": [0, 0, speed]}
        weight |= {"linear_velocity": [0, side * start * speed, 0]}
        bodies.append(weight)
        joints.append(joint("slider", name, "hub", axis=[side, 0, 0], motor=drive))

    def rates(t, _y):
        def whole(r: float) -> float:
            return inertia + 2.0 * (1e-3 + m * r * r)

        return [speed * whole(start) / whole(start + out(t))]

    angle = by_equation(rates, (0.0,), 2.0)
    return Case(
        "satellite with booms",
        f"{speed} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.5, gravity=0.0, formulation=form),
        axis("hub", 0),
        lambda t: [math.cos(angle(t)[0]), math.sin(angle(t)[0]), 0.0],
        scale=1.0,
    )


@family([(0.001, 10.0), (0.01, 10.0), (0.03, 10.0), (0.05, 5.0)])
def sympathetic_pendulums(form: str, dt: float, end: float) -> Case:
    """Two pendulums that a weak spring couples: the swing goes over to the other and back."""
    length, m, k, arm = 1.0, 1.0, 4.0, 0.5
    bodies = [
        mass(name, [x, 0, -length], m, inertia=[1e-4] * 3) for name, x in (("a", 0.0), ("b", 1.0))
    ]
    joints = [
        joint("hinge", "a", anchor=[0, 0, 0], axis=[0, 1, 0], initial={"position": 0.2}),
        joint("hinge", "b", anchor=[1, 0, 0], axis=[0, 1, 0]),
    ]
    spring = {
        "type": "spring", "parent": "a", "child": "b", "anchor": [0, 0, -arm],
        "anchor2": [1.0, 0, -arm], "stiffness": k,
    }  # fmt: skip
    inertia = m * length**2 + 1e-4

    def rates(_t, y):
        def end_of(x: float, angle: float) -> np.ndarray:
            return np.array([x - arm * math.sin(angle), -arm * math.cos(angle)])

        p, q = end_of(0.0, y[0]), end_of(1.0, y[2])
        line = q - p
        size = float(np.hypot(*line))
        pull = k * (size - 1.0) / size * line
        way_a = np.array([-arm * math.cos(y[0]), arm * math.sin(y[0])])
        way_b = np.array([-arm * math.cos(y[2]), arm * math.sin(y[2])])
        return [
            y[1], (float(pull @ way_a) - m * G * length * math.sin(y[0])) / inertia,
            y[3], (-float(pull @ way_b) - m * G * length * math.sin(y[2])) / inertia,
        ]  # fmt: skip

    angle = solved(rates, (0.2, 0.0, 0.0, 0.0), end)
    a, b = turn("world-a"), turn("world-b")
    return Case(
        "sympathetic pendulums",
        f"dt {dt}, {end} s, {form}",
        scene(bodies, joints, [spring], dt=dt, duration=end, formulation=form),
        lambda s: [*a(s), *b(s)],
        lambda t: [angle(t)[0], angle(t)[2]],
    )


FAMILIES = (
    dual_mass_flywheels, quarter_cars, hoists, rate_gyros, satellites, sympathetic_pendulums,
)  # fmt: skip
