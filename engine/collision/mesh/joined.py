"""Contacts of round solids with facets that are joined to a smooth hollow surface.

Over a facet lies the surface that touches it in its middle, of its curvature K (build/facets.py):

    m = n + K x,   height = -1/2 x . K x,   x from the middle of the facet

At the edge of two facets both have the same normal, so what rolls or slides does not strike it.
"""

from __future__ import annotations

from cardan.engine.collision.mesh.triangle import MESH_ROW, mesh_point, world_normal
from cardan.engine.collision.narrow.solid import axis_of, radius_of, to_world
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, add, add_scaled, dot, load3, norm, normalised, sub
from cardan.engine.world.collision import Pair, Reduction
from cardan.engine.world.model import Meshes

# share of the radius of a solid by which a surface may rise above its facets
RISE = 2e-3
# of the radius of the surface: rounder solids alone
ROUNDER = 0.5
# [rad] the normal turns no further; [rad] that of a face contact
MOST_TURN, ALONG = 0.1, 1e-5
# steps to the point where the solid touches the curved surface
STEPS = 8
# share of the radius of a solid within which two facets give the same contact
SAME = 0.1
# in place of a facet: its plane was met; a nearer one gives the same contact
PLANE, REPEATED = -1, -2

Touch = tuple[Vec3, Vec3, float]


@kernel
def times_curvature(pair: Pair, meshes: Meshes, t: int, x: Vec3) -> Vec3:
    """K x, in the axes of the pair."""
    a = dot(axis_of(pair, MESH_ROW, 0), x)
    b = dot(axis_of(pair, MESH_ROW, 1), x)
    c = dot(axis_of(pair, MESH_ROW, 2), x)
    K = meshes.curvature[t]
    return to_world(
        pair,
        MESH_ROW,
        (
            K[0] * a + K[3] * b + K[4] * c,
            K[3] * a + K[1] * b + K[5] * c,
            K[4] * a + K[5] * b + K[2] * c,
        ),
    )


@kernel
def is_joined(pair: Pair, meshes: Meshes, t: int, n: Vec3) -> bool:
    """Whether facet t, touched along n, stands for a smooth surface for this solid."""
    r = radius_of(pair, 0)
    if meshes.curvature_rise[t] == 0.0 or r == 0.0:
        return False
    K = meshes.curvature[t]
    if meshes.curvature_rise[t] > RISE * r or -(K[0] + K[1] + K[2]) * r > ROUNDER:
        return False
    return norm(sub(n, world_normal(pair, meshes, t))) <= ALONG


@kernel
def offset_from(pair: Pair, meshes: Meshes, t: int, touch: Touch) -> Vec3:
    """Vector from the middle of facet t to the solid's centre of curvature, in the plane [m]."""
    p, n, _ = touch
    x = sub(p, mesh_point(pair, load3(meshes.curvature_middle, t)))
    return add_scaled(x, -dot(n, x), n)


@kernel
def on_surface(pair: Pair, meshes: Meshes, t: int, touch: Touch) -> tuple[bool, Touch]:
    """The contact with the curved surface over facet t in place of that with the facet.

    Its normal turns by d = K (x - r d), and its gap changes by x . d/2.
    """
    p, n, gap = touch
    r = radius_of(pair, 0)
    x = offset_from(pair, meshes, t, touch)
    d = (0.0, 0.0, 0.0)
    for _ in range(STEPS):
        d = times_curvature(pair, meshes, t, add_scaled(x, -r, d))
    if norm(d) > MOST_TURN:
        return False, touch
    centre = add_scaled(p, r + 0.5 * gap, n)
    m = normalised(add(n, d))
    nearer = gap + 0.5 * dot(x, d)
    return True, (add_scaled(centre, -(r + 0.5 * nearer), m), m, nearer)


@kernel
def touch_of(reduction: Reduction, row: int) -> Touch:
    """Point, normal and gap of a row of the reduction."""
    return load3(reduction.point, row), load3(reduction.normal, row), float(reduction.gap[row])


@kernel
def is_repeated(reduction: Reduction, pair: Pair, meshes: Meshes, k: int, count: int) -> bool:
    """Whether a nearer facet of the same surface gives chosen contact k, too."""
    row = reduction.chosen[k]
    here = touch_of(reduction, row)
    own = norm(offset_from(pair, meshes, reduction.triangle[row], here))
    for j in range(count):
        t, there = reduction.triangle[reduction.chosen[j]], touch_of(reduction, reduction.chosen[j])
        is_near = norm(sub(there[0], here[0])) <= SAME * radius_of(pair, 0)
        if j != k and is_near and is_joined(pair, meshes, t, there[1]):
            distance = norm(offset_from(pair, meshes, t, there))
            if distance < own or (distance == own and j < k):
                return True
    return False


@kernel
def joined_contact(
    reduction: Reduction, pair: Pair, meshes: Meshes, k: int, count: int
) -> tuple[int, Touch]:
    """Chosen contact k of count, on the surface for which its facet stands, if it does.

    Returns the facet, PLANE or REPEATED, and the contact

    Check   tests/engine/collision/mesh/test_joined.py
    """
    row = reduction.chosen[k]
    t, touch = reduction.triangle[row], touch_of(reduction, row)
    if not is_joined(pair, meshes, t, touch[1]):
        return PLANE, touch
    if is_repeated(reduction, pair, meshes, k, count):
        return REPEATED, touch
    on_it, touch = on_surface(pair, meshes, t, touch)
    return (t if on_it else PLANE), touch
