"""Where the work of a step went.

With v the velocity before and v+ after the kick in the middle of a step,

    T+ - T = 1/2 (v + v+) . [h f + J^T lam]

holds exactly, and the potential of a constant gravity changes by exactly -1/2 (v + v+) . h m g. So
each row's share is lam 1/2 (J v + J v+), and it is booked by what the row is for. Between kicks
bodies fly freely and keep their kinetic energy up to the error of the free rotation.
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.bodies.forces import implicit_share
from engine.bodies.point import point_velocity
from engine.constraints.drive import spring_part
from engine.constraints.joints.coordinates import is_length
from engine.diagnostics.energy import kinetic_energy_of, momenta_of
from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, add, add_scaled, cross, dot, load3, scale, sub
from engine.world.contacts import Contacts
from engine.world.model import DYNAMIC, GEAR, RACK, Bodies, Joints, Model
from engine.world.options import StepOptions
from engine.world.problem import Problem
from engine.world.rows import (
    ROW_DRAG,
    ROW_ELEMENT,
    ROW_FRICTION,
    ROW_GRAB,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_ROLLING,
    ROW_SPINNING,
    ROW_SPRING,
    SLOT_SPRING,
    Rows,
)
from engine.world.state import (
    FIRST_ENERGY,
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    State,
)
from engine.world.workspace import Motion


@kernel
def mean_row_speed(rows: Rows, i: int, motion: Motion, state: State) -> float:
    """1/2 (J v + J v+) [m/s or rad/s], v after the impacts that stand before the kick."""
    a, b = rows.body_a[i], rows.body_b[i]
    old, jump = motion.velocity_old, motion.jump
    total = 0.0
    for k in range(3):
        total += rows.J_a[i, k] * (old[a, k] + jump[a, k] + state.w_WB_W[a, k])
        total += rows.J_b[i, k] * (old[b, k] + jump[b, k] + state.w_WB_W[b, k])
        total += rows.J_a[i, 3 + k] * (old[a, 3 + k] + jump[a, 3 + k] + state.v_WB_W[a, k])
        total += rows.J_b[i, 3 + k] * (old[b, 3 + k] + jump[b, 3 + k] + state.v_WB_W[b, k])
    return 0.5 * total


@kernel
def carried_speed(bodies: Bodies, J: NDArray, i: int, body: int, state: State) -> float:
    """J v of a side whose motion is given (kinematic); 0 for a dynamic body."""
    total = 0.0
    if bodies.kind[body] != DYNAMIC:
        for k in range(3):
            total += J[i, k] * state.w_WB_W[body, k] + J[i, 3 + k] * state.v_WB_W[body, k]
    return total


@kernel
def book_row(rows: Rows, i: int, speed: float, lam: float, ledger: NDArray) -> None:
    """Book lam times the mean speed of row i, which is no spring and no contact's.

    A stop that takes energy is an impact, one that gives energy pushes bodies apart (correction).
    """
    kind = rows.kind[i]
    work = lam * speed
    if kind in (ROW_MOTOR, ROW_GRAB):
        ledger[LEDGER_WORK_IN] += work
    elif kind in (ROW_FRICTION, ROW_SPINNING, ROW_ROLLING):
        ledger[LEDGER_FRICTION] -= work
    elif kind == ROW_DRAG:
        ledger[LEDGER_DAMPING] -= work
    elif kind == ROW_LIMIT and work < 0.0:
        ledger[LEDGER_IMPACT] -= work
    else:
        ledger[LEDGER_CORRECTION] += work


@kernel
def velocity_of(motion: Motion, state: State, body: int, arm: Vec3) -> Vec3:
    """Velocity [m/s] of a point of a body, the mean of before and after the kick."""
    old, jump = motion.velocity_old[body], motion.jump[body]
    w, v = state.w_WB_W[body], state.v_WB_W[body]
    turn = (old[0] + jump[0] + w[0], old[1] + jump[1] + w[1], old[2] + jump[2] + w[2])
    move = (old[3] + jump[3] + v[0], old[4] + jump[4] + v[1], old[5] + jump[5] + v[2])
    return scale(0.5, add(move, cross(turn, arm)))


@kernel
def book_contact(
    bodies: Bodies,
    contacts: Contacts,
    c: int,
    pushes: tuple[Vec3, float],
    motion: Motion,
    state: State,
) -> None:
    """Book the work of one contact, as lam (J v + J v+)/2 over its three rows.

    A normal that takes energy is an impact, one that gives energy pushes bodies out of each other
    (correction); that of a compliant contact is booked by book_cushions. What the tangents do on
    surfaces that run over their bodies drives what lies on them.

    Reads   pushes   impulse on B [N s], and the share of it along the normal
    Writes  state.ledger
    """
    ledger = state.ledger
    push, along = pushes
    a, b = contacts.body_a[c], contacts.body_b[c]
    p, n = load3(contacts.point_W, c), load3(contacts.normal_W, c)
    v_a = velocity_of(motion, state, a, sub(p, load3(state.p_WB, a)))
    v_b = velocity_of(motion, state, b, sub(p, load3(state.p_WB, b)))
    v = sub(v_b, v_a)
    across = add_scaled(push, -along, n)
    belt = dot(across, load3(contacts.belt_W, c))
    ledger[LEDGER_FRICTION] -= dot(across, v) + belt
    ledger[LEDGER_WORK_IN] -= belt
    work = along * dot(n, v)
    if contacts.compliance[c] == 0.0:
        if work < 0.0:
            ledger[LEDGER_IMPACT] -= work
        else:
            ledger[LEDGER_CORRECTION] += work
    # what moves in a given way was carried by somebody
    if bodies.kind[a] != DYNAMIC:
        ledger[LEDGER_WORK_IN] += dot(push, point_velocity(state, a, p))
    if bodies.kind[b] != DYNAMIC:
        ledger[LEDGER_WORK_IN] -= dot(push, point_velocity(state, b, p))


@kernel
def push_of(rows: Rows, problem: Problem, i: int) -> Vec3:
    """Impulse on B [N s] of the contact with normal row i."""
    lam, J = problem.lam, rows.J_b
    return (
        lam[i] * J[i, 3] + lam[i + 1] * J[i + 1, 3] + lam[i + 2] * J[i + 2, 3],
        lam[i] * J[i, 4] + lam[i + 1] * J[i + 1, 4] + lam[i + 2] * J[i + 2, 4],
        lam[i] * J[i, 5] + lam[i + 1] * J[i + 1, 5] + lam[i + 2] * J[i + 2, 5],
    )


@kernel
def pressed_energy(compliance: float, gap: float) -> float:
    """Energy of a compliant contact, gap^2/(2 compliance) where pressed in [J]."""
    return 0.5 * min(gap, 0.0) ** 2 / compliance


@kernel
def row_speed_before(rows: Rows, i: int, motion: Motion) -> float:
    """J v before the kick and after the impacts that stand before it [m/s or rad/s]."""
    a, b = rows.body_a[i], rows.body_b[i]
    total = 0.0
    for k in range(6):
        total += rows.J_a[i, k] * (motion.velocity_old[a, k] + motion.jump[a, k])
        total += rows.J_b[i, k] * (motion.velocity_old[b, k] + motion.jump[b, k])
    return total


@kernel
def book_cushions(
    rows: Rows, problem: Problem, contacts: Contacts, motion: Motion, state: State, h: float
) -> None:
    """Book compliant contacts: what they store is potential energy, what they lose is damping.

    With the gap at both ends of the step on a straight line through its middle, a contact loses
    -(work on the bodies + rise of its energy). Where gaps were elsewhere at the end of the last
    step (contacts come, go, and move on curves), the difference is correction; what the first step
    of all finds stored belongs to the energy the run began with.

    Writes  state.ledger, state.extremes (FIRST_ENERGY)
            state.elastic, the energy stored at the end of this step [J]
    Check   tests/laws/test_energy.py, tests/references/test_surfaces.py
    """
    ledger = state.ledger
    before = 0.0
    after = 0.0
    for i in range(problem.count[1], problem.count[0], 3):
        c = rows.slot[i]
        compliance = contacts.compliance[c]
        if compliance > 0.0:
            mean = mean_row_speed(rows, i, motion, state)
            old = row_speed_before(rows, i, motion)
            start = pressed_energy(compliance, contacts.gap[c] - 0.5 * h * old)
            end = pressed_energy(compliance, contacts.gap[c] + 0.5 * h * (2.0 * mean - old))
            loss = start - end - problem.lam[i] * mean
            if loss >= 0.0:
                ledger[LEDGER_DAMPING] += loss
            else:
                ledger[LEDGER_CORRECTION] -= loss
            before += start
            after += end
    if state.step[0] == 0:
        state.extremes[FIRST_ENERGY] += before - state.elastic[0]
    else:
        ledger[LEDGER_CORRECTION] += before - state.elastic[0]
    state.elastic[0] = after


@kernel
def damper_of(model: Model, rows: Rows, i: int) -> tuple[float, float]:
    """Damping [N s/m or N m s/rad] and inverse mass [1/kg or 1/(kg m^2)] of a spring's row."""
    if rows.kind[i] == ROW_ELEMENT:
        f = rows.slot[i]
        return (model.forces.damping[f], model.forces.inverse_mass[f])
    joints, j = model.joints, rows.joint[i]
    if rows.slot[i] == SLOT_SPRING:
        return (joints.spring_damping[j], joints.inverse_mass[j, spring_part(joints, j)])
    part = 0 if is_length(joints.kind[j], rows.axis[i]) else 1
    return (joints.damping[j], joints.inverse_mass[j, part])


@kernel
def damped_work(model: Model, rows: Rows, i: int, motion: Motion, speed: float, h: float) -> float:
    """What the damper of a spring's row took [J]; its elastic work is counted in the potential.

    h d ((1 - theta) J v + theta J v+ + ahead) speed,  speed = (J v + J v+)/2 the mean of the
    step; ahead of a force element's line, see element.write_elements
    """
    damping, inverse_mass = damper_of(model, rows, i)
    theta = implicit_share(h * damping * inverse_mass)
    before = row_speed_before(rows, i, motion)
    after = 2.0 * speed - before
    return h * damping * ((1.0 - theta) * before + theta * after + rows.error[i]) * speed


@kernel
def unsolved_work(rows: Rows, problem: Problem, i: int, speed: float) -> float:
    """Work of what the solver left of a spring's row [J].

    Its spring and damper give the impulse at which w = 0; lam is w/cfm more.
    """
    return problem.w[i] / rows.cfm[i] * speed if rows.cfm[i] > 0.0 else 0.0


@kernel
def book_work(
    model: Model,
    rows: Rows,
    problem: Problem,
    contacts: Contacts,
    motion: Motion,
    state: State,
    options: StepOptions,
) -> None:
    """Book all work of the step that was just done.

    Reads   velocities before (motion) and after (state), the rows and their impulses
    Writes  state.ledger, state.elastic
    Check   tests/laws/test_energy.py
    """
    h = options.time_step
    bodies = model.bodies
    ledger = state.ledger
    for i in range(problem.count[1]):
        lam = problem.lam[i]
        if lam != 0.0:
            speed = mean_row_speed(rows, i, motion, state)
            if rows.kind[i] in (ROW_SPRING, ROW_ELEMENT):
                ledger[LEDGER_DAMPING] += damped_work(model, rows, i, motion, speed, h)
                ledger[LEDGER_CORRECTION] += unsolved_work(rows, problem, i, speed)
            else:
                book_row(rows, i, speed, lam, ledger)
            carried = carried_speed(bodies, rows.J_a, i, rows.body_a[i], state)
            carried += carried_speed(bodies, rows.J_b, i, rows.body_b[i], state)
            ledger[LEDGER_WORK_IN] -= lam * carried
    for i in range(problem.count[1], problem.count[0], 3):
        if problem.lam[i] != 0.0:
            pushes = (push_of(rows, problem, i), problem.lam[i])
            book_contact(bodies, contacts, rows.slot[i], pushes, motion, state)
    book_cushions(rows, problem, contacts, motion, state, h)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            for k in range(3):
                turn = 0.5 * (motion.velocity_old[i, k] + state.w_WB_W[i, k])
                move = 0.5 * (motion.velocity_old[i, 3 + k] + state.v_WB_W[i, k])
                ledger[LEDGER_WORK_IN] += h * motion.booked[i, k] * turn
                ledger[LEDGER_WORK_IN] += h * motion.booked[i, 3 + k] * move


@kernel
def add_impulse(sums: NDArray, p: Vec3, push: Vec3, turn: Vec3) -> None:
    """Add a push [N s] at p and a turn [N m s] to the impulse from outside, about the origin."""
    about = add(turn, cross(p, push))
    for k in range(3):
        sums[k] += push[k]
        sums[3 + k] += about[k]


@kernel
def add_external(sums: NDArray, J: NDArray, i: int, body: int, state: State, lam: float) -> None:
    """Add J^T lam on one body to the impulse from outside."""
    push = (lam * J[i, 3], lam * J[i, 4], lam * J[i, 5])
    turn = (lam * J[i, 0], lam * J[i, 1], lam * J[i, 2])
    add_impulse(sums, load3(state.p_WB, body), push, turn)


@kernel
def pushes_against_world(joints: Joints, j: int) -> bool:
    """Whether the rows of joint j (-1: of no joint) relate motions in W, not of B against A."""
    return j >= 0 and joints.kind[j] in (GEAR, RACK)


@kernel
def book_row_impulses(model: Model, rows: Rows, problem: Problem, state: State) -> None:
    """Add up the impulses of rows against fixed bodies; see book_momentum.

    Writes  state.momentum_in
    """
    bodies, joints = model.bodies, model.joints
    sums = state.momentum_in
    for i in range(problem.count[1]):
        lam = problem.lam[i]
        a, b = rows.body_a[i], rows.body_b[i]
        supported = pushes_against_world(joints, rows.joint[i])
        if lam == 0.0 or (bodies.kind[a] == bodies.kind[b] and not supported):
            continue
        if bodies.kind[a] == DYNAMIC:
            add_external(sums, rows.J_a, i, a, state, lam)
        if bodies.kind[b] == DYNAMIC:
            add_external(sums, rows.J_b, i, b, state, lam)
    for i in range(problem.count[1], problem.count[0], 3):
        a, b = rows.body_a[i], rows.body_b[i]
        if problem.lam[i] == 0.0 or bodies.kind[a] == bodies.kind[b]:
            continue
        for row in range(i, i + 3):
            if bodies.kind[a] == DYNAMIC:
                add_external(sums, rows.J_a, row, a, state, problem.lam[row])
            if bodies.kind[b] == DYNAMIC:
                add_external(sums, rows.J_b, row, b, state, problem.lam[row])


@kernel
def book_momentum(
    model: Model, rows: Rows, problem: Problem, motion: Motion, state: State, options: StepOptions
) -> None:
    """Add up every impulse that came from outside: gravity, wrenches, rows against fixed bodies.

    Must be called in the middle of the step (poses there). Rows between two dynamic bodies are
    left out on purpose: they must cancel by themselves, and the drift shows when they do not. Gears
    and racks are counted: they relate turns in W, which takes the difference of their torques.

    Writes  state.momentum_in (6,): linear [N s], angular about the origin [N m s]
    Check   tests/laws/test_momentum.py
    """
    h = options.time_step
    bodies = model.bodies
    sums, g = state.momentum_in, state.gravity_W
    book_row_impulses(model, rows, problem, state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            m, wrench = bodies.mass[i], motion.wrench[i]
            push = (m * g[0] + wrench[3], m * g[1] + wrench[4], m * g[2] + wrench[5])
            turn = (h * wrench[0], h * wrench[1], h * wrench[2])
            add_impulse(sums, load3(state.p_WB, i), scale(h, push), turn)


@kernel
def book_halt(bodies: Bodies, state: State, i: int) -> None:
    """Book that a body is about to be stopped: its energy as damping, its momenta as given away.

    Writes  state.ledger, momentum_in
    Check   tests/laws/test_sleeping.py
    """
    state.ledger[LEDGER_DAMPING] += kinetic_energy_of(bodies, state, i)
    p, L = momenta_of(bodies, state, i)
    for k in range(3):
        state.momentum_in[k] -= p[k]
        state.momentum_in[3 + k] -= L[k]
