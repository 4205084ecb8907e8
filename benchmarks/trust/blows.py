"""Families with blows: billiards, hammers, trampolines, stops, ropes."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.trust.case import (
    Case,
    Document,
    G,
    family,
    floor,
    height,
    joint,
    place,
    scene,
    solved,
    turn,
)
from benchmarks.trust.mechanisms import along_x, rotor
from benchmarks.trust.touching import box, sphere


@family([(0.2, 0.001, 0.0), (0.4, 0.005, 0.0), (0.2, 0.02, 0.0), (0.2, 0.002, 3.0)])
def domes(_form: str, start: float, dt: float, mu: float) -> Case:
    """A ball that slides (or rolls) off a sphere and flies on."""
    R, r = 1.0, 0.1
    d = R + r
    dome = {"name": "dome", "type": "static",
            "shapes": [{"type": "sphere", "radius": R, "material": "m"}]}  # fmt: skip
    ball = sphere("ball", [d * math.sin(start), 0, d * math.cos(start)], r)
    share = 1.4 if mu else 1.0
    # leaves where m v^2/d = m g cos: v^2 = 2 g d (cos0 - cos)/share
    cos_leave = 2.0 * math.cos(start) / (2.0 + share)

    def law(_t, y):
        return [y[1], G / (share * d) * math.sin(y[0])]

    def left(_t, y, c=cos_leave):
        return math.cos(y[0]) - c

    left.terminal = True
    found = solve_ivp(law, (0, 9), [start, 0.0], "DOP853", rtol=1e-10, atol=1e-12,
                      dense_output=True, events=left)  # fmt: skip
    at, sol = float(found.t_events[0][0]), found.sol
    a, w = sol(at)

    def true(t):
        if t <= at:
            b = sol(t)[0]
            return [d * math.sin(b), 0, d * math.cos(b)]
        u = t - at
        return [
            d * math.sin(a) + d * w * math.cos(a) * u,
            0,
            d * math.cos(a) - d * w * math.sin(a) * u - 0.5 * G * u * u,
        ]

    return Case(
        "off a dome",
        f"{start} rad, friction {mu}, dt {dt}",
        # with much friction it rolls nearly to the end; judged until 0.9 of it
        scene([dome, ball], dt=dt, duration=at + 0.3 if mu == 0 else 0.85 * at,
              materials={"m": {"friction": mu}}),
        place("ball"),
        true,
    )  # fmt: skip


@family([(0.05, 0.001), (0.15, 0.01), (0.1, 0.02)])
def obliques(_form: str, offset: float, dt: float) -> Case:
    """A smooth ball that hits another off its middle: they part at a right angle."""
    r, v = 0.1, 3.0
    a = sphere("a", [-1.0, offset, 0], r, linear_velocity=[v, 0, 0])
    b = sphere("b", [0, 0, 0], r)
    x = -math.sqrt(4 * r * r - offset**2)
    hit = (x + 1.0) / v
    n = np.array([-x, -offset]) / (2 * r)
    vb = v * n[0] * n
    va = np.array([v, 0.0]) - vb

    def true(t):
        u = max(t - hit, 0.0)
        return [-1.0 + v * min(t, hit) + va[0] * u, offset + va[1] * u, vb[0] * u, vb[1] * u]

    def look(s):
        p = s.poses()
        return [*p[0, :2], *p[1, :2]]

    return Case(
        "billiard",
        f"{offset} m off, dt {dt}",
        scene([a, b], dt=dt, duration=1.0, gravity=0.0,
              materials={"m": {"friction": 0.0, "restitution": 1.0}}),
        look,
        true,
    )  # fmt: skip


@family([(2.0, 0.6, 0.001), (5.0, 0.1, 0.005), (3.0, 0.9, 0.02)])
def superballs(_form: str, across: float, mu: float, dt: float) -> Case:
    """A ball that is thrown on a rough floor and gets spin from it."""
    r, e, drop = 0.1, 0.8, 1.0
    ball = sphere("ball", [0, 0, r + drop], r, linear_velocity=[across, 0, 0])
    fall = math.sqrt(2 * drop / G)
    vn = G * fall
    impulse = min(mu * (1 + e) * vn, across / 3.5)

    def true(t, v=across, p=impulse):
        u = max(t - fall, 0.0)
        return [
            v * t - p * u,
            r + (drop - 0.5 * G * t * t if t < fall else e * G * fall * u - 0.5 * G * u * u),
        ]

    def look(s):
        p = s.poses()
        return [p[1, 0], p[1, 2]]

    return Case(
        "superball",
        f"{across} m/s, friction {mu}, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=fall * (1 + 2 * e) * 0.98,
              materials={"m": {"friction": mu, "restitution": e}}),
        look,
        true,
    )  # fmt: skip


@family([(0.1, 0.001), (0.3, 0.005), (1.0, 0.02), (0.05, 0.002)])
def towers(_form: str, light: float, dt: float) -> Case:
    """Two balls dropped one above the other: the upper one is thrown high."""
    r, drop, gap = 0.05, 1.0, 0.02
    lower = sphere("lower", [0, 0, r + drop], r, 1.0)
    upper = sphere("upper", [0, 0, 3 * r + drop + gap], r, light)
    fall = math.sqrt(2 * drop / G)
    v = G * fall
    # the lower one rises with v, the upper one, gap above, falls with v: both with -g
    meet = fall + gap / (2 * v)
    z1 = v * (meet - fall) - 0.5 * G * (meet - fall) ** 2
    rising, falling = v - G * (meet - fall), -v - G * (meet - fall)
    mean = (rising + light * falling) / (1 + light)
    after = 2 * mean - falling

    def true(t):
        if t < meet:
            return [3 * r + drop + gap - 0.5 * G * t * t]
        u = t - meet
        return [3 * r + z1 + after * u - 0.5 * G * u * u]

    return Case(
        "two balls",
        f"{light} kg, dt {dt}",
        scene([floor("m"), lower, upper], dt=dt, duration=meet + 0.4,
              materials={"m": {"friction": 0.0, "restitution": 1.0}}),
        height("upper"),
        true,
    )  # fmt: skip


@family(
    [
        (5.0, 200.0, 0.001),
        (10.0, 2000.0, 0.002),
        (3.0, 50.0, 0.01),
        (20.0, 5000.0, 0.01),
    ]
)
def nails(form: str, speed: float, friction: float, dt: float) -> Case:
    """A hammer drives a nail against the friction of the wood."""
    hammer = box("hammer", [-0.5, 0, 0], 0.1, 1.0, linear_velocity=[speed, 0, 0])
    nail = box("nail", [0.0, 0, 0], 0.02, 0.05)
    joints = [
        joint("slider", "hammer", axis=[1, 0, 0]),
        joint("slider", "nail", axis=[1, 0, 0], friction=friction),
    ]
    hit = (0.5 - 0.06) / speed
    v = speed / 1.05
    slow = friction / 1.05

    def true(t, a=slow):
        u = min(max(t - hit, 0.0), v / a)
        return [v * u - 0.5 * a * u * u]

    return Case(
        "hammer and nail",
        f"{speed} m/s, {friction} N, dt {dt}, {form}",
        scene([hammer, nail], joints, dt=dt, duration=hit + 1.5 * v / slow, gravity=0.0,
              materials={"m": {"friction": 0.0}}, formulation=form),
        along_x("nail"),
        true,
    )  # fmt: skip


@family(
    [
        (1e3, 0.2, 0.001),
        (1e4, 1.0, 0.001),
        (1e4, 0.5, 0.005),
        (1e5, 0.3, 0.01),
        (200.0, 0.5, 0.02),
    ]
)
def trampolines(_form: str, stiffness: float, drop: float, dt: float) -> Case:
    """A ball that falls on a compliant floor and bounces again and again."""
    ball = sphere("ball", [0, 0, 0.1 + drop], 0.1)
    w = math.sqrt(stiffness)
    fall = math.sqrt(2 * drop / G)
    sag = G / stiffness
    v = G * fall
    touch = 2.0 / w * (math.pi - math.atan2(v / w, sag))
    period = 2 * fall + touch

    def true(t):
        t = t % period
        if t > period - fall:
            t = period - t
        if t < fall:
            return [0.1 + drop - 0.5 * G * t * t]
        u = t - fall
        return [0.1 - sag + sag * math.cos(w * u) - v / w * math.sin(w * u)]

    return Case(
        "trampoline",
        f"{stiffness:g} N/m, {drop} m, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=3.0,
              materials={"m": {"compliance": 0.5 / stiffness, "friction": 0.0}}),
        height("ball"),
        true,
        drop,
    )  # fmt: skip


@family(
    [
        (1.0, 0.0, 0.001),
        (1.0, 1.0, 0.002),
        (2.0, 0.5, 0.01),
        (0.5, 1.0, 0.02),
        (1.0, 0.7, 0.01),
    ]
)
def stopped(form: str, start: float, e: float, dt: float) -> Case:
    """A pendulum that hits a stop at the bottom: half a swing, with e of the speed back."""
    bob = rotor("bob", 1e-6, 1.0, position=[math.sin(start), 0, -math.cos(start)])
    hinge = joint(
        "hinge", "bob", anchor=[0, 0, 0], axis=[0, -1, 0],
        limits={"lower": -start, "restitution": e},
    )  # fmt: skip

    def law(_t, y):
        return [y[1], -G * math.sin(y[0])]

    def low(_t, y):
        return y[0]

    low.terminal, low.direction = True, -1
    pieces, t, y = [], 0.0, [start, 0.0]
    while t < 4.0 and len(pieces) < 20:
        found = solve_ivp(law, (t, 5.0), y, "DOP853", rtol=1e-10, atol=1e-12,
                          dense_output=True, events=low)  # fmt: skip
        pieces.append((found.t[-1], found.sol))
        t, y = float(found.t[-1]), [0.0, -e * float(found.y[1, -1])]
        if y[1] < 1e-6:
            break

    def true(t):
        for until, sol in pieces:
            if t <= until:
                return [sol(t)[0] - start]
        return [-start]

    return Case(
        "pendulum on a stop",
        f"{start} rad, e {e}, dt {dt}, {form}",
        scene([bob], [hinge], dt=dt, duration=4.0, formulation=form,
              contact={"restitution_threshold": 0.01}),
        turn("world-bob"),
        true,
    )  # fmt: skip


@family([(0.5, 0.001), (0.7, 0.01), (0.2, 0.02)])
def snaps(_form: str, across: float, dt: float) -> Case:
    """A bob on a slack rope that becomes taut: what is along the rope is lost."""
    bob = rotor("bob", 1e-6, 1.0, position=[across, 0, 0])
    length = 1.0
    rope = joint("distance", "bob", anchor=[0, 0, 0], anchor2=[across, 0, 0],
                 limits={"upper": length})  # fmt: skip
    fall = math.sqrt(2 * math.sqrt(length**2 - across**2) / G)
    angle = math.asin(across / length)

    def law(_t, y):
        return [y[1], -G / length * math.sin(y[0])]

    # velocity (0, -g fall): along the tangent (cos a, sin a): -g fall sin a
    sol = solved(law, [angle, -G * fall * math.sin(angle) / length], 3.0)

    def true(t):
        if t < fall:
            return [across, 0, -0.5 * G * t * t]
        a = sol(t - fall)[0]
        return [math.sin(a), 0, -math.cos(a)]

    return Case(
        "rope becomes taut",
        f"{across} m, dt {dt}",
        scene([bob], [rope], dt=dt, duration=fall + 1.0),
        place("bob"),
        true,
    )


def sheet(n: int, size: float, slope: float, material: str = "m") -> Document:
    """A square sheet of n x n cells that descends along x, as a mesh of triangles."""
    grid = np.linspace(-size, size, n + 1)
    vertices = [[float(x), float(y), float(-x * math.tan(slope))] for x in grid for y in grid]
    faces = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = (i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1,
                          i * (n + 1) + j + 1)  # fmt: skip
            faces += [[a, b, c], [a, c, d]]
    return {"type": "mesh", "vertices": vertices, "faces": faces, "material": material}


FAMILIES = (
    domes,
    obliques,
    superballs,
    towers,
    nails,
    trampolines,
    stopped,
    snaps,
)
