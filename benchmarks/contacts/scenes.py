"""The scenes of the comparison as plain data, the same for every engine.

z is up, SI units, quaternions are (w, x, y, z). A body is one shape about its centre of mass:
sphere [r], box [half extents], capsule [r, half length of the cylinder], its axis along local z.
`plane`: a static half space z < 0. `window`: the steps over which time, contacts and penetration
are taken.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scene = dict[str, Any]
Floats = NDArray[np.float64]

DENSITY = 1000.0
DT = 1.0 / 240.0
UPRIGHT = [1.0, 0.0, 0.0, 0.0]
# settled states are poured once by this engine and kept here
KEPT = Path(__file__).parents[2] / "build" / "benchmarks"


def mass_of(kind: str, size: list[float]) -> tuple[float, list[float]]:
    """Mass [kg] and principal moments [kg m^2] of a solid of DENSITY."""
    if kind == "sphere":
        mass = DENSITY * 4.0 / 3.0 * math.pi * size[0] ** 3
        return mass, [0.4 * mass * size[0] ** 2] * 3
    if kind == "box":
        x, y, z = (s * s for s in size)
        mass = DENSITY * 8.0 * size[0] * size[1] * size[2]
        return mass, [mass / 3.0 * (y + z), mass / 3.0 * (x + z), mass / 3.0 * (x + y)]
    r, h = size
    tube, ball = DENSITY * math.pi * r * r * 2.0 * h, DENSITY * 4.0 / 3.0 * math.pi * r**3
    along = tube * r * r / 2.0 + 0.4 * ball * r * r
    across = tube * (r * r / 4.0 + h * h / 3.0) + ball * (0.4 * r * r + h * h + 0.75 * h * r)
    return tube + ball, [across, across, along]


def body(kind: str, size: list[float], at: Any, **more: Any) -> Scene:
    """A moving body; more: quat, angvel."""
    mass, inertia = mass_of(kind, size)
    found = {"fixed": False, "kind": kind, "size": size, "pos": [float(x) for x in at]}
    found |= {"quat": UPRIGHT, "vel": [0.0] * 3, "angvel": [0.0] * 3}
    return found | {"mass": mass, "inertia": inertia} | more


def walls(inner: float, height: float) -> list[Scene]:
    """Four static boxes around a square floor."""
    t, w, h = 0.25, inner / 2.0, height / 2.0
    still = {"fixed": True, "mass": 0.0, "inertia": [0.0] * 3}
    long, short = [t, w + 2 * t, h], [w + 2 * t, t, h]
    return [
        body("box", long, [w + t, 0, h], **still),
        body("box", long, [-w - t, 0, h], **still),
        body("box", short, [0, w + t, h], **still),
        body("box", short, [0, -w - t, h], **still),
    ]


def scene(
    name: str, bodies: list[Scene], steps: int, window: tuple[int, int], **more: Any
) -> Scene:
    """A scene on the ground under gravity unless `more` says otherwise."""
    found = {"name": name, "dt": DT, "steps": steps, "window": window, "bodies": bodies}
    found |= {"gravity": [0.0, 0.0, -9.81], "mu": 0.5, "plane": True, "every": 20}
    return found | more


def tumble() -> Scene:
    """A box that spins about its middle axis, without gravity."""
    spun = body("box", [0.1, 0.2, 0.3], [0, 0, 0], angvel=[0.1, 5.0, 0.1])
    return scene("tumble", [spun], 4800, (3200, 4800), plane=False, gravity=[0.0] * 3, every=100)


def tower(n: int = 10) -> Scene:
    """Boxes upon each other."""
    boxes = [body("box", [0.25] * 3, [0, 0, 0.25 + 0.5 * i]) for i in range(n)]
    return scene(f"tower{n}", boxes, 1200, (800, 1200), stack=True)


def pyramid(base: int) -> Scene:
    """A wall of boxes, one fewer in each row."""
    boxes = [
        body("box", [0.25] * 3, [(i - (base - row - 1) / 2) * 0.55, 0, 0.25 + 0.5 * row])
        for row in range(base)
        for i in range(base - row)
    ]
    return scene(f"pyr{len(boxes)}", boxes, 600, (400, 600), stack=True)


def spheres(n: int = 666) -> Scene:
    """A column of spheres that falls apart; timed while it does."""
    rng = np.random.default_rng(1)
    balls = []
    for i in range(n):
        k, ij = divmod(i, 36)
        a, b = divmod(ij, 6)
        e = rng.uniform(-1e-3, 1e-3, 2)
        at = [(a - 2.5) * 0.21 + e[0], (b - 2.5) * 0.21 + e[1], 0.15 + k * 0.21]
        balls.append(body("sphere", [0.1], at))
    return scene(f"spheres{n}", balls, 480, (60, 180))


def mixed(n: int = 1000, side: int = 10) -> list[Scene]:
    """Spheres, boxes and capsules in turn, on a loose grid and turned at random."""
    rng = np.random.default_rng(2)
    found = []
    for i in range(n):
        k, ij = divmod(i, side * side)
        a, b = divmod(ij, side)
        e = rng.uniform(-0.01, 0.01, 3)
        at = [(x - (side - 1) / 2) * 0.27 for x in (a, b)] + [0.2 + 0.27 * k]
        q = rng.normal(size=4)
        kind, size = (
            ("sphere", [0.1]),
            ("box", [0.1, 0.08, 0.06]),
            ("capsule", [0.06, 0.08]),
        )[i % 3]
        turned = [float(x) for x in q / np.linalg.norm(q)]
        found.append(body(kind, size, np.array(at) + e, quat=turned))
    return found


def poured() -> list[Scene]:
    """Five thousand spheres on a loose grid, 18 by 18 in a layer."""
    n, side = 5000, 18
    rng = np.random.default_rng(3)
    found = []
    for i in range(n):
        k, ij = divmod(i, side * side)
        a, b = divmod(ij, side)
        at = [(a - (side - 1) / 2) * 0.215, (b - (side - 1) / 2) * 0.215, 0.12 + k * 0.215]
        found.append(body("sphere", [0.1], np.array(at) + rng.uniform(-5e-3, 5e-3, 3)))
    return found


def settled(start: Scene, pour: Callable[[Scene], Floats]) -> Scene:
    """The scene with the poses and velocities that `pour` finds at its end, kept in a file."""
    file = KEPT / f"{start['name']}.npz"
    if file.is_file():
        states = np.load(file)["states"]
    else:
        KEPT.mkdir(parents=True, exist_ok=True)
        states = pour(start)
        np.savez_compressed(file, states=states)
    moving = [one for one in start["bodies"] if not one["fixed"]]
    for one, x in zip(moving, states.tolist(), strict=True):
        one.update(pos=x[0:3], quat=x[3:7], vel=x[7:10], angvel=x[10:13])
    return start


def bin_of_mixed(pour: Callable[[Scene], Floats]) -> Scene:
    """A thousand mixed shapes at rest in a bin."""
    start = scene("bin1000", walls(2.8, 4.0) + mixed(), 1200, (0, 0))
    return settled(start, pour) | {"steps": 240, "window": (120, 240), "every": 12}


def pile(pour: Callable[[Scene], Floats]) -> Scene:
    """Five thousand spheres in a bin, still creeping."""
    start = scene("pile5000", walls(4.0, 6.0) + poured(), 1200, (0, 0))
    return settled(start, pour) | {"steps": 120, "window": (60, 120), "every": 6}


SCENES: dict[str, Callable[[Callable[[Scene], Floats]], Scene]] = {
    "tumble": lambda pour: tumble(),
    "tower10": lambda pour: tower(),
    "pyr55": lambda pour: pyramid(10),
    "pyr465": lambda pour: pyramid(30),
    "spheres666": lambda pour: spheres(),
    "bin1000": bin_of_mixed,
    "pile5000": pile,
}


def write_flat(one: Scene, path: Path) -> None:
    """The scene as numbers between spaces, for drivers in C++."""
    kinds = {"sphere": 1, "box": 2, "capsule": 3}
    lines: list[list[Any]] = [
        [one["dt"], one["steps"], one["every"], *one["gravity"], one["mu"], int(one["plane"])],
        [len(one["bodies"])],
    ]
    for b in one["bodies"]:
        size = [*b["size"], 0.0, 0.0][:3]
        pose = [*b["pos"], *b["quat"], *b["vel"], *b["angvel"]]
        lines.append([int(b["fixed"]), kinds[b["kind"]], *size, *pose, b["mass"], *b["inertia"]])
    text = "\n".join(" ".join(repr(x) for x in line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
