"""Boxes, cylinders and convex shapes in and beside hollow shapes, compared with fine samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cardan.engine.collision.queries.between_steps import nearest_shapes, pose_shapes
from cardan.engine.world.model import BOWL, BOX, CONVEX, CYLINDER, RING, TUBE
from tests.engine.collision.reference import rotation
from tests.engine.collision.worlds import Solid, World, about, hull_faces

HOLLOWS = {
    "tube": (TUBE, (0.5, 0.4, 0.3)),
    "ring": (RING, (0.5, 0.15, 0.0)),
    "half bowl": (BOWL, (0.6, 0.5 * math.pi, 0.4)),
    "flat bowl": (BOWL, (0.6, 0.9, 0.4)),
}
SOLIDS = {
    "box": (BOX, (0.12, 0.08, 0.15)),
    "plate": (BOX, (0.5, 0.4, 0.02)),
    "cylinder": (CYLINDER, (0.15, 0.1, 0.0)),
    "shaft": (CYLINDER, (0.2, 0.9, 0.0)),
    "disc": (CYLINDER, (0.7, 0.03, 0.0)),
    "hull": (CONVEX, (0.0, 0.0, 0.0)),
}
rng = np.random.default_rng(4)
POINTS = rng.normal(size=(12, 3))
POINTS = 0.25 * POINTS / np.linalg.norm(POINTS, axis=1)[:, None] * [1.0, 0.8, 0.6]


def distance(kind, size, x):
    """Signed distances of points (n, 3) from a hollow shape, by its profile."""
    square, z = x[:, 0] ** 2 + x[:, 1] ** 2, x[:, 2]
    rho = np.sqrt(square)
    if kind == RING:
        return np.sqrt((rho - size[0]) ** 2 + z * z) - size[1]
    if kind == TUBE:
        a = np.abs(rho - 0.5 * (size[0] + size[2])) - 0.5 * (size[0] - size[2])
        b = np.abs(z) - size[1]
        outside = np.sqrt(np.maximum(a, 0) ** 2 + np.maximum(b, 0) ** 2)
        return outside + np.minimum(np.maximum(a, b), 0)
    s = np.sqrt(square + z * z)
    wall = np.maximum(size[2] - s, s - size[0])
    c, e = math.cos(size[1]), math.sin(size[1])
    k = np.clip(rho * e - z * c, size[2], size[0])
    rim = np.sqrt((rho - k * e) ** 2 + (z + k * c) ** 2)
    return np.where(-z >= c * s, np.maximum(wall, -rim), rim)


def surface(kind, size):
    """Points spread over the surface of a solid, those of its edges closer to one another."""
    draw = np.random.default_rng(7)
    if kind == CYLINDER:
        angle = np.linspace(0.0, 2.0 * np.pi, 3001)
        rim = size[0] * np.stack([np.cos(angle), np.sin(angle)], 1)
        parts = [np.column_stack([rim, np.full(len(rim), z)]) for z in (-size[1], size[1])]
        a, z = draw.uniform(0, 2 * np.pi, 40000), draw.uniform(-1, 1, 40000) * size[1]
        parts.append(np.column_stack([size[0] * np.cos(a), size[0] * np.sin(a), z]))
        r = size[0] * np.sqrt(draw.uniform(0, 1, 40000))
        side = np.sign(draw.uniform(-1, 1, 40000)) * size[1]
        parts.append(np.column_stack([r * np.cos(a), r * np.sin(a), side]))
        return np.concatenate(parts)
    corners = POINTS
    if kind == BOX:
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        corners = signs * np.array(size)
    vertices, _, _, loops = hull_faces(corners)
    parts = []
    for loop in loops:
        face = vertices[loop]
        for a, b in zip(face, np.roll(face, -1, axis=0), strict=True):
            parts.append(a + np.linspace(0, 1, 1001)[:, None] * (b - a))
        weights = draw.dirichlet(np.ones(3), 40000 // len(loops))
        for k in range(1, len(face) - 1):
            parts.append(weights @ face[[0, k, k + 1]])
    return np.concatenate(parts)


def poses(count):
    """Poses of a solid about a hollow shape, many of them inside, some along its axis."""
    draw = np.random.default_rng(11)
    for k in range(count):
        p = draw.uniform(-1.0, 1.0, 3) * (0.35 if k % 2 else 1.2)
        q = draw.normal(size=4)
        q /= np.linalg.norm(q)
        if k % 5 == 0:
            p[:2] *= 0.1
            q = np.array(about(draw.normal(size=3), 0.1))
        yield tuple(p), tuple(q)


@pytest.mark.parametrize("hollow", HOLLOWS)
@pytest.mark.parametrize("name", SOLIDS)
def test_gap_is_the_least_distance_of_all_points(hollow, name):
    kind, size = SOLIDS[name]
    of, wide = HOLLOWS[hollow]
    points = surface(kind, size)
    solid = Solid(kind, size, points=POINTS if kind == CONVEX else None)
    place, turn = (0.3, -0.2, 0.5), about((1.0, 2.0, 3.0), 0.7)
    world = World([solid, Solid(of, wide, p=place, q=turn, dynamic=False)])
    R = rotation(turn)
    apart = 0
    for p, q in poses(60):
        own = R @ rotation(q)
        x = (rotation(q) @ points.T).T + p  # columns in one piece
        if distance(of, wide, x[::50]).min() < 0.0:
            continue
        least = distance(of, wide, x).min()
        if least < 0.0:
            continue
        apart += 1
        world.state.p_WB[0] = R @ p + place
        world.state.q_WB[0] = quaternion_of(own)
        pose_shapes(world.model.shapes, world.state, world.scratch)
        gap, n, middle = nearest_shapes(world.model, world.scratch, world.contacts, 0, 1)
        # no sample is nearer, and two points of the surfaces are so near
        assert gap <= least + 1e-12
        n, middle = R.T @ n, R.T @ (np.array(middle) - place)
        a, b = middle - 0.5 * gap * n, middle + 0.5 * gap * n
        assert abs(distance(of, wide, b[None])[0]) < 1e-9
        assert abs(distance(of, wide, a[None])[0] - gap) < 1e-9
        assert sum((x[:, k] - a[k]) ** 2 for k in range(3)).min() < 0.03**2
        assert gap > least - 0.01
    assert apart >= 10


def quaternion_of(R):
    """[w, x, y, z] of a matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return (w, x, y, z)
