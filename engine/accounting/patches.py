"""Errors of cutting surfaces into points or facets: turning on faces, rolling over edges.

A face that turns about its normal is braked by friction with a lever arm. How the pressure under a
rigid face is spread is not determined: contacts are at its corners or on its rim, and brake with
their arms; a pressure spread evenly brakes with less (a disc of radius r with 2/3 r). What is lost
by turning is added up per body,

    -(sum of (p - c) x impulse) . n  (w_b - w_a) . n        c the centre of pressure

for all contacts of two shapes. What rolls or slides over a mesh strikes the next facet wherever the
mesh is hollow: that is added up, too.
"""

from __future__ import annotations

from math import sqrt

from cardan.engine.accounting.body_records import ON_FACETS, TURNED_ON_FACES, VARIED, first_of
from cardan.engine.bodies.point import velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.rolling import end_of_pair
from cardan.engine.spatial.vec3 import add_scaled, cross, dot, load3, norm, scale, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, MESH
from cardan.engine.world.world import World

# cosine of the angle between facets that are one surface: above it they are, below 1 they differ
ONE_SURFACE, SAME_FACET = 0.94, 1.0 - 1e-9
# [rad/s] below this rate two shapes do not turn on each other
TURNING = 1e-3


@kernel
def turning_loss(world: World, first: int, last: int) -> float:
    """Energy that friction takes from the turning of two shapes on each other [J].

    Reads   contacts.impulse_W of this kick; motion.scratch: mean velocities
    """
    contacts, mean = world.work.contacts, world.work.motion.scratch
    a, b, n = contacts.body_a[first], contacts.body_b[first], load3(contacts.normal_W, first)
    turned = 0.0
    for k in range(3):
        turned += n[k] * (mean[b, k] - mean[a, k])
    if abs(turned) < TURNING:
        return 0.0
    total, centre = 0.0, (0.0, 0.0, 0.0)
    for c in range(first, last):
        pressed = dot(n, load3(contacts.impulse_W, c))
        total += pressed
        centre = add_scaled(centre, pressed, load3(contacts.point_W, c))
    if not total > 0.0:
        return 0.0
    centre = scale(1.0 / total, centre)
    torque = 0.0
    for c in range(first, last):
        arm = sub(load3(contacts.point_W, c), centre)
        torque += dot(n, cross(arm, load3(contacts.impulse_W, c)))
    return -torque * turned


@kernel
def edge_sine(contacts: Contacts, c: int, ends: tuple[int, int]) -> float:
    """Sine of the largest angle to the normal of another contact of the same surface; 0: none."""
    n, least = load3(contacts.normal_W, c), 1.0
    for k in range(ends[0], ends[1]):
        cosine = dot(n, load3(contacts.normal_W, k))
        if ONE_SURFACE < cosine < SAME_FACET:
            least = min(least, cosine)
    return sqrt(1.0 - least * least)


@kernel
def facet_loss(world: World, first: int, last: int) -> float:
    """Energy that is lost by striking the next facets of a mesh [J].

    What comes along one facet strikes the next with the sine of the angle between them of its
    speed; what falls on the mesh strikes harder, and would do so on a smooth one.

    Reads   contacts.impulse_W of this kick; motion.scratch: mean velocities
    """
    contacts, state, mean = world.work.contacts, world.state, world.work.motion.scratch
    a, b = contacts.body_a[first], contacts.body_b[first]
    speed = norm((mean[b, 3] - mean[a, 3], mean[b, 4] - mean[a, 4], mean[b, 5] - mean[a, 5]))
    lost = 0.0
    for c in range(first, last):
        n, p = load3(contacts.normal_W, c), load3(contacts.point_W, c)
        pressed = dot(n, load3(contacts.impulse_W, c))
        if not pressed > 0.0 or contacts.restitution[c] > 0.0:
            continue
        # the mean of the speeds before and after
        struck = -dot(n, sub(velocity_at(state, mean, b, p), velocity_at(state, mean, a, p)))
        if 0.0 < 2.0 * struck < 1.5 * speed * edge_sine(contacts, c, (first, last)):
            lost += pressed * struck
    return lost


@kernel
def record_patches(world: World) -> None:
    """Add up what turning on faces and striking facets cost bodies.

    Reads   contacts.impulse_W of this kick; motion.scratch: mean velocities
    Writes  state.extremes
    Check   tests/engine/test_verdict.py
    """
    contacts, extremes, kind = world.work.contacts, world.state.extremes, world.kind
    shapes, start = world.model.shapes, first_of(world)
    first = 0
    while first < contacts.count[0]:
        last = end_of_pair(contacts, first)
        if last > first + 1:
            turned, struck = turning_loss(world, first, last), 0.0
            i, j = contacts.shape_a[first], contacts.shape_b[first]
            if shapes.kind[i] == MESH or shapes.kind[j] == MESH:
                struck = facet_loss(world, first, last)
            for body in (contacts.body_a[first], contacts.body_b[first]):
                if kind[body] == DYNAMIC:
                    extremes[start + VARIED * body + TURNED_ON_FACES] += max(turned, 0.0)
                    extremes[start + VARIED * body + ON_FACETS] += struck
        first = last
