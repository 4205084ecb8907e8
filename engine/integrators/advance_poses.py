"""Integration of poses from velocities."""

from __future__ import annotations

from cardan.engine.bodies.gyroscopic import conserved_momentum, free_rotation, is_round
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import HAS_LANES, any_of, select
from cardan.engine.spatial.fours import Four, load3_of_four, load4_of_four, load33_of_four
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import (
    lane4,
    load4,
    multiply,
    rotate,
    rotate_back,
    store4,
    unit,
    unit_again,
)
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import Vec3, lane3, load3, scale, store3
from cardan.engine.world.model import DYNAMIC, STATIC
from cardan.engine.world.options import Gyroscopic, OrientationUpdate
from cardan.engine.world.state import State
from cardan.engine.world.world import World

INFINITESIMAL = int(OrientationUpdate.INFINITESIMAL)
IMPLICIT = int(Gyroscopic.IMPLICIT)

NOT_AT_ALL = (0.0, 0.0, 0.0)


@kernel
def store_rotation(state: State, i: int, w: Vec3, L: Vec3) -> None:
    """Store w after free rotation, and the angular momentum that it conserved."""
    store3(state.w_WB_W, i, w)
    store3(state.w_drifted, i, w)
    store3(state.L_conserved, i, L)


@kernel
def advance_orientation(world: World, i: int, h: float) -> None:
    """Advance the orientation of one body over h, and its angular velocity in free rotation.

    A body with w = 0 keeps every bit of its orientation.

        implicit gyroscopic term   free flight: L is constant, w = I^-1 L
        else, finite               q <- exp(h w) q, exact for a constant angular velocity
        infinitesimal              q <- normalise(q + h/2 w q): turns by 2 atan(h |w|/2) instead of
                                   h |w|, too little by (h |w|)^3/12; L is kept likewise

    Source  Constraint Notes n.d., orientation update; decision 0003
    Check   tests/laws/test_free_body.py, tests/references/test_wheels.py
    """
    bodies, state, options = world.model.bodies, world.state, world.options
    q, w = load4(state.q_WB, i), load3(state.w_WB_W, i)
    if w == NOT_AT_ALL:
        return
    inertia = load33(bodies.inertia_B, i)
    keeps_L = options.gyroscopic == IMPLICIT and bodies.kind[i] == DYNAMIC and not is_round(inertia)
    if options.orientation_update == INFINITESIMAL:
        q_new = unit(multiply((1.0, 0.5 * h * w[0], 0.5 * h * w[1], 0.5 * h * w[2]), q))
        if keeps_L:
            L = rotate(q, times_vector(inertia, rotate_back(q, w)))
            inverse = load33(bodies.inverse_inertia_B, i)
            store3(state.w_WB_W, i, rotate(q_new, times_vector(inverse, rotate_back(q_new, L))))
    elif keeps_L:
        L = conserved_momentum(bodies, state, i)
        q_new, w_new = free_rotation(q, load33(bodies.inverse_inertia_B, i), L, h)
        store_rotation(state, i, w_new, L)
    else:
        # products of unit quaternions drift by rounding only, about 1e-16 a step
        q_new = unit_again(multiply(exponential(scale(h, w)), q))
    store4(state.q_WB, i, q_new)


@kernel
def rotates_freely(world: World, i: int) -> bool:
    """Whether L of a body is kept in a finite rotation, by a power series."""
    bodies, options = world.model.bodies, world.options
    if options.gyroscopic != IMPLICIT or options.orientation_update == INFINITESIMAL:
        return False
    turns = bodies.kind[i] == DYNAMIC and load3(world.state.w_WB_W, i) != NOT_AT_ALL
    return turns and not is_round(load33(bodies.inertia_B, i))


@kernel
def advance_four(world: World, four: Four, h: float) -> None:
    """`advance_orientation` of four bodies that rotate freely, at once; one may appear twice."""
    bodies, state = world.model.bodies, world.state
    q, w = load4_of_four(state.q_WB, four), load3_of_four(state.w_WB_W, four)
    before, L = load3_of_four(state.w_drifted, four), load3_of_four(state.L_conserved, four)
    same = (w[0] == before[0]) & (w[1] == before[1]) & (w[2] == before[2])
    if any_of(~same):
        spin = times_vector(load33_of_four(bodies.inertia_B, four), rotate_back(q, w))
        x, y, z = rotate(q, spin)
        L = select(same, L[0], x), select(same, L[1], y), select(same, L[2], z)
    q_new, w_new = free_rotation(q, load33_of_four(bodies.inverse_inertia_B, four), L, h)
    for k in range(4):
        store4(state.q_WB, four[k], lane4(q_new, k))
        store_rotation(state, four[k], lane3(w_new, k), lane3(L, k))


@kernel
def advance_one_by_one(world: World, h: float) -> None:
    """Advance the orientations of all bodies outside trees."""
    bodies = world.model.bodies
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != STATIC and bodies.node[i] < 0:
            advance_orientation(world, i, h)


@kernel
def advance_in_fours(world: World, h: float) -> None:
    """`advance_one_by_one`, four bodies at once where they rotate freely, with the same bits."""
    bodies, n = world.model.bodies, 0
    a, b, c = 0, 0, 0
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == STATIC or bodies.node[i] >= 0:
            continue
        if not rotates_freely(world, i):
            advance_orientation(world, i, h)
        elif n == 3:
            advance_four(world, (a, b, c, i), h)
            n = 0
        else:
            a, b, c, n = i, a, b, n + 1
    if n == 1:
        advance_orientation(world, a, h)
    elif n > 1:
        advance_four(world, (a, b, c if n == 3 else b, a), h)


advance_orientations = advance_in_fours if HAS_LANES else advance_one_by_one


@kernel
def advance_poses(world: World, h: float) -> None:
    """p += h v, and orientations likewise, over a time without forces; not for bodies of trees."""
    bodies, state = world.model.bodies, world.state
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] != STATIC and bodies.node[i] < 0:
            for k in range(3):
                state.p_WB[i, k] += h * state.v_WB_W[i, k]
    advance_orientations(world, h)
