"""Choice of the narrow-phase routine for one pair, and its contact points."""

from __future__ import annotations

from cardan.engine.collision.hollow.contacts import round_hollow
from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.hollow.solids import solid_hollow
from cardan.engine.collision.manifold.contact_points import (
    add_nearest,
    choose_four,
    least_gap,
    write_candidates,
)
from cardan.engine.collision.narrow.box_box import box_box
from cardan.engine.collision.narrow.box_capsule import box_capsule
from cardan.engine.collision.narrow.closest_feature import Hit
from cardan.engine.collision.narrow.convex import convex_convex
from cardan.engine.collision.narrow.plane import solid_plane
from cardan.engine.collision.narrow.segment import segment_segment
from cardan.engine.collision.narrow.solid import kind_of, scale_of
from cardan.engine.collision.narrow.sphere import sphere_box, sphere_cylinder
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.world.collision import CollisionScratch, Faces, Pair
from cardan.engine.world.model import BOX, CAPSULE, CONVEX, CYLINDER, PLANE, SPHERE

# If contact points differ from the separating-axis gap by more than this share of the size, GJK is
# used instead.
CERTAIN = 1e-6


@kernel
def nearest(pair: Pair, faces: Faces, limit: float, scratch: CollisionScratch) -> Hit:
    """Gap, normal and nearest points of a pair whose side 0 has the smaller kind."""
    simplex, polytope = scratch.simplex, scratch.polytope
    a = kind_of(pair, 0)
    b = kind_of(pair, 1)
    if b == PLANE:
        return solid_plane(pair)
    if is_hollow(b) and (a in (SPHERE, CAPSULE)):
        return round_hollow(pair, simplex)
    if is_hollow(b) and (a in (BOX, CYLINDER, CONVEX)):
        return solid_hollow(pair, faces, limit, scratch)[0]
    if (a in (SPHERE, CAPSULE)) and (b in (SPHERE, CAPSULE)):
        return segment_segment(pair)
    if a == SPHERE and b == BOX:
        return sphere_box(pair)
    if a == SPHERE and b == CYLINDER:
        return sphere_cylinder(pair)
    if a == BOX and b == BOX:
        return box_box(pair, limit)
    if a == BOX and b == CAPSULE:
        return box_capsule(pair, limit, simplex, polytope)
    return convex_convex(pair, limit, simplex, polytope)


@kernel
def find_points(
    pair: Pair, faces: Faces, hit: Hit, limit: float, scratch: CollisionScratch
) -> tuple[int, Vec3]:
    """Number of contacts of a hit pair with gaps up to `limit`, and their normal from 0 to 1.

    Side 0 is not a sphere, which touches in its nearest point only.

    Writes  patch.chosen: rows of patch.candidate and patch.feature
    """
    patch = scratch.patch
    size = scale_of(pair)
    hit, count = write_candidates(pair, faces, hit, limit, patch)
    if (
        kind_of(pair, 1) == BOX
        and kind_of(pair, 0) == BOX
        and hit[0] > 0.0
        and least_gap(patch, count) > hit[0] + CERTAIN * size
    ):
        # separate, and no points are as near as the axis gap: corners or edges are nearest
        hit = convex_convex(pair, limit, scratch.simplex, scratch.polytope)
        if not hit[0] <= limit:
            return (0, hit[1])
        hit, count = write_candidates(pair, faces, hit, limit, patch)
    count = add_nearest(pair, hit, count, patch)
    return (choose_four(patch, count, size, limit), hit[1])
