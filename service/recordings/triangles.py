"""Triangles of the shapes of a scene, for pictures: in the body frame, front side outside."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vertices = NDArray[np.float64]
Faces = NDArray[np.uint32]

SEGMENTS = 24
# half the edge of the square that stands for an infinite plane, where nothing says how large [m]
PLANE_HALF = 20.0


def triangles(shape: Mapping[str, Any]) -> tuple[Vertices, Faces]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a shape as a scene document has it."""
    vertices, faces = _in_its_frame(shape)
    turn = rotation(shape.get("orientation", (1.0, 0.0, 0.0, 0.0)))
    return vertices @ turn.T + np.asarray(shape.get("position", (0.0, 0.0, 0.0)), np.float64), faces


def reach(shape: Mapping[str, Any]) -> float:
    """A distance from the body's origin beyond which nothing of a shape lies [m]; 0 of a plane."""
    match shape["type"]:
        case "plane":
            return 0.0
        case "box":
            own = 0.5 * math.hypot(*shape["size"])
        case "sphere" | "ellipsoid":
            own = max(shape.get("radii", [shape.get("radius")]))
        case "capsule":
            own = 0.5 * shape["length"] + shape["radius"]
        case "cylinder" | "cone" | "tube":
            own = math.hypot(shape.get("radius", shape.get("outer_radius")), 0.5 * shape["length"])
        case "ring":
            own = shape["major_radius"] + shape["minor_radius"]
        case "bowl":
            own = shape["outer_radius"]
        case _:
            own = float(np.linalg.norm(_in_its_frame(shape)[0], axis=1).max())
    return math.hypot(*shape.get("position", (0.0, 0.0, 0.0))) + float(own)


def rotation(q: Sequence[float]) -> NDArray[np.float64]:
    """The matrix (3, 3) of a quaternion [w, x, y, z]."""
    w, x, y, z = np.asarray(q, np.float64) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _in_its_frame(shape: Mapping[str, Any]) -> tuple[Vertices, Faces]:
    match shape["type"]:
        case "box":
            return _hull(_corners(shape["size"]))
        case "sphere":
            return _ball(np.full(3, float(shape["radius"])))
        case "ellipsoid":
            return _ball(np.asarray(shape["radii"], np.float64))
        case "capsule" | "cylinder" | "cone":
            return _turned(_profile(shape))
        case "tube" | "ring" | "bowl":
            return _turned(_hollow_profile(shape))
        case "convex":
            return _hull(np.asarray(shape["points"], np.float64))
        case "mesh":
            return np.asarray(shape["vertices"], np.float64), np.asarray(shape["faces"], np.uint32)
        case "heightfield":
            return _field(np.asarray(shape["heights"], np.float64), shape["size"])
        case "plane":
            return _square(shape)
    raise ValueError(f"no picture of a {shape['type']}")


def _corners(size: Sequence[float]) -> Vertices:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
    return signs * (0.5 * np.asarray(size, np.float64))


def _ball(radii: Vertices) -> tuple[Vertices, Faces]:
    angles = np.linspace(-0.5 * math.pi, 0.5 * math.pi, SEGMENTS // 2 + 1)
    r = np.cos(angles)
    # exactly: there are no triangles at the poles
    r[[0, -1]] = 0.0
    vertices, faces = _turned(np.stack([r, np.sin(angles)], axis=1))
    return vertices * radii, faces


def _profile(shape: Mapping[str, Any]) -> Vertices:
    """Radius and height of the outline, from below: it is turned about z."""
    radius, half = float(shape["radius"]), 0.5 * float(shape["length"])
    if shape["type"] == "cylinder":
        return np.array([[0.0, -half], [radius, -half], [radius, half], [0.0, half]])
    if shape["type"] == "cone":
        return np.array([[0.0, -half], [radius, -half], [0.0, half]])
    quarter = np.linspace(0.0, 0.5 * math.pi, SEGMENTS // 4 + 1)
    r, z = radius * np.sin(quarter), -half - radius * np.cos(quarter)
    return np.concatenate([np.stack([r, z], 1), np.stack([r[::-1], -z[::-1]], 1)])


def _hollow_profile(shape: Mapping[str, Any]) -> Vertices:
    """Radius and height of the outline of a tube, ring or bowl, upwards on its outer side."""
    if shape["type"] == "ring":
        turn = np.linspace(0.0, 2.0 * math.pi, SEGMENTS + 1)
        major, minor = float(shape["major_radius"]), float(shape["minor_radius"])
        return np.stack([major + minor * np.cos(turn), minor * np.sin(turn)], axis=1)
    inner, outer = float(shape["inner_radius"]), float(shape["outer_radius"])
    if shape["type"] == "tube":
        half = 0.5 * float(shape["length"])
        corners = [(outer, -half), (outer, half), (inner, half), (inner, -half), (outer, -half)]
        return np.array(corners)
    tilt = np.linspace(0.0, float(shape.get("angle", 0.5 * math.pi)), SEGMENTS // 2 + 1)
    arc = np.stack([np.sin(tilt), -np.cos(tilt)], axis=1)
    return np.concatenate([outer * arc, inner * arc[::-1]])


def _turned(profile: Vertices) -> tuple[Vertices, Faces]:
    """A surface of revolution; triangles without area at the poles are left out."""
    turn = 2.0 * math.pi * np.arange(SEGMENTS) / SEGMENTS
    r, z = profile[:, 0, None], np.repeat(profile[:, 1, None], SEGMENTS, axis=1)
    vertices = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=-1).reshape(-1, 3)
    faces = []
    for ring in range(len(profile) - 1):
        for i in range(SEGMENTS):
            a, b = ring * SEGMENTS + i, ring * SEGMENTS + (i + 1) % SEGMENTS
            c, d = a + SEGMENTS, b + SEGMENTS
            if profile[ring, 0] > 0.0:
                faces.append((a, b, d))
            if profile[ring + 1, 0] > 0.0:
                faces.append((a, d, c))
    return vertices, np.array(faces, np.uint32)


def _hull(points: Vertices) -> tuple[Vertices, Faces]:
    # half a second to load, which formats without pictures need not spend
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    faces = found.simplices.astype(np.uint32)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * found.equations[:, :3], axis=1) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return points, faces


def _field(heights: NDArray[np.float64], size: Sequence[float]) -> tuple[Vertices, Faces]:
    rows, columns = heights.shape
    x = np.linspace(-0.5, 0.5, columns) * size[0]
    y = np.linspace(-0.5, 0.5, rows) * size[1]
    vertices = np.stack([*np.meshgrid(x, y), heights], axis=-1).reshape(-1, 3)
    faces = []
    for j in range(rows - 1):
        for i in range(columns - 1):
            a, b = j * columns + i, j * columns + i + 1
            c, d = a + columns, b + columns
            faces += [(a, b, c), (b, d, c)]
    return vertices, np.array(faces, np.uint32)


def _square(shape: Mapping[str, Any]) -> tuple[Vertices, Faces]:
    """The part of a plane below its `middle`, of half the edge `half`."""
    n = np.asarray(shape["normal"], np.float64) / np.linalg.norm(shape["normal"])
    middle = np.asarray(shape.get("middle", (0.0, 0.0, 0.0)), np.float64)
    foot = middle + (float(shape.get("offset", 0.0)) - n @ middle) * n
    # any direction across it
    u = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    u /= np.linalg.norm(u)
    v = np.cross(n, u)
    ends = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners = foot + float(shape.get("half", PLANE_HALF)) * (ends @ np.stack([u, v]))
    return corners, np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
