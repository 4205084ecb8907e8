"""What the families draw from: shapes, bodies, joints and scenes as plain data for every engine.

z is up, SI units, quaternions are (w, x, y, z). The frame of a body is at its centre of mass along
its principal axes. A shape is {kind, size, pos, quat} in its body: sphere [r], box [half extents],
capsule and cylinder [r, half length of the cylinder] along local z, hull {points}, mesh {vertices,
faces} of fixed bodies only. A joint is {kind, parent, child, anchor, axis, ...} in W at the start;
parent -1 is the world, and bodies that a joint connects do not touch. `plane`: a fixed half space
z < 0. `window`: the steps over which time, contacts and quality are taken.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, Delaunay

from benchmarks.contacts.quality import rotations

Scene = dict[str, Any]
Floats = NDArray[np.float64]
Random = np.random.Generator

UPRIGHT = [1.0, 0.0, 0.0, 0.0]
X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
# turns local z to x, and to y
ALONG_X = [math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]
ALONG_Y = [math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0]
DENSITY = 1000.0
DT = 1.0 / 240.0


def numbers(values: Any) -> list[float]:
    """Plain floats, as JSON wants them."""
    return [float(x) for x in values]


def offset(at: Any, x: float, y: float, z: float) -> Floats:
    """The place beside `at`."""
    place: Floats = np.asarray(at, float) + np.array([x, y, z])
    return place


def shape(kind: str, size: Any, pos: Any = (0, 0, 0), quat: Any = UPRIGHT) -> Scene:
    """A sphere, box, capsule or cylinder."""
    return {"kind": kind, "size": numbers(size), "pos": numbers(pos), "quat": numbers(quat)}


def hull(points: Floats) -> Scene:
    """A convex body of points, moved to its centre of mass and principal axes."""
    corners = points[ConvexHull(points).vertices]
    _, centre, inertia = _mass_of_hull(corners)
    turn = np.linalg.eigh(inertia)[1]
    turn[:, 2] *= np.sign(np.linalg.det(turn))
    return shape("hull", []) | {"points": ((corners - centre) @ turn).tolist()}


def _mass_of_hull(corners: Floats) -> tuple[float, Floats, Floats]:
    """Mass, centre and inertia about it, of the tetrahedra between the points."""
    tetrahedra = corners[Delaunay(corners).simplices]
    edges = tetrahedra[:, 1:] - tetrahedra[:, :1]
    mass = DENSITY * np.abs(np.linalg.det(edges)) / 6.0
    centre = (mass[:, None] * tetrahedra.mean(axis=1)).sum(axis=0) / mass.sum()
    arms = tetrahedra - centre
    total = arms.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", mass, arms, arms)
    second = (second + np.einsum("n,ni,nj->ij", mass, total, total)) / 20.0
    return float(mass.sum()), centre, np.trace(second) * np.eye(3) - second


def mass_of(one: Scene) -> tuple[float, Floats]:
    """Mass [kg] and inertia (3, 3) [kg m^2] of a shape of DENSITY about its own centre."""
    kind, size = one["kind"], one["size"]
    if kind == "hull":
        mass, _, inertia = _mass_of_hull(np.array(one["points"]))
        return mass, inertia
    if kind == "sphere":
        mass = DENSITY * 4.0 / 3.0 * math.pi * size[0] ** 3
        moments = [0.4 * mass * size[0] ** 2] * 3
    elif kind == "box":
        x, y, z = (s * s for s in size)
        mass = DENSITY * 8.0 * size[0] * size[1] * size[2]
        moments = [mass / 3.0 * (y + z), mass / 3.0 * (x + z), mass / 3.0 * (x + y)]
    else:
        r, h = size
        tube = DENSITY * math.pi * r * r * 2.0 * h
        ball = DENSITY * 4.0 / 3.0 * math.pi * r**3 if kind == "capsule" else 0.0
        along = tube * r * r / 2.0 + 0.4 * ball * r * r
        across = tube * (r * r / 4.0 + h * h / 3.0)
        across += ball * (0.4 * r * r + h * h + 0.75 * h * r)
        mass, moments = tube + ball, [across, across, along]
    turn = rotations(np.array([one["quat"]]))[0]
    return mass, turn @ np.diag(moments) @ turn.T


def body(shapes: Scene | list[Scene], at: Any, mass: float | None = None, **more: Any) -> Scene:
    """A moving body of shapes, symmetric about its origin; more: quat, vel, angvel."""
    shapes = shapes if isinstance(shapes, list) else [shapes]
    total, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    for one in shapes:
        m, own = mass_of(one)
        p = np.array(one["pos"])
        total, moment = total + m, moment + m * p
        inertia += own + m * (p @ p * np.eye(3) - np.outer(p, p))
    off = np.abs(inertia - np.diag(np.diag(inertia))).max() / inertia.max()
    if off > 1e-9 or np.abs(moment).max() > 1e-9 * total:
        raise ValueError("a body of the families has its shapes about its centre of mass")
    share = 1.0 if mass is None else mass / total
    found = {"fixed": False, "shapes": shapes, "pos": numbers(at), "quat": UPRIGHT}
    found |= {"vel": [0.0] * 3, "angvel": [0.0] * 3}
    found |= {"mass": total * share, "inertia": numbers(share * np.diag(inertia))}
    return found | more


def still(shapes: Scene | list[Scene], at: Any, **more: Any) -> Scene:
    """A fixed body."""
    shapes = shapes if isinstance(shapes, list) else [shapes]
    found = {"fixed": True, "shapes": shapes, "pos": numbers(at), "quat": UPRIGHT, "mass": 0.0}
    return found | {"inertia": [0.0] * 3, "vel": [0.0] * 3, "angvel": [0.0] * 3} | more


def walls(inner: float, height: float) -> list[Scene]:
    """Four fixed boxes around a square floor."""
    t, w, h = 0.25, inner / 2.0, height / 2.0
    long, short = shape("box", [t, w + 2 * t, h]), shape("box", [w + 2 * t, t, h])
    return [
        still(long, [w + t, 0, h]),
        still(long, [-w - t, 0, h]),
        still(short, [0, w + t, h]),
        still(short, [0, -w - t, h]),
    ]


def joint(kind: str, parent: int, child: int, anchor: Any, **more: Any) -> Scene:
    """A joint; more: axis, axis2, anchor2, limits, motor."""
    found = {"kind": kind, "parent": parent, "child": child, "anchor": numbers(anchor)}
    found |= {"axis": Z, "axis2": X, "limits": None, "motor": None}
    return found | more


def velocity(target: float, most: float) -> Scene:
    """A motor that holds a speed with a bounded force."""
    return {"kind": "velocity", "target": target, "max": most}


def spring(kp: float, kd: float, target: float = 0.0) -> Scene:
    """A motor that is a spring and damper."""
    return {"kind": "spring", "kp": kp, "kd": kd, "target": target}


def scene(bodies: list[Scene], joints: Sequence[Scene] = (), **more: Any) -> Scene:
    """A scene on the ground under gravity unless `more` says otherwise."""
    found: Scene = {"dt": DT, "steps": 120, "window": (40, 120), "every": 10, "mu": 0.5}
    found |= {"gravity": [0.0, 0.0, -9.81], "plane": True}
    return found | {"bodies": bodies, "joints": list(joints)} | more


# --- draws ---------------------------------------------------------------------------------------


def turn(rng: Random) -> list[float]:
    """A random orientation."""
    q = rng.normal(size=4)
    return numbers(q / np.linalg.norm(q))


def about(axis: Any, angle: float) -> list[float]:
    """The turn about a unit axis."""
    return numbers([math.cos(angle / 2.0), *(math.sin(angle / 2.0) * np.array(axis))])


def between(rng: Random, low: float, high: float) -> float:
    """A random number whose logarithm is evenly spread."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def grid(rng: Random, n: int, apart: float, side: int) -> list[Floats]:
    """n places above one another in layers of side x side, a little out of line."""
    found = []
    for i in range(n):
        k, ij = divmod(i, side * side)
        a, b = divmod(ij, side)
        at = np.array([a - (side - 1) / 2.0, b - (side - 1) / 2.0, k + 0.6]) * apart
        found.append(at + rng.uniform(-0.01, 0.01, 3) * apart)
    return found
