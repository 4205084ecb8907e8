"""Which shapes a hollow shape may touch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.faults import Faults
from cardan.engine.build.kinds import is_one_of
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONVEX,
    CYLINDER,
    DYNAMIC,
    PLANE,
    RING,
    SPHERE,
    TUBE,
    Bodies,
    Shapes,
)

TOUCHED = (SPHERE, BOX, CAPSULE, CYLINDER, CONVEX, PLANE)


def check_hollow(
    shapes: Shapes, bodies: Bodies, excluded: NDArray[np.int64], faults: Faults
) -> None:
    """Add a fault for the first shape of another body that a hollow shape may meet but not touch.

    Reads   excluded   keys of pairs of bodies that a joint keeps from touching
    """
    others = np.flatnonzero(~is_one_of(shapes.kind, TOUCHED))
    for i in np.flatnonzero(is_one_of(shapes.kind, (TUBE, RING, BOWL))):
        for j in others:
            a, b = sorted((int(shapes.body[i]), int(shapes.body[j])))
            moves = DYNAMIC in (bodies.kind[a], bodies.kind[b])
            key = a * (len(bodies.kind) - 1) + b
            agree = shapes.group[i] & shapes.mask[j] and shapes.group[j] & shapes.mask[i]
            if a == b or not moves or not agree or key in excluded:
                continue
            faults.add(
                f"/bodies/{shapes.body[i]}/shapes/{shapes.number[i]}",
                "hollow_pair",
                "A hollow shape touches balls, boxes, capsules, cylinders, convex shapes and "
                f"planes; shape {shapes.number[j]} of body {shapes.body[j]} is none of them.",
                "Make that one of these, the hollow one a mesh, or part them by `collision_mask`.",
            )
            break
