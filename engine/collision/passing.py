"""Shapes that only pass each other: gaps along the normals of now would close, and none does.

A gap holds along one normal, that of where the shapes are now. When it closes, the shapes may be
elsewhere: a box that slides from one table to the next approaches the side of that, and is on top
of it when it gets there; what passes an edge within the margin approaches it until it is beside it.

Source  decision 1210
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.engine.collision.manifold.contact_reduction import GRAZING
from cardan.engine.collision.manifold.persistence import was_loaded
from cardan.engine.collision.mesh.following import meets_after
from cardan.engine.collision.motion import point_velocity
from cardan.engine.collision.narrow.conservative_advancement import (
    move_side,
    put_back,
    time_within,
)
from cardan.engine.collision.narrow.dispatch import nearest
from cardan.engine.collision.narrow.solid import faces_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import add_scaled, cross, dot, load3, load3_from, norm, sub
from cardan.engine.world.collision import BOUND, KIND, POSITION, REACH, CollisionScratch, Pair
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import (
    BOWL,
    CAPSULE,
    DYNAMIC,
    ELLIPSOID,
    MESH,
    PLANE,
    RING,
    SPHERE,
    TUBE,
    Model,
    Shapes,
)
from cardan.engine.world.state import State

# What closes by less than this share of that in a step stands.
SLOW = 1e-2
# Shapes without edges and corners.
ROUND = (SPHERE, CAPSULE, ELLIPSOID)
# Shapes that are not followed on their way.
NOT_FOLLOWED = (PLANE, TUBE, RING, BOWL)
# Moments of the rest of a step at which a solid is compared with a mesh.
LOOKS = 3


@kernel
def are_followed(model: Model, i: int, j: int, crowded: bool) -> bool:
    """Whether shapes are followed on their way: not two of moving bodies in a crowd, where others
    turn them round into each other."""
    kinds, bodies = model.shapes.kind, model.bodies
    if kinds[i] in NOT_FOLLOWED or kinds[j] in NOT_FOLLOWED:
        return False
    a, b = bodies.kind[model.shapes.body[i]], bodies.kind[model.shapes.body[j]]
    return not crowded or a != DYNAMIC or b != DYNAMIC


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
def smallest_gap(contacts: Contacts, first: int) -> float:
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
def passes_mesh(
    model: Model,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    reach: tuple[float, float],
    begin: float,
) -> bool:
    """Whether of shapes i < j, one a mesh, the other one overlaps no triangle by more than what
    grazes from a time `begin` [s] to the end of the step.

    reach = (margin, h)
    """
    solids, (margin, h) = scratch.solids, reach
    sides = (ij[1], ij[0]) if solids[ij[0], KIND] == MESH else ij
    limit = margin + solids[ij[0], REACH] + solids[ij[1], REACH]
    for look in range(LOOKS):
        t = begin + max(h - begin, 0.0) * look / (LOOKS - 1)
        if meets_after(model, scratch, sides, (margin, limit, h), GRAZING * margin, t):
            return False
    return True


@kernel
def passes_solid(
    shapes: Shapes,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    reach: tuple[float, float],
    closed: tuple[float, float],
) -> bool:
    """Whether shapes i < j come nowhere near each other, or overlap by no more than what grazes.

    reach = (margin, h); closed = (when the first gap is so deep [s], time it takes from zero to it)
    """
    solids, grazing, h = scratch.solids, GRAZING * reach[0], reach[1]
    begin, deeper = closed
    first = ij[1] if solids[ij[0], KIND] > solids[ij[1], KIND] else ij[0]
    if not gap_after(shapes, scratch, ij, first, begin) > -grazing:
        return False
    near = time_within(shapes, scratch, ij, first, grazing, h)
    if near == inf:
        return True
    for t in (near + 1.5 * deeper, h):
        if not gap_after(shapes, scratch, ij, first, t) > -grazing:
            return False
    return True


@kernel
def closing(
    scratch: CollisionScratch,
    ij: tuple[int, int],
    first: int,
    reach: tuple[float, float],
    contacts: Contacts,
) -> tuple[float, float]:
    """When the first gap of shapes i < j along the normals of now would close [s], and how fast
    [m/s]; inf, 0: none does, or what closes is no edge.

    first: their first contact; reach = (margin, h)
    """
    solids, grazing, h = scratch.solids, GRAZING * reach[0], reach[1]
    # what is round turns its normal only where it moves on, by as much as rises above its tangent
    far, rounded = SLOW * grazing, is_round(scratch, ij)
    if rounded:
        far = sqrt(2.0 * min(solids[ij[0], BOUND], solids[ij[1], BOUND]) * grazing)
    way = solids[ij[0], REACH] + solids[ij[1], REACH]
    if not way > far or not -grazing < smallest_gap(contacts, first) < way:
        return inf, 0.0
    when, speed, slip = closes_first(scratch, ij, contacts, first, h)
    if not speed * h > SLOW * grazing or (rounded and not slip * h > far):
        return inf, 0.0
    return (inf, 0.0) if is_wide(contacts, first, grazing) else (when, speed)


@kernel
def pass_by(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    pair: tuple[int, int, int],
    reach: tuple[float, float],
    contacts: Contacts,
    crowded: bool,
) -> bool:
    """Whether the contacts of a pair are to be dropped: its shapes only pass each other.

    Gaps along the present normals would close, and yet the shapes stay apart; or they meet, and
    when the gap that closes first would be as deep as twice what grazes, they overlap in no
    direction by more than what grazes. What carried load in the last step does not pass: a rim that
    rolls has another contact in every step.

    pair = (i, j, their first contact); reach = (margin, h)

    Check   tests/laws/test_passing.py
    """
    i, j, first = pair
    if contacts.count[0] == first or not are_followed(model, i, j, crowded):
        return False
    when, speed = closing(scratch, (i, j), first, reach, contacts)
    if when == inf or was_loaded(state.contacts, i * len(model.shapes.kind) + j):
        return False
    deeper = 2.0 * GRAZING * reach[0] / speed
    if MESH in (model.shapes.kind[i], model.shapes.kind[j]):
        return passes_mesh(model, scratch, (i, j), reach, when + deeper)
    return passes_solid(model.shapes, scratch, (i, j), reach, (when + deeper, deeper))
