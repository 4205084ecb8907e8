"""Time of impact: the first time at which a rigid contact closes fast enough to rebound."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.engine.bodies.point import velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.impacts.active_contacts import ImpactWindow
from cardan.engine.spatial.vec3 import dot, load3, sub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.contacts import Contacts
    from cardan.engine.world.state import State
    from cardan.engine.world.world import World


@kernel
def normal_speed(contacts: Contacts, c: int, state: State, velocity: NDArray) -> float:
    """Speed at which contact c opens [m/s]."""
    point = load3(contacts.point_W, c)
    on_a = velocity_at(state, velocity, contacts.body_a[c], point)
    on_b = velocity_at(state, velocity, contacts.body_b[c], point)
    return dot(load3(contacts.normal_W, c), sub(on_b, on_a))


@kernel
def time_to_close(gap: float, speed: float, acceleration: float) -> float:
    """First t > 0 with gap + speed t + acceleration t^2/2 = 0, for speed < 0 < gap; -1: never."""
    under = speed * speed - 2.0 * acceleration * gap
    if under < 0.0:
        return -1.0
    return 2.0 * gap / (sqrt(under) - speed)


@kernel
def is_due(world: World, window: ImpactWindow) -> bool:
    """Whether some rigid contact is within the window and approaches faster than the threshold."""
    contacts = world.work.contacts
    for c in range(contacts.count[0]):
        speed = normal_speed(contacts, c, world.state, world.work.motion.velocity_old)
        near = contacts.gap[c] + window.horizon * speed < window.closed
        if near and speed < -window.threshold and contacts.compliance[c] == 0.0:
            return True
    return False


@kernel
def time_of_impact(world: World, window: ImpactWindow) -> float:
    """Time until a rigid contact closes faster than the threshold [s]; clock.h if none does.

    Exact for free flight with fixed contact points on the bodies (spheres, bodies that do not
    rotate); otherwise of second order, and the remaining gap takes another part of the step.

    Reads   motion.velocity_old, velocity_free (velocities without constraints after clock.h)
    Check   tests/references/test_exact_impacts.py
    """
    contacts, state, motion = world.work.contacts, world.state, world.work.motion
    h = world.clock.h[0]
    first = h
    for c in range(contacts.count[0]):
        speed = normal_speed(contacts, c, state, motion.velocity_old)
        rigid = contacts.compliance[c] == 0.0
        if rigid and contacts.gap[c] >= window.closed and speed < -window.threshold:
            free = normal_speed(contacts, c, state, motion.velocity_free)
            t = time_to_close(contacts.gap[c], speed, (free - speed) / h)
            if 0.0 <= t < first:
                first = t
    return first
