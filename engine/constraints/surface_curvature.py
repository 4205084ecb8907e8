"""Curvatures of the surfaces of shapes at a contact."""

from __future__ import annotations

from math import sqrt

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.hollow_curvature import ALIGNED, SHARP, around, hollow_curvature
from cardan.engine.spatial.mat3 import turned_back
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, load3_from, normalised, sub
from cardan.engine.world.collision import CAP_FACES, KIND, NEAREST_FEATURE, POSITION, ROTATION, SIZE
from cardan.engine.world.model import (
    BOWL,
    BOX,
    CAPSULE,
    CONE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    MESH,
    RING,
    SPHERE,
    TUBE,
    Shapes,
)
from cardan.engine.world.world import World

# the labels of a feature, without its faces
LABELS = (1 << 26) - 1
# share of the size of a box within which a point belongs to an edge or a vertex
NEAR = 1e-6

# a symmetric 2 by 2 matrix: (xx, xy, yy)
Sym2 = tuple[float, float, float]

SHARP_POINT: Sym2 = (SHARP, 0.0, SHARP)
PLANAR: Sym2 = (0.0, 0.0, 0.0)


@kernel
def plus(a: Sym2, b: Sym2) -> Sym2:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def _along(curvature: float, t: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature along the unit tangent t alone."""
    x, y = dot(t, basis[0]), dot(t, basis[1])
    return (curvature * x * x, curvature * x * y, curvature * y * y)


@kernel
def _of_ellipsoid(radii: Vec3, m: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature of x^2/a^2 + y^2/b^2 + z^2/c^2 = 1 where its outward normal is m [1/m]."""
    d = (radii[0] * m[0], radii[1] * m[1], radii[2] * m[2])
    length = sqrt(dot(d, d))
    t, u = basis
    found = (0.0, 0.0, 0.0)
    for k in range(3):
        c = length / (radii[k] * radii[k])
        found = plus(found, (c * t[k] * t[k], c * t[k] * u[k], c * u[k] * u[k]))
    return found


@kernel
def _of_box(half: Vec3, p: Vec3, gap: float, m: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """A face, an edge across itself, or a vertex, by how many faces the point p lies on."""
    count, free = 0, 0
    for k in range(3):
        if abs(p[k]) >= half[k] - abs(gap) - NEAR * half[k]:
            count += 1
        else:
            free = k
    if count <= 1:
        return PLANAR
    if count == 3:
        return SHARP_POINT
    edge = (1.0 if free == 0 else 0.0, 1.0 if free == 1 else 0.0, 1.0 if free == 2 else 0.0)
    return _along(SHARP, normalised(cross(m, edge)), basis)


@kernel
def _of_hull(shapes: Shapes, s: int, m: Vec3) -> Sym2:
    """Plane where the normal is that of a face, else sharp."""
    for f in range(shapes.face_start[s], shapes.face_start[s] + shapes.face_count[s]):
        if dot(m, load3(shapes.face_normal, f)) > 1.0 - ALIGNED * ALIGNED:
            return PLANAR
    return SHARP_POINT


@kernel
def _of_round(kind: int, size: Vec3, p: Vec3, m: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Capsule, cylinder and cone about their axis z: side, cap, rim, apex.

    A circle of radius R has the curvature sin a/R in a surface whose normal makes the angle a with
    its axis; across a rim the surface is sharp.
    """
    r, h = size[0], size[1]
    across = sqrt(m[0] * m[0] + m[1] * m[1])
    if kind == CAPSULE:
        if abs(p[2]) >= h:
            return (1.0 / r, 0.0, 1.0 / r)
        return _along(1.0 / r, (-m[1] / across, m[0] / across, 0.0), basis)
    if across < ALIGNED:
        return PLANAR
    around = (-m[1] / across, m[0] / across, 0.0)
    if kind == CYLINDER:
        found = _along(across / r, around, basis)
        return found if abs(m[2]) < ALIGNED else plus(found, _along(SHARP, cross(m, around), basis))
    slope = r / sqrt(r * r + 4.0 * h * h)
    if abs(m[2] - slope) < ALIGNED:
        radius = sqrt(p[0] * p[0] + p[1] * p[1])
        return _along(min(across / max(radius, 1.0 / SHARP), SHARP), around, basis)
    if m[2] > slope:
        return SHARP_POINT
    return plus(_along(across / r, around, basis), _along(SHARP, cross(m, around), basis))


@kernel
def _of_facet(K: NDArray, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature of the smooth surface that a facet approximates; K: xx yy zz xy xz yz [1/m]."""
    a, b, c = (K[0], K[3], K[4]), (K[3], K[1], K[5]), (K[4], K[5], K[2])
    t, u = basis
    along = (dot(a, u), dot(b, u), dot(c, u))
    return (dot(t, (dot(a, t), dot(b, t), dot(c, t))), dot(t, along), dot(u, along))


@kernel
def _is_within_cap(kind: int, size: Vec3, p: Vec3, gap: float, m: Vec3) -> bool:
    """Whether the point p is inside the rim of a cap of a cylinder, or of the base of a cone."""
    inside = size[0] - abs(gap) - NEAR * size[0]
    is_cap = kind == CYLINDER or m[2] < 0.0
    return bool(is_cap and inside > 0.0 and p[0] * p[0] + p[1] * p[1] < inside * inside)


@kernel
def shape_operator(world: World, s: int, c: int, m_W: Vec3, basis_W: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature [1/m] of shape s at contact c, positive where convex, in a basis of the tangents.

    m_W is the outward unit normal of the shape. Planes are planar, and so are triangles
    of meshes that stand for no smooth surface.

    Reads   collision.solids at the present poses
    """
    solids, shapes = world.collision.solids, world.model.shapes
    kind = int(solids[s, KIND])
    size = load3_from(solids, s, SIZE)
    if kind == SPHERE:
        return (1.0 / size[0], 0.0, 1.0 / size[0])
    m = turned_back(solids, s, ROTATION, m_W)
    basis = (
        turned_back(solids, s, ROTATION, basis_W[0]),
        turned_back(solids, s, ROTATION, basis_W[1]),
    )
    contacts = world.work.contacts
    p = turned_back(
        solids, s, ROTATION, sub(load3(contacts.point_W, c), load3_from(solids, s, POSITION))
    )
    if kind in (TUBE, RING, BOWL):
        t = around(p, m)
        k1, k2 = hollow_curvature(kind, size, p, m)
        return plus(_along(k1, t, basis), _along(k2, cross(m, t), basis))
    if kind == MESH and contacts.facet[c] >= 0:
        return _of_facet(world.model.meshes.curvature[contacts.facet[c]], basis)
    if kind == ELLIPSOID:
        return _of_ellipsoid(size, m, basis)
    if kind == BOX:
        return _of_box(size, p, float(contacts.gap[c]), m, basis)
    if kind == CONVEX:
        return _of_hull(shapes, s, m)
    if (
        kind in (CYLINDER, CONE)
        and abs(m[2]) > CAP_FACES
        and contacts.feature[c] & LABELS != NEAREST_FEATURE
    ):
        # a point of the rim stays the same
        return PLANAR if _is_within_cap(kind, size, p, float(contacts.gap[c]), m) else SHARP_POINT
    if kind in (CAPSULE, CYLINDER, CONE):
        return _of_round(kind, size, p, m, basis)
    return PLANAR
