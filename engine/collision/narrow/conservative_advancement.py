"""Conservative advancement: whether two moving shapes come within the margin during a step.

A gap at the beginning of a drift holds along one normal only. A body that passes beside the contact
point would still be stopped by it; distant pairs are therefore followed along their motion.
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.motion import point_velocity
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
    cross,
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
    REACH,
    ROTATION,
    TURNING,
    VELOCITY,
    CollisionScratch,
    Pair,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import CAPSULE, CONVEX, ELLIPSOID, SPHERE, Shapes

# Iterations at most; a pair undecided by then counts as near.
MAX_LOOKS = 32
# Nearer than the margin and this share of it counts as within the margin.
NEAR_ENOUGH = 1.01
# What overlaps by less than this share of the margin while a gap closes passes by.
GRAZING = 1e-2
# What closes by less than this share of that in a step stands.
SLOW = 1e-2
# Shapes without edges and corners.
ROUND = (SPHERE, CAPSULE, ELLIPSOID)


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


@kernel
def gap_after(
    shapes: Shapes, scratch: CollisionScratch, ij: tuple[int, int], first: int, t: float
) -> float:
    """Gap of shapes i < j after a time t of their present motion [m]; negative: a depth."""
    second = ij[0] + ij[1] - first
    origin = load3_from(scratch.solids, first, POSITION)
    move_side(shapes, scratch, 0, first, t, origin)
    move_side(shapes, scratch, 1, second, t, origin)
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    gap = nearest(pair, faces_of(shapes), 1e300, scratch)[0]
    put_back(shapes, scratch, ij)
    return float(gap)


@kernel
def is_wide(contacts: Contacts, first: int, width: float) -> bool:
    """Whether the contacts from `first` on span a face wider than `width` [m]."""
    if contacts.count[0] - first < 3:
        return False
    p = load3(contacts.point_W, first)
    a, b = (
        sub(load3(contacts.point_W, first + 1), p),
        sub(load3(contacts.point_W, first + 2), p),
    )
    return norm(cross(a, b)) > width * (norm(a) + norm(b))


@kernel
def least_gap(contacts: Contacts, first: int) -> float:
    """The least gap of the contacts from `first` on [m]; inf: there are none."""
    least = inf
    for c in range(first, contacts.count[0]):
        least = min(least, contacts.gap[c])
    return least


@kernel
def closes_first(
    scratch: CollisionScratch, ij: tuple[int, int], contacts: Contacts, first: int, h: float
) -> tuple[float, float, float]:
    """When the first gap of the contacts from `first` on closes [s], how fast, and how fast its
    points pass each other [m/s].

    inf, 0, 0: none does within h.
    """
    when, speed, slip = inf, 0.0, 0.0
    for c in range(first, contacts.count[0]):
        p, n = load3(contacts.point_W, c), load3(contacts.normal_W, c)
        v = point_velocity(scratch.solids, ij[0], p)
        v = sub(v, point_velocity(scratch.solids, ij[1], p))
        gap, closing = contacts.gap[c], dot(n, v)
        if gap < closing * h and gap < when * closing:
            when, speed, slip = gap / closing, closing, norm(add_scaled(v, -closing, n))
    return when, speed, slip


@kernel
def is_round(scratch: CollisionScratch, ij: tuple[int, int]) -> bool:
    """Whether one of two shapes has neither edges nor corners."""
    return (scratch.solids[ij[0], KIND] in ROUND) | (scratch.solids[ij[1], KIND] in ROUND)


@kernel
def passes_by(
    shapes: Shapes,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    kept: int,
    reach: tuple[float, float],
    contacts: Contacts,
) -> bool:
    """Whether shapes i < j pass each other, though gaps along the normals of now would close.

    They come nowhere near; or where they do, and the gap that closes first would be twice as deep
    as what grazes, they overlap in some other direction by no more than that.

    kept: their first contact; reach = (margin, h)

    Check   tests/engine/collision/test_continuous.py
    """
    solids, grazing, h = scratch.solids, GRAZING * reach[0], reach[1]
    # what is round turns its normal only where it moves on, by as much as rises above its tangent
    far, rounded = SLOW * grazing, is_round(scratch, ij)
    if rounded:
        far = sqrt(2.0 * min(solids[ij[0], BOUND], solids[ij[1], BOUND]) * grazing)
    way = solids[ij[0], REACH] + solids[ij[1], REACH]
    if not way > far or not -grazing < least_gap(contacts, kept) < way:
        return False
    when, speed, slip = closes_first(scratch, ij, contacts, kept, h)
    if not speed * h > SLOW * grazing or (rounded and not slip * h > far):
        return False
    if is_wide(contacts, kept, grazing):
        return False
    first = ij[1] if solids[ij[0], KIND] > solids[ij[1], KIND] else ij[0]
    deeper = 2.0 * grazing / speed
    if not gap_after(shapes, scratch, ij, first, when + deeper) > -grazing:
        return False
    near = time_within(shapes, scratch, ij, first, grazing, h)
    if near == inf:
        return True
    for t in (near + 1.5 * deeper, h):
        if not gap_after(shapes, scratch, ij, first, t) > -grazing:
            return False
    return True
