"""Boxes around the shapes of a scene, and which pairs of them may touch (not compiled)."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.reduced import pairs_that_may_touch
from cardan.engine.build.rotations import rotation_matrix
from cardan.engine.world.lanes import LaneBoxes
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONVEX,
    ELLIPSOID,
    MESH,
    PLANE,
    RING,
    SPHERE,
    Model,
    Shapes,
)

Array = NDArray[np.float64]

# pairs of shapes beyond which a world is computed alone, by boxes in a tree
MOST_PAIRS = 500


def touching_pairs(model: Model) -> NDArray[np.int64] | None:
    """(p, 2): shapes that may touch, a plane first; None: more pairs than lanes look at."""
    found = list(islice(pairs_that_may_touch(model), MOST_PAIRS + 1))
    if len(found) > MOST_PAIRS:
        return None
    kind = model.shapes.kind
    ordered = [(k, i) if kind[k] == PLANE else (i, k) for i, k in found]
    return np.array(ordered, np.int64).reshape(-1, 2)


def box_in_shape(shapes: Shapes, i: int) -> tuple[Array, Array]:
    """Centre and half edges of a box around shape i, along the axes of its frame S [m]."""
    kind, (a, b, c) = shapes.kind[i], shapes.size[i]
    centre = np.zeros(3)
    if kind == PLANE:
        return centre, np.zeros(3)
    if kind == CONVEX:
        first = shapes.point_start[i]
        points = shapes.points[first : first + shapes.point_count[i]]
        least, most = points.min(axis=0), points.max(axis=0)
        return 0.5 * (least + most), 0.5 * (most - least)
    if kind in (SPHERE, BOWL):
        return centre, np.full(3, a)
    if kind in (BOX, MESH, ELLIPSOID):
        return centre, np.array([a, b, c])
    if kind == CAPSULE:
        return centre, np.array([a, a, a + b])
    if kind == RING:
        return centre, np.array([a + b, a + b, b])
    # of a cylinder, cone or tube: radius, half length
    return centre, np.array([a, a, b])


def lane_boxes(model: Model, margin: float, pairs: NDArray[np.int64]) -> LaneBoxes:
    """Boxes of all shapes where some may touch, else none, still as floats.

    margin   m         of contacts
    pairs    (p, 2)    as `touching_pairs`
    """
    shapes = model.shapes
    m = len(shapes.kind) if len(pairs) else 0
    made = LaneBoxes(
        body=shapes.body[:m].copy(),
        is_plane=(shapes.kind[:m] == PLANE).astype(np.int64),
        centre_B=np.zeros((m, 3)),
        R_BA=np.zeros((m, 3, 3)),
        half=np.zeros((m, 3)),
        reach=np.zeros(m),
        pairs=pairs.copy(),
        margin=np.array([margin]),
    )
    for i in range(m):
        centre, made.half[i] = box_in_shape(shapes, i)
        made.R_BA[i] = rotation_matrix(shapes.q_BS[i])
        made.centre_B[i] = shapes.p_BS[i] + made.R_BA[i] @ centre
        radius = 0.0 if shapes.kind[i] == PLANE else shapes.bounding_radius[i]
        made.reach[i] = np.linalg.norm(shapes.p_BS[i]) + radius
    return made
