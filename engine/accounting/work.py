"""Work of the forces and impulses of a step, by category.

With v the velocity before and v+ after the kick in the middle of a step,

    T+ - T = 1/2 (v + v+) . [h f + J^T lam]

holds exactly, and the potential of a constant gravity changes by exactly -1/2 (v + v+) . h m g. So
each row's share is lam 1/2 (J v + J v+), and it is booked by the kind of the row. Between kicks
bodies move freely and keep their kinetic energy up to the error of the free rotation.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.accounting.energy import kinetic_energy_of, momenta_of
from cardan.engine.bodies.forces import implicit_share
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import in_all_lanes
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.constraints.motors import spring_part
from cardan.engine.constraints.row import row_speed_before
from cardan.engine.constraints.soft_stops import is_soft_stop
from cardan.engine.spatial.vec3 import Vec3, add, cross, load3, scale
from cardan.engine.world.lanes import LaneBodies, LaneState, LaneWork
from cardan.engine.world.model import DYNAMIC, GEAR, KINEMATIC, RACK, Bodies, Joints, Model
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import (
    ROW_COUPLING,
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
from cardan.engine.world.state import (
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    State,
)
from cardan.engine.world.workspace import Motion
from cardan.engine.world.world import World


@kernel
def mean_row_speed(rows: Rows, i: int, motion: Motion, state: State) -> float:
    """1/2 (J v + J v+) [m/s or rad/s], v after the impacts before the kick."""
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
    """J v of a side with prescribed motion (kinematic); 0 for a dynamic body."""
    total = 0.0
    if bodies.kind[body] != DYNAMIC:
        for k in range(3):
            total += J[i, k] * state.w_WB_W[body, k] + J[i, 3 + k] * state.v_WB_W[body, k]
    return total


@kernel
def mean_carried_speed(
    bodies: Bodies, J: NDArray, i: int, body: int, motion: Motion, state: State
) -> float:
    """`carried_speed`, the mean of before and after the kick."""
    total = 0.0
    if bodies.kind[body] != DYNAMIC:
        old = motion.velocity_old[body]
        for k in range(3):
            total += J[i, k] * (0.5 * (old[k] + state.w_WB_W[body, k]))
            total += J[i, 3 + k] * (0.5 * (old[3 + k] + state.v_WB_W[body, k]))
    return total


@kernel
def book_row(rows: Rows, i: int, speed: float, lam: float, ledger: NDArray) -> None:
    """Book lam times the mean speed of row i; for rows other than springs, soft stops, contacts.

    Negative work of a hard stop is an impact, unless it holds what goes round it; positive work is
    position correction.
    """
    kind = rows.kind[i]
    work = lam * speed
    if kind in (ROW_MOTOR, ROW_GRAB):
        ledger[LEDGER_WORK_IN] += work
    elif kind in (ROW_FRICTION, ROW_SPINNING, ROW_ROLLING):
        ledger[LEDGER_FRICTION] -= work
    elif kind == ROW_DRAG:
        ledger[LEDGER_DAMPING] -= work
    elif kind == ROW_LIMIT and work < 0.0 and rows.smooth[i] == 0:
        ledger[LEDGER_IMPACT] -= work
    else:
        ledger[LEDGER_CORRECTION] += work


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
    """Energy dissipated by the damper of a spring's row [J]; elastic work is potential energy.

    h d ((1 - theta) J v + theta J v+ + ahead) speed,  speed = (J v + J v+)/2 the mean of the
    step; ahead of a force element's line, see element.write_elements
    """
    damping, inverse_mass = damper_of(model, rows, i)
    theta = implicit_share(h * damping * inverse_mass)
    before = row_speed_before(rows, i, motion)
    after = 2.0 * speed - before
    return h * damping * ((1.0 - theta) * before + theta * after + rows.error[i]) * speed


@kernel
def book_couplings(world: World) -> None:
    """Book the work of couplings; it is that of the sum of their rows. A rope loses some when it
    becomes taut.

    Writes  state.ledger
    """
    model, state, h = world.model, world.state, world.clock.h[0]
    rows, problem, motion = world.work.rows, world.work.problem, world.work.motion
    joints, i = model.joints, 0
    while i < rows.count[2]:
        j, first, speed, before, lam = rows.joint[i], i, 0.0, 0.0, problem.lam[i]
        while i < rows.count[2] and rows.joint[i] == j:
            speed += mean_row_speed(rows, i, motion, state)
            before += row_speed_before(rows, i, motion)
            i += 1
        if joints.spring_on[j] == 1:
            damping = joints.spring_damping[j]
            theta = implicit_share(h * damping * joints.inverse_mass[j, 0])
            viscous = (1.0 - theta) * before + theta * (2.0 * speed - before)
            state.ledger[LEDGER_DAMPING] += h * damping * viscous * speed
            state.ledger[LEDGER_CORRECTION] += unsolved_work(rows, problem, first, speed)
        elif joints.limit_on[j, 0] == 1 and lam * speed < 0.0:
            state.ledger[LEDGER_IMPACT] -= lam * speed
        else:
            state.ledger[LEDGER_CORRECTION] += lam * speed


@kernel
def unsolved_work(rows: Rows, problem: Problem, i: int, speed: float) -> float:
    """Work of the residual of a spring's row [J].

    Spring and damper give the impulse at which w = 0; lam exceeds it by w/cfm.
    """
    return problem.w[i] / rows.cfm[i] * speed if rows.cfm[i] > 0.0 else 0.0


@kernel
def wrench_power(
    bodies: Bodies | LaneBodies, state: State | LaneState, motion: Motion | LaneWork
) -> float:
    """Mean power of wrenches in a kick [W]; also of worlds in lanes.

    Reads   motion.booked; velocities before (motion) and after (state) the kick
    """
    booked, old = motion.booked, motion.velocity_old
    twice = in_all_lanes(0.0, booked)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            for k in range(3):
                turn = old[i, k] + state.w_WB_W[i, k]
                move = old[i, 3 + k] + state.v_WB_W[i, k]
                twice += booked[i, k] * turn + booked[i, 3 + k] * move
    return 0.5 * twice


@kernel
def carried_power(bodies: Bodies, state: State, motion: Motion) -> float:
    """Mean power in a kick of force elements on kinematic bodies [W].

    Reads   motion.wrench, booked: commanded wrenches, which kinematic bodies do not feel;
            velocities before (motion) and after (state) the kick
    """
    wrench, booked, old = motion.wrench, motion.booked, motion.velocity_old
    twice = 0.0
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == KINEMATIC:
            for k in range(3):
                turn, move = old[i, k] + state.w_WB_W[i, k], old[i, 3 + k] + state.v_WB_W[i, k]
                twice += (wrench[i, k] - booked[i, k]) * turn
                twice += (wrench[i, 3 + k] - booked[i, 3 + k]) * move
    return 0.5 * twice


@kernel
def book_work(world: World) -> None:
    """Book all work of a finished step, except that of contacts and soft stops (yielding.py).

    Reads   velocities before (motion) and after (state), the rows and their impulses
    Writes  state.ledger
    Check   tests/laws/test_energy.py
    """
    model, state, h = world.model, world.state, world.clock.h[0]
    rows, problem, motion = world.work.rows, world.work.problem, world.work.motion
    bodies, ledger = model.bodies, state.ledger
    for i in range(problem.count[1]):
        lam = problem.lam[i]
        if lam != 0.0:
            speed = mean_row_speed(rows, i, motion, state)
            if rows.kind[i] in (ROW_SPRING, ROW_ELEMENT):
                ledger[LEDGER_DAMPING] += damped_work(model, rows, i, motion, speed, h)
                ledger[LEDGER_CORRECTION] += unsolved_work(rows, problem, i, speed)
            elif rows.kind[i] != ROW_COUPLING and not is_soft_stop(model.joints, rows, i):
                book_row(rows, i, speed, lam, ledger)
            carried = mean_carried_speed(bodies, rows.J_a, i, rows.body_a[i], motion, state)
            carried += mean_carried_speed(bodies, rows.J_b, i, rows.body_b[i], motion, state)
            ledger[LEDGER_WORK_IN] -= lam * carried
    book_couplings(world)
    ledger[LEDGER_WORK_IN] += h * wrench_power(bodies, state, motion)
    ledger[LEDGER_WORK_IN] -= h * carried_power(bodies, state, motion)


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
    """Add the impulses of rows on fixed bodies, except contacts; see book_momentum.

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


@kernel
def book_momentum(world: World) -> None:
    """Add all external impulses: gravity, wrenches, rows on fixed bodies.

    Contacts are in contact_work.py. Must be called in the middle of the step (poses there). Rows
    between two dynamic bodies are deliberately omitted: they must cancel, and the momentum drift
    shows if they do not. Gears and racks are counted: they relate rotations in W, which requires an
    external torque equal to the difference of theirs.

    Writes  state.momentum_in (6,): linear [N s], angular about the origin [N m s]
    Check   tests/laws/test_momentum.py
    """
    state, work, bodies, h = world.state, world.work, world.model.bodies, world.clock.h[0]
    sums, g, motion = state.momentum_in, state.gravity_W, work.motion
    book_row_impulses(world.model, work.rows, work.problem, state)
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            m, wrench = bodies.mass[i], motion.wrench[i]
            push = (m * g[0] + wrench[3], m * g[1] + wrench[4], m * g[2] + wrench[5])
            turn = (h * wrench[0], h * wrench[1], h * wrench[2])
            add_impulse(sums, load3(state.p_WB, i), scale(h, push), turn)


@kernel
def book_halt(bodies: Bodies, state: State, i: int) -> None:
    """Book a body that is set to rest: its energy as damping, its momenta as external.

    Writes  state.ledger, momentum_in
    Check   tests/laws/test_sleeping.py
    """
    state.ledger[LEDGER_DAMPING] += kinetic_energy_of(bodies, state, i)
    p, L = momenta_of(bodies, state, i)
    for k in range(3):
        state.momentum_in[k] -= p[k]
        state.momentum_in[3 + k] -= L[k]
