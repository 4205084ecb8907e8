"""Families on meshes, walls, in air, on faces and facets."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks.trust.blows import sheet
from benchmarks.trust.case import (
    Case,
    G,
    family,
    floor,
    height,
    joint,
    mass,
    place,
    scene,
    solved,
)
from benchmarks.trust.mechanisms import along_x
from benchmarks.trust.touching import box, sphere


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
    slabs,
    cushions,
    off_centres,
    terminals,
    shots,
    tippings,
    discs,
    hoppers,
    troughs,
)
