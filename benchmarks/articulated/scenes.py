"""Chains, a humanoid and a quadruped as plain data, the same for every engine.

z is up, SI units, quaternions are (w, x, y, z). A body's frame sits in its centre of mass along its
principal axes. A shape is sphere [r], box [half extents] or capsule [r, half length of the
cylinder], its axis along local z. A joint turns about `axes` one after the other (none: a ball);
poses are the zero of every angle; `kp` and `kd` drive its one angle to 0. Bodies touch the plane
z = 0 where there is one, and not each other. `window`: the steps over which time is taken.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scene = dict[str, Any]
Floats = NDArray[np.float64]
Limit = tuple[float, float] | None

DENSITY = 1000.0
DT = 1e-3
X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
ALONG_Z = [1.0, 0.0, 0.0, 0.0]
ALONG_X = [math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]
ALONG_Y = [math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0]


def rotation(q: Sequence[float]) -> Floats:
    """The matrix of a unit quaternion [w, x, y, z]: columns are the body's axes in W."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def shape(kind: str, size: list[float], at: Any = (0.0, 0.0, 0.0), quat: Any = None) -> Scene:
    """A shape in its body."""
    pose = {"pos": [float(x) for x in at], "quat": quat or ALONG_Z}
    return {"kind": kind, "size": size, **pose}


def mass_of(one: Scene) -> tuple[float, Floats]:
    """Mass [kg] and inertia about its own centre in the body's axes [kg m^2] at DENSITY."""
    size = one["size"]
    if one["kind"] == "sphere":
        mass = DENSITY * 4.0 / 3.0 * math.pi * size[0] ** 3
        moments = [0.4 * mass * size[0] ** 2] * 3
    elif one["kind"] == "box":
        x, y, z = (s * s for s in size)
        mass = DENSITY * 8.0 * size[0] * size[1] * size[2]
        moments = [mass / 3.0 * (y + z), mass / 3.0 * (x + z), mass / 3.0 * (x + y)]
    else:
        r, h = size
        tube, ball = DENSITY * math.pi * r * r * 2.0 * h, DENSITY * 4.0 / 3.0 * math.pi * r**3
        along = tube * r * r / 2.0 + 0.4 * ball * r * r
        across = tube * (r * r / 4.0 + h * h / 3.0)
        across += ball * (0.4 * r * r + h * h + 0.75 * h * r)
        mass, moments = tube + ball, [across, across, along]
    R = rotation(one["quat"])
    return mass, R @ np.diag(moments) @ R.T


def body(shapes: list[Scene], at: Any, mass: float | None = None, **more: Any) -> Scene:
    """A body of shapes, given in a frame at `at`, which is moved into their centre of mass."""
    found = [mass_of(one) for one in shapes]
    total = sum(m for m, _ in found)
    centre = sum(m * np.array(s["pos"]) for (m, _), s in zip(found, shapes, strict=True)) / total
    inertia = np.zeros((3, 3))
    for (m, moments), one in zip(found, shapes, strict=True):
        d = np.array(one["pos"]) - centre
        inertia += moments + m * (d @ d * np.eye(3) - np.outer(d, d))
        one["pos"] = [float(x) for x in np.array(one["pos"]) - centre]
    scale = 1.0 if mass is None else mass / total
    quat = more.pop("quat", ALONG_Z)
    at = np.array(at, float) + rotation(quat) @ centre
    pose = {"fixed": False, "pos": [float(x) for x in at], "quat": [float(x) for x in quat]}
    still = {"vel": [0.0] * 3, "angvel": [0.0] * 3}
    moments = [float(x) for x in np.diag(inertia) * scale]
    return pose | still | {"mass": total * scale, "inertia": moments, "shapes": shapes} | more


def joint(parent: int, child: int, anchor: Any, axes: Any, degrees: list[Limit]) -> Scene:
    """A chain of hinges between two bodies, with limits; no axes: a ball."""
    limits = [None if x is None else [math.radians(x[0]), math.radians(x[1])] for x in degrees]
    at = [float(x) for x in anchor]
    return {"parent": parent, "child": child, "anchor": at, "axes": axes, "limits": limits}


def scene(name: str, bodies: list[Scene], joints: list[Scene], steps: int, **more: Any) -> Scene:
    """Under gravity; no plane unless `plane`."""
    found = {"name": name, "dt": DT, "steps": steps, "every": steps // 20, "bodies": bodies}
    found |= {"joints": joints, "gravity": [0.0, 0.0, -9.81], "mu": 0.5, "plane": False}
    return found | {"window": [steps // 3, steps]} | more


def chain(kind: str, n: int) -> Scene:
    """n rods of 0.2 m let go from the horizontal; on balls they also turn about the vertical."""
    length, r = 0.2, 0.02
    w = np.array([0.0, 0.0, 1.0 if kind == "ball" else 0.0])
    bodies, joints = [], []
    for i in range(n):
        at = np.array([(i + 0.5) * length, 0.0, 0.0])
        rod = shape("capsule", [r, length / 2 - r], quat=ALONG_X)
        moving = {"vel": [float(x) for x in np.cross(w, at)], "angvel": [float(x) for x in w]}
        bodies.append(body([rod], at, **moving))
        axes: list[list[float]] = [] if kind == "ball" else [Y]
        joints.append(joint(i - 1, i, [i * length, 0, 0], axes, [None for _ in axes]))
    # the height of the centre of mass sets the scale of energy errors
    scale = sum(b["mass"] for b in bodies) * 9.81 * n * length / 2
    return scene(f"{kind}{n}", bodies, joints, 5000, window=[0, 5000], energy_scale=scale)


class Figure:
    """Bodies and joints of a humanoid as they are put together, z0 above the ground."""

    def __init__(self, z0: float) -> None:
        """Without any body."""
        self.z0 = z0
        self.bodies: list[Scene] = []
        self.joints: list[Scene] = []

    def add(self, shapes: list[Scene], at: list[float]) -> int:
        """A body; its number."""
        self.bodies.append(body(shapes, np.array(at) + self.z0 * np.array(Z)))
        return len(self.bodies) - 1

    def hang(self, parent: int, child: int, at: list[float], axes: Any, limits: Any) -> None:
        """A joint."""
        anchor = np.array(at) + self.z0 * np.array(Z)
        self.joints.append(joint(parent, child, anchor, axes, limits))

    def leg(self, pelvis: int, y: float) -> None:
        """Thigh, shin and foot."""
        soles = [shape("capsule", [0.027, 0.1], [0.03, s, 0], ALONG_X) for s in (0.02, -0.02)]
        thigh = self.add([shape("capsule", [0.06, 0.17])], [0, y, 0.67])
        shin = self.add([shape("capsule", [0.049, 0.15])], [0, y, 0.27])
        foot = self.add(soles, [0, y, 0.03])
        self.hang(pelvis, thigh, [0, y, 0.84], [X, Z, Y], [(-25, 25), (-60, 35), (-110, 20)])
        self.hang(thigh, shin, [0, y, 0.47], [Y], [(-2, 160)])
        self.hang(shin, foot, [0, y, 0.07], [Y, X], [(-50, 50), (-50, 50)])

    def arm(self, torso: int, s: int) -> None:
        """Upper arm and lower arm with a hand; s = -1: the right one."""
        hand = shape("sphere", [0.04], [0, s * 0.17, 0])
        upper = self.add([shape("capsule", [0.04, 0.12], quat=ALONG_Y)], [0, s * 0.33, 1.36])
        lower = [shape("capsule", [0.031, 0.12], quat=ALONG_Y), hand]
        fore = self.add(lower, [0, s * 0.62, 1.36])
        self.hang(torso, upper, [0, s * 0.17, 1.36], [X, Z], [(-85, 60), (-85, 60)])
        bends = (-50, 100) if s > 0 else (-100, 50)
        self.hang(upper, fore, [0, s * 0.48, 1.36], [Z], [bends])


def humanoid() -> Scene:
    """13 bodies, a free base and 21 hinges with stops; it stands and falls over."""
    figure = Figure(0.3)
    trunk = [shape("capsule", [0.07, 0.07], quat=ALONG_Y), shape("sphere", [0.09], [0, 0, 0.19])]
    trunk.append(shape("capsule", [0.06, 0.06], [0, 0, -0.12], ALONG_Y))
    torso = figure.add(trunk, [0, 0, 1.3])
    waist = figure.add([shape("capsule", [0.06, 0.06], quat=ALONG_Y)], [0, 0, 1.04])
    pelvis = figure.add([shape("capsule", [0.09, 0.07], quat=ALONG_Y)], [0, 0, 0.88])
    figure.hang(torso, waist, [0, 0, 1.105], [Z, Y], [(-45, 45), (-75, 30)])
    figure.hang(waist, pelvis, [0, 0, 0.96], [X], [(-35, 35)])
    for s in (-1, 1):
        figure.leg(pelvis, 0.1 * s)
    for s in (-1, 1):
        figure.arm(torso, s)
    return scene("humanoid", figure.bodies, figure.joints, 3000, plane=True, window=[1000, 3000])


def quadruped() -> Scene:
    """A trunk on four legs of three driven hinges each, feet of balls."""
    thigh, shank, r, lean, knee = 0.30, 0.33, 0.03, 0.7, -1.3
    upper = [math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0]
    lower = [math.cos((lean + knee) / 2), 0.0, math.sin((lean + knee) / 2), 0.0]
    z = r + thigh * math.cos(lean) + shank * math.cos(lean + knee) + 0.005
    bodies = [body([shape("box", [0.28, 0.13, 0.1])], [0, 0, z], mass=20.0)]
    joints = []
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        at = np.array([x * 0.28, y * 0.12, z])
        k0 = at + np.array([x * 0.06, y * 0.08, 0])
        k1 = k0 + rotation(upper) @ [0, 0, -thigh]
        i = len(bodies)
        bone = shape("capsule", [0.015, shank / 2 - 0.03], [0, 0, -shank / 2])
        foot = shape("sphere", [r], [0, 0, -shank])
        middle = k0 + rotation(upper) @ [0, 0, -thigh / 2]
        hip = [shape("capsule", [0.045, 0.02], quat=ALONG_X)]
        bodies.append(body(hip, at + x * 0.06 * np.array(X), mass=1.5))
        thick = [shape("capsule", [r, thigh / 2 - r])]
        bodies.append(body(thick, middle, quat=upper, mass=2.0))
        bodies.append(body([bone, foot], k1, quat=lower, mass=0.6))
        for parent, child, anchor, axis in (
            (0, i, at, X),
            (i, i + 1, k0, Y),
            (i + 1, i + 2, k1, Y),
        ):
            joints.append(joint(parent, child, anchor, [axis], [None]) | {"kp": 150.0, "kd": 4.0})
    return scene("quadruped", bodies, joints, 3000, plane=True, mu=0.8, window=[1000, 3000])


SCENES: dict[str, Callable[[], Scene]] = {
    "ball10": lambda: chain("ball", 10),
    "ball100": lambda: chain("ball", 100),
    "hinge10": lambda: chain("hinge", 10),
    "hinge100": lambda: chain("hinge", 100),
    "humanoid": humanoid,
    "quadruped": quadruped,
}


def write_flat(one: Scene, path: Path) -> None:
    """The scene as numbers between spaces, for drivers in C++."""
    kinds = {"sphere": 1, "box": 2, "capsule": 3}
    lines: list[list[Any]] = [
        [one["dt"], one["steps"], one["every"], *one["gravity"], one["mu"], int(one["plane"])],
        [len(one["bodies"])],
    ]
    for b in one["bodies"]:
        pose = [*b["pos"], *b["quat"], *b["vel"], *b["angvel"]]
        lines.append([*pose, b["mass"], *b["inertia"], len(b["shapes"])])
        for s in b["shapes"]:
            size = [*s["size"], 0.0, 0.0][:3]
            lines.append([kinds[s["kind"]], *size, *s["pos"], *s["quat"]])
    lines.append([len(one["joints"])])
    for j in one["joints"]:
        lines.append([j["parent"], j["child"], *j["anchor"], len(j["axes"])])
        for axis, limit in zip(j["axes"], j["limits"], strict=True):
            lines.append([*axis, int(limit is not None), *(limit or [0.0, 0.0])])
        lines.append([j.get("kp", 0.0), j.get("kd", 0.0)])
    text = "\n".join(" ".join(repr(x) for x in line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")
