"""Families of mechanisms: yokes, cams, governors, winches, couplings, screws, drives over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.integrate import solve_ivp

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
    turn,
)


def solved(rate, start: Sequence[float], end: float):
    """All coordinates of y' = rate(t, y) as a function of time, solved to 1e-10."""
    found = solve_ivp(
        rate, (0.0, end * 1.01), list(start), "DOP853", rtol=1e-10, atol=1e-12, dense_output=True
    )
    return found.sol


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


@family([(0.01, 0.001), (0.1, 0.01), (0.3, 0.02)])
def screws(form: str, pitch: float, dt: float) -> Case:
    """A nut that turns as its weight drives it down a screw."""
    inertia, m = 0.002, 1.0
    nut = rotor("nut", inertia, m)
    lead = pitch / (2.0 * math.pi)
    rate = m * G * lead / (inertia + m * lead**2)
    return Case(
        "screw",
        f"pitch {pitch}, dt {dt}",
        scene(
            [nut], [joint("screw", "nut", anchor=[0, 0, 0], axis=[0, 0, 1], pitch=pitch)],
            dt=dt, duration=1.0, formulation=form,
        ),
        height("nut"),
        lambda t, a=rate * lead: [-0.5 * a * t * t],
    )  # fmt: skip


@family([(1.0, 0.001), (1.0, 0.01), (5.0, 0.01)])
def lifts(form: str, rate: float, dt: float) -> Case:
    """A scissor lift: two crossed bars, a foot that a motor moves, a top that rises."""
    length, foot0 = 1.0, 0.9
    z0 = math.sqrt(length**2 - foot0**2)
    lean = math.atan2(z0, foot0)
    bodies = [
        mass("a", [0.5 * foot0, 0, 0.5 * z0],
             orientation=[math.cos(0.5 * lean), 0, -math.sin(0.5 * lean), 0]),
        mass("b", [0.5 * foot0, 0, 0.5 * z0],
             orientation=[math.cos(0.5 * lean), 0, math.sin(0.5 * lean), 0]),
        mass("foot", [foot0, 0, 0], 0.5),
        mass("top", [0, 0, z0], 2.0),
    ]  # fmt: skip
    times = np.linspace(0.0, 2.0 * math.pi / rate, 401)
    way = [float(-0.15 * (1.0 - math.cos(rate * t))) for t in times]
    drive = {"type": "position", "target": {"times": times.tolist(), "values": way}}
    y = {"axis": [0, -1, 0]}
    joints = [
        joint("hinge", "a", anchor=[0, 0, 0], **y),
        joint("slider", "foot", axis=[1, 0, 0], motor=drive),
        joint("hinge", "b", "foot", anchor=[foot0, 0, 0], **y),
        joint("hinge", "b", "a", anchor=[0.5 * foot0, 0, 0.5 * z0], **y),
        joint("hinge", "top", "b", anchor=[0, 0, z0], **y),
        joint("slider", "top", axis=[0, 0, 1]),
    ]

    def true(t):
        foot = foot0 - 0.15 * (1.0 - math.cos(rate * t))
        return [math.sqrt(length**2 - foot**2)]

    return Case(
        "scissor lift",
        f"{rate} rad/s, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=6.0 / rate, formulation=form),
        height("top"),
        true,
    )


@family(
    [
        (0.01, 1000.0, 0.0001),
        (0.02, 200.0, 0.0005),
        (0.02, 200.0, 0.005),
        (0.05, 60.0, 0.002),
        (0.03, 300.0, 0.01),
    ]
)
def kapitzas(form: str, way: float, rate: float, dt: float) -> Case:
    """A pendulum upside down on a pivot that a motor shakes up and down."""
    length, end = 0.3, 1.0
    times = np.linspace(0.0, end, int(end * rate / (2 * math.pi) * 40) + 2)
    values = (way * np.sin(rate * times)).tolist()
    drive = {"type": "position", "target": {"times": times.tolist(), "values": values}}
    pivot = mass("pivot", [0, 0, 0], 1.0)
    lean = 0.2
    bob = rotor("bob", 1e-6, 1.0, position=[length * math.sin(lean), 0, length * math.cos(lean)])
    joints = [
        joint("slider", "pivot", axis=[0, 0, 1], motor=drive),
        joint("hinge", "bob", "pivot", anchor=[0, 0, 0], axis=[0, 1, 0]),
    ]
    start = [0, 0, way * rate]
    pivot["linear_velocity"], bob["linear_velocity"] = start, start

    def law(t, y, a=way, w=rate):
        return [y[1], (G - a * w * w * np.sin(w * t)) / length * np.sin(y[0])]

    true = by_equation(law, [lean, 0.0], end)
    return Case(
        "shaken pendulum",
        f"{way} m, {rate} rad/s, dt {dt}",
        scene([pivot, bob], joints, dt=dt, duration=end, formulation=form),
        turn("pivot-bob"),
        lambda t: [true(t)[0] - lean],
    )


@family(
    [
        (30.0, 0.02, 0.001),
        (100.0, 0.05, 0.002),
        (60.0, 0.0, 0.01),
        (300.0, 0.1, 0.01),
    ]
)
def forced(form: str, w: float, ratio: float, dt: float) -> Case:
    """A mass on a spring that a force shakes at resonance: the force is a series over time."""
    end = 40.0 / w
    times = np.linspace(0.0, end, 2001)
    push = {"times": times.tolist(), "values": [[float(math.sin(w * t)), 0, 0] for t in times]}
    cart = mass("cart", [1, 0, 0])
    forces: list[Document] = [
        {"type": "wrench", "body": "cart", "force": push},
        {
            "type": "spring", "parent": "world", "child": "cart", "anchor": [0, 0, 0],
            "anchor2": [1, 0, 0], "stiffness": w * w, "damping": 2.0 * ratio * w,
        },
    ]  # fmt: skip

    def law(t, y, r=ratio):
        return [y[1], np.sin(w * t) - w * w * y[0] - 2.0 * r * w * y[1]]

    true = by_equation(law, [0.0, 0.0], end)
    return Case(
        "forced oscillator",
        f"w {w}, damping ratio {ratio}, dt {dt}",
        scene(
            [cart], [joint("slider", "cart", axis=[1, 0, 0])], forces, dt=dt, duration=end,
            gravity=0.0, formulation=form,
        ),
        turn("world-cart"),
        true,
    )  # fmt: skip


@family([(20.0, 0.1, 0.05, 0.001), (50.0, 0.05, 0.1, 0.005), (20.0, 0.02, 0.2, 0.02)])
def dampers(_form: str, w: float, share: float, ratio: float, dt: float) -> Case:
    """A tuned mass damper on a mass that was struck."""
    tuned = w / (1.0 + share)
    stiffness = [w * w, share * tuned**2]
    damping = 2.0 * ratio * share * tuned
    bodies = [mass("m", [1, 0, 0], linear_velocity=[1, 0, 0]), mass("d", [2, 0, 0], share)]
    ends = [("world", "m", 0.0, 1.0, 0.0), ("m", "d", 1.0, 2.0, damping)]
    forces = [
        {
            "type": "spring", "parent": a, "child": b, "stiffness": c, "damping": d,
            "anchor": [p, 0, 0], "anchor2": [q, 0, 0],
        }
        for (a, b, p, q, d), c in zip(ends, stiffness, strict=True)
    ]  # fmt: skip

    def law(_t, y, k=stiffness, c=damping, m=share):
        f = k[1] * (y[1] - y[0]) + c * (y[3] - y[2])
        return [y[2], y[3], -k[0] * y[0] + f, -f / m]

    end = 40.0 / w
    sol = solved(law, [0.0, 0.0, 1.0, 0.0], end)
    return Case(
        "tuned mass damper",
        f"w {w}, {share} kg, dt {dt}",
        scene(bodies, [], forces, dt=dt, duration=end, gravity=0.0),
        lambda s: [*along_x("m")(s), *along_x("d")(s)],
        lambda t: [1.0 + sol(t)[0], 2.0 + sol(t)[1]],
    )


@family(
    [
        (5.0, 10.0, 0.001),
        (50.0, 100.0, 0.01),
        (200.0, 5.0, 0.005),
        (20.0, 1000.0, 0.02),
    ]
)
def closers(form: str, stiffness: float, damping: float, dt: float) -> Case:
    """A door with a spring and a damper at its hinge, let go at a right angle."""
    inertia = 1.0
    door = rotor("door", inertia, 10.0, position=[0.5, 0, 0])
    about = inertia + 10.0 * 0.25
    hinge = joint(
        "hinge", "door", anchor=[0, 0, 0], axis=[0, 0, 1], damping=damping,
        spring={"stiffness": stiffness, "rest": -1.5},
        limits={"lower": -1.4},
    )  # fmt: skip

    def law(_t, y, c=damping, s=stiffness, i=about):
        return [y[1], (-s * (y[0] + 1.5) - c * y[1]) / i]

    true = by_equation(law, [0.0, 0.0], 3.0)

    def shut(t):
        at = np.linspace(0.0, t, 200)
        return [-1.4 if min(true(x)[0] for x in at) <= -1.4 else true(t)[0]]

    return Case(
        "door closer",
        f"{stiffness} N m/rad, {damping} N m s/rad, dt {dt}",
        scene([door], [hinge], dt=dt, duration=3.0, formulation=form),
        turn("world-door"),
        shut,
    )


@family(
    [
        (40.0, 5.0, 0.001),
        (30.0, 0.0, 0.01),
        (200.0, 20.0, 0.01),
        (20.5, 1.0, 0.005),
    ]
)
def balancers(form: str, stiffness: float, damping: float, dt: float) -> Case:
    """A pendulum upside down that a drive holds up, hardly or well."""
    bob = rotor("bob", 1e-6, 2.0, position=[0.1, 0, math.sqrt(0.99)])
    lean = math.asin(0.1)
    drive = {"type": "position", "target": -lean, "stiffness": stiffness, "damping": damping}
    hinge = joint("hinge", "bob", anchor=[0, 0, 0], axis=[0, 1, 0], motor=drive)

    def law(_t, y, s=stiffness, c=damping):
        return [y[1], (2.0 * G * np.sin(y[0]) - s * y[0] - c * y[1]) / 2.0]

    true = by_equation(law, [lean, 0.0], 3.0)
    return Case(
        "balanced pole",
        f"{stiffness} N m/rad, {damping} N m s/rad, dt {dt}",
        scene([bob], [hinge], dt=dt, duration=3.0, formulation=form),
        turn("world-bob"),
        lambda t: [true(t)[0] - lean],
    )


@family(
    [
        (9.0, 0.001, 10.0),
        (40.0, 0.01, 10.0),
        (2000.0, 0.005, 5.0),
        (300.0, 0.02, 5.0),
    ]
)
def spring_pendula(_form: str, w2: float, dt: float, end: float) -> Case:
    """A bob on a spring that swings and bounces at once."""
    x0 = 0.3
    bob = rotor("bob", 1e-4, 1.0, position=[x0, 0, -1.0])
    spring = {
        "type": "spring", "parent": "world", "child": "bob", "anchor": [0, 0, 0],
        "anchor2": [x0, 0, -1.0], "stiffness": w2, "rest": 0.8,
    }  # fmt: skip

    def law(_t, y, k=w2):
        r = np.hypot(y[0], y[1])
        f = -k * (r - 0.8) / r
        return [y[2], y[3], f * y[0], f * y[1] - G]

    sol = solved(law, [x0, -1.0, 0.0, 0.0], end)
    return Case(
        "spring pendulum",
        f"{w2} N/m, dt {dt}, {end} s",
        scene([bob], [], [spring], dt=dt, duration=end),
        place("bob"),
        lambda t: [sol(t)[0], 0, sol(t)[1]],
    )


@family(
    [
        (1.0, 100.0, 0.001),
        (20.0, 100.0, 0.005),
        (50.0, 1e4, 0.01),
        (5.0, 500.0, 0.02),
    ]
)
def duffings(form: str, linear: float, cubic: float, dt: float) -> Case:
    """A cart on a spring whose force has a cubic part."""
    cart = mass("cart", [0, 0, 0])
    at = {"position": 0.5}
    slider = joint(
        "slider", "cart", axis=[1, 0, 0], initial=at,
        spring={"stiffness": [linear, 0.0, cubic]},
    )  # fmt: skip

    def law(_t, y, a=linear, b=cubic):
        return [y[1], -a * y[0] - b * y[0] ** 3]

    return Case(
        "duffing",
        f"{linear}, {cubic}, dt {dt}",
        scene([cart], [slider], dt=dt, duration=4.0, gravity=0.0, formulation=form),
        turn("world-cart"),
        by_equation(law, [0.5, 0.0], 4.0),
    )


@family([(1.0, 1.0, 0.001), (0.5, 2.0, 0.005), (1.0, 2.5, 0.02)])
def bifilars(_form: str, length: float, angle: float, dt: float) -> Case:
    """A rod on two threads that turns about the vertical and rises."""
    half, m = 0.2, 1.0
    inertia = m * (2 * half) ** 2 / 12.0

    def depth(a):
        return math.sqrt(length**2 - 2.0 * half**2 * (1.0 - math.cos(a)))

    z0 = -depth(angle)
    turned = [math.cos(0.5 * angle), 0, 0, math.sin(0.5 * angle)]
    rod = {"name": "rod", "position": [0, 0, z0], "mass": m, "orientation": turned}
    rod["inertia"] = [1e-4, inertia, inertia]
    x, y = half * math.cos(angle), half * math.sin(angle)
    joints = [
        {"name": n, "type": "distance", "parent": "world", "child": "rod",
         "anchor": [s * half, 0, 0], "anchor2": [s * x, s * y, z0]}
        for n, s in (("l", 1.0), ("r", -1.0))
    ]  # fmt: skip

    def law(_t, q, i=inertia):
        # z = -sqrt(l^2 - 2 b^2 (1 - cos a)); L = (i + m z'^2) a'^2 / 2 - m g z
        a, w = q
        d = math.sqrt(length**2 - 2.0 * half**2 * (1.0 - math.cos(a)))
        z1 = half**2 * math.sin(a) / d
        z2 = half**2 * math.cos(a) / d + z1 * z1 / d
        return [w, -(m * z1 * z2 * w * w + m * G * z1) / (i + m * z1 * z1)]

    sol = solved(law, [angle, 0.0], 5.0)
    return Case(
        "bifilar pendulum",
        f"{length} m, {angle} rad, dt {dt}",
        scene([rod], joints, dt=dt, duration=5.0),
        rod_axis,
        lambda t: [math.cos(sol(t)[0]), math.sin(sol(t)[0])],
        2.0 * angle if angle < 1.0 else 2.0,
    )


def rod_axis(s) -> list[float]:
    """First axis of the body `rod` [-]."""
    w, x, y, z = s.poses()[s.body_names.index("rod"), 3:]
    return [1 - 2 * (y * y + z * z), 2 * (x * y + w * z)]


@family([(0.001,), (0.01,), (0.03,), (0.03,)])
def sphericals(form: str, dt: float) -> Case:
    """A spherical pendulum on a ball joint."""
    bob = rotor("bob", 1e-6, 1.0, position=[0.5, 0, -0.5], linear_velocity=[0, 1.5, 0])
    length = math.sqrt(0.5)

    def law(_t, y):
        x, v = y[:3], y[3:]
        g = np.array([0, 0, -G])
        lam = (v @ v + g @ x) / length**2
        return [*v, *(g - lam * x)]

    sol = solved(law, [0.5, 0, -0.5, 0, 1.5, 0], 5.0)
    return Case(
        "spherical pendulum",
        f"dt {dt}, {form}",
        scene([bob], [joint("ball", "bob", anchor=[0, 0, 0])], dt=dt, duration=5.0,
              formulation=form),
        place("bob"),
        lambda t: sol(t)[:3],
    )  # fmt: skip


@family(
    [
        (50.0, 0.001),
        (200.0, 0.001),
        (100.0, 0.005),
    ]
)
def gimbals(form: str, spin: float, dt: float) -> Case:
    """A gyroscope in gimbals with a weight that makes it precess."""
    outer, inner = rotor("outer", 0.002), rotor("inner", 0.001)
    wheel = {"name": "wheel", "mass": 1.0, "inertia": [0.005, 0.003, 0.003]}
    wheel["angular_velocity"] = [spin, 0, 0]
    weight = mass("weight", [0.15, 0, 0], 0.2)
    joints = [
        joint("hinge", "outer", anchor=[0, 0, 0], axis=[0, 0, 1]),
        joint("hinge", "inner", "outer", anchor=[0, 0, 0], axis=[0, 1, 0]),
        joint("hinge", "wheel", "inner", anchor=[0, 0, 0], axis=[1, 0, 0]),
        joint("fixed", "weight", "inner"),
    ]
    return Case(
        "gimbals",
        f"{spin} rad/s, dt {dt}, {form}",
        scene([outer, inner, wheel, weight], joints, dt=dt, duration=1.5, formulation=form),
        place("weight"),
        other="reduced" if form == "maximal" else "maximal",
    )


@family([(10.0, 0.001), (30.0, 0.01), (5.0, 0.02)])
def rockets(_form: str, spin: float, dt: float) -> Case:
    """A body that spins about its axis, with thrust across it, fixed in the body."""
    stone = rotor("stone", 0.1, angular_velocity=[0, 0, spin])
    push = {"type": "wrench", "body": "stone", "force": [1.0, 0, 0], "axes": "body"}

    def true(t, w=spin):
        return [(1 - math.cos(w * t)) / w**2, (w * t - math.sin(w * t)) / w**2, 0]

    return Case(
        "turning thrust",
        f"{spin} rad/s, dt {dt}",
        scene([stone], [], [push], dt=dt, duration=1.0, gravity=0.0),
        place("stone"),
        true,
    )


@family([(2.0, 0.001), (20.0, 0.01), (0.5, 0.02)])
def ramps(form: str, torque: float, dt: float) -> Case:
    """A flywheel that a velocity motor of bounded torque brings up to speed."""
    wheel = rotor("wheel", 0.1)
    drive = {"type": "velocity", "target": 10.0, "max_force": torque}
    hinge = joint("hinge", "wheel", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive)

    def true(t, a=torque / 0.1):
        s = min(t, 10.0 / a)
        return [0.5 * a * s * s + 10.0 * (t - s)]

    return Case(
        "flywheel",
        f"{torque} N m, dt {dt}, {form}",
        scene([wheel], [hinge], dt=dt, duration=2.0, gravity=0.0, formulation=form),
        turn("world-wheel"),
        true,
    )


@family([(5.0, 0.001), (12.0, 0.002), (12.0, 0.01), (13.9, 0.02)])
def cams(_form: str, speed: float, dt: float) -> Case:
    """A round cam that turns off its middle lifts a flat follower: a sine."""
    r, e = 0.1, 0.05
    lying = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    disc = {"type": "cylinder", "radius": r, "length": 0.1, "orientation": lying}
    cam = {
        "name": "cam", "type": "kinematic", "angular_velocity": [0, -speed, 0],
        "shapes": [{**disc, "position": [e, 0, 0], "material": "m"}],
    }  # fmt: skip
    shape = {"type": "box", "size": [0.4, 0.1, 0.1], "material": "m"}
    # started with the speed of the cam, as the follower rises from the start
    follower = {
        "name": "follower", "position": [0, 0, r + 0.05], "mass": 1.0, "shapes": [shape],
        "linear_velocity": [0, 0, e * speed],
    }  # fmt: skip
    return Case(
        "cam",
        f"{speed} rad/s, dt {dt}",
        scene(
            [cam, follower], [joint("slider", "follower", axis=[0, 0, 1])], dt=dt,
            duration=1.5, materials={"m": {"friction": 0.0}},
        ),
        height("follower"),
        lambda t, w=speed: [r + 0.05 + e * math.sin(w * t)],
    )  # fmt: skip


@family([(0.001,), (0.01,), (0.03,)])
def releases(_form: str, dt: float) -> Case:
    """A pendulum whose joint a trigger breaks as it passes the bottom: then it flies."""
    bob = rotor("bob", 1e-6, 1.0, position=[-1.0, 0, 0])
    hinge = joint("hinge", "bob", anchor=[0, 0, 0], axis=[0, -1, 0])
    document = scene([bob], [hinge], dt=dt, duration=1.5)
    document["triggers"] = [
        {
            "name": "cut",
            "when": {"type": "coordinate", "joint": "world-bob", "value": 0.5 * math.pi},
            "do": [{"op": "break_joint", "joint": "world-bob"}],
        }
    ]

    def law(_t, y):
        return [y[1], G * np.cos(y[0])]

    sol = solved(law, [0.0, 0.0], 2.0)
    grid = np.linspace(0.3, 0.9, 60001)
    cut = float(grid[np.argmin(np.abs(sol(grid)[0] - 0.5 * math.pi))])
    speed = float(sol(cut)[1])

    def true(t):
        if t <= cut:
            a = sol(t)[0]
            return [-math.cos(a), 0, -math.sin(a)]
        u = t - cut
        return [speed * u, 0, -1.0 - 0.5 * G * u * u]

    return Case("release", f"dt {dt}", document, place("bob"), true, 2.0)


FAMILIES = (
    yokes, quick_returns, governors, beads, yoyos, winches, cranes, cardans, differentials, screws,
    lifts, kapitzas, forced, dampers, closers, balancers, spring_pendula, duffings, bifilars,
    sphericals, gimbals, rockets, ramps, cams, releases,
)  # fmt: skip
