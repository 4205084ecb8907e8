"""How a contact point turns and travels while bodies roll, slide and rock on one another.

Between two kicks bodies keep their velocities, and a contact moves along both surfaces. Its rows
are those of one moment; what they will be at the end of the step follows from the curvature of the
two surfaces at the contact.
"""

from __future__ import annotations

from math import sqrt

from numpy.typing import NDArray

from cardan.engine.bodies.gyroscopic import gyroscopic_acceleration_in
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.hollow_curvature import around, hollow_curvature
from cardan.engine.spatial.mat3 import load33, turned_back
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load3_from,
    negate,
    norm,
    normalised,
    perpendicular,
    scale,
    sub,
)
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

# [1/m] curvature of an edge across it and of a vertex; below FLAT a surface is a plane
SHARP, FLAT = 1e6, 1e-6
# of a unit normal: the face, side or cap of a shape that it belongs to
ALIGNED = 1e-6
# [rad per step] for what turns more, bodies or normals, the quadratic says nothing
MOST_TURN = 0.5
# share of its size that a body which stands may move in a step
CREEP = 1e-8
# share of its terms below which a sum is zero: that of balls and wheels on a plane
ROUNDING = 1e-7
# the labels of a feature, without its faces
LABELS = (1 << 26) - 1
# share of the size of a box within which a point belongs to an edge or a vertex
NEAR = 1e-6

# a symmetric 2 by 2 matrix: (xx, xy, yy)
Sym2 = tuple[float, float, float]
Vec2 = tuple[float, float]

SHARP_POINT: Sym2 = (SHARP, 0.0, SHARP)
PLANAR: Sym2 = (0.0, 0.0, 0.0)


@kernel
def _sum(a: Sym2, b: Sym2) -> Sym2:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def _along(curvature: float, t: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature along the unit tangent t alone."""
    x, y = dot(t, basis[0]), dot(t, basis[1])
    return (curvature * x * x, curvature * x * y, curvature * y * y)


@kernel
def _times(K: Sym2, x: Vec2) -> Vec2:
    return (K[0] * x[0] + K[1] * x[1], K[1] * x[0] + K[2] * x[1])


@kernel
def _of_ellipsoid(radii: Vec3, m: Vec3, basis: tuple[Vec3, Vec3]) -> Sym2:
    """Curvature of x^2/a^2 + y^2/b^2 + z^2/c^2 = 1 where its outward normal is m [1/m]."""
    d = (radii[0] * m[0], radii[1] * m[1], radii[2] * m[2])
    length = sqrt(dot(d, d))
    t, u = basis
    found = (0.0, 0.0, 0.0)
    for k in range(3):
        c = length / (radii[k] * radii[k])
        found = _sum(found, (c * t[k] * t[k], c * t[k] * u[k], c * u[k] * u[k]))
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
        return found if abs(m[2]) < ALIGNED else _sum(found, _along(SHARP, cross(m, around), basis))
    slope = r / sqrt(r * r + 4.0 * h * h)
    if abs(m[2] - slope) < ALIGNED:
        radius = sqrt(p[0] * p[0] + p[1] * p[1])
        return _along(min(across / max(radius, 1.0 / SHARP), SHARP), around, basis)
    if m[2] > slope:
        return SHARP_POINT
    return _sum(_along(across / r, around, basis), _along(SHARP, cross(m, around), basis))


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
        return _sum(_along(k1, t, basis), _along(k2, cross(m, t), basis))
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


@kernel
def _flat(K_a: Sym2, K_b: Sym2) -> Sym2:
    """A sharp curvature in the directions in which both surfaces are flat, where nothing rolls."""
    S = _sum(K_a, K_b)
    half = 0.5 * (S[0] + S[2])
    largest = half + sqrt(0.25 * (S[0] - S[2]) ** 2 + S[1] * S[1])
    if largest < FLAT:
        return SHARP_POINT
    least = (S[0] * S[2] - S[1] * S[1]) / largest
    if least >= FLAT:
        return PLANAR
    x, y = (S[1], least - S[0]) if abs(least - S[0]) > abs(least - S[2]) else (least - S[2], S[1])
    k = SHARP / (x * x + y * y)
    return (k * x * x, k * x * y, k * y * y)


@kernel
def _solve2(S: Sym2, x: Vec2) -> Vec2:
    k = 1.0 / (S[0] * S[2] - S[1] * S[1])
    return (k * (S[2] * x[0] - S[1] * x[1]), k * (S[0] * x[1] - S[1] * x[0]))


@kernel
def _tangent(x: Vec2, t1: Vec3, t2: Vec3) -> Vec3:
    return add_scaled(scale(x[0], t1), x[1], t2)


@kernel
def _length(x: Vec2) -> float:
    return sqrt(x[0] ** 2 + x[1] ** 2)


@kernel
def _leaves(world: World, c: int, x: Vec2, y: Vec2) -> bool:
    """Whether contact c, which travels at x over A and y over B [m/s], leaves either in a step.

    Curvature at one point says nothing of so long a way.
    """
    contacts, radius, h = world.work.contacts, world.model.shapes.bounding_radius, world.clock.h[0]
    over_a, over_b = h * _length(x), h * _length(y)
    return bool(over_a > radius[contacts.shape_a[c]] or over_b > radius[contacts.shape_b[c]])


@kernel
def _is_nearest(S: Sym2) -> bool:
    """Whether two surfaces part in all directions from a contact, S the sum of their curvatures.

    In a bore that is narrower than a tilted shaft is wide a point may be a contact from which they
    come nearer to each other: it does not travel as nearest points do.
    """
    return bool(S[0] + S[2] > 0.0 and S[0] * S[2] - S[1] * S[1] > 0.0)


@kernel
def turn_by_sliding(world: World, c: int) -> float:
    """How far the normal of contact c turns in a step as two bodies slide on each other that do
    not turn [rad]: h |K_a a'|, as of a marble without friction in a bowl.

    Check   tests/laws/test_hollows.py
    """
    contacts, v, h = world.work.contacts, world.state.v_WB_W, world.clock.h[0]
    slip = sub(load3(v, contacts.body_b[c]), load3(v, contacts.body_a[c]))
    radius = world.model.shapes.bounding_radius
    if h * norm(slip) < CREEP * min(radius[contacts.shape_a[c]], radius[contacts.shape_b[c]]):
        return 0.0
    n = load3(contacts.normal_W, c)
    t1 = perpendicular(n)
    t2 = cross(n, t1)
    K_a = shape_operator(world, contacts.shape_a[c], c, n, (t1, t2))
    K_b = shape_operator(world, contacts.shape_b[c], c, negate(n), (t1, t2))
    flat = _flat(K_a, K_b)
    S = _sum(_sum(K_a, flat), _sum(K_b, flat))
    if not _is_nearest(S):
        return 0.0
    x = _solve2(S, _times(_sum(K_b, flat), (dot(slip, t1), dot(slip, t2))))
    return h * _length(_times(K_a, x))


@kernel
def _free_acceleration(world: World, body: int, w: Vec3, r: Vec3) -> Vec3:
    """Acceleration in free flight of a point at r from the centre of a body that turns at w."""
    bodies, free = world.model.bodies, world.work.motion.bias_acceleration
    turning = (free[body, 0], free[body, 1], free[body, 2])
    if bodies.node[body] < 0 and turning != ZERO3:
        inertia, inverse = load33(bodies.inertia_B, body), load33(bodies.inverse_inertia_B, body)
        R = matrix(load4(world.state.q_WB, body))
        turning = gyroscopic_acceleration_in(R, inertia, inverse, w)
    return add((free[body, 3], free[body, 4], free[body, 5]), cross(turning, r))


@kernel
def contact_acceleration(world: World, c: int, basis: tuple[Vec3, Vec3, Vec3]) -> Vec3:
    """d(J v)/dt [m/s^2] of the rows of contact c along (n, t1, t2) while bodies fly freely.

    The contact point travels at a' over A and b' over B such that it stays one point and the
    normals stay opposite:

        a' - b' = u,   K_a a' + K_b b' = (w_b - w_a) x n,   dn/dt = w_a x n + K_a a'
        dJv/dt = e . [w_b x (w_b x r_b + b') - w_a x (w_a x r_a + a')] + de/dt . u + J . free

    u the tangential velocity of B relative to A at the contact. In directions in which both
    surfaces are flat nothing rolls, and the point stays half way between its two bodies. The
    tangents are taken as fixed, which is exact where nothing slides. `free` are accelerations of
    free flight. What cancels up to rounding is zero. So is what leaves a shape within the step, or
    turns a normal by more than MOST_TURN: where the two surfaces have nearly one curvature the
    point may travel at any speed.

    Reads   poses in the middle of the step, motion.scratch (velocities), bias_acceleration
    Source  Montana 1988; decision 0201
    Check   tests/laws/test_rolling.py
    """
    contacts, state = world.work.contacts, world.state
    n, t1, t2 = basis
    a, b = contacts.body_a[c], contacts.body_b[c]
    point = load3(contacts.point_W, c)
    r_a, r_b = sub(point, load3(state.p_WB, a)), sub(point, load3(state.p_WB, b))
    v = world.work.motion.scratch
    w_a, w_b = (v[a, 0], v[a, 1], v[a, 2]), (v[b, 0], v[b, 1], v[b, 2])
    v_a, v_b = (v[a, 3], v[a, 4], v[a, 5]), (v[b, 3], v[b, 4], v[b, 5])
    slip = sub(add(v_b, cross(w_b, r_b)), add(v_a, cross(w_a, r_a)))
    K_a = shape_operator(world, contacts.shape_a[c], c, n, (t1, t2))
    K_b = shape_operator(world, contacts.shape_b[c], c, negate(n), (t1, t2))
    flat = _flat(K_a, K_b)
    turning = cross(sub(w_b, w_a), n)
    u = (dot(slip, t1), dot(slip, t2))
    carried = _times(_sum(K_b, flat), u)
    S = _sum(_sum(K_a, flat), _sum(K_b, flat))
    if not _is_nearest(S):
        return ZERO3
    x = _solve2(S, (dot(turning, t1) + carried[0], dot(turning, t2) + carried[1]))
    y = (x[0] - u[0], x[1] - u[1])
    most = MOST_TURN / world.clock.h[0]
    if _leaves(world, c, x, y) or max(_length(_times(K_a, x)), _length(_times(K_b, y))) > most:
        return ZERO3
    along_a, along_b = _tangent(x, t1, t2), _tangent(y, t1, t2)
    # where both are flat, the mean of what the two surfaces say
    bent_a, bent_b = _tangent(_times(K_a, x), t1, t2), _tangent(_times(K_b, y), t1, t2)
    dn = scale(0.5, add(cross(add(w_a, w_b), n), sub(bent_a, bent_b)))
    turned_a, turned_b = cross(w_a, cross(w_a, r_a)), cross(w_b, cross(w_b, r_b))
    d = sub(add(turned_b, cross(w_b, along_b)), add(turned_a, cross(w_a, along_a)))
    d = add(d, _free_acceleration(world, b, w_b, r_b))
    d = sub(d, _free_acceleration(world, a, w_a, r_a))
    found = (dot(n, d) + dot(dn, slip), dot(t1, d), dot(t2, d))
    if norm(found) <= ROUNDING * (norm(turned_a) + norm(turned_b)):
        return ZERO3
    return found
