"""Families of mechanisms: yokes, governors, winches, cranes, shafts, screws."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.trust.case import (
    Case,
    Document,
    G,
    by_equation,
    family,
    height,
    joint,
    mass,
    place,
    scene,
    solved,
    turn,
)


def rotor(name: str, inertia: float, m: float = 1.0, **more) -> Document:
    """A body without a shape."""
    return {"name": name, "mass": m, "inertia": [inertia] * 3, **more}


def along_x(body: str):
    """Place of a body along x [m]."""
    return lambda s: [s.poses()[s.body_names.index(body), 0]]


@family(
    [
        (5.0, 0.001),
        (40.0, 0.002),
        (30.0, 0.01),
        (80.0, 0.01),
    ]
)
def yokes(form: str, speed: float, dt: float) -> Case:
    """A scotch yoke: a pin on a crank slides in a slot, whose bar moves as a sine."""
    r = 0.1
    bodies = [mass("crank", [0.5 * r, 0, 0], 0.3), mass("pin", [r, 0, 0], 0.1)]
    bodies.append(mass("yoke", [r, 0, 0], 1.0))
    drive = {"type": "velocity", "target": speed}
    joints = [
        joint("hinge", "crank", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("hinge", "pin", "crank", anchor=[r, 0, 0], axis=[0, 0, 1]),
        joint("slider", "yoke", axis=[1, 0, 0]),
        joint("slider", "pin", "yoke", axis=[0, 1, 0]),
    ]
    return Case(
        "scotch yoke",
        f"{speed} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        along_x("yoke"),
        lambda t, w=speed: [r * math.cos(w * t)],
        2.0 * r,
    )


@family([(3.0, 0.001), (20.0, 0.002), (20.0, 0.01), (40.0, 0.01)])
def quick_returns(form: str, speed: float, dt: float) -> Case:
    """A shaper: the block on a crank slides along a rocker that turns about another point."""
    r, d = 0.1, 0.25
    bodies = [mass("crank", [0.5 * r, 0, 0], 0.3), mass("block", [r, 0, 0], 0.1)]
    angle0 = math.atan2(d, r)
    turned = [math.cos(0.5 * angle0), 0, 0, math.sin(0.5 * angle0)]
    bodies.append(mass("rocker", [0, -d, 0], 1.0, orientation=turned))
    drive = {"type": "velocity", "target": speed}
    joints = [
        joint("hinge", "crank", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("hinge", "rocker", anchor=[0, -d, 0], axis=[0, 0, 1]),
        joint("hinge", "block", "crank", anchor=[r, 0, 0], axis=[0, 0, 1]),
        joint("slider", "block", "rocker", axis=[r, d, 0]),
    ]

    def true(t, w=speed):
        return [math.atan2(d + r * math.sin(w * t), r * math.cos(w * t)) - angle0]

    return Case(
        "quick return",
        f"{speed} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, gravity=0.0, formulation=form),
        turn("world-rocker"),
        true,
    )


@family(
    [
        (8.0, 0.3, 0.001),
        (12.0, 0.2, 0.002),
        (20.0, 0.5, 0.005),
        (25.0, 1.2, 0.01),
    ]
)
def governors(form: str, speed: float, angle: float, dt: float) -> Case:
    """Two balls on arms, hinged to a shaft that turns at a given rate."""
    arm, m = 0.3, 1.0
    bodies = [rotor("shaft", 0.1)]
    drive = {"type": "velocity", "target": speed}
    joints = [joint("hinge", "shaft", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive)]
    for name, side in (("a", 1.0), ("b", -1.0)):
        x, z = side * arm * math.sin(angle), -arm * math.cos(angle)
        at = {"position": [x, 0, z], "linear_velocity": [0, speed * x, 0]}
        bodies.append(rotor(name, 1e-6, m, **at, angular_velocity=[0, 0, speed]))
        joints.append(joint("hinge", name, "shaft", anchor=[0, 0, 0], axis=[0, -side, 0]))
    bodies[0]["angular_velocity"] = [0, 0, speed]

    def law(_t, y, w=speed, a=arm):
        return [y[1], (w * w * np.cos(y[0]) - G / a) * np.sin(y[0])]

    true = by_equation(law, [angle, 0.0], 2.0)
    return Case(
        "governor",
        f"{speed} rad/s, {angle} rad, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0, formulation=form),
        turn("shaft-a"),
        lambda t: [true(t)[0] - angle],
    )


@family([(2.0, 0.001), (5.0, 0.005), (5.0, 0.02)])
def beads(form: str, speed: float, dt: float) -> Case:
    """A bead on a rod that turns: it runs away as a cosh."""
    rod = rotor("rod", 1.0, angular_velocity=[0, 0, speed])
    bead = rotor("bead", 1e-6, position=[0.1, 0, 0], linear_velocity=[0, 0.1 * speed, 0])
    bead["angular_velocity"] = [0, 0, speed]
    drive = {"type": "velocity", "target": speed}
    joints = [
        joint("hinge", "rod", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
        joint("slider", "bead", "rod", axis=[1, 0, 0]),
    ]
    return Case(
        "bead on a turning rod",
        f"{speed} rad/s, dt {dt}, {form}",
        scene([rod, bead], joints, dt=dt, duration=3.0 / speed, formulation=form),
        turn("rod-bead"),
        lambda t, w=speed: [0.1 * (math.cosh(w * t) - 1.0)],
    )


@family([(0.02, 0.5, 0.001), (0.05, 1.0, 0.005), (0.01, 0.3, 0.002), (0.02, 0.5, 0.02)])
def yoyos(_form: str, radius: float, m: float, dt: float) -> Case:
    """A yo-yo that unwinds from a cable: a constant acceleration down."""
    inertia = 0.5 * m * 0.04**2
    reel = rotor("reel", inertia, m, position=[0, 0, 0])
    wheel = {"radius": radius, "axis": [0, -1, 0]}
    cable = joint("distance", "reel", anchor=[radius, 0, 1.0], anchor2=[0, 0, 0], wheel2=wheel)
    rate = G / (1.0 + inertia / (m * radius**2))
    end = min(0.6, 1.2 * math.sqrt(2.0 * 2.0 / rate))
    return Case(
        "yo-yo",
        f"radius {radius}, {m} kg, dt {dt}",
        scene([reel], [cable], dt=dt, duration=end),
        height("reel"),
        lambda t, a=rate: [-0.5 * a * t * t],
    )


@family([(2.0, 1.0, 0.001), (10.0, 5.0, 0.005), (50.0, 1.0, 0.01)])
def winches(_form: str, load: float, inertia: float, dt: float) -> Case:
    """A drum that lifts a load on its cable, driven by a torque."""
    r = 0.1
    drum = rotor("drum", inertia, 5.0, position=[0, 0, 2])
    weight = mass("load", [r, 0, 0], load)
    torque = 1.5 * load * G * r
    drive = {"type": "force", "target": torque}
    joints = [
        joint("hinge", "drum", anchor=[0, 0, 2], axis=[0, -1, 0], motor=drive),
        joint(
            "distance", "load", "drum", anchor=[0, 0, 2], anchor2=[r, 0, 0],
            wheel={"radius": r, "axis": [0, 1, 0]},
        ),
    ]  # fmt: skip
    rate = (torque / r - load * G) / (load + inertia / r**2)
    return Case(
        "winch",
        f"{load} kg, {inertia} kg m^2, dt {dt}",
        scene([drum, weight], joints, dt=dt, duration=0.8),
        height("load"),
        lambda t, a=rate: [0.5 * a * t * t],
    )


@family(
    [
        (1.0, 1.0, 0.001),
        (1.0, 1000.0, 0.001),
        (50.0, 2.0, 0.005),
        (1.0, 1e4, 0.01),
        (0.01, 100.0, 0.01),
    ]
)
def cranes(form: str, trolley: float, load: float, dt: float) -> Case:
    """A trolley that is pulled, with a load that swings below it."""
    length = 2.0
    force = 0.5 * (trolley + load)
    cart = mass("cart", [0, 0, 0], trolley)
    swung = rotor("load", 1e-6 * load, load, position=[0, 0, -length])
    drive = {"type": "force", "target": force}
    joints = [
        joint("slider", "cart", axis=[1, 0, 0], motor=drive),
        joint("hinge", "load", "cart", anchor=[0, 0, 0], axis=[0, 1, 0]),
    ]

    def law(_t, y, M=trolley, m=load, f=force):
        # y: x, angle (load at x + l sin), rates
        c, s = np.cos(y[1]), np.sin(y[1])
        A = np.array([[M + m, m * length * c], [m * length * c, m * length**2 + 1e-6 * m]])
        b = np.array([f + m * length * s * y[3] ** 2, -m * G * length * s])
        return [y[2], y[3], *np.linalg.solve(A, b)]

    sol = solved(law, [0.0, 0.0, 0.0, 0.0], 4.0)
    return Case(
        "crane",
        f"{trolley} kg, {load} kg, dt {dt}, {form}",
        scene([cart, swung], joints, dt=dt, duration=4.0, formulation=form),
        place("load"),
        lambda t: [
            sol(t)[0] + length * math.sin(sol(t)[1]), 0, -length * math.cos(sol(t)[1]),
        ],
    )  # fmt: skip


@family(
    [
        (10.0, 0.5, 0.001),
        (30.0, 0.8, 0.005),
        (60.0, 1.0, 0.005),
        (50.0, 0.6, 0.01),
    ]
)
def cardans(form: str, speed: float, bend: float, dt: float) -> Case:
    """Two shafts at an angle with a universal joint: the second turns unevenly."""
    c, s = math.cos(bend), math.sin(bend)
    turned = [math.cos(0.5 * bend), 0, math.sin(-0.5 * bend), 0]
    a = rotor("a", 0.01, position=[-0.5, 0, 0])
    b = rotor("b", 0.01, position=[0.5 * c, 0, 0.5 * s], orientation=turned)
    drive = {"type": "velocity", "target": speed}
    joints = [
        joint("hinge", "a", anchor=[-0.5, 0, 0], axis=[1, 0, 0], motor=drive),
        joint("hinge", "b", anchor=[0.5 * c, 0, 0.5 * s], axis=[c, 0, s]),
        joint("universal", "b", "a", anchor=[0, 0, 0], axis=[0, 1, 0], axis2=[-s, 0, c]),
    ]

    def true(t, w=speed):
        angle = w * t
        turns = round(angle / math.pi)
        rest = angle - turns * math.pi
        return [math.atan2(c * math.sin(rest), math.cos(rest)) + turns * math.pi]

    return Case(
        "cardan shaft",
        f"{speed} rad/s, {bend} rad, dt {dt}, {form}",
        scene([a, b], joints, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        lambda s: [turn("world-b")(s)[0] - turn("world-a")(s)[0]],
        lambda t, w=speed: [true(t)[0] - w * t],
    )


@family(
    [
        (1.0, 0.1, 2.0, 0.001),
        (0.5, 1.0, 0.2, 0.01),
        (5.0, 0.05, 0.05, 0.005),
    ]
)
def differentials(form: str, torque: float, left: float, right: float, dt: float) -> Case:
    """A carrier whose turn is the mean of that of two wheels."""
    carrier = 0.3
    bodies = [rotor("c", carrier), rotor("l", left, position=[0, 1, 0])]
    bodies.append(rotor("r", right, position=[0, -1, 0]))
    drive = {"type": "force", "target": torque}
    joints = [
        joint("hinge", "c", anchor=[0, 0, 0], axis=[0, 1, 0], motor=drive),
        joint("hinge", "l", anchor=[0, 1, 0], axis=[0, 1, 0]),
        joint("hinge", "r", anchor=[0, -1, 0], axis=[0, 1, 0]),
        {
            "name": "d", "type": "coupling",
            "terms": [
                {"joint": "world-c", "factor": 2.0},
                {"joint": "world-l", "factor": -1.0},
                {"joint": "world-r", "factor": -1.0},
            ],
        },
    ]  # fmt: skip
    # 2 c = l + r; torque T - 2 f... : f = left a_l = right a_r, carrier a_c = T - 2 f
    f = torque / (2.0 + 0.5 * carrier * (1.0 / left + 1.0 / right))
    rates = (f / left, f / right)
    return Case(
        "differential",
        f"{torque} N m, {left}, {right} kg m^2, dt {dt}",
        scene(bodies, joints, dt=dt, duration=1.0, gravity=0.0, formulation=form),
        lambda s: [*turn("world-l")(s), *turn("world-r")(s)],
        lambda t, r=rates: [0.5 * r[0] * t * t, 0.5 * r[1] * t * t],
    )


FAMILIES = (
    yokes,
    quick_returns,
    governors,
    beads,
    yoyos,
    winches,
    cranes,
    cardans,
    differentials,
)
