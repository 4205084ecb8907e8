"""Families that swing or turn freely: springs, threads, gimbals, cams, releases."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.trust.case import (
    Case,
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
from benchmarks.trust.mechanisms import rotor


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
    spring_pendula,
    duffings,
    bifilars,
    sphericals,
    gimbals,
    rockets,
    ramps,
    cams,
    releases,
)
