"""Families that are shaken, driven over time, damped: lifts, door closers, poles held up."""

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
    scene,
    solved,
    turn,
)
from benchmarks.trust.mechanisms import along_x, rotor


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


FAMILIES = (
    screws,
    lifts,
    kapitzas,
    forced,
    dampers,
    closers,
    balancers,
)
