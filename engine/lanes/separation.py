"""Worlds side by side in which shapes come near each other are left.

A pair of shapes has a contact when its gap is at most the margin and what both move in a step
(collision/find_contacts.py). A bound on the gap from below is the largest distance of their boxes
along the line of centres or across a face (a separating axis): as long as it is larger, the world
has no contact, and the step that lanes do is its step. What a motor's new target makes it look at
half a step earlier is within twice of what both move.
"""

from __future__ import annotations

import math
from typing import Any

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import any_of, in_all_lanes, select
from cardan.engine.spatial.mat3 import load33, store33, times_matrix, times_vector, transposed
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import Vec3, add, dot, load3, norm, store3, sub
from cardan.engine.trees.spatial_arrays import load6
from cardan.engine.world.lanes import LaneBoxes, LanePlaces, LaneWorld

Lanes = Any  # float64 of each world

# how much of what shapes move in a step is kept free between them
WATCHED = 2.0


@kernel
def larger(a: Lanes, b: Lanes) -> Lanes:
    """The larger number of each world."""
    return select(a > b, a, b)


@kernel
def place_box(world: LaneWorld, i: int, h: float) -> None:
    """Pose box i, and how far a point of its shape moves in h before and after the kick.

    Reads   poses, work.velocity_old, velocities
    Writes  work.places
    """
    boxes, places, state = world.model.boxes, world.work.places, world.state
    body = boxes.body[i]
    R, old = matrix(load4(state.q_WB, body)), world.work.velocity_old
    centre = add(load3(state.p_WB, body), times_vector(R, load3(boxes.centre_B, i)))
    store3(places.centre_W, i, centre)
    store33(places.R_AW, i, transposed(times_matrix(R, load33(boxes.R_BA, i))))
    w_old, v_old = load6(old, body)
    speed = larger(norm(v_old), norm(load3(state.v_WB_W, body)))
    turning = larger(norm(w_old), norm(load3(state.w_WB_W, body)))
    places.carried[i] = h * (speed + turning * boxes.reach[i])


@kernel
def half_width(boxes: LaneBoxes, places: LanePlaces, i: int, e: Vec3) -> Lanes:
    """Half the width of box i along the unit vector e, W [m]."""
    x, y, z = times_vector(load33(places.R_AW, i), e)
    half = load3(boxes.half, i)
    return half[0] * abs(x) + half[1] * abs(y) + half[2] * abs(z)


@kernel
def gap_across_faces(boxes: LaneBoxes, places: LanePlaces, a: int, b: int, d: Vec3) -> Lanes:
    """The largest distance of boxes a and b along a normal of a face of a [m].

    d   between the centres, W; of a plane a: from it
    """
    axes = load33(places.R_AW, a)
    if boxes.is_plane[a] == 1:
        return dot(axes[2], d) - half_width(boxes, places, b, axes[2])
    gap = in_all_lanes(-math.inf, boxes.half)
    for k in range(3):
        e = axes[k]
        gap = larger(gap, abs(dot(e, d)) - boxes.half[a, k] - half_width(boxes, places, b, e))
    return gap


@kernel
def leave_if_near(world: LaneWorld, a: int, b: int) -> None:
    """Leave the worlds in which shapes a and b may come into contact in this step."""
    boxes, places, left = world.model.boxes, world.work.places, world.state.left
    limit = boxes.margin[0] + WATCHED * (places.carried[a] + places.carried[b])
    d = sub(load3(places.centre_W, b), load3(places.centre_W, a))
    if boxes.is_plane[a] == 1:
        apart = gap_across_faces(boxes, places, a, b, d) > limit
    else:
        balls = norm(load3(boxes.half, a)) + norm(load3(boxes.half, b))
        apart = norm(d) - balls > limit
        if not any_of(~apart):
            return
        apart = apart | (gap_across_faces(boxes, places, a, b, d) > limit)
        apart = apart | (gap_across_faces(boxes, places, b, a, d) > limit)
    left[0] = select(apart, left[0], 1.0)


@kernel
def leave_if_touching(world: LaneWorld, h: float) -> None:
    """Leave the worlds in which any shapes may come into contact in this step.

    Reads   poses, work.velocity_old, velocities
    Writes  state.left; work.places
    Check   tests/engine/lanes/test_separation.py
    """
    boxes = world.model.boxes
    for i in range(boxes.body.shape[0]):
        place_box(world, i, h)
    for k in range(boxes.pairs.shape[0]):
        leave_if_near(world, boxes.pairs[k, 0], boxes.pairs[k, 1])
