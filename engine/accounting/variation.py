"""How unevenly kicks change velocities: what the error of the step size is estimated from.

Drift, kick, drift is exact where every kick is the same: free fall, constant forces. Of a motion
with frequency w it misses (w h)^2/24 of the phase, which is h/24 times the sum of the changes from
one kick to the next, and an impact is late by up to a step. engine/verdict/estimates.py compares

    error  ~  h sum |dv_k - dv_(k-1)|        with the reach of the body's motion,

and alike for angular momentum with the amplitude |L|max h sum |L| / sum |dL|. A body that
turns with its velocity (a rotor out of balance) is uniform in its own axes: of dv in W and in the
axes of the body that counts which changes less. Free rotation is exact: of bodies with constraint
rows the angular momentum of the drift is taken, which kicks alone change; of trees the angular
velocity.

How early an impact comes is known: the bodies rebound a gap g before they meet, with the speed u
at which they approach g/u before their time, and are then g/u times the change of their velocities
away from where they would be. This is added up per body, and so are the angles alike; they count
instead of the change of its velocity. As vectors they are followed through further impacts
(accounting/impact_errors.py).

    extremes[LIMITS + j + n + VARIED i :]    body i, as below; s: of the last step
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.crossings import DEPTH, GATE_DEPTH, LIMITS, TURN, note
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4, rotate, rotate_back
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, norm, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, Model
from cardan.engine.world.options import ImpactTime
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# of body i, of the last step: v in W and in the body's axes, L or w, w; their changes
LAST_V, LAST_B, LAST_L, LAST_W, KICK_V, KICK_B, KICK_L = 0, 3, 6, 9, 12, 15, 18
# largest |v|^2, |L|^2; sums of |v|, |L|, |dv|, |dL|, |change of dv|, |change of dL|, |w|
LARGEST_V, LARGEST_L, PATH_V, PATH_L, SUM_V, SUM_L, VARIED_V, VARIED_L, TURNED = range(21, 30)
# with whom it last had an impact, and in which step; 2: it had one with two bodies in one step
IMPACT_STEP, IMPACT_WITH, IMPACTS = 30, 31, 32
# set at the start: 1: the drift keeps L; how deep others may be in it [m]; how fast it may turn
# about an axis that moves [rad/s]
KEEPS_L, DEPTH_LIMIT, TURN_LIMIT = 33, 34, 35
# least and largest coordinates of the centre of mass, from where it was first [m]
START_P, LEAST_P, MOST_P = 36, 39, 42
# largest phase per step of a stop that yields, where it matters for the motion [rad]
STOP_PHASE = 45
# how far early impacts have displaced it: now, the most so far [m]; the step of the last one
EARLY, MOST_EARLY, STRUCK_STEP = 46, 47, 48
# |dv|, |dL| of the first kick, which is in no sum
FIRST_V, FIRST_L = 49, 50
# by what angle they have turned it: now, the most so far [rad]
EARLY_TURN, MOST_EARLY_TURN = 51, 52
# how early the impact of this step came [s]; 1: off what is fixed
EARLY_TIME, OFF_FIXED = 53, 54
# what friction took from its turning on faces, what it lost at the edges of facets [J]
TURNED_ON_FACES, ON_FACETS = 55, 56
# what friction of joints takes in this step, P^2 h/(2 P_max) [kg m]; the way that is lost where it
# took that from a blow: of this step, so far [m]
BRAKED, BRAKED_NOW, BRAKED_WAY = 57, 58, 59
# how often static friction gave way to kinetic friction, and in which step last
RELEASES, RELEASE_STEP = 60, 61
# errors that impacts pass on, W: of this step's velocity and position; of velocity [m/s] and
# position [m] now; the largest of position so far
AIM_KICK, AIM_JUMP, AIM_V, AIM_P, MOST_AIM = 62, 65, 68, 71, 74
# set at the start, body axes: the axis about which it may turn by any angle, as it is of revolution
# about it; 0: none. Sum of |w| across that axis
SPIN_AXIS, AXIS_TURNED = 75, 78
# how early the last impact may have come [s; 0: one or no step ago nothing was struck], its step,
# the body at whose stop it arrived (-1: none), the point about which it turns from then on, W [m]
LOST_TIME, LOST_STEP, LOST_WITH, LOST_P = 79, 80, 81, 82
# friction of its joint in this step, over its largest [-]
RUBBED = 85
VARIED = 86

# way that friction takes too much of in the step of a blow: this share of a step of motion
RUBBED_STEP = 0.4

# sine of the angle between the axes of two steps up to which an axis is at rest
STEADY_AXIS = 1e-3
# kicks of a velocity that has no size of its own, as of a body that turns round
TURNING_ROUND = 10.0
EXACT = int(ImpactTime.EXACT)


@kernel
def exchange(state: State, at: int, new: Vec3) -> Vec3:
    """Store three numbers of extremes; returns what was there."""
    old = (state.extremes[at], state.extremes[at + 1], state.extremes[at + 2])
    for k in range(3):
        state.extremes[at + k] = new[k]
    return old


@kernel
def first_of(world: World) -> int:
    """Where the numbers of body 0 are in extremes."""
    model = world.model
    return LIMITS + model.joints.kind.shape[0] + model.bodies.kind.shape[0]


@kernel
def spin_of(world: World, i: int) -> Vec3:
    """Angular momentum of the last drift of body i; where none is kept its angular velocity."""
    if world.state.extremes[first_of(world) + VARIED * i + KEEPS_L] == 1.0:
        return load3(world.state.L_conserved, i)
    return load3(world.state.w_WB_W, i)


@kernel
def across_axis(state: State, i: int, at: int, w: Vec3) -> float:
    """How fast the axis of body i turns [rad/s]; of a body that is not of revolution |w|.

    Its numbers are in extremes from `at` on.
    """
    extremes = state.extremes
    axis = (extremes[at + SPIN_AXIS], extremes[at + SPIN_AXIS + 1], extremes[at + SPIN_AXIS + 2])
    if dot(axis, axis) == 0.0:
        return norm(w)
    return norm(cross(rotate(load4(state.q_WB, i), axis), w))


@kernel
def note_rate(state: State, i: int, at: int, w: Vec3) -> None:
    """Record body i, whose numbers are in extremes from `at` on, if it turns too far in a step."""
    rate, limit = across_axis(state, i, at, w), state.extremes[at + TURN_LIMIT]
    if rate > limit:
        note(state, TURN, rate, limit, i)


@kernel
def note_turn(world: World, i: int, w: Vec3) -> None:
    """Record body i if it turns too far in a step about an axis that moves.

    Rotation about a resting axis is exact at any speed.
    """
    state = world.state
    at = first_of(world) + VARIED * i
    limit, last = state.extremes[at + TURN_LIMIT], exchange(state, at + LAST_W, w)
    square = dot(w, w)
    if square <= limit * limit:
        return
    moved = cross(last, w)
    if dot(moved, moved) > STEADY_AXIS**2 * square * dot(last, last):
        note_rate(state, i, at, w)


@kernel
def record_free_turns(world: World) -> None:
    """Record free bodies that turn too far in a step, about another axis than their momentum's."""
    state, first = world.state, first_of(world)
    for i in range(world.kind.shape[0]):
        at, w = first + VARIED * i, load3(state.w_WB_W, i)
        limit, square = state.extremes[at + TURN_LIMIT], dot(w, w)
        if square <= limit * limit or state.extremes[at + KEEPS_L] == 0.0:
            continue
        L = load3(state.L_conserved, i)
        tilted = cross(L, w)
        if dot(tilted, tilted) > STEADY_AXIS**2 * square * dot(L, L):
            note_rate(state, i, at, w)


@kernel
def last_kick(world: World, i: int) -> tuple[Vec3, Vec3]:
    """Change of the angular and linear velocity of body i in this step.

    Reads   motion.velocity_old
    """
    old = world.work.motion.velocity_old[i]
    turned = sub(load3(world.state.w_WB_W, i), (old[0], old[1], old[2]))
    return turned, sub(load3(world.state.v_WB_W, i), (old[3], old[4], old[5]))


@kernel
def record_first(world: World, i: int, size: float) -> None:
    """Note the first kick of body i, whose spin has this size now.

    Writes  state.extremes
    """
    state, at = world.state, first_of(world) + VARIED * i
    turned, kicked = last_kick(world, i)
    state.extremes[at + FIRST_V] = norm(kicked)
    spin = norm(load3(state.w_WB_W, i))
    if spin > 0.0:
        state.extremes[at + FIRST_L] = norm(turned) / spin * size


@kernel
def record_variation(world: World) -> None:
    """Add up how the last kick differs from the one before, of every body that moves.

    The first kick of a run has none before it. Exact impacts cost nothing: steps with contacts are
    then left out. Must be called after the impacts of the step are recorded.

    Writes  state.extremes from LIMITS + j + n on
    Check   tests/engine/test_verdict.py
    """
    state = world.state
    extremes, first, step = state.extremes, first_of(world), state.step[0]
    exact = world.options.impact_time == EXACT and world.work.contacts.count[0] > 0
    for i in range(world.kind.shape[0]):
        if world.kind[i] != DYNAMIC:
            continue
        at = first + VARIED * i
        v, w, L = load3(state.v_WB_W, i), load3(state.w_WB_W, i), spin_of(world, i)
        v_B = rotate_back(load4(state.q_WB, i), v)
        kick = sub(v, exchange(state, at + LAST_V, v))
        kick_B = sub(v_B, exchange(state, at + LAST_B, v_B))
        spun = sub(L, exchange(state, at + LAST_L, L))
        varied = norm(sub(kick, exchange(state, at + KICK_V, kick)))
        varied = min(varied, norm(sub(kick_B, exchange(state, at + KICK_B, kick_B))))
        varied_L = norm(sub(spun, exchange(state, at + KICK_L, spun)))
        note_turn(world, i, w)
        if extremes[at + EARLY_TIME] > 0.0:
            note_early(world, i)
        if extremes[at + MOST_AIM] > 0.0:
            carry_errors(world, i)
        if step == 1:
            record_first(world, i, norm(L))
        extremes[at + LARGEST_V] = max(extremes[at + LARGEST_V], dot(v, v))
        extremes[at + LARGEST_L] = max(extremes[at + LARGEST_L], dot(L, L))
        for k in range(3):
            if step == 1:
                extremes[at + START_P + k] = state.p_WB[i, k]
            moved = state.p_WB[i, k] - extremes[at + START_P + k]
            extremes[at + LEAST_P + k] = min(extremes[at + LEAST_P + k], moved)
            extremes[at + MOST_P + k] = max(extremes[at + MOST_P + k], moved)
        extremes[at + PATH_V] += norm(v)
        extremes[at + PATH_L] += norm(L)
        extremes[at + TURNED] += norm(w)
        extremes[at + AXIS_TURNED] += across_axis(state, i, at, w)
        if step > 1 and not exact:
            extremes[at + SUM_V] += norm(kick)
            extremes[at + SUM_L] += norm(spun)
        is_struck = step - extremes[at + STRUCK_STEP] <= 1.0 and extremes[at + STRUCK_STEP] > 0.0
        if step > 2 and not exact and not is_struck:
            extremes[at + VARIED_V] += varied
            extremes[at + VARIED_L] += varied_L


@kernel
def note_stop(world: World, row: int, phase: float) -> None:
    """Record the phase per step of the stop of a row for its bodies.

    Writes  state.extremes from LIMITS + j + n on
    """
    rows, extremes, first = world.work.rows, world.state.extremes, first_of(world)
    for i in (rows.body_a[row], rows.body_b[row]):
        at = first + VARIED * i + STOP_PHASE
        extremes[at] = max(extremes[at], phase)


@kernel
def record_depths(world: World, contacts: Contacts) -> None:
    """Note rigid contacts that are deeper than either body may be penetrated.

    Writes  state.extremes
    """
    state, first = world.state, first_of(world)
    for c in range(contacts.count[0]):
        depth = -contacts.gap[c]
        if depth <= state.extremes[GATE_DEPTH] or contacts.compliance[c] > 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        in_a = state.extremes[first + VARIED * a + DEPTH_LIMIT]
        in_b = state.extremes[first + VARIED * b + DEPTH_LIMIT]
        if depth > min(in_a, in_b):
            note(state, DEPTH, depth, min(in_a, in_b), a if in_a <= in_b else b)


@kernel
def note_shift(model: Model, state: State, i: int, shift: NDArray) -> None:
    """Note body i if the correction of one step moves it out of others as far as it may be in them.

    Reads   shift (6,) rad, m
    Writes  state.extremes
    """
    n_joints, n = model.joints.kind.shape[0], model.bodies.kind.shape[0]
    moved = norm((shift[3], shift[4], shift[5]))
    if moved > state.extremes[GATE_DEPTH]:
        limit = state.extremes[LIMITS + n_joints + n + VARIED * i + DEPTH_LIMIT]
        if moved > limit:
            note(state, DEPTH, moved, limit, i)


@kernel
def aim_of(world: World, i: int, which: int) -> Vec3:
    """AIM_V or AIM_P of body i, or any three of its numbers; what is not dynamic has none."""
    at = first_of(world) + VARIED * i + which
    extremes = world.state.extremes
    return (extremes[at], extremes[at + 1], extremes[at + 2])


@kernel
def add_error(world: World, i: int, change: Vec3) -> None:
    """From this step on the velocity of body i may be wrong by `change` [m/s], W, to either side.

    Writes  state.extremes: AIM_V, MOST_AIM
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    sign = 1.0 if dot(change, aim_of(world, i, AIM_V)) >= 0.0 else -1.0
    for k in range(3):
        extremes[at + AIM_V + k] += sign * change[k]
    way = world.options.time_step * norm(change)
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], way)


@kernel
def note_early(world: World, i: int) -> None:
    """Body i rebounds too early in this step: add up how far that displaces and turns it.

    What was early before is so by the same time: off what is fixed it shrinks as the body slows.

    Reads   EARLY_TIME, OFF_FIXED of body i, which are cleared
    Writes  state.extremes from LIMITS + j + n on
    """
    state, at = world.state, first_of(world) + VARIED * i
    extremes = state.extremes
    turned, kicked = last_kick(world, i)
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    if extremes[at + OFF_FIXED] == 1.0:
        before, after = norm(sub(v, kicked)), norm(v)
        extremes[at + EARLY] *= after / before if after < before else 1.0
        before, after = norm(sub(w, turned)), norm(w)
        extremes[at + EARLY_TURN] *= after / before if after < before else 1.0
    extremes[at + EARLY] += extremes[at + EARLY_TIME] * norm(kicked)
    extremes[at + EARLY_TURN] += extremes[at + EARLY_TIME] * norm(turned)
    extremes[at + MOST_EARLY] = max(extremes[at + MOST_EARLY], extremes[at + EARLY])
    extremes[at + MOST_EARLY_TURN] = max(extremes[at + MOST_EARLY_TURN], extremes[at + EARLY_TURN])
    extremes[at + STRUCK_STEP] = float(state.step[0])
    for k in range(3):
        extremes[at + AIM_P + k] += extremes[at + AIM_JUMP + k]
        extremes[at + AIM_P + k] += extremes[at + EARLY_TIME] * kicked[k]
        extremes[at + AIM_V + k] += extremes[at + AIM_KICK + k]
        extremes[at + AIM_JUMP + k], extremes[at + AIM_KICK + k] = 0.0, 0.0
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], norm(aim_of(world, i, AIM_P)))
    rubbed = RUBBED_STEP * world.options.time_step * extremes[at + RUBBED]
    rubbed *= min(norm(v), norm(kicked))
    extremes[at + BRAKED_WAY] += extremes[at + BRAKED_NOW] + rubbed
    extremes[at + EARLY_TIME], extremes[at + OFF_FIXED] = 0.0, 0.0
    extremes[at + BRAKED_NOW] = 0.0


@kernel
def carry_errors(world: World, i: int) -> None:
    """Body i drifts with the error of its velocity, which is no larger than the velocity.

    What turns round is at rest for a moment, but its kicks go on.

    Writes  state.extremes: AIM_V, AIM_P, MOST_AIM
    """
    extremes, at = world.state.extremes, first_of(world) + VARIED * i
    error, speed = norm(aim_of(world, i, AIM_V)), norm(load3(world.state.v_WB_W, i))
    speed += TURNING_ROUND * norm(aim_of(world, i, KICK_V))
    if error == 0.0:
        return
    share = min(1.0, speed / error)
    for k in range(3):
        extremes[at + AIM_V + k] *= share
        extremes[at + AIM_P + k] += world.options.time_step * extremes[at + AIM_V + k]
    extremes[at + MOST_AIM] = max(extremes[at + MOST_AIM], norm(aim_of(world, i, AIM_P)))


@kernel
def mark_early(world: World, ends: tuple[int, int], time: float) -> None:
    """The two bodies of an impact rebound too early by `time` [s]; of a step the most counts.

    Writes  state.extremes from LIMITS + j + n on
    """
    extremes, first, kind = world.state.extremes, first_of(world), world.kind
    mass, braked = 0.0, 0.0
    for k in range(2):
        if kind[ends[k]] == DYNAMIC:
            mass += world.model.bodies.mass[ends[k]]
            braked = max(braked, extremes[first + VARIED * ends[k] + BRAKED])
    for k in range(2):
        at = first + VARIED * ends[k]
        if kind[ends[k]] == DYNAMIC and time > extremes[at + EARLY_TIME]:
            extremes[at + EARLY_TIME] = time
            extremes[at + BRAKED_NOW] = braked / mass
            extremes[at + OFF_FIXED] = 1.0 if kind[ends[1 - k]] != DYNAMIC else 0.0
