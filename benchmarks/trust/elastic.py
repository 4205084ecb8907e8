"""Families with several frequencies, soft contacts, ropes, belts, racks, screws, throws."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.trust.case import (
    BOTH,
    Case,
    G,
    Parameters,
    by_equation,
    floor,
    height,
    joint,
    mass,
    place,
    scene,
    turn,
)
from benchmarks.trust.touching import box, sphere

TRAINS: Parameters = [
    (100.0, 0.001, 5.0),
    (1000.0, 0.002, 5.0),
    (1e4, 0.002, 3.0),
    (1e6, 0.001, 1.0),
    (50.0, 0.02, 20.0),
]


def trains(parameters: Parameters = TRAINS) -> Iterator[Case]:
    """Three masses on springs between walls: three frequencies at once, by eigenvectors."""
    for k, (stiffness, dt, duration) in enumerate(parameters):
        start = np.array([0.1, 0.0, -0.05])
        bodies = [mass(f"m{i}", [i + 1 + start[i], 0, 0]) for i in range(3)]
        ends = ["world", "m0", "m1", "m2", "world"]
        at = [0.0, *(i + 1 + start[i] for i in range(3)), 4.0]
        forces = [
            {
                "type": "spring", "parent": ends[i], "child": ends[i + 1], "stiffness": stiffness,
                "anchor": [at[i], 0, 0], "anchor2": [at[i + 1], 0, 0], "rest": 1.0,
            }
            for i in range(3)
        ]  # fmt: skip
        last = {"type": "spring", "parent": "world", "child": "m2", "stiffness": stiffness}
        last |= {"anchor": [4.0, 0, 0], "anchor2": [at[3], 0, 0], "rest": 1.0}
        sliders = [joint("slider", f"m{i}", axis=[1, 0, 0]) for i in range(3)] if k % 2 else []
        K = stiffness * (2 * np.eye(3) - np.eye(3, k=1) - np.eye(3, k=-1))
        square, shapes = np.linalg.eigh(K)
        amplitude = shapes.T @ start

        rates = np.sqrt(square)

        def true(t, w=rates, shapes=shapes, amplitude=amplitude):
            x = np.arange(1.0, 4.0) + shapes @ (amplitude * np.cos(w * t))
            return [x[0], 0, 0, x[1], 0, 0, x[2], 0, 0]

        yield Case(
            "spring train",
            f"{stiffness:g} N/m, dt {dt}, {duration} s",
            scene(bodies, sliders, [*forces, last], dt=dt, duration=duration, gravity=0.0),
            place("m0", "m1", "m2"),
            true,
            0.2,
        )


SOFT_GROUNDS: Parameters = [
    (50.0, 0.0005, 20.0),
    (100.0, 0.002, 20.0),
    (300.0, 0.002, 30.0),
    (20.0, 0.01, 15.0),
]


def soft_grounds(parameters: Parameters = SOFT_GROUNDS) -> Iterator[Case]:
    """A ball that oscillates on a compliant floor, pressed by its weight all the time."""
    for w, dt, turns in parameters:
        sag = G / w**2
        amplitude = 0.5 * sag
        ball = sphere("ball", [0, 0, 0.1 - sag + amplitude])
        yield Case(
            "soft ground",
            f"w {w}, dt {dt}, {turns} rad",
            scene(
                [floor("m"), ball], dt=dt, duration=turns / w,
                materials={"m": {"compliance": 0.5 / w**2, "friction": 0.0}},
            ),
            height("ball"),
            lambda t, w=w, a=amplitude, sag=sag: [0.1 - sag + a * math.cos(w * t)],
            amplitude,
        )  # fmt: skip


THROWS: Parameters = [(0.001, 3.0), (0.05, 1.0), (0.02, 15.0)]


def throws(parameters: Parameters = THROWS) -> Iterator[Case]:
    """A body that is thrown: a parabola, exact at any step; or with a rope that holds it."""
    for dt, spin in parameters:
        body = mass("stone", [0, 0, 0], linear_velocity=[3, 0, 10], angular_velocity=[0, spin, 0])
        yield Case(
            "throw",
            f"dt {dt}, spin {spin}",
            scene([body], dt=dt, duration=2.0),
            place("stone"),
            lambda t: [3 * t, 0, 10 * t - 0.5 * G * t * t],
        )
    for length, speed, dt in [(1.0, 2.0, 0.001), (0.5, 3.0, 0.005), (0.3, 2.0, 0.03)]:
        bob = {"name": "bob", "position": [0, 0, -length], "linear_velocity": [speed, 0, 0]}
        bob |= {"mass": 1.0, "inertia": [1e-4] * 3}
        rod = joint("distance", "bob", anchor=[0, 0, 0], anchor2=[0, 0, -length])

        def law(_t, y, length=length):
            return [y[1], -G / length * np.sin(y[0])]

        true = by_equation(law, [0.0, speed / length], 5.0)
        yield Case(
            "rod of distance",
            f"{length} m, {speed} m/s, dt {dt}",
            scene([bob], [rod], dt=dt, duration=5.0),
            place("bob"),
            lambda t, true=true, r=length: [r * math.sin(true(t)[0]), 0, -r * math.cos(true(t)[0])],
        )


BELTS: Parameters = [(1.0, 0.3, 0.001), (2.0, 0.5, 0.01), (0.5, 0.1, 0.02)]


def belts(parameters: Parameters = BELTS) -> Iterator[Case]:
    """A box on a belt: friction takes it along until it has the speed of the belt."""
    for speed, mu, dt in parameters:
        belt = floor("belt")
        pull = math.sqrt(mu * 0.5) * G

        def true(t, v=speed, a=pull):
            s = min(t, v / a)
            return [0.5 * a * s * s + v * (t - s)]

        yield Case(
            "belt",
            f"{speed} m/s, friction {mu}, dt {dt}",
            scene(
                [belt, box("box", [0, 0, 0.1])], dt=dt, duration=1.0,
                materials={
                    "m": {"friction": 0.5},
                    "belt": {"friction": mu, "surface_velocity": [speed, 0, 0]},
                },
            ),
            lambda s: [s.poses()[1, 0]],
            true,
        )  # fmt: skip


RACKS: Parameters = [(0.1, 1.0, 0.001), (0.05, 5.0, 0.005), (0.2, 2.0, 0.01)]


def racks(parameters: Parameters = RACKS) -> Iterator[Case]:
    """Pinion and rack, screw and nut: one acceleration of both."""
    for k, (ratio, torque, dt) in enumerate(parameters):
        pinion = {"name": "pinion", "mass": 1.0, "inertia": [0.02] * 3}
        bar = mass("rack", [0, 0.5, 0], 2.0)
        drive = {"type": "force", "target": torque}
        joints = [
            joint("hinge", "pinion", anchor=[0, 0, 0], axis=[0, 0, 1], motor=drive),
            joint("slider", "rack", axis=[1, 0, 0]),
            joint("rack", "rack", "pinion", axis=[0, 0, 1], axis2=[1, 0, 0], ratio=ratio),
        ]
        rate = torque / (0.02 + 2.0 * ratio**2)
        yield Case(
            "rack",
            f"{ratio} m/rad, {torque} N m, dt {dt}",
            scene([pinion, bar], joints, dt=dt, duration=1.0, gravity=0.0, formulation=BOTH[k % 2]),
            turn("world-rack"),
            lambda t, a=rate * ratio: [0.5 * a * t * t],
        )


WALKERS: Parameters = [(2000.0, 0.001), (500.0, 0.005), (5000.0, 0.01)]


def walkers(parameters: Parameters = WALKERS) -> Iterator[Case]:
    """Two links that drives hold against gravity, from a pose that is not that of rest."""
    for k, (stiffness, dt) in enumerate(parameters):

        def drive(k1=stiffness):
            return {"type": "position", "target": 0.0, "stiffness": k1, "damping": 0.1 * k1}

        thigh, shin = mass("thigh", [0.25, 0, 1.0], 1.0), mass("shin", [0.5, 0, 0.75], 1.0)
        joints = [
            joint("hinge", "thigh", anchor=[0, 0, 1], axis=[0, 1, 0], motor=drive()),
            joint("hinge", "shin", "thigh", anchor=[0.5, 0, 1], axis=[0, 1, 0], motor=drive()),
        ]
        # small: torque of both weights about the hip, and of the shin about the knee
        sag = G * (0.25 + 0.5) / stiffness
        yield Case(
            "standing legs",
            f"{stiffness:g} N m/rad, dt {dt}, {BOTH[k % 2]}",
            scene([thigh, shin], joints, dt=dt, duration=2.0, formulation=BOTH[k % 2]),
            turn("world-thigh"),
            lambda t, sag=sag: [sag],
            sag,
            from_time=1.5,
        )


DROPS: Parameters = [(0.5, 0.001, 1.0), (2.0, 0.01, 10.0), (0.1, 0.02, 0.1), (5.0, 0.005, 1.0)]


def drops(parameters: Parameters = DROPS) -> Iterator[Case]:
    """A box or a ball that falls flat and lies."""
    for drop, dt, m in parameters:
        fall = math.sqrt(2.0 * drop / G)
        yield Case(
            "drop",
            f"{drop} m, {m} kg, dt {dt}",
            scene(
                [floor("m"), box("box", [0, 0, drop + 0.1], m=m)], dt=dt, duration=2.0 * fall + 0.5,
                materials={"m": {"friction": 0.5}},
            ),
            height("box"),
            lambda t, z=drop, fall=fall: [0.1 + max(0.0, z - 0.5 * G * t * t) * (t < fall)],
            drop,
        )  # fmt: skip


CRADLES_THAT_HANG: Parameters = [
    (2, "newton", 0.001),
    (3, "propagating", 0.001),
    (3, "newton", 0.001),
    (2, "newton", 0.01),
]


def cradles_that_hang(parameters: Parameters = CRADLES_THAT_HANG) -> Iterator[Case]:
    """Balls on pendulums, one pulled aside: by the speed of the last one after the blow."""
    for count, law, dt in parameters:
        row, joints, angle = [], [], 0.5
        for k in range(count):
            x, side = 0.2 * k, angle if k == 0 else 0.0
            ball = sphere(f"b{k}", [x - math.sin(side), 0, -math.cos(side)])
            row.append(ball)
            joints.append(joint("hinge", f"b{k}", anchor=[x, 0, 0], axis=[0, 1, 0]))
        rate = G / (1.0 + 0.4 * 0.01)

        def law_of(_t, y, rate=rate):
            return [y[1], -rate * np.sin(y[0])]

        down = by_equation(law_of, [angle, 0.0], 2.0)
        grid = np.linspace(0.3, 0.8, 5001)
        hit = float(grid[np.argmin(np.abs([down(t)[0] for t in grid]))])
        speed = math.sqrt(2.0 * rate * (1.0 - math.cos(angle)))
        out = by_equation(law_of, [0.0, speed], 2.0)

        def true(t, hit=hit, out=out, count=count):
            angle_out = out(t - hit)[0] if t > hit else 0.0
            return [0.2 * (count - 1) + math.sin(angle_out)]

        yield Case(
            "hanging cradle",
            f"{count} balls, {law}, dt {dt}",
            scene(
                row, joints, dt=dt, duration=0.9,
                materials={"m": {"restitution": 1.0, "friction": 0.0}},
                contact={"restitution_law": law, "restitution_threshold": 0.01},
            ),
            lambda s, last=count - 1: [s.poses()[last, 0]],
            true,
            0.5,
        )  # fmt: skip


STOPS: Parameters = [
    (50.0, 0.0, 0.001),
    (50.0, 0.3, 0.001),
    (300.0, 0.1, 0.002),
    (20.0, 0.6, 0.01),
    (1000.0, 0.0, 0.002),
    (1000.0, 0.4, 0.005),
    (5000.0, 0.2, 0.001),
]


def yielding_stop(t: float, w: float, ratio: float, met: float) -> float:
    """Depth of a body that meets a stop with 1 m/s at the time `met`, [m] beyond the stop.

    A damped oscillator that is only pushed: free again where w^2 x + 2 r w x' = 0.
    """
    if t < met:
        return t - met
    damped = w * math.sqrt(1.0 - ratio * ratio)
    free = (math.pi - 2.0 * math.atan2(ratio, math.sqrt(1.0 - ratio * ratio))) / damped
    u = min(t - met, free)
    decayed = math.exp(-ratio * w * u)
    depth = decayed * math.sin(damped * u) / damped
    speed = decayed * (math.cos(damped * u) - ratio * w / damped * math.sin(damped * u))
    return depth + speed * (t - met - u)


def stops(parameters: Parameters = STOPS) -> Iterator[Case]:
    """A body that rebounds from a stop with stiffness and damping."""
    for k, (w, ratio, dt) in enumerate(parameters):
        limits = {"lower": -9.0, "upper": 0.1037, "stiffness": w * w, "damping": 2.0 * ratio * w}
        cart = mass("cart", [0, 0, 0], linear_velocity=[1.0, 0, 0])
        yield Case(
            "soft stop",
            f"w {w}, damping ratio {ratio}, dt {dt}",
            scene(
                [cart],
                [joint("slider", "cart", axis=[1, 0, 0], limits=limits)],
                dt=dt,
                duration=0.3,
                gravity=0.0,
                formulation=BOTH[k % 2],
            ),
            turn("world-cart"),
            lambda t, w=w, ratio=ratio: [0.1037 + yielding_stop(t, w, ratio, 0.1037)],
        )


FAMILIES = (
    trains, soft_grounds, throws, belts, racks, walkers, drops, cradles_that_hang, stops,
)  # fmt: skip
