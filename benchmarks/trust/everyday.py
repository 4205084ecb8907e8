"""Families of everyday contact and friction: bowling, ladders, brakes, belts, bounces off edges."""

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
    mass,
    place,
    scene,
    turn,
)
from benchmarks.trust.mechanisms import along_x, rotor, solved
from benchmarks.trust.touching import box, sphere


@family(
    [
        (4.0, 0.0, 0.2, 0.001),
        (4.0, -60.0, 0.3, 0.005),
        (10.0, 0.0, 0.1, 0.02),
        (1.0, 100.0, 0.5, 0.01),
    ]
)
def bowls(_form: str, speed: float, spin: float, mu: float, dt: float) -> Case:
    """A ball that slides until it rolls."""
    r = 0.1
    ball = sphere("ball", [0, 0, r], r, linear_velocity=[speed, 0, 0])
    ball["angular_velocity"] = [0, spin, 0]
    slip = speed - r * spin
    sign = math.copysign(1.0, slip)
    until = abs(slip) / (3.5 * mu * G)

    def true(t, v=speed, a=sign * mu * G):
        s = min(t, until)
        return [v * s - 0.5 * a * s * s + (v - a * s) * (t - s)]

    return Case(
        "bowling",
        f"{speed} m/s, {spin} rad/s, friction {mu}, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=2.0, materials={"m": {"friction": mu}}),
        along_x("ball"),
        true,
    )


@family([(1.0, 0.002, 0.001), (2.0, 0.01, 0.01), (0.5, 0.001, 0.02)])
def resistances(_form: str, speed: float, lever: float, dt: float) -> Case:
    """A ball that rolls until rolling friction stops it."""
    r = 0.1
    ball = sphere("ball", [0, 0, r], r, linear_velocity=[speed, 0, 0])
    ball["angular_velocity"] = [0, speed / r, 0]
    rate = G * lever / r / 1.4

    def true(t, v=speed, a=rate):
        s = min(t, v / a)
        return [v * s - 0.5 * a * s * s]

    materials = {"m": {"friction": 0.8, "rolling_friction": lever}}
    return Case(
        "rolling resistance",
        f"{speed} m/s, {lever} m, dt {dt}",
        scene([floor("m"), ball], dt=dt, duration=3.0, materials=materials),
        along_x("ball"),
        true,
    )


@family(
    [
        (20.0, 0.2, 0.001),
        (100.0, 0.5, 0.005),
        (10.0, 0.05, 0.02),
        (300.0, 0.1, 0.01),
    ]
)
def coulombs(_form: str, stiffness: float, mu: float, dt: float) -> Case:
    """A block on a spring on a rough floor: each half swing is shorter by 2 mu m g / k."""
    x0 = 5.3 * mu * G / stiffness
    block = box("block", [1.0 + x0, 0, 0.1])
    w, lost = math.sqrt(stiffness), mu * G / stiffness
    spring = {
        "type": "spring", "parent": "world", "child": "block", "anchor": [0, 0, 0.1],
        "anchor2": [1.0 + x0, 0, 0.1], "rest": 1.0, "stiffness": stiffness,
    }  # fmt: skip

    def true(t):
        a, sign = x0, 1.0
        while a > lost:
            if t < math.pi / w:
                return [1.0 + sign * (lost + (a - lost) * math.cos(w * t))]
            t, a, sign = t - math.pi / w, a - 2.0 * lost, -sign
        return [1.0 + sign * a]

    return Case(
        "spring and dry friction",
        f"{stiffness} N/m, friction {mu}, dt {dt}",
        scene(
            [floor("m"), block], [], [spring], dt=dt, duration=4.0 * math.pi / w,
            materials={"m": {"friction": mu}},
        ),
        along_x("block"),
        true,
    )  # fmt: skip


@family(
    [
        (0.3, 0.001),
        (1.0, 0.01),
        (0.1, 0.02),
        (0.5, 0.03),
    ]
)
def hinges(form: str, friction: float, dt: float) -> Case:
    """A flywheel on a torsion spring with dry friction in its bearing."""
    inertia, stiffness = 0.1, 5.0
    wheel = rotor("wheel", inertia)
    start = 7.4 * friction / stiffness
    hinge = joint(
        "hinge", "wheel", anchor=[0, 0, 0], axis=[0, 0, 1], friction=friction,
        spring={"stiffness": stiffness}, initial={"position": start},
    )  # fmt: skip
    w, lost = math.sqrt(stiffness / inertia), friction / stiffness

    def true(t, a0=start):
        a, sign = a0, 1.0
        while a > lost:
            if t < math.pi / w:
                return [sign * (lost + (a - lost) * math.cos(w * t))]
            t, a, sign = t - math.pi / w, a - 2.0 * lost, -sign
        return [sign * a]

    return Case(
        "bearing friction",
        f"{friction} N m, dt {dt}, {form}",
        scene([wheel], [hinge], dt=dt, duration=2.0, gravity=0.0, formulation=form),
        turn("world-wheel"),
        true,
    )


@family([(1.0, 0.001), (5.0, 0.01), (20.0, 0.02)])
def clutches(form: str, friction: float, dt: float) -> Case:
    """Two flywheels whose common bearing has friction until they turn alike."""
    a, b, speed = 0.2, 0.5, 30.0
    bodies = [rotor("a", a, angular_velocity=[0, 0, speed]), rotor("b", b)]
    joints = [
        joint("hinge", "a", anchor=[0, 0, 0], axis=[0, 0, 1]),
        joint("hinge", "b", "a", anchor=[0, 0, 0], axis=[0, 0, 1], friction=friction),
    ]
    end = a * b / (a + b) * speed / friction

    def true(t, f=friction):
        s = min(t, end)
        w = f / b * s
        return [w if t > 0 else 0.0, speed - f / a * s]

    def look(s):
        w = s.velocities()
        return [w[s.body_names.index("b"), 5], w[s.body_names.index("a"), 5]]

    return Case(
        "clutch",
        f"{friction} N m, dt {dt}, {form}",
        scene(bodies, joints, dt=dt, duration=2.0 * end, gravity=0.0, formulation=form),
        look,
        true,
    )


@family(
    [
        (0.1, 200.0, 0.001),
        (0.02, 1000.0, 0.002),
        (0.5, 50.0, 0.01),
        (0.05, 100.0, 0.02),
    ]
)
def sticks(_form: str, speed: float, stiffness: float, dt: float) -> Case:
    """Stick and slip: a block that a spring pulls over a rough belt that moves evenly."""
    still, sliding = 0.5, 0.3
    block = box("block", [1.0, 0, 0.1])
    spring = {
        "type": "spring", "parent": "world", "child": "block", "anchor": [0, 0, 0.1],
        "anchor2": [1.0, 0, 0.1], "stiffness": stiffness,
    }  # fmt: skip
    materials = {
        "belt": {
            "friction": sliding,
            "static_friction": still,
            "surface_velocity": [speed, 0, 0],
        },
        "m": {"friction": sliding, "static_friction": still},
    }
    w = math.sqrt(stiffness)
    # sticks until k x = still g; slides as an oscillation about x1 = sliding g/k until v = speed
    most, middle = still * G / stiffness, sliding * G / stiffness
    size = math.hypot(most - middle, speed / w)
    phase = math.atan2(speed / w, most - middle)
    slip_time = (math.pi + 2.0 * phase) / w
    least = 2.0 * middle - most

    def true(t):
        # from rest on the belt: it slides until it has the speed of the belt
        until, x = slides_until(speed, w, middle)
        if t < until:
            return [1.0 + middle * (1 - math.cos(w * t))]
        t -= until
        while True:
            stick = max(most - x, 0.0) / speed
            if t < stick:
                return [1.0 + x + speed * t]
            t -= stick
            if t < slip_time:
                return [1.0 + middle + size * math.cos(w * t - phase)]
            t, x = t - slip_time, least

    return Case(
        "stick-slip",
        f"{speed} m/s, {stiffness} N/m, dt {dt}",
        scene(
            [floor("belt"), block],
            [],
            [spring],
            dt=dt,
            duration=min(most / speed * 3.0, 10.0),
            materials=materials,
        ),
        along_x("block"),
        true,
    )


def slides_until(speed: float, w: float, middle: float) -> tuple[float, float]:
    """When a block let go on a belt has its speed [s], and how far it is then [m]."""
    share = speed / (w * middle)
    if share >= 1.0:
        return math.inf, 0.0
    angle = math.asin(share)
    return angle / w, middle * (1.0 - math.cos(angle))


@family([(0.3, 0.001), (0.3, 0.01), (0.6, 0.02)])
def rollers(_form: str, mu: float, dt: float) -> Case:
    """A bar on two rollers that turn against each other: friction drives it to and fro."""
    r, half, thick = 0.1, 0.3, 0.05
    lying = [math.sqrt(0.5), math.sqrt(0.5), 0, 0]
    disc = {
        "type": "cylinder",
        "radius": r,
        "length": 0.2,
        "orientation": lying,
        "material": "m",
    }
    spin = 100.0
    bodies: list[Document] = [
        {"name": n, "type": "kinematic", "position": [s * half, 0, -r],
         "angular_velocity": [0, -s * spin, 0], "shapes": [disc]}
        for n, s in (("a", -1.0), ("b", 1.0))
    ]  # fmt: skip
    shape = {"type": "box", "size": [2.0, 0.1, 2 * thick], "material": "m"}
    x0 = 0.1
    bar = {"name": "bar", "position": [x0, 0, thick], "mass": 1.0, "shapes": [shape]}
    # N_b - N_a = m g x / (half + mu thick) ... with moments about the middle of the bar
    rate = mu * G / (half - mu * thick)
    w = math.sqrt(rate)
    return Case(
        "friction oscillator",
        f"friction {mu}, dt {dt}",
        scene([*bodies, {**bar}], dt=dt, duration=3.0, materials={"m": {"friction": mu}}),
        along_x("bar"),
        lambda t: [x0 * math.cos(w * t)],
    )


@family([(0.3, 0.001), (0.5, 0.005), (0.8, 0.02)])
def ladders(_form: str, lean: float, dt: float) -> Case:
    """A ladder with round ends that slides down a smooth wall."""
    length, r, m = 2.0, 0.02, 5.0
    shape = {"type": "capsule", "radius": r, "length": length, "material": "m"}
    wall = {"name": "wall", "type": "static",
            "shapes": [{"type": "plane", "normal": [1, 0, 0], "material": "m"}]}  # fmt: skip
    x, z = 0.5 * length * math.sin(lean) + r, 0.5 * length * math.cos(lean) + r
    turned = [math.cos(0.5 * lean), 0, -math.sin(0.5 * lean), 0]
    inertia = m * length**2 / 12.0
    ladder = {"name": "ladder", "position": [x, 0, z], "mass": m, "shapes": [shape]}
    ladder |= {"orientation": turned, "inertia": [inertia, inertia, 1e-3]}
    # until it leaves the wall: 3 g sin / 2 L; wall force = 0 at cos = 2/3 cos0
    leave = math.acos(2.0 / 3.0 * math.cos(lean))

    def law(_t, y):
        return [y[1], 1.5 * G / length * math.sin(y[0])]

    def left(_t, y):
        return y[0] - leave

    left.terminal = True
    found = solve_ivp(law, (0, 5), [lean, 0.0], "DOP853", rtol=1e-10, atol=1e-12,
                      dense_output=True, events=left)  # fmt: skip
    end = float(found.t_events[0][0])
    return Case(
        "ladder",
        f"{lean} rad, dt {dt}",
        scene([floor("m"), wall, ladder], dt=dt, duration=0.98 * end,
              materials={"m": {"friction": 0.0}}),
        lambda s: [s.poses()[2, 0], s.poses()[2, 2]],
        lambda t, sol=found.sol: [
            r + 0.5 * length * math.sin(sol(t)[0]), r + 0.5 * length * math.cos(sol(t)[0]),
        ],
    )  # fmt: skip


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


@family(
    [
        ("box", 0.3, 0.2, 0.001),
        ("ball", 0.3, 0.2, 0.001),
        ("capsule", 0.6, 0.5, 0.01),
        ("box", 0.6, 0.5, 0.01),
        ("ball", 0.2, 0.0, 0.02),
        ("capsule", 0.2, 0.1, 0.02),
    ]
)
def slabs(_form: str, what: str, slope: float, mu: float, dt: float) -> Case:
    """A box, a ball or a capsule on a sloping mesh of many triangles."""
    size, c, s = 0.1, math.cos(slope), math.sin(slope)
    ground = {"name": "ground", "type": "static", "shapes": [sheet(17, 6.0, slope)]}
    turned = [math.cos(0.5 * slope), 0, math.sin(0.5 * slope), 0]
    start = -4.0 * np.array([c, 0, -s]) + size * np.array([s, 0, c])
    # inertia of rolling over m r^2; none: it slides
    inertia = {"box": None, "ball": 0.4, "capsule": 0.5}[what]
    if what == "box":
        body = box("body", start.tolist(), 2 * size, orientation=turned)
    else:
        body = sphere("body", start.tolist(), size)
    if what == "capsule":
        shape = {"type": "capsule", "radius": size, "length": 0.3, "material": "m"}
        body["shapes"] = [shape | {"orientation": [math.sqrt(0.5), math.sqrt(0.5), 0, 0]}]
        body["inertia"] = [0.01, 0.5 * size**2, 0.01]
    rate = G * (s - mu * c)
    if inertia is not None and mu * c * (1.0 + inertia) >= s * inertia:
        rate = G * s / (1.0 + inertia)
    down = np.array([c, 0, -s])
    return Case(
        "on a mesh",
        f"{what}, slope {slope}, friction {mu}, dt {dt}",
        scene(
            [ground, body], dt=dt, duration=min(math.sqrt(14.0 / rate), 2.0),
            materials={"m": {"friction": mu}},
        ),
        place("body"),
        lambda t: start + 0.5 * rate * t * t * down,
    )  # fmt: skip


@family([(3.0, 2.0, 0.001), (20.0, 11.0, 0.001), (5.0, 3.0, 0.01)])
def cushions(_form: str, u: float, v: float, dt: float) -> Case:
    """A ball between four walls that lose nothing."""
    r, half = 0.05, 0.5
    wall = {"type": "box", "material": "m", "size": [2, 2, 1]}
    away = half + r + 1.0
    places = [[away, 0, 0], [-away, 0, 0], [0, away, 0], [0, -away, 0]]
    walls = {"name": "walls", "type": "static", "shapes": [wall | {"position": p} for p in places]}
    ball = sphere("ball", [0, 0, 0], r, linear_velocity=[u, v, 0])

    def fold(x):
        y = (x + half) % (4 * half)
        return y - half if y <= 2 * half else 3 * half - y

    return Case(
        "cushions",
        f"{u}, {v} m/s, dt {dt}",
        scene([walls, ball], dt=dt, duration=2.0, gravity=0.0,
              materials={"m": {"friction": 0.0, "restitution": 1.0}}),
        place("ball"),
        lambda t: [fold(u * t), fold(v * t), 0],
    )  # fmt: skip


@family([(0.03, 0.001), (0.08, 0.01), (0.05, 0.02)])
def off_centres(_form: str, offset: float, dt: float) -> Case:
    """A ball strikes a free box off its middle and sets it turning."""
    r, v, half = 0.05, 4.0, 0.1
    ball = sphere("ball", [-0.8, offset, 0], r, 0.5, linear_velocity=[v, 0, 0])
    block = box("block", [0, 0, 0], 2 * half, 1.0)
    inertia = (2 * half) ** 2 / 6.0
    hit = (0.8 - r - half) / v
    p = 2.0 * v / (1 / 0.5 + 1 / 1.0 + offset**2 / inertia)

    def true(t, w=-offset * p / inertia):
        u = max(t - hit, 0.0)
        return [-0.8 + v * t - 2.0 * p * u, p * u, math.sin(w * u)]

    def look(s):
        q = s.poses()
        w, x, y, z = q[1, 3:]
        return [q[0, 0], q[1, 0], 2 * (x * y + w * z)]

    return Case(
        "off its middle",
        f"{offset} m, dt {dt}",
        scene([ball, block], dt=dt, duration=0.6, gravity=0.0,
              materials={"m": {"friction": 0.0, "restitution": 1.0}}),
        look,
        true,
    )  # fmt: skip


@family(
    [
        (0.5, 0.01, 3.0),
        (5.0, 0.02, 3.0),
        (100.0, 0.01, 0.5),
        (1.0, 0.001, 2.0),
        (1000.0, 0.02, 1.0),
    ]
)
def terminals(_form: str, drag: float, dt: float, end: float) -> Case:
    """A fall against quadratic drag."""
    stone = mass("stone", [0, 0, 0])
    v = math.sqrt(G / drag)
    return Case(
        "fall in air",
        f"{drag} N s^2/m^2, dt {dt}",
        scene([stone], [], [{"type": "drag", "body": "stone", "quadratic": drag}], dt=dt,
              duration=end),
        height("stone"),
        lambda t: [-(v * v / G) * math.log(math.cosh(G * t / v))],
    )  # fmt: skip


@family(
    [
        (30.0, 0.05, 0.001),
        (300.0, 0.01, 0.005),
        (50.0, 1.0, 0.01),
        (1000.0, 0.1, 0.02),
    ]
)
def shots(_form: str, speed: float, drag: float, dt: float) -> Case:
    """A shot with quadratic drag."""
    c, s = math.cos(0.7), math.sin(0.7)
    stone = mass("stone", [0, 0, 0], linear_velocity=[speed * c, 0, speed * s])

    def law(_t, y, k=drag):
        v = math.hypot(y[2], y[3])
        return [y[2], y[3], -k * v * y[2], -k * v * y[3] - G]

    sol = solved(law, [0, 0, speed * c, speed * s], 3.0)
    return Case(
        "shot in air",
        f"{speed} m/s, {drag}, dt {dt}",
        scene([stone], [], [{"type": "drag", "body": "stone", "quadratic": drag}], dt=dt,
              duration=3.0),
        place("stone"),
        lambda t: [sol(t)[0], 0, sol(t)[1]],
    )  # fmt: skip


@family([(0.05, 0.001), (0.1, 0.01), (0.02, 0.02)])
def tippings(_form: str, beyond: float, dt: float) -> Case:
    """A tall box that tips over its edge on a rough floor, until half way down."""
    a, b, m = 0.2, 1.0, 1.0
    corner, rest = math.hypot(a, b), math.atan2(a, b)
    start = rest + beyond
    inertia = m * (a * a + b * b) / 3.0 + m * corner**2
    # box tilted by `start` about its lower edge at the origin
    x, z = corner * math.sin(beyond), corner * math.cos(beyond)
    turned = [math.cos(0.5 * start), 0, math.sin(0.5 * start), 0]
    shape = {"type": "box", "size": [2 * a, 0.5, 2 * b], "material": "m"}
    tower = {"name": "tower", "position": [x, 0, z], "mass": m, "orientation": turned}
    tower["shapes"] = [shape]

    def law(_t, y, i=inertia):
        return [y[1], m * G * corner / i * math.sin(y[0])]

    sol = solved(law, [beyond, 0.0], 3.0)
    grid = np.linspace(0, 3, 3001)
    end = float(grid[np.argmax(sol(grid)[0] > 0.6)])
    return Case(
        "tipping tower",
        f"{beyond} rad, dt {dt}",
        scene([floor("m"), tower], dt=dt, duration=end, materials={"m": {"friction": 2.0}}),
        lambda s: [s.poses()[1, 0], s.poses()[1, 2]],
        lambda t: [corner * math.sin(sol(t)[0]), corner * math.cos(sol(t)[0])],
    )


@family([(20.0, 0.3, 0.001), (5.0, 0.5, 0.01), (50.0, 0.2, 0.02)])
def discs(_form: str, spin: float, mu: float, dt: float) -> Case:
    """A disc that spins flat on a rough floor until it stops: 2/3 mu m g r brake it."""
    r, h = 0.1, 0.02
    shape = {"type": "cylinder", "radius": r, "length": 2 * h, "material": "m"}
    disc = {"name": "disc", "position": [0, 0, h], "mass": 1.0, "shapes": [shape]}
    disc["angular_velocity"] = [0, 0, spin]
    rate = (2.0 / 3.0) * mu * G * r / (0.5 * r * r)
    end = spin / rate
    return Case(
        "spinning disc",
        f"{spin} rad/s, friction {mu}, dt {dt}",
        scene([floor("m"), disc], dt=dt, duration=1.5 * end, materials={"m": {"friction": mu}}),
        lambda s: [s.velocities()[1, 5]],
        lambda t, w=spin, a=rate: [max(w - a * t, 0.0)],
    )


@family([(500.0, 0.001), (500.0, 0.01), (5000.0, 0.005)])
def hoppers(_form: str, stiffness: float, dt: float) -> Case:
    """Two masses with a spring between them that hop on a floor without rebound."""
    low = box("low", [0, 0, 0.1], 0.2, 0.5)
    high = box("high", [0, 0, 1.0 - 0.0], 0.2, 1.0)
    spring = {"type": "spring", "parent": "low", "child": "high", "anchor": [0, 0, 0.1],
              "anchor2": [0, 0, 1.0], "stiffness": stiffness,
              "rest": 0.9 + 5.0 * G / stiffness}  # fmt: skip
    rest = spring["rest"]

    def law_held(_t, y, k=stiffness):
        return [0.0, 0.0, y[3], -G + k * (rest - (y[2] - 0.1))]

    def law_free(_t, y, k=stiffness):
        f = k * (rest - (y[2] - y[0]))
        return [y[1], -G - f / 0.5, y[3], -G + f]

    def lifts(_t, y):
        return 0.5 * G + stiffness * (rest - (y[2] - 0.1))

    def lands(_t, y):
        return y[0] - 0.1

    lifts.terminal, lifts.direction = True, -1
    lands.terminal, lands.direction = True, -1
    pieces, t, y, held = [], 0.0, [0.1, 0.0, 1.0, 0.0], True
    while t < 3.0:
        law, ends = (law_held, lifts) if held else (law_free, lands)
        found = solve_ivp(
            law, (t, 3.1), y, "DOP853", rtol=1e-10, atol=1e-12, dense_output=True, events=ends
        )
        pieces.append((found.t[-1], found.sol))
        t, y = float(found.t[-1]), found.y[:, -1].copy()
        if t >= 3.1 - 1e-9:
            break
        if not held:
            y[0], y[1] = 0.1, 0.0
            held = lifts(0, y) > 0
        else:
            held = False

    def true(t):
        for until, sol in pieces:
            if t <= until:
                return [sol(t)[0], sol(t)[2]]
        return [0.0, 0.0]

    joints = [joint("slider", n, axis=[0, 0, 1]) for n in ("low", "high")]
    return Case(
        "hopper",
        f"{stiffness} N/m, dt {dt}",
        scene([floor("m"), low, high], joints, [spring], dt=dt, duration=2.0,
              materials={"m": {"friction": 0.0}}),
        lambda s: [s.poses()[1, 2], s.poses()[2, 2]],
        true,
    )  # fmt: skip


@family([(0.001, 180), (0.001, 1440), (0.005, 60)])
def troughs(_form: str, dt: float, facets: int) -> Case:
    """A ball or cylinder that rolls to and fro in a faceted trough: (R - r) as a pendulum's."""
    R, r, wide, start = 1.0, 0.1, 0.5, 0.8
    angle = np.linspace(-1.5, 1.5, int(facets * 3.0 / (2 * math.pi)) + 1)
    # facets that touch the circle in their middles
    out = R / math.cos(0.5 * (angle[1] - angle[0]))
    vertices = [
        [float(out * math.sin(a)), y, float(-out * math.cos(a))]
        for a in angle
        for y in (-wide, wide)
    ]
    faces = []
    for i in range(len(angle) - 1):
        a, b, c, d = 2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1
        faces += [[a, b, c], [a, c, d]]
    shape = {"type": "mesh", "vertices": vertices, "faces": faces, "material": "m"}
    ground = {"name": "ground", "type": "static", "shapes": [shape]}
    d = R - r
    ball = sphere("ball", [d * math.sin(start), 0.03, -d * math.cos(start)], r)

    def law(_t, y):
        return [y[1], -G / (1.4 * d) * math.sin(y[0])]

    sol = solved(law, [start, 0.0], 5.0)
    return Case(
        "faceted trough",
        f"{facets} facets, dt {dt}",
        scene([ground, ball], dt=dt, duration=5.0, materials={"m": {"friction": 0.8}}),
        along_x("ball"),
        lambda t: [d * math.sin(sol(t)[0])],
        d * math.sin(start),
    )


FAMILIES = (
    bowls, resistances, coulombs, hinges, clutches, sticks, rollers, ladders, domes, obliques,
    superballs, towers, nails, trampolines, stopped, snaps, slabs, cushions, off_centres, terminals,
    shots, tippings, discs, hoppers, troughs,
)  # fmt: skip
