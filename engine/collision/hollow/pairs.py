"""Contacts of a hollow shape with a ball, a capsule, a box, a cylinder or a convex solid."""

from __future__ import annotations

import math

from cardan.engine.collision.hollow.contacts import find_places, hollow_hit
from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.hollow.solids import choose_hits, solid_hollow
from cardan.engine.collision.keep_contact import keep_point, may_close
from cardan.engine.collision.manifold.extent import clear_share
from cardan.engine.collision.narrow.conservative_advancement import comes_within
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.collision.narrow.solid import scale_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, load3, load3_from, negate, store3
from cardan.engine.world.collision import (
    KIND,
    POSITION,
    REACH,
    CollisionScratch,
    Faces,
    Pair,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import CAPSULE, SPHERE, Shapes


@kernel
def write_round(
    scratch: CollisionScratch,
    pair: Pair,
    ij: tuple[int, int],
    origin: Vec3,
    reach: tuple[float, float],
    contacts: Contacts,
) -> float:
    """Append the contacts of a ball or capsule; the least gap among them, or inf."""
    places = scratch.simplex
    count = find_places(pair, places)
    # a ball on an edge rests on three points of it
    count = 3 if scratch.solids[ij[0], KIND] == SPHERE else count
    least = math.inf
    for k in range(count):
        hit, feature = hollow_hit(pair, places, k)
        point = (add(origin, hit[2]), hit[1], hit[0], feature)
        if hit[0] < math.inf and keep_point(scratch, ij, point, reach, contacts):
            least = min(least, hit[0])
    return least


@kernel
def write_solid(
    scratch: CollisionScratch,
    pair: Pair,
    faces: Faces,
    ij: tuple[int, int],
    reach: tuple[float, float],
    contacts: Contacts,
) -> float:
    """Append the contacts of a solid with edges; the least gap among them, or inf."""
    origin = load3_from(scratch.solids, ij[0], POSITION)
    limit = reach[0] + scratch.solids[ij[0], REACH] + scratch.solids[ij[1], REACH]
    kept = scratch.reduction
    _, count = solid_hollow(pair, faces, limit, scratch)
    for k in range(count):
        point = (add(origin, load3(kept.point, k)), load3(kept.normal, k), float(kept.gap[k]))
        kept.triangle[k] = 0 if may_close(scratch, ij, point, reach) else -1
    choose_hits(kept, count, scale_of(pair))
    least = math.inf
    for k in range(count):
        if kept.triangle[k] == 1:
            p, gap = add(origin, load3(kept.point, k)), float(kept.gap[k])
            point_k = (p, load3(kept.normal, k), gap, int(kept.feature[k]))
            keep_point(scratch, ij, point_k, reach, contacts)
            least = min(least, gap)
    return least


@kernel
def write_hollow_contacts(
    shapes: Shapes,
    scratch: CollisionScratch,
    faces: Faces,
    ij: tuple[int, int],
    reach: tuple[float, float],
    contacts: Contacts,
) -> None:
    """Append the contacts of a pair with one hollow shape, of which the other is no plane."""
    is_first = is_hollow(shapes.kind[ij[0]])
    i, j = (ij[1], ij[0]) if is_first else ij
    kind = shapes.kind[i]
    before, dropped = contacts.count[0], contacts.dropped[0]
    clear_share(scratch.patch)
    origin = load3_from(scratch.solids, i, POSITION)
    write_pair(scratch, i, j, i, origin)
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    if kind in (SPHERE, CAPSULE):
        least = write_round(scratch, pair, (i, j), origin, reach, contacts)
    else:
        least = write_solid(scratch, pair, faces, (i, j), reach, contacts)
    margin, h = reach
    if margin < least < math.inf and not comes_within(shapes, scratch, (i, j), i, margin, h):
        contacts.count[0] = before
        contacts.dropped[0] = dropped
    for c in range(before, contacts.count[0] if is_first else before):
        contacts.shape_a[c], contacts.shape_b[c] = ij[0], ij[1]
        store3(contacts.normal_W, c, negate(load3(contacts.normal_W, c)))
