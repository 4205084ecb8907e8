"""Worlds side by side in which shapes come near each other are left.

A pair of shapes has a contact when its gap is at most the margin and what both move in a step
(collision/find_contacts.py). A bound on the gap from below is the largest distance of their boxes
along the line of centres or across a face (a separating axis): as long as it is larger, the world
has no contact, and the step that lanes do is its step. What a motor's new target makes it look at
half a step earlier is within twice of what both move.
"""

from __future__ import annotations

from typing import Any

from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import any_of, in_all_lanes, select
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import Mat3, matrix
from cardan.engine.spatial.vec3 import Vec3, add, dot, load3, norm, sub
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

    Reads   poses, kick.velocity_old, velocities
    Writes  work.places
    """
    boxes, places, state = world.model.boxes, world.work.places, world.state
    body = boxes.body[i]
    R, old = matrix(load4(state.q_WB, body)), world.work.kick.velocity_old
    centre = add(load3(state.p_WB, body), times_vector(R, load3(boxes.centre_B, i)))
    R_BA = load33(boxes.R_BA, i)
    for k in range(3):
        places.centre_W[i, k] = centre[k]
        axis = times_vector(R, (R_BA[0][k], R_BA[1][k], R_BA[2][k]))
        for row in range(3):
            places.R_WA[i, row, k] = axis[row]
    w_old, v_old = load6(old, body)
    speed = larger(norm(v_old), norm(load3(state.v_WB_W, body)))
    turning = larger(norm(w_old), norm(load3(state.w_WB_W, body)))
    places.carried[i] = h * (speed + turning * boxes.reach[i])


@kernel
def axis_of(R: Mat3, k: int) -> Vec3:
    """Column k of a matrix."""
    return R[0][k], R[1][k], R[2][k]


@kernel
def half_width(boxes: LaneBoxes, i: int, R: Mat3, e: Vec3) -> Lanes:
    """Half the width of box i along the unit vector e [m]."""
    total = in_all_lanes(0.0, boxes.half)
    for k in range(3):
        total += boxes.half[i, k] * abs(dot(e, axis_of(R, k)))
    return total


@kernel
def gap_across_faces(boxes: LaneBoxes, places: LanePlaces, a: int, b: int, d: Vec3) -> Lanes:
    """The largest distance of boxes a and b along a normal of a face [m].

    d   from the centre of a to that of b, W
    """
    R_a, R_b = load33(places.R_WA, a), load33(places.R_WA, b)
    if boxes.is_plane[a] == 1:
        up = axis_of(R_a, 2)
        return dot(up, d) - half_width(boxes, b, R_b, up)
    e = axis_of(R_a, 0)
    gap = abs(dot(e, d)) - boxes.half[a, 0] - half_width(boxes, b, R_b, e)
    for k in range(1, 3):
        e = axis_of(R_a, k)
        gap = larger(gap, abs(dot(e, d)) - boxes.half[a, k] - half_width(boxes, b, R_b, e))
    for k in range(3):
        e = axis_of(R_b, k)
        gap = larger(gap, abs(dot(e, d)) - boxes.half[b, k] - half_width(boxes, a, R_a, e))
    return gap


@kernel
def leave_if_near(world: LaneWorld, a: int, b: int) -> None:
    """Leave the worlds in which shapes a and b may come into contact in this step."""
    boxes, places, left = world.model.boxes, world.work.places, world.state.left
    limit = boxes.margin[0] + WATCHED * (places.carried[a] + places.carried[b])
    d = sub(load3(places.centre_W, b), load3(places.centre_W, a))
    if boxes.is_plane[a] == 0:
        balls = norm(load3(boxes.half, a)) + norm(load3(boxes.half, b))
        if not any_of(~(norm(d) - balls > limit)):
            return
        apart = (norm(d) - balls > limit) | (gap_across_faces(boxes, places, a, b, d) > limit)
    else:
        apart = gap_across_faces(boxes, places, a, b, d) > limit
    left[0] = select(apart, left[0], 1.0)


@kernel
def leave_if_touching(world: LaneWorld, h: float) -> None:
    """Leave the worlds in which any shapes may come into contact in this step.

    Reads   poses, kick.velocity_old, velocities
    Writes  state.left; work.places
    Check   tests/engine/lanes/test_separation.py
    """
    boxes = world.model.boxes
    for i in range(boxes.body.shape[0]):
        place_box(world, i, h)
    for k in range(boxes.pair_a.shape[0]):
        leave_if_near(world, boxes.pair_a[k], boxes.pair_b[k])
