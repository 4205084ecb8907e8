"""The scene as numbers between spaces, for the drivers in C++ (drivers/scene.h)."""

from pathlib import Path
from typing import Any

from benchmarks.families.solids import Scene

SHAPES = ("sphere", "box", "capsule", "cylinder", "hull", "mesh")
JOINTS = ("ball", "hinge", "slider", "universal", "fixed", "cylindrical", "planar", "distance")


def _shape(one: Scene) -> list[Any]:
    points: list[Any] = one.get("points") or one.get("vertices") or []
    faces: list[list[int]] = one.get("faces") or []
    size: list[Any] = one["size"] + [0.0, 0.0, 0.0]
    found = [SHAPES.index(one["kind"]) + 1, *size[:3]]
    found += one["pos"] + one["quat"]
    found += [3 * len(points), *(x for p in points for x in p)]
    found.append(3 * len(faces))
    return found + [i for face in faces for i in face]


def _joint(one: Scene) -> list[Any]:
    anchor, stops, motor = one["anchor"], one["limits"], one["motor"]
    found: list[Any] = [JOINTS.index(one["kind"]) + 1, one["parent"], one["child"]]
    anchor2 = one.get("anchor2") or anchor
    for vector in (anchor, one["axis"], one["axis2"], anchor2):
        found.extend(vector)
    found.extend([0, 0.0, 0.0] if stops is None else [1, *stops])
    if motor is None:
        found.extend([0, 0.0, 0.0, 0.0])
    elif motor["kind"] == "velocity":
        found.extend([1, motor["target"], motor["max"], 0.0])
    else:
        found.extend([2, motor["kp"], motor["kd"], motor["target"]])
    return found


def write_flat(one: Scene, path: Path) -> None:
    """Write the scene."""
    lines: list[list[Any]] = [
        [one["dt"], one["steps"], one["every"], *one["gravity"], one["mu"], int(one["plane"])],
        [len(one["bodies"])],
    ]
    for b in one["bodies"]:
        pose = [*b["pos"], *b["quat"], *b["vel"], *b["angvel"]]
        lines.append([int(b["fixed"]), *pose, b["mass"], *b["inertia"], len(b["shapes"])])
        lines += [_shape(s) for s in b["shapes"]]
    lines.append([len(one["joints"])])
    lines += [_joint(j) for j in one["joints"]]
    text = "\n".join(" ".join(repr(x) for x in line) for line in lines)
    path.write_text(text + "\n", encoding="utf-8")


def plain(one: Scene) -> Scene | None:
    """The scene as benchmarks.contacts has them; None where that cannot express it."""
    if one["joints"]:
        return None
    bodies = []
    for b in one["bodies"]:
        shape = b["shapes"][0]
        centred = max(map(abs, [*shape["pos"], *shape["quat"][1:]])) == 0.0
        if len(b["shapes"]) > 1 or not centred or shape["kind"] not in SHAPES[:3]:
            return None
        bodies.append(b | {"kind": shape["kind"], "size": shape["size"]})
    return one | {"bodies": bodies}
