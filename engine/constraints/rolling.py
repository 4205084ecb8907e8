"""Contacts that carry load while bodies roll, slide or rock: rows of second order in h.

A row of the middle of the step is not that of its end. For a contact that stays, the gap in the
next middle is

    gap + h J v+ + h^2/2 d(J v)/dt

(contact_curvature.py), so its bias is gap/h + h/2 d(J v)/dt. With gap/h alone such contacts lose
energy to first order in h: each kick removes the normal velocity that curvature has made since the
last. The scheme is that of SHAKE, which keeps energy over long times.
"""

from __future__ import annotations

from math import sqrt

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contact_curvature import (
    MOST_TURN,
    contact_acceleration,
    smaller_radius,
    turn_by_sliding,
    turn_of,
)
from cardan.engine.constraints.row import jacobian_product, row_speed
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.vec3 import Vec3, dot, load3, norm, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import DYNAMIC, Bodies
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.rows import Rows
from cardan.engine.world.world import World

SMALL_STEPS = int(SolverMethod.SMALL_STEPS)

# [rad per step] bodies and normals that turn less stand
LEAST_TURN = 1e-6
# A contact that approaches faster than this multiple of the change that curvature makes in a step
# is being struck: an impact that begins in one step may end in the next.
STRUCK = 30.0
# What is deeper than this share of the smaller shape is on no path over a surface.
DEEP = 0.2
# share of its cone within which friction sticks
WITHIN = 0.999
# share of the slip before the kick that sticking friction reverses
REVERSED = 0.95
# mark of a body that bodies on joints hold
HELD = 2
# With more contacts most are swept.
MOST_CONTACTS = 200


@kernel
def guess_velocities(world: World) -> None:
    """Velocities after the kick if its impulses are those of the last step.

    A body whose velocity this changes by more than the restitution threshold was struck. It, bodies
    of trees and bodies on which joints act, by rows or drives, have the velocities of before the
    kick.

    Reads   rows.lam_warm of all rows, motion.velocity_free
    Writes  motion.scratch (n, 6) angular first, W; jointed
    """
    rows, bodies, motion = world.work.rows, world.model.bodies, world.work.motion
    v, old, free = motion.scratch, motion.velocity_old, motion.velocity_free
    jointed = motion.jointed
    v[:, :] = 0.0
    for row in range(rows.count[0]):
        lam, a, b = rows.lam_warm[row], rows.body_a[row], rows.body_b[row]
        for k in range(6):
            v[a, k] += lam * rows.J_a[row, k]
            v[b, k] += lam * rows.J_b[row, k]
    jointed[:] = 0
    if world.work.drives.without_rows[0] == 1:
        for i in range(v.shape[0]):
            jointed[i] = world.model.drives.on_body[i]
    for row in range(rows.count[1]):
        if rows.joint[row] >= 0:
            jointed[rows.body_a[row]], jointed[rows.body_b[row]] = 1, 1
    for i in range(v.shape[0]):
        turn = times_vector(load33(motion.inverse_inertia_W, i), (v[i, 0], v[i, 1], v[i, 2]))
        gained2 = 0.0
        for k in range(3):
            v[i, k] = free[i, k] + turn[k]
            v[i, 3 + k] = free[i, 3 + k] + bodies.inverse_mass[i] * v[i, 3 + k]
            gained2 += (v[i, 3 + k] - old[i, 3 + k]) ** 2
        struck = gained2 > world.options.restitution_threshold**2
        stays = bodies.kind[i] != DYNAMIC or bodies.node[i] >= 0 or jointed[i] == 1
        if struck or stays:
            for k in range(6):
                v[i, k] = old[i, k]


@kernel
def end_of_pair(contacts: Contacts, first: int) -> int:
    """The contact after the last one of the pair of shapes of contact `first`."""
    last = first + 1
    while (
        last < contacts.count[0]
        and contacts.shape_a[last] == contacts.shape_a[first]
        and contacts.shape_b[last] == contacts.shape_b[first]
    ):
        last += 1
    return last


@kernel
def may_jam(world: World, first: int, last: int) -> bool:
    """Whether two contacts of a pair are within each other's cones of friction.

    What is between them, as a peg between the edges of its hole, they can hold with impulses of any
    size, and terms that do not fit together would do any work.

    Source  Nguyen 1988, theorem 5
    """
    rows, contacts = world.work.rows, world.work.contacts
    for c in range(first, last):
        n_c, mu = load3(contacts.normal_W, c), rows.mu[rows.count[1] + 3 * c + 1]
        for d in range(first, c):
            n_d = load3(contacts.normal_W, d)
            if dot(n_c, n_d) >= 0.0:
                continue
            line = sub(load3(contacts.point_W, c), load3(contacts.point_W, d))
            along_c, along_d = dot(n_c, line), -dot(n_d, line)
            least = min(along_c, along_d) if along_c > 0.0 else min(-along_c, -along_d)
            if least * sqrt(1.0 + mu * mu) >= norm(line):
                return True
    return False


@kernel
def load_of(rows: Rows, first: int, last: int) -> float:
    """What the contacts of a pair carried in the last step [N s]."""
    load = 0.0
    for c in range(first, last):
        load += rows.lam_warm[rows.count[1] + 3 * c]
    return load


@kernel
def next_speed(world: World, row: int) -> float:
    """w = J v_free + bias of a row: its velocity after the kick if no impulse acts [m/s]."""
    rows = world.work.rows
    return jacobian_product(rows, row, world.work.motion.velocity_free) + rows.bias[row]


@kernel
def rolls(world: World, first: int, last: int) -> bool:
    """Whether a rigid pair rolls under load and does not jam.

    Its bodies or its normal turn, and it carried load in the last step or would approach in this
    one.
    """
    rows, contacts, w = world.work.rows, world.work.contacts, world.state.w_WB_W
    a, b = contacts.shape_a[first], contacts.shape_b[first]
    if contacts.compliance[first] > 0.0:
        return False
    turn = norm(load3(w, contacts.body_a[first])) + norm(load3(w, contacts.body_b[first]))
    turn *= world.clock.h[0]
    if turn < LEAST_TURN and turn_by_sliding(world, first) < LEAST_TURN:
        return False
    if turn > MOST_TURN and turn_of(world, a) + turn_of(world, b) > MOST_TURN:
        return False
    touches = load_of(rows, first, last) > 0.0
    for c in range(first, last):
        touches = touches or next_speed(world, rows.count[1] + 3 * c) < 0.0
    return touches and not may_jam(world, first, last)


@kernel
def are_struck(world: World, first: int, last: int) -> bool:
    """Whether a contact of a pair approaches faster than the restitution threshold, beyond what its
    path makes in a step."""
    rows, h = world.work.rows, world.clock.h[0]
    threshold = world.options.restitution_threshold
    for c in range(first, last):
        speed = row_speed(rows, rows.count[1] + 3 * c, world.state)
        if (
            speed < -threshold
            and speed < h * min(contact_acceleration(world, c)[0], 0.0) - threshold
        ):
            return True
    return False


@kernel
def sticks(world: World, first: int, last: int) -> bool:
    """Whether friction was within its cone at all contacts of a pair that carried load.

    Friction that slides is on the cone, up to rounding and the tolerance of the solver. Where one
    contact slides and another sticks, what each asks of the same two bodies would not fit together.
    """
    rows = world.work.rows
    for row in range(rows.count[1] + 3 * first, rows.count[1] + 3 * last, 3):
        x, y, cone = rows.lam_warm[row + 1], rows.lam_warm[row + 2], rows.mu[row + 1]
        cone *= WITHIN * rows.lam_warm[row]
        if rows.lam_warm[row] > 0.0 and x * x + y * y >= cone * cone:
            return False
    return True


@kernel
def follow_tangents(world: World, row: int, acceleration: Vec3, turns: bool) -> None:
    """Write the biases of the tangents of the contact with normal row `row`.

    Friction that sticks does no work if the mean of J v- and J v+ is zero; if J v+ is tangent to
    the curved path, it does one of third order, which makes the fast motions of a rocking body
    slower. The share REVERSED of the first and the rest of the second: the first alone would pass
    a slip on with the other sign for ever.

    Reads   acceleration d(J v)/dt [m/s^2] along (n, t1, t2)
    Writes  rows.bias, sweep_bias_delta
    Source  McLachlan and Perlmutter 2006; decision 0510
    """
    rows, h = world.work.rows, world.clock.h[0]
    bias1, bias2 = 0.5 * h * acceleration[1], 0.5 * h * acceleration[2]
    if turns:
        # biases so far are surface velocities
        e1 = row_speed(rows, row + 1, world.state) + rows.bias[row + 1] - bias1
        e2 = row_speed(rows, row + 2, world.state) + rows.bias[row + 2] - bias2
        # what is larger is no motion along the path
        if norm((0.0, e1, e2)) <= h * norm(acceleration):
            bias1 += REVERSED * e1
            bias2 += REVERSED * e2
    for tangent, bias in ((row + 1, bias1), (row + 2, bias2)):
        rows.bias[tangent] += bias
        rows.sweep_bias_delta[tangent] -= bias


@kernel
def follow_contact(world: World, c: int, jointed: bool, sticking: bool, loaded: bool) -> None:
    """Write the biases of contact c for the curved path of its point.

    A depth is removed at most as fast as curvature makes it: what is deeper (overlaps at the start)
    is left to stabilisation, whose error is the gap in the next middle. Bodies on joints are put in
    place after the step, so their depth is left to stabilisation altogether. Sweeping solvers take
    all of it back: they do not solve exactly enough for it. A contact that is being struck keeps
    the bias of an impact, and the loss is booked as one. So does one of a pair without load, unless
    its path leads away: what leaves a dome is above the tangent plane only after some steps.

    Writes  rows.bias, error, sweep_bias_delta, smooth
    """
    rows, contacts, h = world.work.rows, world.work.contacts, world.clock.h[0]
    row = rows.count[1] + 3 * c
    if contacts.gap[c] < -DEEP * smaller_radius(world, c):
        return
    normal, along1, along2 = contact_acceleration(world, c)
    bias, gap = 0.5 * h * normal, contacts.gap[c]
    if normal == 0.0 and along1 == 0.0 and along2 == 0.0:
        return
    most = STRUCK * h * norm((normal, along1, along2))
    if row_speed(rows, row, world.state) < -most:
        return
    push = rows.bias[row]
    if not jointed:
        push = max(gap / h, -abs(bias))
    change = push + bias - rows.bias[row]
    if not loaded and next_speed(world, row) + change < 0.0:
        return
    if not jointed:
        rows.error[row] = gap - 0.5 * h * push
    rows.bias[row] += change
    rows.sweep_bias_delta[row] -= change
    rows.error[row] += 0.5 * h * bias
    rows.smooth[row] = 1
    follow_tangents(world, row, (normal, along1, along2), sticking and not jointed)


@kernel
def is_on_rows(bodies: Bodies, jointed: NDArray, i: int) -> bool:
    """Whether joints that are rows act on body i."""
    return bool(jointed[i] == 1 and bodies.node[i] < 0)


@kernel
def keep_held(world: World) -> None:
    """Give held bodies the velocities of before the kick in place of guessed ones.

    Held is a body without joints that carries load from several others, one of which is on joints
    that are rows. Velocities of what holds it are not guessed: contacts on several sides would ask
    for what does not fit together, and friction would make up for it until it slips.

    Writes  motion.scratch; jointed: HELD, -1 - number of the first other body where there is one
    Check   tests/laws/test_grips.py
    """
    rows, contacts, motion = world.work.rows, world.work.contacts, world.work.motion
    jointed, bodies = motion.jointed, world.model.bodies
    for c in range(contacts.count[0]):
        if not rows.lam_warm[rows.count[1] + 3 * c] > 0.0:
            continue
        a, b = contacts.body_a[c], contacts.body_b[c]
        for body, other in ((a, b), (b, a)):
            if jointed[body] == 0 and bodies.kind[body] == DYNAMIC:
                jointed[body] = -1 - other
            first = -1 - jointed[body]
            if first < 0 or first == other:
                continue
            if is_on_rows(bodies, jointed, first) or is_on_rows(bodies, jointed, other):
                jointed[body] = HELD
    for i in range(jointed.shape[0]):
        if jointed[i] == HELD:
            for k in range(6):
                motion.scratch[i, k] = motion.velocity_old[i, k]


@kernel
def follow_pair(world: World, first: int, last: int) -> None:
    """`follow_contact` of all contacts of a pair that rolls."""
    contacts, on_joint = world.work.contacts, world.work.motion.jointed
    a, b = contacts.body_a[first], contacts.body_b[first]
    jointed = on_joint[a] == 1 or on_joint[b] == 1
    sticking = sticks(world, first, last)
    loaded = load_of(world.work.rows, first, last) > 0.0
    for c in range(first, last):
        follow_contact(world, c, jointed, sticking, loaded)


@kernel
def follow_curvature(world: World) -> None:
    """`follow_pair` of all pairs that roll and are not struck; small_steps has steps small enough.

    Check   tests/laws/test_rolling.py
    """
    contacts = world.work.contacts
    if world.options.solver.method == SMALL_STEPS or contacts.count[0] > MOST_CONTACTS:
        return
    guessed = False
    first = 0
    while first < contacts.count[0]:
        last = end_of_pair(contacts, first)
        if rolls(world, first, last):
            if not guessed:
                guess_velocities(world)
                keep_held(world)
                guessed = True
            if not are_struck(world, first, last):
                follow_pair(world, first, last)
        first = last
