"""Supports that let go in an impact: a block that rocks on to its other edge, a leg at its stop.

What carries a body until an impact lets go in the kick of its step, but the impact comes up to a
step later, and may take two steps. Until then the body is not carried, and has another velocity.
That is an error which the body takes along (AIM_V in accounting/body_records.py).
"""

from __future__ import annotations

from math import inf

from cardan.engine.accounting.body_records import (
    AIM_P,
    AIM_V,
    EXACT,
    LOST_P,
    LOST_STEP,
    LOST_TIME,
    LOST_WITH,
    UNEVEN,
    VARIED,
    aim_of,
    first_of,
    last_kick,
)
from cardan.engine.accounting.crossings import GATE_STRUCK
from cardan.engine.accounting.early_impacts import add_error
from cardan.engine.bodies.forces import load_gravity
from cardan.engine.bodies.point import velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.limits import BOUNCE_SPEED
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import load4, rotate_back
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, norm, scale, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.world import World

# a contact that carries less than this share of its last impulse lets go
LET_GO = 0.01
# impulses in a step that carry the weight of a body, of such weights
MOST_WEIGHTS = 2.0
# what rolls on is carried a little further on in each step: a point within so many steps of motion
ROLLED = 5.0
# steps by which contacts let go before the impact comes, by the errors of blocks that rock; the
# kick in which a stop is reached acts from half a step before
EARLIER = 2.0
# points that meet within this share of a step meet at once
SAME_MOMENT = 0.01
# a body does not turn about one that is lighter than its own mass over this share: that gives way
GIVES_WAY = 0.05


@kernel
def approach_velocity(world: World, contacts: Contacts, c: int) -> Vec3:
    """Velocity of body B relative to body A at contact c before the kick [m/s]."""
    state, old, p = world.state, world.work.motion.velocity_old, load3(contacts.point_W, c)
    in_a = velocity_at(state, old, contacts.body_a[c], p)
    in_b = velocity_at(state, old, contacts.body_b[c], p)
    return sub(in_b, in_a)


@kernel
def mark_support(world: World, i: int, time: float, other: int, p: Vec3) -> None:
    """Body i has an impact that is early by up to `time` and a step [s]; of a step the most counts.

    Reads   other, p   the body at whose stop it arrived, or -1 and the point about which it turns
    Writes  state.extremes: LOST_TIME, LOST_STEP, LOST_WITH, LOST_P, UNEVEN, GATE_STRUCK
    """
    extremes, at, h = world.state.extremes, first_of(world) + VARIED * i, world.options.time_step
    time, step = min(time, h) + h * (EARLIER if other < 0 else 0.5), float(world.state.step[0])
    if world.kind[i] != DYNAMIC:
        return
    if extremes[at + LOST_STEP] != step:
        extremes[at + UNEVEN] = 0.0
    elif abs(time - extremes[at + LOST_TIME]) > SAME_MOMENT * h:
        extremes[at + UNEVEN] = 1.0
    if extremes[at + LOST_STEP] == step and time <= extremes[at + LOST_TIME]:
        return
    extremes[GATE_STRUCK] = 1.0
    extremes[at + LOST_TIME], extremes[at + LOST_STEP] = time, step
    extremes[at + LOST_WITH] = float(other)
    for k in range(3):
        extremes[at + LOST_P + k] = p[k]


@kernel
def mark_closing(world: World, c: int) -> None:
    """Contact c begins to carry in this step: what carried its bodies before may let go.

    Writes  state.extremes, as `mark_support`
    """
    contacts, n = world.work.contacts, load3(world.work.contacts.normal_W, c)
    speed = -dot(n, approach_velocity(world, contacts, c))
    if world.options.impact_time != EXACT and speed > BOUNCE_SPEED:
        time, inverse_mass = max(contacts.gap[c], 0.0) / speed, world.model.bodies.inverse_mass
        a, b, p = contacts.body_a[c], contacts.body_b[c], load3(contacts.point_W, c)
        # about what gives way nothing turns
        if inverse_mass[b] <= GIVES_WAY * inverse_mass[a]:
            mark_support(world, a, time, -1, p)
        if inverse_mass[a] <= GIVES_WAY * inverse_mass[b]:
            mark_support(world, b, time, -1, p)


@kernel
def lose_support(world: World, i: int, p: Vec3, push: Vec3) -> None:
    """A contact at p, which carried body i with the impulse `push` each step, let go in an impact.

    It does so in the kick, early by the time of the impact; the body then has a velocity as if the
    impulse were missing. It turns about the point of impact with the moment of inertia I + m |r|^2,
    or is moved along with the body at whose stop it arrived. What rolls strikes nothing.

    Writes  state.extremes: AIM_V, MOST_AIM
    """
    state, model = world.state, world.model
    at = first_of(world) + VARIED * i
    missing = scale(state.extremes[at + LOST_TIME] / world.options.time_step, push)
    mass, other = model.bodies.mass[i], int(state.extremes[at + LOST_WITH])
    if other >= 0:
        if world.kind[other] == DYNAMIC:
            change = scale(1.0 / (mass + model.bodies.mass[other]), missing)
            add_error(world, i, change)
            add_error(world, other, change)
        return
    pivot = aim_of(world, i, LOST_P)
    moment = cross(sub(p, pivot), missing)
    size = norm(moment)
    speed = norm(load3(state.v_WB_W, i)) + norm(load3(state.w_WB_W, i)) * norm(sub(p, pivot))
    if size == 0.0 or norm(sub(p, pivot)) <= ROLLED * world.options.time_step * speed:
        return
    axis = scale(1.0 / size, moment)
    axis_B = rotate_back(load4(state.q_WB, i), axis)
    own = dot(axis_B, times_vector(load33(model.bodies.inertia_B, i), axis_B))
    arm = cross(axis, sub(load3(state.p_WB, i), pivot))
    add_error(world, i, scale(size / (own + mass * dot(arm, arm)), arm))


@kernel
def slow_errors(world: World, i: int) -> None:
    """Body i turns about another point from this step on: its errors shrink as it slows.

    Writes  state.extremes: AIM_V, AIM_P
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    v = load3(world.state.v_WB_W, i)
    before, after = norm(sub(v, last_kick(world, i)[1])), norm(v)
    if extremes[at + LOST_WITH] < 0.0 and after < before:
        for k in range(3):
            extremes[at + AIM_V + k] *= after / before
            extremes[at + AIM_P + k] *= after / before


@kernel
def spare_piles(world: World, contacts: Contacts) -> None:
    """Excuse bodies on others that give way: these carry them, and they turn about no point.

    Writes  state.extremes: LOST_TIME
    """
    extremes, first = world.state.extremes, first_of(world)
    inverse_mass = world.model.bodies.inverse_mass
    for c in range(contacts.count[0]):
        a, b = contacts.body_a[c], contacts.body_b[c]
        if dot(load3(contacts.normal_W, c), load3(contacts.impulse_W, c)) <= 0.0:
            continue
        for i, other in ((a, b), (b, a)):
            at = first + VARIED * i
            if inverse_mass[other] > GIVES_WAY * inverse_mass[i] and extremes[at + LOST_WITH] < 0.0:
                extremes[at + LOST_TIME] = 0.0


@kernel
def lose_supports(world: World, contacts: Contacts) -> None:
    """Contacts that let go of bodies in the step of an impact, or in the next, do so early.

    An impact without restitution may take two steps: in the first the gap closes. What turns about
    another point loses what carries its weight; a larger impulse was that of an impact itself. What
    has rebounded carried nothing, unless points met within a step that meet one after the other:
    the first would have turned the body before the next met.

    Reads   rows.lam_warm: impulses of the last step; LOST_TIME of bodies, which is cleared
    Writes  state.extremes: AIM_V, AIM_P, MOST_AIM
    """
    rows, extremes, first = world.work.rows, world.state.extremes, first_of(world)
    step, h = float(world.state.step[0]), world.options.time_step
    weight = h * norm(load_gravity(world.state))
    spare_piles(world, contacts)
    for i in range(world.kind.shape[0]):
        if extremes[first + VARIED * i + LOST_TIME] > 0.0:
            slow_errors(world, i)
    for c in range(contacts.count[0]):
        carried = rows.lam_warm[rows.count[1] + 3 * c]
        n, p = load3(contacts.normal_W, c), load3(contacts.point_W, c)
        if not carried > 0.0 or dot(n, load3(contacts.impulse_W, c)) > LET_GO * carried:
            continue
        rebounded = dot(n, approach_velocity(world, contacts, c)) > BOUNCE_SPEED
        for i, sign in ((contacts.body_a[c], -1.0), (contacts.body_b[c], 1.0)):
            at = first + VARIED * i
            carried_it = not rebounded or extremes[at + UNEVEN] == 1.0
            if extremes[at + LOST_TIME] > 0.0 and carried_it:
                most = inf
                if extremes[at + LOST_WITH] < 0.0:
                    most = MOST_WEIGHTS * world.model.bodies.mass[i] * weight
                lose_support(world, i, p, scale(sign * min(carried, most), n))
    extremes[GATE_STRUCK] = 0.0
    for i in range(world.kind.shape[0]):
        at = first + VARIED * i
        if extremes[at + LOST_STEP] < step:
            extremes[at + LOST_TIME] = 0.0
        elif extremes[at + LOST_TIME] > 0.0:
            extremes[GATE_STRUCK] = 1.0
