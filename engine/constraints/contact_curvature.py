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
from cardan.engine.constraints.hollow_curvature import SHARP
from cardan.engine.constraints.surface_curvature import (
    NEAR,
    PLANAR,
    SHARP_POINT,
    Sym2,
    plus,
    shape_operator,
)
from cardan.engine.spatial.mat3 import load33
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
    scale,
    sub,
    tangents_of,
)
from cardan.engine.world.collision import POSITION, ROTATION
from cardan.engine.world.model import BOWL, CAPSULE, CONE, CYLINDER, RING, SPHERE, TUBE
from cardan.engine.world.world import World

# [1/m] below it a surface is a plane; and what is less curved than SMOOTH is no edge
FLAT, SMOOTH = 1e-6, 0.5 * SHARP
# [rad per step] for what turns more, bodies or normals, the quadratic says nothing
MOST_TURN = 0.5
# share of its size that a body which stands may move in a step
CREEP = 1e-8
# share of its terms below which a sum is zero: that of balls and wheels on a plane
ROUNDING = 1e-7
# shapes that stay where they are as they spin
REVOLVED = (SPHERE, CAPSULE, CYLINDER, CONE, TUBE, RING, BOWL)

Vec2 = tuple[float, float]


@kernel
def _times(K: Sym2, x: Vec2) -> Vec2:
    return (K[0] * x[0] + K[1] * x[1], K[1] * x[0] + K[2] * x[1])


@kernel
def _flat(K_a: Sym2, K_b: Sym2) -> Sym2:
    """A sharp curvature in the directions in which both surfaces are flat, where nothing rolls."""
    S = plus(K_a, K_b)
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
def is_steady(world: World, s: int) -> bool:
    """Whether shape s stays where it is as its body spins: a ball about its centre, a body of
    revolution about its axis."""
    solids, kind = world.collision.solids, world.model.shapes.kind[s]
    if kind not in REVOLVED:
        return False
    centre = load3(world.state.p_WB, world.model.shapes.body[s])
    arm = sub(load3_from(solids, s, POSITION), centre)
    if kind != SPHERE:
        arm = cross(axis_of_shape(solids, s), arm)
    return bool(norm(arm) <= NEAR * world.model.shapes.bounding_radius[s])


@kernel
def axis_of_shape(solids: NDArray, s: int) -> Vec3:
    """The axis z of posed shape s in W."""
    return (solids[s, ROTATION + 2], solids[s, ROTATION + 5], solids[s, ROTATION + 8])


@kernel
def turn_of(world: World, s: int) -> float:
    """How far shape s turns in a step, without a spin in which it stays where it is [rad]."""
    w = load3(world.state.w_WB_W, world.model.shapes.body[s])
    if is_steady(world, s):
        if world.model.shapes.kind[s] == SPHERE:
            return 0.0
        axis = axis_of_shape(world.collision.solids, s)
        w = add_scaled(w, -dot(axis, w), axis)
    return world.clock.h[0] * norm(w)


@kernel
def turns_away(world: World, s: int, K: Sym2, x: Vec2) -> bool:
    """Whether the curvature K of shape s may be another one after a step in which a contact travels
    at x over it: its normal turns by more than MOST_TURN, not only as the shape spins in place."""
    if _length(_times(K, x)) * world.clock.h[0] <= MOST_TURN:
        return False
    return max(abs(K[0]), abs(K[1]), abs(K[2])) >= SMOOTH or not is_steady(world, s)


@kernel
def smaller_radius(world: World, c: int) -> float:
    """The bounding radius of the smaller shape of contact c [m]."""
    contacts, radius = world.work.contacts, world.model.shapes.bounding_radius
    return float(min(radius[contacts.shape_a[c]], radius[contacts.shape_b[c]]))


@kernel
def way_over_a(K_a: Sym2, K_b: Sym2, turning: Vec2, u: Vec2) -> tuple[bool, Vec2]:
    """a' of contact_acceleration [m/s], by (w_b - w_a) x n and u along the tangents; whether the
    contact travels as nearest points do."""
    flat = _flat(K_a, K_b)
    carried = _times(plus(K_b, flat), u)
    S = plus(plus(K_a, flat), plus(K_b, flat))
    if not _is_nearest(S):
        return False, (0.0, 0.0)
    return True, _solve2(S, (turning[0] + carried[0], turning[1] + carried[1]))


@kernel
def turn_by_sliding(world: World, c: int) -> float:
    """How far the normal of contact c turns in a step as two bodies slide on each other that do
    not turn [rad]: h |K_a a'|, as of a marble without friction in a bowl.

    Check   tests/laws/test_hollows.py
    """
    contacts, v, h = world.work.contacts, world.state.v_WB_W, world.clock.h[0]
    slip = sub(load3(v, contacts.body_b[c]), load3(v, contacts.body_a[c]))
    if h * norm(slip) < CREEP * smaller_radius(world, c):
        return 0.0
    n = load3(contacts.normal_W, c)
    t1, t2 = tangents_of(n)
    K_a = shape_operator(world, contacts.shape_a[c], c, n, (t1, t2))
    K_b = shape_operator(world, contacts.shape_b[c], c, negate(n), (t1, t2))
    _, x = way_over_a(K_a, K_b, (0.0, 0.0), (dot(slip, t1), dot(slip, t2)))
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
def contact_acceleration(world: World, c: int) -> Vec3:
    """d(J v)/dt [m/s^2] of the rows of contact c while bodies fly freely.

    The contact point travels at a' over A and b' over B such that it stays one point and the
    normals stay opposite:

        a' - b' = u,   K_a a' + K_b b' = (w_b - w_a) x n,   dn/dt = w_a x n + K_a a'
        dJv/dt = e . [w_b x (w_b x r_b + b') - w_a x (w_a x r_a + a')] + de/dt . u + J . free

    u the tangential velocity of B relative to A at the contact. In directions in which both
    surfaces are flat nothing rolls, and the point stays half way between its two bodies. The
    tangents are taken as fixed, which is exact where nothing slides. `free` are accelerations of
    free flight. What cancels up to rounding is zero. So is what leaves a shape within the step, or
    turns a normal by more than MOST_TURN, in W or over a shape that does not stay where it is:
    where the two surfaces have nearly one curvature the point may travel at any speed.

    Reads   poses in the middle of the step, motion.scratch (velocities), bias_acceleration
    Source  Montana 1988; decision 0201
    Check   tests/laws/test_rolling.py
    """
    contacts, state = world.work.contacts, world.state
    n = load3(contacts.normal_W, c)
    t1, t2 = tangents_of(n)
    a, b = contacts.body_a[c], contacts.body_b[c]
    point, half = load3(contacts.point_W, c), 0.5 * contacts.gap[c]
    # of the two surfaces each its own point: with that between them a depth would turn about a ball
    r_a = sub(add_scaled(point, -half, n), load3(state.p_WB, a))
    r_b = sub(add_scaled(point, half, n), load3(state.p_WB, b))
    v = world.work.motion.scratch
    w_a, w_b = (v[a, 0], v[a, 1], v[a, 2]), (v[b, 0], v[b, 1], v[b, 2])
    v_a, v_b = (v[a, 3], v[a, 4], v[a, 5]), (v[b, 3], v[b, 4], v[b, 5])
    slip = sub(add(v_b, cross(w_b, r_b)), add(v_a, cross(w_a, r_a)))
    K_a = shape_operator(world, contacts.shape_a[c], c, n, (t1, t2))
    K_b = shape_operator(world, contacts.shape_b[c], c, negate(n), (t1, t2))
    turning = cross(sub(w_b, w_a), n)
    u = (dot(slip, t1), dot(slip, t2))
    is_nearest, x = way_over_a(K_a, K_b, (dot(turning, t1), dot(turning, t2)), u)
    if not is_nearest:
        return ZERO3
    y = (x[0] - u[0], x[1] - u[1])
    if _leaves(world, c, x, y):
        return ZERO3
    a_turns = turns_away(world, contacts.shape_a[c], K_a, x)
    if a_turns or turns_away(world, contacts.shape_b[c], K_b, y):
        return ZERO3
    along_a, along_b = _tangent(x, t1, t2), _tangent(y, t1, t2)
    # where both are flat, the mean of what the two surfaces say
    bent_a, bent_b = _tangent(_times(K_a, x), t1, t2), _tangent(_times(K_b, y), t1, t2)
    dn = scale(0.5, add(cross(add(w_a, w_b), n), sub(bent_a, bent_b)))
    turned_a, turned_b = cross(w_a, cross(w_a, r_a)), cross(w_b, cross(w_b, r_b))
    if norm(dn) * world.clock.h[0] > MOST_TURN:
        return ZERO3
    d = sub(add(turned_b, cross(w_b, along_b)), add(turned_a, cross(w_a, along_a)))
    d = add(d, _free_acceleration(world, b, w_b, r_b))
    d = sub(d, _free_acceleration(world, a, w_a, r_a))
    found = (dot(n, d) + dot(dn, slip), dot(t1, d), dot(t2, d))
    if norm(found) <= ROUNDING * (norm(turned_a) + norm(turned_b)):
        return ZERO3
    return found
