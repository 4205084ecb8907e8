"""Families with joints: chains, robots, machines, most of them in contact."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.families.heaps import courses
from benchmarks.families.solids import (
    ALONG_X,
    ALONG_Y,
    Floats,
    Random,
    Scene,
    X,
    Y,
    Z,
    between,
    body,
    grid,
    joint,
    numbers,
    offset,
    scene,
    shape,
    spring,
    still,
    turn,
    velocity,
    walls,
)

LINK = 0.12  # length of a chain's link between its joints [m]


def chain(
    bodies: list[Scene], joints: list[Scene], start: Any, n: int, kind: str, **more: Any
) -> None:
    """Append n capsules along x from `start`, each held to the one before; more: radius, axes."""
    r = more.get("radius", 0.03)
    one = shape("capsule", [r, LINK / 2.0 - 1.05 * r], quat=ALONG_X)
    for k in range(n):
        bodies.append(body(one, offset(np.array(start), LINK * (k + 0.5), 0, 0)))
        if k > 0:
            at = offset(np.array(start), LINK * k, 0, 0)
            axis, axis2 = more.get("axes", (Y, Z))
            i = len(bodies) - 1
            joints.append(joint(kind, i - 1, i, at, axis=axis, axis2=axis2))


def chains(rng: Random) -> Scene:
    """Chains dropped into a bin, one kind of joint for each."""
    n, links = int(rng.integers(12, 40)), int(rng.integers(4, 8))
    wide = LINK * links + 0.2
    bodies, joints = walls(wide, 3.0), list[Scene]()
    for i in range(n):
        k, y = divmod(i, 6)
        start = [-0.5 * LINK * links, (y - 2.5) * (wide - 0.15) / 6.0, 0.1 + 0.1 * k]
        kind = ("ball", "ball", "hinge", "universal")[int(rng.integers(4))]
        chain(bodies, joints, np.array(start) + rng.uniform(-0.01, 0.01, 3), links, kind)
    return scene(bodies, joints, steps=200, window=(120, 200))


def draped(rng: Random) -> Scene:
    """Chains that fall over fixed bars."""
    bodies: list[Scene] = []
    for x in (-0.4, 0.4):
        bodies.append(still(shape("capsule", [0.06, 1.5], quat=ALONG_Y), [x, 0, 0.8]))
    joints: list[Scene] = []
    for i in range(int(rng.integers(4, 10))):
        n = int(rng.integers(10, 16))
        chain(bodies, joints, [-0.5 * LINK * n, 0.25 * i - 1.0, 0.95], n, "ball")
    return scene(bodies, joints, steps=240, window=(120, 240))


def heavy_end(rng: Random) -> Scene:
    """Chains that hang from the world and carry loads up to 1000 links' weight."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(1, 5))):
        start, n = [0.0, 1.0 * i, 3.0], int(rng.integers(5, 12))
        first = len(bodies)
        kind = ("ball", "hinge")[int(rng.integers(2))]
        chain(bodies, joints, start, n, kind)
        joints.append(joint(kind, -1, first, start, axis=Y))
        mass = bodies[first]["mass"] * between(rng, 10.0, 1000.0)
        at = offset(np.array(start), LINK * n, 0, 0)
        bodies.append(body(shape("sphere", [0.15]), offset(at, 0.15, 0, 0), mass))
        joints.append(joint(kind, len(bodies) - 2, len(bodies) - 1, at, axis=Y))
    return scene(bodies, joints, dt=1e-3, steps=500, window=(100, 500), every=20)


def wrecking_ball(rng: Random) -> Scene:
    """A ball on a chain into a wall."""
    bodies = courses(rng, int(rng.integers(5, 9)), int(rng.integers(5, 8)))
    joints: list[Scene] = []
    n, r, first = int(rng.integers(5, 9)), 0.15, len(bodies)
    high = r + 0.1 + LINK * n + r
    # held straight out along -y, level, so that it swings down into the wall
    foot = np.array([0.0, 0.0, high])
    link = shape("capsule", [0.03, LINK / 2.0 - 0.0315], quat=ALONG_Y)
    for k in range(n):
        bodies.append(body(link, foot - [0, LINK * (k + 0.5), 0]))
        joints.append(joint("ball", first + k - 1 if k else -1, first + k, foot - [0, LINK * k, 0]))
    mass = between(rng, 10.0, 100.0) * bodies[0]["mass"]
    bodies.append(body(shape("sphere", [r]), foot - [0, LINK * n + r, 0], mass))
    joints.append(joint("ball", first + n - 1, first + n, foot - [0, LINK * n, 0]))
    spin = rng.uniform(2.0, 5.0)
    for one in bodies[first:]:
        one["angvel"], one["vel"] = [spin, 0.0, 0.0], [0.0, 0.0, spin * one["pos"][1]]
    return scene(bodies, joints, steps=160, window=(40, 160))


def doors(rng: Random) -> Scene:
    """Doors with stops that balls are thrown at."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(3, 8))):
        x, leaf = 1.2 * i, len(bodies)
        bodies.append(body(shape("box", [0.4, 0.02, 0.8]), [x, 0, 0.85], between(rng, 2.0, 40.0)))
        stops = [-rng.uniform(0.2, 1.5), rng.uniform(0.2, 1.5)]
        joints.append(joint("hinge", -1, leaf, [x - 0.42, 0, 0.85], axis=Z, limits=stops))
        for k in range(2):
            at = [x + rng.uniform(-0.2, 0.3), -0.6 - 0.6 * k, rng.uniform(0.3, 1.4)]
            speed = [0.0, rng.uniform(3.0, 9.0), 1.0]
            bodies.append(body(shape("sphere", [0.1]), at, between(rng, 0.5, 20.0), vel=speed))
    return scene(bodies, joints, steps=160, window=(20, 160))


def ragdolls(rng: Random) -> Scene:
    """Figures that fall into a heap."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(2, 8))):
        a, b = divmod(i, 2)
        at = np.array([rng.uniform(-0.2, 0.2), 0.6 * b, 1.2 + 2.0 * a])
        _figure(bodies, joints, at, rng)
    return scene(bodies, joints, steps=300, window=(180, 300))


def _figure(bodies: list[Scene], joints: list[Scene], at: Floats, rng: Random) -> None:
    """A figure of ten bodies: trunk, head, arms, legs."""
    trunk = len(bodies)
    moving = numbers(rng.uniform(-1, 1, 3))
    bodies.append(body(shape("box", [0.09, 0.14, 0.22]), at, vel=moving))

    def limb(
        parent: int, size: Sequence[float], p: Any, anchor: Any, kind: str, **more: Any
    ) -> int:
        p, anchor = at + np.array(p), at + np.array(anchor)
        bodies.append(body(shape("capsule", size), p, vel=moving))
        joints.append(joint(kind, parent, len(bodies) - 1, anchor, **more))
        return len(bodies) - 1

    limb(trunk, [0.09, 0.02], [0, 0, 0.36], [0, 0, 0.24], "ball")
    for side in (-1, 1):
        y = 0.22 * side
        arm = limb(trunk, [0.04, 0.09], [0, y, 0.06], [0, y, 0.18], "ball")
        stops: Any = [-2.3, 0.05]
        elbow = [0, y, -0.08]
        limb(arm, [0.035, 0.08], [0, y, -0.21], elbow, "hinge", axis=Y, limits=stops)
        y = 0.09 * side
        leg = limb(trunk, [0.055, 0.13], [0, y, -0.42], [0, y, -0.24], "ball")
        knee, stops = [0, y, -0.62], [-0.05, 2.3]
        limb(leg, [0.045, 0.13], [0, y, -0.81], knee, "hinge", axis=Y, limits=stops)


def quadrupeds(rng: Random) -> Scene:
    """Robots with twelve springy joints that land on the ground and on boxes."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(6):
        at = [rng.uniform(-0.5, 0.5), 0.35 * i - 0.8, rng.uniform(0.01, 0.04)]
        bodies.append(still(shape("box", [0.15, 0.1, at[2]]), at))
    stiff = between(rng, 60.0, 200.0)
    for i in range(int(rng.integers(1, 4))):
        _quadruped(bodies, joints, np.array([0.0, 1.2 * i, 0.75]), spring(stiff, 0.03 * stiff))
    return scene(bodies, joints, dt=1e-3, steps=600, window=(300, 600), every=20, mu=0.7)


def _quadruped(bodies: list[Scene], joints: list[Scene], at: Floats, drive: Scene) -> None:
    """A trunk on four legs of hip, thigh and shin; all twelve joints have the same drive."""
    trunk = len(bodies)
    bodies.append(body(shape("box", [0.3, 0.12, 0.08]), at, 15.0))
    for x in (-1, 1):
        for y in (-1, 1):
            hip = offset(at, 0.28 * x, 0.2 * y, 0)
            knee, foot = hip - [0, 0, 0.28], hip - [0, 0, 0.56]
            i = len(bodies)
            bodies.append(body(shape("sphere", [0.05]), hip, 1.0))
            bodies.append(body(shape("capsule", [0.03, 0.08]), 0.5 * (hip + knee), 1.5))
            bodies.append(body(shape("capsule", [0.025, 0.1]), 0.5 * (knee + foot), 0.5))
            joints.append(joint("hinge", trunk, i, hip, axis=X, motor=drive))
            joints.append(joint("hinge", i, i + 1, hip, axis=Y, motor=drive))
            joints.append(joint("hinge", i + 1, i + 2, knee, axis=Y, motor=drive))


def grippers(rng: Random) -> Scene:
    """Two fingers that squeeze a box and lift it."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(1, 6))):
        y, mass = 1.0 * i, between(rng, 0.1, 2.0)
        half = rng.uniform(0.03, 0.06)
        hand = len(bodies)
        bodies.append(body(shape("box", [0.15, 0.05, 0.03]), [0, y, 0.3], 2.0))
        joints.append(joint("slider", -1, hand, [0, y, 0.3], axis=Z, motor=velocity(0.2, 200.0)))
        for side in (-1, 1):
            at = [side * (half + 0.025), y, 0.15]
            bodies.append(body(shape("box", [0.02, 0.04, 0.1]), at, 0.3))
            close = velocity(-0.3 * side, rng.uniform(20.0, 60.0) + 20.0 * mass)
            i_finger = len(bodies) - 1
            joints.append(joint("slider", hand, i_finger, at, axis=X, motor=close))
        held = [shape("box", [half] * 3), shape("sphere", [half])][i % 2]
        bodies.append(body(held, [0, y, half + 0.06], mass))
    return scene(bodies, joints, mu=0.8, steps=240, window=(60, 240))


def arms(rng: Random) -> Scene:
    """Arms of seven joints that carry loads, and put them into heaps of balls."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(1, 5))):
        y, length = 1.5 * i, 0.3
        parent, at = -1, np.array([0.0, y, 0.05])
        for k, axis in enumerate((Z, Y, X, Y, X, Y, X)):
            size, step = [0.05, length / 2 - 0.055], np.array([0, 0, length])
            one = shape("capsule", size)
            if k > 1:
                one, step = shape("capsule", size, quat=ALONG_X), np.array([length, 0, 0])
            bodies.append(body(one, at + 0.5 * step, 2.0))
            drive = spring(400.0, 20.0, rng.uniform(-0.3, 0.3))
            joints.append(joint("hinge", parent, len(bodies) - 1, at, axis=axis, motor=drive))
            parent, at = len(bodies) - 1, at + step
        load = body(shape("box", [0.08] * 3), offset(at, 0.1, 0, 0), between(rng, 0.5, 8.0))
        bodies.append(load)
        joints.append(joint("fixed", parent, len(bodies) - 1, at))
        for place in grid(rng, 8, 0.21, 2):
            bodies.append(body(shape("sphere", [0.1]), offset(place, 1.6, y, 0.0)))
    return scene(bodies, joints, dt=2e-3, steps=300, window=(100, 300))


def four_bars(rng: Random) -> Scene:
    """Closed loops of hinges driven by motors, with balls on them."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(2, 8))):
        y, a, b = 0.5 * i, rng.uniform(0.15, 0.25), rng.uniform(0.5, 0.8)
        first, foot = len(bodies), 0.6
        corners = [np.array(p) for p in ([0, y, foot], [0, y, foot + a], [b, y, foot + a])]
        corners.append(np.array([b, y, foot]))
        for k in range(3):
            along = corners[k + 1] - corners[k]
            half = 0.5 * float(np.linalg.norm(along))
            size = [half - 0.01, 0.05, 0.02] if k == 1 else [0.02, 0.05, half - 0.03]
            bodies.append(body(shape("box", size), 0.5 * (corners[k] + corners[k + 1])))
        ends = ((-1, first), (first, first + 1), (first + 1, first + 2), (first + 2, -1))
        for k, (parent, child) in enumerate(ends):
            drive = velocity(rng.uniform(1.0, 4.0), 30.0) if k == 0 else None
            if child < 0:
                parent, child = child, parent
            joints.append(joint("hinge", parent, child, corners[k], axis=Y, motor=drive))
        bodies.append(body(shape("sphere", [0.04]), [0.5 * b, y, foot + a + 0.08]))
    return scene(bodies, joints, steps=240, window=(60, 240))


def bridges(rng: Random) -> Scene:
    """Planks joined by hinges between two posts, loaded with boxes."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(1, 4))):
        n, y, half = int(rng.integers(6, 16)), 1.5 * i, 0.1
        first = len(bodies)
        for k in range(n):
            x = 2.05 * half * (k + 0.5)
            bodies.append(body(shape("box", [half, 0.4, 0.02]), [x, y, 1.0], between(rng, 2, 10)))
        for k in range(n + 1):
            at = [2.05 * half * k, y, 1.0]
            parent, child = (first + k - 1 if k else -1), first + k
            if k == n:
                parent, child = -1, first + n - 1
            # a rigid chain of hinges cannot sag: its far end may slide
            joints.append(joint("ball" if k < n else "planar", parent, child, at, axis=Z))
        joints[-1]["axis"] = Y
        for _ in range(int(rng.integers(3, 9))):
            x = rng.uniform(0.2, 2.05 * half * n - 0.2)
            size = shape("box", rng.uniform(0.04, 0.1, 3))
            at = [x, y + rng.uniform(-0.2, 0.2), 1.15 + 0.25 * (len(bodies) + 1 - first - n)]
            bodies.append(body(size, at, between(rng, 0.5, 20.0)))
    return scene(bodies, joints, steps=200, window=(60, 200))


def nets(rng: Random) -> Scene:
    """Nets of spheres on balls, many loops, with a heavy ball in them."""
    n, apart = int(rng.integers(5, 9)), 0.12
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(n):
        for k in range(n):
            at = np.array([apart * i, apart * k, 1.0])
            me = len(bodies)
            bodies.append(body(shape("sphere", [0.04]), at, 0.1))
            if i > 0:
                joints.append(joint("ball", me - n, me, at - [apart / 2, 0, 0]))
            if k > 0:
                joints.append(joint("ball", me - 1, me, at - [0, apart / 2, 0]))
            if i in (0, n - 1) and k in (0, n - 1):
                joints.append(joint("ball", -1, me, at))
    middle = [apart * (n - 1) / 2.0] * 2
    bodies.append(body(shape("sphere", [0.15]), [*middle, 1.25], between(rng, 1.0, 30.0)))
    return scene(bodies, joints, steps=160, window=(60, 160))


def shafts(rng: Random) -> Scene:
    """Shafts on universal joints, driven, with boxes on them."""
    bodies: list[Scene] = []
    joints: list[Scene] = []
    for i in range(int(rng.integers(2, 7))):
        y, n, first = 0.6 * i, int(rng.integers(2, 6)), len(bodies)
        for k in range(n):
            at = [0.4 * (k + 0.5), y, 0.5]
            bodies.append(body(shape("capsule", [0.04, 0.14], quat=ALONG_X), at))
            if k > 0:
                anchor = [0.4 * k, y, 0.5]
                joints.append(joint("universal", first + k - 1, first + k, anchor, axis=Y, axis2=Z))
        drive = velocity(rng.uniform(2.0, 20.0), 5.0)
        joints.append(joint("hinge", -1, first, [0, y, 0.5], axis=X, motor=drive))
        last = [0.4 * n, y, 0.5]
        joints.append(joint("cylindrical", -1, first + n - 1, last, axis=X))
        bodies.append(body(shape("box", [0.05, 0.2, 0.03]), [0.2, y, 0.58]))
    return scene(bodies, joints, dt=2e-3, steps=240, window=(60, 240))


def presses(rng: Random) -> Scene:
    """Plates on sliders that press on heaps in boxes."""
    kinds = [shape("sphere", [0.06]), shape("box", [0.06, 0.05, 0.04])]
    bodies, joints = walls(0.6, 1.2), list[Scene]()
    n = int(rng.integers(30, 80))
    for i, at in enumerate(grid(rng, n, 0.17, 3)):
        bodies.append(body(kinds[i % 2], at, quat=turn(rng)))
    z = 0.17 * (math.ceil(n / 9) + 0.6) + 0.1
    bodies.append(body(shape("box", [0.28, 0.28, 0.03]), [0, 0, z], 5.0))
    press = velocity(-rng.uniform(0.3, 1.5), between(rng, 100.0, 2000.0))
    joints.append(joint("slider", -1, len(bodies) - 1, [0, 0, z], axis=Z, motor=press))
    return scene(bodies, joints, steps=200, window=(100, 200))


def pairs(rng: Random) -> Scene:
    """Pairs of boxes with joints of every kind, dropped into a bin."""
    bodies, joints = walls(1.6, 3.0), list[Scene]()
    kinds = ("ball", "hinge", "slider", "universal", "fixed", "cylindrical", "planar", "distance")
    offered = [kinds[i] for i in rng.permutation(len(kinds))[:5]]
    for i, at in enumerate(grid(rng, int(rng.integers(16, 50)), 0.45, 3)):
        half = rng.uniform(0.04, 0.07)
        arm = half + 0.03
        for side in (-1, 1):
            mass = between(rng, 0.2, 20.0)
            bodies.append(body(shape("box", [half] * 3), offset(at, side * arm, 0, 0.3), mass))
        more: dict[str, Any] = {"axis": (X, Y, Z)[i % 3], "axis2": (Y, Z, X)[i % 3]}
        kind = offered[i % len(offered)]
        if kind in ("slider", "hinge") and rng.random() < 0.5:
            more["limits"] = [-0.03, 0.1]
        anchor = offset(at, 0, 0, 0.3)
        if kind == "distance":
            anchor, more["anchor2"] = anchor - [0.03, 0, 0], numbers(offset(anchor, 0.03, 0, 0))
        parent = len(bodies) - 2
        joints.append(joint(kind, parent, parent + 1, anchor, **more))
    return scene(bodies, joints, steps=220, window=(140, 220))


FAMILIES = (
    *(chains, draped, heavy_end, wrecking_ball, doors, ragdolls),
    *(quadrupeds, grippers, arms, four_bars, bridges, nets, shafts, presses, pairs),
)
