"""Families of other kinds, added after all limits were chosen: most truths are fine-step runs."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.trust.case import Case, Document, axis, family, floor, height, joint, place, scene
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.touching import box, sphere

LYING = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]


def rod(name: str, start: list[float], end: list[float], m: float, **more) -> Document:
    """A thin capsule between two points that touches nothing else."""
    a, b = np.array(start), np.array(end)
    length, z = float(np.linalg.norm(b - a)), (b - a) / np.linalg.norm(b - a)
    turned = np.array([1.0 + z[2], -z[1], z[0], 0.0])
    shape = {"type": "capsule", "radius": 0.01, "length": length, "collision_mask": 0}
    turned = turned / np.linalg.norm(turned) if 1.0 + z[2] > 1e-9 else np.array([0.0, 1.0, 0, 0])
    return {
        "name": name, "position": (0.5 * (a + b)).tolist(), "mass": m, "shapes": [shape],
        "orientation": turned.tolist(), **more,
    }  # fmt: skip


@family([(0.5, 0.001), (0.5, 0.01), (0.2, 0.005)])
def conveyors(_form: str, speed: float, dt: float) -> Case:
    """A box that is laid on a belt, carried against a spring, and let slip by it."""
    block = box("block", [1.0, 0, 0.1])
    spring = {
        "type": "spring", "parent": "world", "child": "block", "anchor": [0, 0, 0.1],
        "anchor2": [1.0, 0, 0.1], "stiffness": 60.0, "damping": 1.0,
    }  # fmt: skip
    rough = {"friction": 0.4, "static_friction": 0.6}
    materials = {"belt": rough | {"surface_velocity": [speed, 0, 0]}, "m": rough}
    return Case(
        "conveyor with stiction",
        f"{speed} m/s, dt {dt}",
        scene([floor("belt"), block], [], [spring], dt=dt, duration=3.0, materials=materials),
        along_x("block"),
    )


@family([(8.0, 0.0005), (8.0, 0.01), (14.0, 0.02)])
def shaken_bowls(_form: str, rate: float, dt: float) -> Case:
    """A ball that rolls to and fro over the sides of a trough that a motor shakes."""
    times = np.linspace(0.0, 2.0, 801)
    values = (0.05 * (1.0 - np.cos(rate * times))).tolist()
    drive = {"type": "position", "target": {"times": times.tolist(), "values": values}}
    side = {"type": "box", "size": [2.0, 1.0, 0.1], "material": "m"}
    shapes = [
        side
        | {"position": [0.95 * s, 0, 0.3]}
        | {"orientation": [math.cos(0.15), 0, -s * math.sin(0.15), 0]}
        for s in (1.0, -1.0)
    ]  # fmt: skip
    bowl = {"name": "bowl", "mass": 10.0, "position": [0, 0, 0], "shapes": shapes}
    ball = sphere("ball", [0.3, 0, 0.55], 0.1)
    return Case(
        "ball in a shaken bowl",
        f"{rate} rad/s, dt {dt}",
        scene([bowl, ball], [joint("slider", "bowl", axis=[1, 0, 0], motor=drive)], dt=dt,
              duration=1.0, materials={"m": {"friction": 0.5}}),
        place("ball"),
    )  # fmt: skip


@family([(15.0, 0.0005), (25.0, 0.02), (40.0, 0.002)])
def sprung_cams(_form: str, speed: float, dt: float) -> Case:
    """A round cam that turns off its middle, and a flat follower that a spring presses on it."""
    disc = {"type": "cylinder", "radius": 0.1, "length": 0.1, "orientation": LYING}
    cam = {
        "name": "cam", "type": "kinematic", "angular_velocity": [0, -speed, 0],
        "shapes": [{**disc, "position": [0.03, 0, 0], "material": "m"}],
    }  # fmt: skip
    shape = {"type": "box", "size": [0.4, 0.1, 0.1], "material": "m"}
    follower = {
        "name": "follower", "position": [0, 0, 0.15], "mass": 1.0, "shapes": [shape],
        "linear_velocity": [0, 0, 0.03 * speed],
    }  # fmt: skip
    spring = {
        "type": "spring", "parent": "world", "child": "follower", "anchor": [0, 0, 0.65],
        "anchor2": [0, 0, 0.15], "rest": 0.6, "stiffness": 200.0,
    }  # fmt: skip
    return Case(
        "cam with a sprung follower",
        f"{speed} rad/s, dt {dt}",
        scene([cam, follower], [joint("slider", "follower", axis=[0, 0, 1])], [spring], dt=dt,
              duration=0.8, materials={"m": {"friction": 0.0}}),
        height("follower"),
    )  # fmt: skip


@family([(0.0005, 0.8), (0.01, 0.8), (0.002, 1.5)])
def whips(form: str, dt: float, end: float) -> Case:
    """Six capsules, each lighter than the one before, whose first one a motor swings."""
    bodies, joints = [], []
    times = np.linspace(0.0, 1.6, 321)
    values = (-1.2 * np.sin(4.0 * times) ** 2).tolist()
    drive = {"type": "position", "target": {"times": times.tolist(), "values": values}}
    for k in range(6):
        bodies.append(rod(f"l{k}", [0.2 * k, 0, 0], [0.2 * k + 0.2, 0, 0], 0.3 * 0.7**k))
        parent, more = ("world", {"motor": drive}) if k == 0 else (f"l{k - 1}", {})
        joints.append(
            joint("hinge", f"l{k}", parent, anchor=[0.2 * k, 0, 0], axis=[0, 1, 0], **more)
        )
    return Case(
        "whip of capsules",
        f"dt {dt}, {end} s, {form}",
        scene(bodies, joints, dt=dt, duration=end, formulation=form),
        place("l5"),
        scale=1.0,
    )


@family([(30.0, 0.0005), (30.0, 0.004), (60.0, 0.02)])
def coins(_form: str, spin: float, dt: float) -> Case:
    """A coin that spins on its edge, leaning a little."""
    r, lean = 0.1, 0.15
    shape = {"type": "cylinder", "radius": r, "length": 0.02, "material": "m"}
    a = 0.5 * (0.5 * math.pi - lean)
    coin = {
        "name": "coin", "mass": 0.5, "shapes": [shape],
        "position": [0, 0, r * math.cos(lean) + 0.01 * math.sin(lean)],
        "orientation": [math.cos(a), math.sin(a), 0, 0], "angular_velocity": [0, 0, spin],
    }  # fmt: skip
    return Case(
        "spinning coin",
        f"{spin} rad/s, dt {dt}",
        scene([floor("m"), coin], dt=dt, duration=0.4, materials={"m": {"friction": 0.3}}),
        height("coin"),
        scale=r,
    )


@family([(0.0005, 0.5), (0.005, 0.5), (0.02, 0.7)])
def edges(_form: str, dt: float, end: float) -> Case:
    """A rope of balls that slides over a round edge, its longer end first."""
    bar = {"type": "cylinder", "radius": 0.1, "length": 0.4, "orientation": LYING, "material": "m"}
    edge = {"name": "edge", "type": "static", "shapes": [bar]}
    r, d, rim = 0.02, 0.05, 0.12
    arc = (
        [rim * math.sin(0.42 * k) for k in range(-3, 4)],
        [rim * math.cos(0.42 * k) for k in range(-3, 4)],
    )
    points = [(x, z) for x, z in zip(*arc, strict=True)]
    points = [(-rim, points[0][1] - d * k) for k in range(3, 0, -1)] + points
    points += [(rim, arc[1][-1] - d * k) for k in range(1, 7)]
    bodies = [edge] + [sphere(f"b{k}", [x, 0, z], r, 0.05) for k, (x, z) in enumerate(points)]
    joints = []
    for k in range(len(points) - 1):
        a, b = points[k], points[k + 1]
        joints.append(
            joint("distance", f"b{k + 1}", f"b{k}", anchor=[a[0], 0, a[1]], anchor2=[b[0], 0, b[1]])
        )
    return Case(
        "rope over an edge",
        f"dt {dt}, {end} s",
        scene(bodies, joints, dt=dt, duration=end, materials={"m": {"friction": 0.1}}),
        height(f"b{len(points) - 1}"),
        scale=0.3,
    )


@family([(100.0, 0.0005), (100.0, 0.01), (250.0, 0.01)])
def strung_gyroscopes(_form: str, spin: float, dt: float) -> Case:
    """A spinning wheel whose axle hangs by one end on a string."""
    shape = {"type": "cylinder", "radius": 0.1, "length": 0.02, "collision_mask": 0}
    wheel = {
        "name": "wheel", "mass": 1.0, "position": [0.1, 0, 0], "shapes": [shape],
        "orientation": [math.sqrt(0.5), 0, math.sqrt(0.5), 0], "angular_velocity": [spin, 0, 0],
    }  # fmt: skip
    string = joint("distance", "wheel", anchor=[0, 0, 0.5], anchor2=[0, 0, 0])
    return Case(
        "gyroscope on a string",
        f"{spin} rad/s, dt {dt}",
        scene([wheel], [string], dt=dt, duration=1.0),
        lambda s: [*place("wheel")(s), *(0.1 * np.array(axis("wheel")(s)))],
        scale=0.2,
    )


@family([(0.0002, 0.0), (0.002, 0.0), (0.01, 0.0), (0.01, 0.02)])
def breaks(_form: str, dt: float, off: float) -> Case:
    """A ball that breaks a triangle of three apart; the reference has exact impacts."""
    r, v = 0.03, 3.0
    cue = sphere("cue", [-0.4, off, 0], r, linear_velocity=[v, 0, 0])
    rack = [(0.0, 0.004), (0.07, 0.045), (0.07, -0.045)]
    balls = [cue] + [sphere(f"b{k}", [x, y, 0], r) for k, (x, y) in enumerate(rack)]
    return Case(
        "billiard break",
        f"{off} m off, dt {dt}",
        scene(balls, dt=dt, duration=0.5, gravity=0.0,
              materials={"m": {"friction": 0.0, "restitution": 0.95}}),
        place("cue", "b0", "b1", "b2"),
        changes={"contact": {"impact_time": "exact"}},
    )  # fmt: skip


def line_of_balls(masses: list[float], starts: list[float], speeds: list[float], d: float):
    """Places of balls of a diameter on a line at a time, by elastic impacts in their order."""

    def true(t: float) -> list[float]:
        x, v = list(starts), list(speeds)
        while True:
            times = [
                (x[k + 1] - x[k] - d) / (v[k] - v[k + 1]) if v[k] > v[k + 1] + 1e-12 else math.inf
                for k in range(len(x) - 1)
            ]
            first = min(times)
            if first >= t:
                return [a + b * t for a, b in zip(x, v, strict=True)]
            x, t = [a + b * first for a, b in zip(x, v, strict=True)], t - first
            k = times.index(first)
            m, n, a, b = masses[k], masses[k + 1], v[k], v[k + 1]
            v[k] = ((m - n) * a + 2.0 * n * b) / (m + n)
            v[k + 1] = ((n - m) * b + 2.0 * m * a) / (m + n)

    return true


@family([(0.0005,), (0.005,), (0.02,)])
def chains_of_balls(_form: str, dt: float) -> Case:
    """Balls of unlike masses on a line that strike one another again and again."""
    masses, starts = [2.0, 1.0, 0.4, 1.5], [0.0, 0.3, 0.55, 0.9]
    speeds = [2.0, 0.0, 0.0, -0.5]
    balls = [
        sphere(f"b{k}", [x, 0, 0], 0.05, m, linear_velocity=[v, 0, 0])
        for k, (x, m, v) in enumerate(zip(starts, masses, speeds, strict=True))
    ]
    true = line_of_balls(masses, starts, speeds, 0.1)
    return Case(
        "elastic collisions in a line",
        f"dt {dt}",
        scene(balls, dt=dt, duration=0.8, gravity=0.0,
              materials={"m": {"friction": 0.0, "restitution": 1.0}}),
        lambda s: s.poses()[: len(masses), 0],
        true,
    )  # fmt: skip


@family([(0.3, 0.001), (0.3, 0.02), (0.6, 0.05)])
def rough_ladders(_form: str, lean: float, dt: float) -> Case:
    """A ladder that slides down a wall and over a floor that are rough."""
    length, r, m = 2.0, 0.02, 5.0
    shape = {"type": "capsule", "radius": r, "length": length, "material": "m"}
    plane = {"type": "plane", "normal": [1, 0, 0], "material": "m"}
    wall = {"name": "wall", "type": "static", "shapes": [plane]}
    x, z = 0.5 * length * math.sin(lean) + r, 0.5 * length * math.cos(lean) + r
    turned = [math.cos(0.5 * lean), 0, -math.sin(0.5 * lean), 0]
    inertia = m * length**2 / 12.0
    ladder = rotor("ladder", inertia, m, position=[x, 0, z], orientation=turned)
    ladder |= {"shapes": [shape], "inertia": [inertia, inertia, 1e-3]}
    return Case(
        "ladder with friction",
        f"{lean} rad, dt {dt}",
        scene([floor("m"), wall, ladder], dt=dt, duration=0.9, materials={"m": {"friction": 0.1}}),
        place("ladder"),
    )


FAMILIES = (
    conveyors,
    shaken_bowls,
    sprung_cams,
    whips,
    coins,
    edges,
    strung_gyroscopes,
    breaks,
    chains_of_balls,
    rough_ladders,
)
