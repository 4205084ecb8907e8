"""Families without joints: heaps in bins, walls, stacks, blows."""

import math

import numpy as np

from benchmarks.families.solids import (
    ALONG_Y,
    UPRIGHT,
    Random,
    Scene,
    about,
    between,
    body,
    grid,
    hull,
    numbers,
    offset,
    scene,
    shape,
    still,
    turn,
    walls,
)


def reach(one: Scene) -> float:
    """Radius of a ball about a body's origin that holds one of its shapes."""
    size, kind = one["size"], one["kind"]
    if kind == "hull":
        return float(np.linalg.norm(one["points"], axis=1).max())
    far = size[0]
    if kind == "box":
        far = float(np.linalg.norm(size))
    elif kind == "capsule":
        far = size[0] + size[1]
    elif kind == "cylinder":
        far = float(np.hypot(*size))
    return float(far + np.linalg.norm(one["pos"]))


def heap(rng: Random, kinds: list[list[Scene]], n: int, side: int) -> Scene:
    """n bodies, their shapes drawn from `kinds` with masses 1 : 30, dropped into a bin."""
    largest = max(reach(one) for shapes in kinds for one in shapes)
    apart = 2.05 * largest
    bodies = walls(side * apart + 0.02, 2.0 + apart * n / side**2)
    for at in grid(rng, n, apart, side):
        made = body(kinds[rng.integers(len(kinds))], at, quat=turn(rng))
        factor = between(rng, 0.2, 6.0)
        made["mass"] *= factor
        made["inertia"] = numbers(factor * np.array(made["inertia"]))
        bodies.append(made)
    # the longer they fall, the later the heap: timed once it has landed
    steps = int(240 * (0.5 + math.sqrt(2.0 * apart * n / side**2 / 9.81))) // 20 * 20
    return scene(bodies, steps=steps, window=(steps - 80, steps), mu=rng.uniform(0.2, 0.8))


def spheres(rng: Random) -> Scene:
    """Spheres of unlike sizes."""
    kinds = [[shape("sphere", [between(rng, 0.04, 0.12)])] for _ in range(12)]
    return heap(rng, kinds, int(rng.integers(100, 240)), 5)


def boxes(rng: Random) -> Scene:
    """Boxes of unlike sides."""
    kinds = [[shape("box", rng.uniform(0.03, 0.1, 3))] for _ in range(12)]
    return heap(rng, kinds, int(rng.integers(60, 140)), 4)


def capsules(rng: Random) -> Scene:
    """Capsules from stubby to long."""
    kinds = [[shape("capsule", [between(rng, 0.03, 0.06), between(rng, 0.02, 0.2)])] for _ in "123"]
    return heap(rng, kinds, int(rng.integers(60, 160)), 4)


def plates(rng: Random) -> Scene:
    """Thin plates, 1 : 5 to 1 : 20."""
    thin = between(rng, 5.0, 20.0)
    kinds = [[shape("box", [a, b, a / thin])] for a, b in rng.uniform(0.1, 0.2, (6, 2))]
    return heap(rng, kinds, int(rng.integers(30, 60)), 3)


def rods(rng: Random) -> Scene:
    """Long rods, 1 : 10 to 1 : 30."""
    long = between(rng, 10.0, 30.0)
    kinds = [[shape("capsule", [0.02, 0.02 * long])], [shape("box", [0.02, 0.02, 0.02 * long])]]
    return heap(rng, kinds, int(rng.integers(30, 60)), 3)


def mixed(rng: Random) -> Scene:
    """Spheres, boxes and capsules."""
    kinds = [
        [shape("sphere", [between(rng, 0.05, 0.1)])],
        [shape("box", rng.uniform(0.04, 0.1, 3))],
        [shape("capsule", [0.05, between(rng, 0.03, 0.15)])],
    ]
    return heap(rng, kinds, int(rng.integers(80, 160)), 4)


def compounds(rng: Random) -> Scene:
    """Bodies of several shapes: dumb-bells, crosses, frames."""
    r, a = between(rng, 0.03, 0.06), rng.uniform(0.1, 0.16)
    bell = [shape("sphere", [1.5 * r], [0, 0, s * a]) for s in (-1, 1)]
    bell.append(shape("capsule", [0.5 * r, a]))
    cross = [shape("box", s) for s in ([a, r, r], [r, a, r], [r, r, a])]
    frame = [shape("box", [a, r / 2, r / 2], [0, s * a, 0]) for s in (-1, 1)]
    frame += [shape("box", [r / 2, a - r / 2, r / 2], [s * a, 0, 0]) for s in (-1, 1)]
    return heap(rng, [bell, cross, frame], int(rng.integers(30, 70)), 3)


def cylinders(rng: Random) -> Scene:
    """Discs and rollers."""
    kinds = [[shape("cylinder", [r, between(rng, 0.02, 0.15)])] for r in rng.uniform(0.04, 0.1, 8)]
    return heap(rng, kinds, int(rng.integers(40, 90)), 3)


def hulls(rng: Random) -> Scene:
    """Rocks: hulls of random points."""
    made = []
    for _ in range(8):
        points = rng.normal(size=(int(rng.integers(8, 20)), 3))
        points *= rng.uniform(0.06, 0.1) / np.linalg.norm(points, axis=1, keepdims=True)
        made.append([hull(points * rng.uniform(0.6, 1.0, 3))])
    return heap(rng, made, int(rng.integers(40, 80)), 3)


def courses(rng: Random, columns: int, rows: int) -> list[Scene]:
    """A wall of bricks in running bond."""
    a, b, c = 0.1, rng.uniform(0.04, 0.08), rng.uniform(0.03, 0.06)
    brick, half = shape("box", [a, b, c]), shape("box", [a / 2 - 5e-4, b, c])
    found = []
    for row in range(rows):
        z, odd = c * (2 * row + 1), row % 2
        xs = [(2 * i + odd - columns + 0.5) * 1.01 * a for i in range(columns)]
        found += [body(brick, [x, 0, z]) for x in xs[: columns - odd]]
        if odd:
            left = xs[0] - 1.5 * 1.01 * a
            right = xs[columns - 2] + 1.5 * 1.01 * a
            found += [body(half, [x, 0, z]) for x in (left, right)]
    return found


def wall(rng: Random) -> Scene:
    """A wall at rest."""
    bricks = courses(rng, int(rng.integers(5, 10)), int(rng.integers(5, 10)))
    return scene(bricks, mu=rng.uniform(0.4, 0.8))


def wall_hit(rng: Random) -> Scene:
    """A heavy ball into a wall."""
    bricks = courses(rng, int(rng.integers(5, 9)), int(rng.integers(5, 9)))
    r = rng.uniform(0.12, 0.2)
    top = max(one["pos"][2] for one in bricks)
    heavy = between(rng, 10.0, 200.0) * bricks[0]["mass"]
    at = [rng.uniform(-0.2, 0.2), -r - 0.15, max(r + 0.02, 0.6 * top)]
    speed = rng.uniform(3.0, 12.0)
    bricks.append(body(shape("sphere", [r]), at, mass=heavy, vel=[0.0, speed, 0.0]))
    return scene(bricks, steps=80, window=(0, 80))


def tower(rng: Random) -> Scene:
    """Boxes of unlike sizes upon each other."""
    found, z = [], 0.0
    for _ in range(int(rng.integers(6, 16))):
        half = np.append(rng.uniform(0.12, 0.25, 2), rng.uniform(0.05, 0.15))
        at = [*rng.uniform(-0.03, 0.03, 2), z + half[2]]
        found.append(body(shape("box", half), at, quat=about([0, 0, 1], rng.uniform(-0.5, 0.5))))
        z += 2.0 * float(half[2])
    return scene(found, steps=240, window=(120, 240))


def unlike_masses(rng: Random) -> Scene:
    """Towers whose masses differ by up to 1 : 1000, heavy upon light too."""
    found = []
    for x in range(int(rng.integers(2, 6))):
        for k in range(int(rng.integers(3, 6))):
            mass = between(rng, 0.1, 100.0)
            found.append(body(shape("box", [0.15] * 3), [0.5 * x, 0, 0.15 + 0.3 * k], mass))
    return scene(found, steps=240, window=(120, 240))


def pyramid(rng: Random) -> Scene:
    """Boxes in rows, one fewer in each."""
    n, half = int(rng.integers(6, 14)), rng.uniform(0.1, 0.2)
    high = half * rng.uniform(0.5, 1.0)
    boxes_of = shape("box", [half, half, high])
    places = [(i - (n - k - 1) / 2.0, k) for k in range(n) for i in range(n - k)]
    found = [body(boxes_of, [2.2 * half * x, 0, high * (2 * k + 1)]) for x, k in places]
    return scene(found)


def dominoes(rng: Random) -> Scene:
    """Dominoes on a circle, the first pushed."""
    n = int(rng.integers(30, 90))
    radius = 0.045 * n / math.tau * 1.4
    found = []
    for k in range(n - 2):
        angle = math.tau * k / n
        at = [radius * math.cos(angle), radius * math.sin(angle), 0.05]
        found.append(body(shape("box", [0.02, 0.006, 0.05]), at, quat=about([0, 0, 1], angle)))
    found[0]["vel"] = [0.0, 0.4, 0.0]
    found[0]["angvel"] = [-8.0, 0.0, 0.0]
    return scene(found, mu=0.4, steps=160, window=(40, 160))


def incline(rng: Random) -> Scene:
    """Boxes, balls and rollers down a ramp."""
    angle = rng.uniform(0.1, 0.6)
    tilt = about([0, 1, 0], angle)
    along = np.array([math.cos(angle), 0, -math.sin(angle)])
    up = np.array([math.sin(angle), 0, math.cos(angle)])
    foot = np.array([0.0, 0.0, 2.2])
    found = [still(shape("box", [3.0, 2.0, 0.1]), foot - 0.1 * up, quat=tilt)]
    for i in range(int(rng.integers(16, 40))):
        half = rng.uniform(0.03, 0.08)
        made = [shape("box", [half, half, half]), shape("sphere", [half])]
        made.append(shape("capsule", [half, half], quat=ALONG_Y))
        at = foot + along * (-2.0 + 0.25 * (i // 8)) + np.array([0, 0.3 * (i % 8) - 1.0, 0])
        found.append(body(made[i % 3], at + half * up, quat=tilt))
    return scene(found, mu=rng.uniform(0.1, 0.7))


def bowling(rng: Random) -> Scene:
    """A fast ball into pins."""
    found, pin = [], shape("capsule", [0.05, 0.12])
    for row in range(int(rng.integers(4, 7))):
        for i in range(row + 1):
            found.append(body(pin, [0.26 * row, 0.3 * (i - row / 2.0), 0.171]))
    ball = shape("sphere", [0.11])
    speed = rng.uniform(5.0, 20.0)
    found.append(body(ball, [-0.6, rng.uniform(-0.1, 0.1), 0.112], 7.0, vel=[speed, 0, 0]))
    return scene(found, steps=120, window=(20, 120))


def shots(rng: Random) -> Scene:
    """Small fast balls at thin fixed and moving plates."""
    found = [still(shape("box", [0.01, 2.0, 1.0]), [1.5, 0, 1.0])]
    for i in range(int(rng.integers(4, 9))):
        y = 0.4 * i - 1.4
        plate = shape("box", [rng.uniform(0.01, 0.03), 0.15, 0.2])
        found.append(body(plate, [rng.uniform(0.5, 1.0), y, 0.2]))
        ball, speed = shape("sphere", [rng.uniform(0.01, 0.03)]), between(rng, 10.0, 80.0)
        at = [0.0, y + rng.uniform(-0.1, 0.1), rng.uniform(0.1, 0.3)]
        found.append(body(ball, at, between(rng, 0.05, 1.0), vel=[speed, 0, 0]))
    return scene(found, steps=100, window=(0, 100))


def gas(rng: Random) -> Scene:
    """Spheres and boxes that fly about in a closed box without gravity."""
    side, half = 5, 1.0
    found = []
    for axis in range(3):
        for sign in (-1, 1):
            size, place = [half + 0.2] * 3, [0.0] * 3
            size[axis], place[axis] = 0.1, sign * (half + 0.1)
            found.append(still(shape("box", size), place))
    for i, at in enumerate(grid(rng, side**3, 2.0 * half / side, side)):
        one = shape("sphere", [0.1]) if i % 2 else shape("box", [0.07] * 3)
        vel, angvel = numbers(rng.normal(size=3) * 2.0), numbers(rng.normal(size=3))
        place = numbers(offset(at, 0, 0, -half - 0.04))
        found.append(body(one, place, quat=turn(rng), vel=vel, angvel=angvel))
    return scene(found, gravity=[0.0] * 3, plane=False)


def terrain(rng: Random, n: int = 20, size: float = 8.0) -> Scene:
    """Hills as a mesh of triangles."""
    x = np.linspace(-size / 2, size / 2, n)
    a, b, c, d = rng.uniform(0.5, 1.5, 4)
    z = 0.25 * (np.sin(a * x)[:, None] * np.cos(b * x)[None] + 0.5 * np.sin(c + d * 2 * x)[:, None])
    z += rng.uniform(-0.02, 0.02, z.shape)
    vertices = [[float(x[i]), float(x[k]), float(z[i, k])] for i in range(n) for k in range(n)]
    faces = []
    for i in range(n - 1):
        for k in range(n - 1):
            p = i * n + k
            faces += [[p, p + n, p + 1], [p + 1, p + n, p + n + 1]]
    return still(shape("mesh", []) | {"vertices": vertices, "faces": faces}, [0, 0, 0])


def hills(rng: Random) -> Scene:
    """Mixed shapes dropped on hills."""
    kinds = [shape("sphere", [0.1]), shape("box", [0.12, 0.08, 0.1]), shape("capsule", [0.07, 0.1])]
    found = [terrain(rng)]
    for i, at in enumerate(grid(rng, int(rng.integers(40, 90)), 0.45, 8)):
        found.append(body(kinds[i % 3], offset(at, 0, 0, 0.6), quat=turn(rng)))
    return scene(found, plane=False, steps=200, window=(120, 200))


def cards(rng: Random) -> Scene:
    """Thin cards that lean on each other in pairs."""
    angle, high, found = rng.uniform(0.25, 0.4), 0.15, []
    thin = rng.uniform(0.004, 0.01)
    for i in range(int(rng.integers(4, 12))):
        x = i * (4.0 * high * math.sin(angle) + 4.0 * thin + 0.01)
        for sign in (-1, 1):
            at = [x + sign * (high * math.sin(angle) + thin * math.cos(angle)), 0.0]
            at.append(high * math.cos(angle) + thin * math.sin(angle))
            card = shape("box", [thin, 0.1, high])
            found.append(body(card, at, quat=about([0, 1, 0], -sign * angle)))
    return scene(found, mu=0.7)


def logs(rng: Random) -> Scene:
    """A stack of logs between posts."""
    r, n, found = rng.uniform(0.08, 0.12), int(rng.integers(4, 8)), []
    kind = ("capsule", "cylinder")[int(rng.integers(2))]
    log = shape(kind, [r, 0.6], quat=UPRIGHT)
    for k in range(n):
        for i in range(n - k):
            at = [(i - (n - k - 1) / 2.0) * 2.0 * r, 0, r + k * math.sqrt(3.0) * r]
            found.append(body(log, at, quat=ALONG_Y))
    post = shape("box", [0.05, 0.05, 0.5])
    for x in (-1, 1):
        found += [still(post, [x * (n * r + 0.05), y, 0.5]) for y in (-0.4, 0.4)]
    return scene(found)


FAMILIES = (
    *(spheres, boxes, capsules, plates, rods, mixed, compounds, cylinders, hulls, wall, wall_hit),
    *(tower, unlike_masses, pyramid, dominoes, incline, bowling, shots, gas, hills, cards, logs),
)
