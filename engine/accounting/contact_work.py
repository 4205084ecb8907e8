"""Work of contacts by category, and impulses through contacts from outside.

As in work.py each row's share is lam (J v + J v+)/2; the three rows of a contact act at one
point, so it is the impulse there times the mean velocity there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.accounting.work import add_impulse
from cardan.engine.bodies.point import point_velocity, velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    sub,
)
from cardan.engine.world.model import DYNAMIC, KINEMATIC
from cardan.engine.world.problem import BIAS_APPLIED
from cardan.engine.world.state import (
    LEDGER_CORRECTION,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    State,
)

if TYPE_CHECKING:
    from cardan.engine.world.workspace import Motion
    from cardan.engine.world.world import World


@kernel
def write_means(motion: Motion, state: State) -> None:
    """motion.scratch <- mean velocities of before (after impacts) and after the kick."""
    mean, old, jump = motion.scratch, motion.velocity_old, motion.jump
    for i in range(mean.shape[0]):
        for k in range(3):
            mean[i, k] = 0.5 * (old[i, k] + jump[i, k] + state.w_WB_W[i, k])
            mean[i, 3 + k] = 0.5 * (old[i, 3 + k] + jump[i, 3 + k] + state.v_WB_W[i, k])


@kernel
def booked_velocity(world: World, c: int, i: int) -> Vec3:
    """Velocity of body i at contact c for the books [m/s]: the mean of before and after the kick;
    of a given motion that jumps and gives a blow, the one with which it strikes.

    Reads   motion.scratch, lead
    """
    state, work = world.state, world.work
    p = load3(work.contacts.point_W, c)
    struck = work.rows.rebound[work.problem.count[1] + 3 * c] > 0.0
    if struck and world.model.bodies.kind[i] == KINEMATIC:
        return add(point_velocity(state, i, p), velocity_at(state, work.motion.lead, i, p))
    return velocity_at(state, work.motion.scratch, i, p)


@kernel
def carried_work(world: World, c: int) -> float:
    """Work done by prescribed (kinematic) motion at contact c [J]."""
    contacts, kind = world.work.contacts, world.model.bodies.kind
    push, a, b = load3(contacts.impulse_W, c), contacts.body_a[c], contacts.body_b[c]
    work = 0.0
    if kind[a] == KINEMATIC:
        work += dot(push, booked_velocity(world, c, a))
    if kind[b] == KINEMATIC:
        work -= dot(push, booked_velocity(world, c, b))
    return work


@kernel
def book_contacts(world: World) -> bool:
    """Book the work of all contacts, and work and impulses from outside through them.

    Negative work of a normal is an impact, positive work is position correction. All work of a
    contact that rolls on is correction: none of it would be done at a smaller step. Compliant
    contacts are booked in yielding.py. Work of tangents on a surface with a surface velocity is
    work of a drive.

    Reads   contacts.impulse_W of this kick; velocities before (motion) and after (state)
    Writes  state.ledger, momentum_in; motion.scratch. Returns whether a contact is compliant
    Check   tests/laws/test_energy.py, tests/laws/test_momentum.py
    """
    state, work = world.state, world.work
    bodies, rows, problem, contacts, motion = (
        world.model.bodies,
        work.rows,
        work.problem,
        work.contacts,
        work.motion,
    )
    ledger, first = state.ledger, problem.count[1]
    write_means(motion, state)
    rubbed, driven, taken, given = 0.0, 0.0, 0.0, 0.0
    # external impulse, and its moment about the origin
    total, about = ZERO3, ZERO3
    compliant = False
    for c in range(contacts.count[0]):
        compliant = compliant or contacts.compliance[c] > 0.0
        along = problem.lam[first + 3 * c]
        if along == 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        p, n, push = (
            load3(contacts.point_W, c),
            load3(contacts.normal_W, c),
            load3(contacts.impulse_W, c),
        )
        v = sub(booked_velocity(world, c, b), booked_velocity(world, c, a))
        surface_velocity = dot(add_scaled(push, -along, n), load3(contacts.surface_velocity_W, c))
        done = along * dot(n, v)
        rubbed -= dot(push, v) - done + surface_velocity
        driven -= surface_velocity
        row = first + 3 * c
        if rows.smooth[row] == 1 and problem.sweep_bias_delta[row] != BIAS_APPLIED:
            given += done
        elif contacts.compliance[c] == 0.0:
            taken -= min(done, 0.0)
            given += max(done, 0.0)
        if bodies.kind[a] != bodies.kind[b]:
            outside = push if bodies.kind[b] == DYNAMIC else negate(push)
            total = add(total, outside)
            about = add(about, cross(p, outside))
            driven += carried_work(world, c)
    ledger[LEDGER_FRICTION] += rubbed
    ledger[LEDGER_WORK_IN] += driven
    ledger[LEDGER_IMPACT] += taken
    ledger[LEDGER_CORRECTION] += given
    add_impulse(state.momentum_in, ZERO3, total, about)
    return compliant
