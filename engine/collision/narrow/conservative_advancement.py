"""Conservative advancement: whether two moving shapes come within the margin during a step.

A gap at the beginning of a drift holds along one normal only. A body that passes beside the contact
point would still be stopped by it; distant pairs are therefore followed along their motion.
"""

from __future__ import annotations

from math import inf

from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.narrow.dispatch import nearest
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.collision.narrow.solid import faces_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector
from cardan.engine.spatial.rotation import Mat3, exponential, matrix
from cardan.engine.spatial.vec3 import (
    Vec3,
    add,
    add_scaled,
    dot,
    load3,
    load3_from,
    norm,
    scale,
    sub,
)
from cardan.engine.world.collision import (
    BOUND,
    CENTRE,
    KIND,
    POINT_COUNT,
    POINT_START,
    POSITION,
    ROTATION,
    TURNING,
    VELOCITY,
    CollisionScratch,
    Pair,
)
from cardan.engine.world.model import CONVEX, Shapes

# Iterations at most; a pair undecided by then counts as near.
MAX_LOOKS = 32
# Nearer than the margin and this share of it counts as within the margin.
NEAR_ENOUGH = 1.01


@kernel
def rotation_of(scratch: CollisionScratch, i: int) -> Mat3:
    """R_WS of posed shape i."""
    return (
        load3_from(scratch.solids, i, ROTATION),
        load3_from(scratch.solids, i, ROTATION + 3),
        load3_from(scratch.solids, i, ROTATION + 6),
    )


@kernel
def turn_hull(shapes: Shapes, scratch: CollisionScratch, i: int, R: Mat3) -> None:
    """Vertices of hull i, about its own origin, in the orientation R."""
    start = int(scratch.solids[i, POINT_START])
    for j in range(start, start + int(scratch.solids[i, POINT_COUNT])):
        x = times_vector(R, load3(shapes.points, j))
        for k in range(3):
            scratch.points[j, k] = x[k]


@kernel
def turned_row(a: Vec3, R: Mat3) -> Vec3:
    """Row a of a matrix times R."""
    return add(add(scale(a[0], R[0]), scale(a[1], R[1])), scale(a[2], R[2]))


@kernel
def move_side(
    shapes: Shapes, scratch: CollisionScratch, side: int, i: int, t: float, origin: Vec3
) -> None:
    """Write shape i as side `side` of the pair, moved with its body for a time t.

    p(t) = c + t v + exp(t w) (p - c),  R(t) = exp(t w) R; hull vertices are rotated in place.
    """
    solids = scratch.solids
    c = load3_from(solids, i, CENTRE)
    turn = matrix(exponential(scale(t, load3_from(solids, i, TURNING))))
    arm = times_vector(turn, sub(load3_from(solids, i, POSITION), c))
    p = add(add_scaled(c, t, load3_from(solids, i, VELOCITY)), arm)
    R = rotation_of(scratch, i)
    R = (turned_row(turn[0], R), turned_row(turn[1], R), turned_row(turn[2], R))
    for k in range(3):
        scratch.pair[side, POSITION + k] = p[k] - origin[k]
        row = R[k]
        for l in range(3):
            scratch.pair[side, ROTATION + 3 * k + l] = row[l]
    if int(solids[i, KIND]) == CONVEX:
        turn_hull(shapes, scratch, i, R)


@kernel
def farthest_speed(scratch: CollisionScratch, i: int, n: Vec3) -> float:
    """Upper bound of point velocities along n: n . v + |w| (|p - c| + bounding radius) [m/s]."""
    solids = scratch.solids
    w = norm(load3_from(solids, i, TURNING))
    speed = dot(n, load3_from(solids, i, VELOCITY))
    if w > 0.0:
        arm = norm(sub(load3_from(solids, i, POSITION), load3_from(solids, i, CENTRE)))
        speed += w * (arm + solids[i, BOUND])
    return float(speed)


@kernel
def time_within(
    shapes: Shapes,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    first: int,
    margin: float,
    h: float,
) -> float:
    """When shapes i < j come within the margin during a time h [s], where undecided the time that
    was reached; inf: they do not.

    The plane normal to the line of nearest points separates both shapes, and no point crosses the
    gap along its normal faster than the sum of `farthest_speed` of both sides: a time of
    (gap - margin)/speed is free of contact.

    Reads   posed shapes with the velocities of their bodies; `first`: side 0 of the pair
    Source  Mirtich 1996, Impulse-based Dynamic Simulation, 2.3
    Check   tests/engine/collision/test_continuous.py
    """
    i, j = ij
    second = i + j - first
    origin = load3_from(scratch.solids, first, POSITION)
    faces = faces_of(shapes)
    t = 0.0
    for look in range(MAX_LOOKS):
        if look == 0:
            write_pair(scratch, i, j, first, origin)
        else:
            move_side(shapes, scratch, 0, first, t, origin)
            move_side(shapes, scratch, 1, second, t, origin)
        pair = Pair(scratch.pair, scratch.points, scratch.cosine)
        gap, n, _ = nearest(pair, faces, 1e300, scratch)
        if not gap > NEAR_ENOUGH * margin:
            break
        back = scale(-1.0, n)
        if is_hollow(int(scratch.solids[second, KIND])):
            # around a hollow no plane separates: the bound holds for motion in any direction
            v = load3_from(scratch.solids, first, VELOCITY)
            n = sub(v, load3_from(scratch.solids, second, VELOCITY))
            n = scale(1.0 / norm(n), n) if norm(n) > 0.0 else n
            back = scale(-1.0, n)
        closing = farthest_speed(scratch, first, n) + farthest_speed(scratch, second, back)
        if closing > 0.0:
            t += (gap - margin) / closing
        if closing <= 0.0 or t >= h:
            t = inf
            break
    put_back(shapes, scratch, ij)
    return t


@kernel
def comes_within(
    shapes: Shapes,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    first: int,
    margin: float,
    h: float,
) -> bool:
    """True if shapes i < j come within the margin during a time h; also if undecided."""
    return time_within(shapes, scratch, ij, first, margin, h) < inf


@kernel
def put_back(shapes: Shapes, scratch: CollisionScratch, ij: tuple[int, int]) -> None:
    """Bring the vertices of hulls that were moved back."""
    for shape in ij:
        if int(scratch.solids[shape, KIND]) == CONVEX:
            turn_hull(shapes, scratch, shape, rotation_of(scratch, shape))
