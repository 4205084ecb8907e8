"""Variation of the kicks of each body: the error of the step size is estimated from it.

Drift, kick, drift is exact where every kick is the same: free fall, constant forces. Of a motion
with frequency w it misses (w h)^2/24 of the phase, which is h/24 times the sum of the changes from
one kick to the next, and an impact is late by up to a step. engine/verdict/estimates.py compares

    error  ~  h sum |dv_k - dv_(k-1)|        with the reach of the body's motion,

and likewise for angular momentum, with the amplitude |L|max h sum |L| / sum |dL|. The velocity of a
rotor out of balance turns with the body, and its change is constant in body axes: dv is taken in W
or in body axes, where it changes less. Free rotation is exact, so for a body outside of trees L is
the angular momentum that only kicks change (state.L_conserved); for others it is the angular
velocity.

Dampers of joints make errors die out (build/damped.py): there the sums shrink in each step.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.body_records import (
    AXIS_TURNED,
    BOUND_STEP,
    BRAKED_NOW,
    BRAKED_WAY,
    DEPTH_LIMIT,
    EARLY_TIME,
    EXACT,
    FIRST_L,
    FIRST_V,
    KEEPS_L,
    KEPT,
    KEPT_LAG,
    KICK_B,
    KICK_L,
    KICK_V,
    LAGGED_L,
    LAGGED_V,
    LARGEST_L,
    LARGEST_V,
    LAST_B,
    LAST_L,
    LAST_V,
    LAST_W,
    LEAST_P,
    MOST_AIM,
    MOST_LAGGED_L,
    MOST_LAGGED_V,
    MOST_P,
    MOST_VARIED_L,
    MOST_VARIED_V,
    PASSED_TIME,
    PATH_L,
    PATH_V,
    SPIN_AXIS,
    START_P,
    STOP_PHASE,
    STRUCK_STEP,
    SUM_L,
    SUM_V,
    TURN_LIMIT,
    TURNED,
    VARIED,
    VARIED_L,
    VARIED_V,
    add_shrinking,
    exchange,
    first_of,
    last_kick,
    share_of,
)
from cardan.engine.accounting.crossings import (
    DEPTH,
    GATE_DEPTH,
    GATE_EARLY,
    GATE_KINETIC,
    LIMITS,
    TRAVEL,
    TURN,
    note,
    under_way,
)
from cardan.engine.accounting.early_impacts import (
    carry_errors,
    note_early,
    note_passed,
    pass_on_impacts,
)
from cardan.engine.bodies.point import point_velocity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4, rotate, rotate_back
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, norm, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, PLANE, STATIC, Model
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.state import EXTREME_KINETIC, State
from cardan.engine.world.world import World

SMALL_STEPS = int(SolverMethod.SMALL_STEPS)
# sine of the angle between the axes of two steps up to which an axis is at rest
STEADY_AXIS = 1e-3


@kernel
def spin_of(world: World, i: int) -> Vec3:
    """state.L_conserved of body i [N m s], or its angular velocity [rad/s] where none is kept."""
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
def note_rate(state: State, i: int, at: int, w: Vec3, step: int) -> None:
    """Record body i, whose numbers are in extremes from `at` on, if it turns too far in a step."""
    rate, limit = across_axis(state, i, at, w), state.extremes[at + TURN_LIMIT]
    if rate > limit:
        note(state, TURN, rate, limit, i, step)


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
        note_rate(state, i, at, w, state.step[0])


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
            note_rate(state, i, at, w, state.step[0])


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
    for first, total, most in (
        (FIRST_V, LAGGED_V, MOST_LAGGED_V),
        (FIRST_L, LAGGED_L, MOST_LAGGED_L),
    ):
        add_shrinking(state.extremes, at + total, at + most, 0.0, state.extremes[at + first])


@kernel
def note_place(state: State, i: int, at: int) -> None:
    """Widen the box about the way of body i, whose records begin at `at`."""
    extremes = state.extremes
    for k in range(3):
        if state.step[0] == 1:
            extremes[at + START_P + k] = state.p_WB[i, k]
        moved = state.p_WB[i, k] - extremes[at + START_P + k]
        extremes[at + LEAST_P + k] = min(extremes[at + LEAST_P + k], moved)
        extremes[at + MOST_P + k] = max(extremes[at + MOST_P + k], moved)


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
    if extremes[GATE_EARLY] == 1.0:
        pass_on_impacts(world)
        extremes[GATE_EARLY] = 0.0
    for i in range(world.kind.shape[0]):
        if world.kind[i] != DYNAMIC:
            continue
        at = first + VARIED * i
        is_bound = extremes[at + BOUND_STEP] == step
        kept = 1.0 if is_bound else extremes[at + KEPT]
        kept_lag = 1.0 if is_bound else extremes[at + KEPT_LAG]
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
        elif extremes[at + PASSED_TIME] > 0.0:
            note_passed(world, i, share_of(varied, norm(kick)), share_of(varied_L, norm(spun)))
        if extremes[at + BRAKED_NOW] > 0.0:
            extremes[at + BRAKED_WAY] += extremes[at + BRAKED_NOW]
            extremes[at + BRAKED_NOW] = 0.0
        if extremes[at + MOST_AIM] > 0.0:
            carry_errors(world, i)
        if step == 1:
            record_first(world, i, norm(L))
        extremes[at + LARGEST_V] = max(extremes[at + LARGEST_V], dot(v, v))
        extremes[at + LARGEST_L] = max(extremes[at + LARGEST_L], dot(L, L))
        note_place(state, i, at)
        extremes[at + PATH_V] += norm(v)
        extremes[at + PATH_L] += norm(L)
        extremes[at + TURNED] += norm(w)
        extremes[at + AXIS_TURNED] += across_axis(state, i, at, w)
        if step > 1 and not exact:
            extremes[at + SUM_V] += norm(kick)
            extremes[at + SUM_L] += norm(spun)
            add_shrinking(extremes, at + LAGGED_V, at + MOST_LAGGED_V, kept_lag, norm(kick))
            add_shrinking(extremes, at + LAGGED_L, at + MOST_LAGGED_L, kept_lag, norm(spun))
        is_struck = step - extremes[at + STRUCK_STEP] <= 1.0 and extremes[at + STRUCK_STEP] > 0.0
        if step > 2 and not exact and not is_struck:
            add_shrinking(extremes, at + VARIED_V, at + MOST_VARIED_V, kept, varied)
            add_shrinking(extremes, at + VARIED_L, at + MOST_VARIED_L, kept, varied_L)


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
def depth_at_next_kick(world: World, contacts: Contacts, c: int) -> float:
    """How deep [m] contact c will be when contacts are found again, if it goes on as now.

    Reads   state: p, v, w at the end of the step
    """
    state, h = world.state, world.options.time_step
    n, p = load3(contacts.normal_W, c), load3(contacts.point_W, c)
    a, b = contacts.body_a[c], contacts.body_b[c]
    # points of the bodies half a step after the kick
    v_a = point_velocity(state, a, add_scaled(p, 0.5 * h, load3(state.v_WB_W, a)))
    v_b = point_velocity(state, b, add_scaled(p, 0.5 * h, load3(state.v_WB_W, b)))
    return h * dot(n, sub(v_a, v_b)) - contacts.gap[c]


@kernel
def record_depths(world: World, contacts: Contacts) -> None:
    """Note rigid contacts that are deeper than either body may be penetrated.

    Small steps move bodies to the end of the step, and contacts are found again half a step later:
    there the depth at that time counts.

    Writes  state.extremes
    """
    state, first = world.state, first_of(world)
    ahead = world.options.solver.method == SMALL_STEPS
    for c in range(contacts.count[0]):
        depth = -contacts.gap[c]
        if ahead:
            depth = max(depth, depth_at_next_kick(world, contacts, c))
        if depth <= state.extremes[GATE_DEPTH] or contacts.compliance[c] > 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        in_a = state.extremes[first + VARIED * a + DEPTH_LIMIT]
        in_b = state.extremes[first + VARIED * b + DEPTH_LIMIT]
        if depth > min(in_a, in_b):
            deeper = a if in_a <= in_b else b
            note(state, DEPTH, depth, min(in_a, in_b), deeper, state.step[0])


@kernel
def record_travels(world: World, contacts: Contacts) -> None:
    """Note bodies that move farther in a step than they are long, where they may meet others.

    That is where a contact with a shape other than a plane was found: in the open nothing is
    passed. What counts is the velocity with which a body comes to the kick.

    Reads   motion.velocity_old
    Writes  state.extremes
    Check   tests/engine/test_verdict.py
    """
    state, kind, shapes = world.state, world.kind, world.model.shapes.kind
    if state.extremes[EXTREME_KINETIC] <= state.extremes[GATE_KINETIC]:
        return
    first = LIMITS + world.model.joints.kind.shape[0]
    for c in range(contacts.count[0]):
        if shapes[contacts.shape_a[c]] == PLANE or shapes[contacts.shape_b[c]] == PLANE:
            continue
        for i in (contacts.body_a[c], contacts.body_b[c]):
            old, limit = world.work.motion.velocity_old[i], state.extremes[first + i]
            v = (old[3], old[4], old[5])
            if kind[i] != STATIC and dot(v, v) > limit * limit:
                note(state, TRAVEL, norm(v), limit, i, state.step[0])


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
            note(state, DEPTH, moved, limit, i, under_way(state))
