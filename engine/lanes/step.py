"""Steps of worlds side by side: drift, kick, drift of trees without contacts.

The verbs are those of step/step.py, compiled for lanes; what remains of the kick and of the
records of a step is written here for trees alone. Every world has the bits it has alone.
"""

from __future__ import annotations

from numpy.typing import NDArray

import cardan.engine.lanes.forms  # noqa: F401  what kernels call for lanes
from cardan.engine.accounting.body_records import (
    AIM_P,
    AIM_V,
    AXIS_TURNED,
    FIRST_L,
    FIRST_V,
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
    PATH_L,
    PATH_V,
    SPIN_AXIS,
    START_P,
    SUM_L,
    SUM_V,
    TURN_LIMIT,
    TURNED,
    VARIED,
    VARIED_L,
    VARIED_V,
    exchange,
)
from cardan.engine.accounting.crossings import note_growth, under_way
from cardan.engine.accounting.early_impacts import TURNING_ROUND
from cardan.engine.accounting.extremes import record_motion
from cardan.engine.accounting.stretches import (
    KEPT_X,
    LAST_KICK,
    LAST_RATE,
    LAST_X,
    LEAST_X,
    MOST_VARIED_X,
    MOST_X,
    OF_A_SPRING,
    SEEN,
    VARIED_X,
    first_spring,
)
from cardan.engine.accounting.variation import STEADY_AXIS
from cardan.engine.accounting.work import add_impulse
from cardan.engine.bodies.finite import LARGEST
from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import any_of, in_all_lanes, select
from cardan.engine.constraints.drives import store_drives
from cardan.engine.lanes.kick import apply_kick
from cardan.engine.lanes.separation import leave_if_touching
from cardan.engine.spatial.inertia import sym_times
from cardan.engine.spatial.quaternion import load4, rotate, rotate_back
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, load3, norm, scale, sub
from cardan.engine.trees.body_sync import write_joint_coordinates
from cardan.engine.trees.drift import drift_after_kick, drift_before_kick, finish_drift
from cardan.engine.trees.impulses import add_moment
from cardan.engine.trees.spatial_arrays import load6, load_sym
from cardan.engine.world.lanes import LaneWorld
from cardan.engine.world.model import DYNAMIC


@kernel
def book_kick(world: LaneWorld, h: float) -> None:
    """Impulses of gravity and wrenches on all bodies, and of the ground on trees that stand on it.

    Reads   work.booked
    Writes  state.momentum_in
    """
    state, bodies, tree = world.state, world.model.bodies, world.model.tree
    work, old, booked = world.work.tree, world.work.velocity_old, world.work.booked
    g, sums = load_gravity(state), state.momentum_in
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            torque, force = load6(booked, i)
            push = scale(h, add(scale(bodies.mass[i], g), force))
            add_impulse(sums, load3(state.p_WB, i), push, scale(h, torque))
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body < 0 or tree.floating[tree.tree[i]] == 1:
            continue
        w_old, v_old = load6(old, body)
        change = sub(load3(state.w_WB_W, body), w_old)
        torque, force = load6(booked, body)
        linear = scale(tree.mass[i], sub(load3(state.v_WB_W, body), v_old))
        linear = sub(linear, scale(h, add(force, scale(tree.mass[i], g))))
        angular = sub(sym_times(load_sym(work.I_W, i), change), scale(h, torque))
        add_moment(sums, linear, angular, load3(state.p_WB, body))


@kernel
def leave_if_turned(world: LaneWorld, at: int, w: Vec3) -> None:
    """Worlds in which a body turns too far about an axis that moves are left."""
    state = world.state
    limit, last = state.extremes[at + TURN_LIMIT], exchange(state, at + LAST_W, w)
    square = dot(w, w)
    fast = ~(square <= limit * limit)
    if any_of(fast):
        moved = cross(last, w)
        steady = dot(moved, moved) <= STEADY_AXIS**2 * square * dot(last, last)
        state.left[0] = select(fast & ~steady, 1.0, state.left[0])


@kernel
def record_path(world: LaneWorld, i: int, at: int, v: Vec3, L: Vec3) -> None:
    """Extent, speeds and paths of body i; its numbers are in extremes from `at` on."""
    state, records = world.state, world.state.extremes
    squares = (dot(v, v), dot(L, L))
    largest_v, largest_L = records[at + LARGEST_V], records[at + LARGEST_L]
    records[at + LARGEST_V] = select(squares[0] > largest_v, squares[0], largest_v)
    records[at + LARGEST_L] = select(squares[1] > largest_L, squares[1], largest_L)
    for k in range(3):
        if state.step[0] == 1:
            records[at + START_P + k] = state.p_WB[i, k]
        moved = state.p_WB[i, k] - records[at + START_P + k]
        least, most = records[at + LEAST_P + k], records[at + MOST_P + k]
        records[at + LEAST_P + k] = select(moved < least, moved, least)
        records[at + MOST_P + k] = select(moved > most, moved, most)
    records[at + PATH_V] += norm(v)
    records[at + PATH_L] += norm(L)
    w = load3(state.w_WB_W, i)
    records[at + TURNED] += norm(w)
    axis = (records[at + SPIN_AXIS], records[at + SPIN_AXIS + 1], records[at + SPIN_AXIS + 2])
    across = norm(cross(rotate(load4(state.q_WB, i), axis), w))
    records[at + AXIS_TURNED] += select(dot(axis, axis) > 0.0, across, norm(w))


@kernel
def record_stretches(world: LaneWorld) -> None:
    """Record springs of joints of trees, as accounting/stretches.py does.

    Reads   state.tree_q in the middle of the step
    Writes  state.extremes
    """
    records, drives = world.state.extremes, world.model.drives
    first = first_spring(world.model)
    for k in range(drives.spring.shape[0]):
        if drives.spring[k] < 0:
            continue
        at = first + OF_A_SPRING * drives.joint[k]
        x = world.state.tree_q[drives.coordinate[k]]
        rate = x - records[at + LAST_X]
        kick = rate - records[at + LAST_RATE]
        varied = abs(kick - records[at + LAST_KICK])
        seen = records[at + SEEN]
        records[at + LAST_X], records[at + LAST_RATE], records[at + LAST_KICK] = x, rate, kick
        records[at + SEEN] = seen + 1.0
        least, most = records[at + LEAST_X], records[at + MOST_X]
        records[at + LEAST_X] = select((x < least) | (seen < 1.0), x, least)
        records[at + MOST_X] = select((x > most) | (seen < 1.0), x, most)
        total = select(
            seen > 2.5, records[at + KEPT_X] * records[at + VARIED_X] + varied, seen * 0.0
        )
        records[at + VARIED_X], most = total, records[at + MOST_VARIED_X]
        records[at + MOST_VARIED_X] = select(total > most, total, most)


@kernel
def add_shrinking(records: NDArray, at: int, which: tuple[int, int, int], more: float) -> None:
    """Add to a sum of the body whose numbers begin at `at`, and keep the most of it.

    which   what of it a step keeps, the sum, the most of it
    """
    kept, total, most = which
    now, largest = records[at + kept] * records[at + total] + more, records[at + most]
    records[at + total] = now
    records[at + most] = select(now > largest, now, largest)


@kernel
def carry_errors(world: LaneWorld, at: int, v: Vec3, h: float) -> None:
    """Carry on errors of impacts before the world entered its lane, as accounting/early_impacts.py.

    Writes  state.extremes: of the body whose numbers begin at `at`
    """
    records = world.state.extremes
    most = records[at + MOST_AIM]
    if not any_of(most > 0.0):
        return
    error = norm((records[at + AIM_V], records[at + AIM_V + 1], records[at + AIM_V + 2]))
    kick = (records[at + KICK_V], records[at + KICK_V + 1], records[at + KICK_V + 2])
    speed = norm(v) + TURNING_ROUND * norm(kick)
    moves = (most > 0.0) & (error > 0.0)
    share = select(moves & (speed < error), speed / error, 1.0)
    for k in range(3):
        records[at + AIM_V + k] *= share
        moved = records[at + AIM_P + k] + h * records[at + AIM_V + k]
        records[at + AIM_P + k] = select(moves, moved, records[at + AIM_P + k])
    way = norm((records[at + AIM_P], records[at + AIM_P + 1], records[at + AIM_P + 2]))
    records[at + MOST_AIM] = select(moves & (way > most), way, most)


@kernel
def record_variation(world: LaneWorld, h: float) -> None:
    """Add up how the last kick differs from the one before, as accounting/variation.py does.

    Reads   state.step: steps done, this one included
    Writes  state.extremes, left
    """
    state, step = world.state, world.state.step[0]
    records = state.extremes
    for i in range(world.model.bodies.kind.shape[0]):
        if world.model.bodies.kind[i] != DYNAMIC:
            continue
        at = world.first[0] + VARIED * i
        v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
        v_B = rotate_back(load4(state.q_WB, i), v)
        kick = sub(v, exchange(state, at + LAST_V, v))
        kick_B = sub(v_B, exchange(state, at + LAST_B, v_B))
        spun = sub(w, exchange(state, at + LAST_L, w))
        varied = norm(sub(kick, exchange(state, at + KICK_V, kick)))
        varied_B = norm(sub(kick_B, exchange(state, at + KICK_B, kick_B)))
        varied = select(varied_B < varied, varied_B, varied)
        varied_L = norm(sub(spun, exchange(state, at + KICK_L, spun)))
        leave_if_turned(world, at, w)
        carry_errors(world, at, v, h)
        record_path(world, i, at, v, w)
        if step == 1:
            w_old, v_old = load6(world.work.velocity_old, i)
            records[at + FIRST_V] = norm(sub(v, v_old))
            records[at + FIRST_L] = norm(sub(w, w_old))
            add_shrinking(records, at, (KEPT_LAG, LAGGED_V, MOST_LAGGED_V), records[at + FIRST_V])
            add_shrinking(records, at, (KEPT_LAG, LAGGED_L, MOST_LAGGED_L), records[at + FIRST_L])
        if step > 1:
            records[at + SUM_V] += norm(kick)
            records[at + SUM_L] += norm(spun)
            add_shrinking(records, at, (KEPT_LAG, LAGGED_V, MOST_LAGGED_V), norm(kick))
            add_shrinking(records, at, (KEPT_LAG, LAGGED_L, MOST_LAGGED_L), norm(spun))
        if step > 2:
            add_shrinking(records, at, (KEPT, VARIED_V, MOST_VARIED_V), varied)
            add_shrinking(records, at, (KEPT, VARIED_L, MOST_VARIED_L), varied_L)


@kernel
def leave_if_bad(world: LaneWorld) -> None:
    """Worlds with a value that is not finite are left."""
    state = world.state
    for i in range(state.p_WB.shape[0]):
        total = in_all_lanes(0.0, state.left)
        for k in range(3):
            total += abs(state.p_WB[i, k]) + abs(state.v_WB_W[i, k]) + abs(state.w_WB_W[i, k])
            total += abs(state.q_WB[i, k])
        state.left[0] = select(total < LARGEST, state.left[0], 1.0)


@kernel
def step(world: LaneWorld, h: float) -> None:
    """Advance W worlds by one step.

    Writes  state; work is garbage between steps
    Check   tests/engine/lanes/test_lanes.py
    """
    half, state = 0.5 * h, world.state
    note_growth(state, drift_before_kick(world, half), under_way(state))
    write_joint_coordinates(world.model.tree, state)
    apply_kick(world, h)
    leave_if_touching(world, h)
    book_kick(world, h)
    record_stretches(world)
    height = drift_after_kick(world, half)
    note_growth(state, finish_drift(world, half, height), under_way(state))
    state.step[0] += 1
    record_motion(world.model, state)
    record_variation(world, h)
    leave_if_bad(world)


@kernel
def keep_impulses(world: LaneWorld) -> None:
    """Keep the impulses of drives in the last step.

    Writes  state.joint_lam
    """
    stored = world.state.joint_lam
    for j in range(stored.shape[0]):
        for slot in range(stored.shape[1]):
            stored[j, slot] = in_all_lanes(0.0, world.state.left)
    store_drives(world)


@kernel
def run(handle: LaneWorld, h: float, n_steps: int) -> int:
    """n_steps steps of W worlds; fewer when all of them need what lanes cannot do."""
    world = struct_of(handle)
    for done in range(n_steps):
        if not any_of(world.state.left[0] < 0.5):
            return done
        step(world, h)
    keep_impulses(world)
    return n_steps
