"""Soft sub-stepped Gauss-Seidel: contact detection once per step, the kick in n substeps.

Substep s = 1 .. n of length h = H/n has its kick at the time t_s = (s - 1/2) h - H/2 relative to
the kick of the step:

    v   += gain                  velocity change by forces in h
    v   += M^-1 J^T lam_(s-1)    warm start from the previous substep
    sweep once                   soft: position errors of the substep, with frequency and damping
    x   += h v                   displacements; position errors C = C_0 + J x
    sweep once                   relaxed: without position correction, which would leave a velocity
    total += lam_s

Contacts with an impact then rebound. Jacobians are those of the middle of the step. The result is
the impulse of the step, as for every solver, and the shift of the poses at the end of the step from
those of a single kick to those of the substeps.

Targets of the rows:

    contacts, hard stops   C > 0: C/h; else soft, at most max_correction_speed
    hard equations         soft, with the second derivative of C at the time of the substep
    tangents, turning      no velocity against the surface
    all others             the law of the whole step, for the velocity and impulse
    (springs, motors,        extrapolated to its end: with m substeps to go
    couplings ...)
                           J (v_0 + m (v - v_0)) + bias + cfm (total + m lam) = 0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import row_speed_before
from cardan.engine.problem.coupled import add_up, goes_on
from cardan.engine.problem.islands import find_islands
from cardan.engine.problem.operator import add_impulse, first_dependent, relative_velocity
from cardan.engine.problem.residual import residual
from cardan.engine.solvers.solve import SMALL_STEPS
from cardan.engine.solvers.stopping import confirmed
from cardan.engine.solvers.substeps.softness import softness_of
from cardan.engine.solvers.sweeps.blocks import project_impulses, write_steps
from cardan.engine.solvers.sweeps.pgs import (
    coupled_velocity,
    sweep_bodies,
    sweep_boxes,
    sweep_cone,
    sweep_couplings,
)
from cardan.engine.solvers.sweeps.simd.soft import (
    aim_lanes,
    relax_lanes,
    store_totals,
    write_soft_lanes,
)
from cardan.engine.solvers.sweeps.simd.solver import list_contacts, load_lanes
from cardan.engine.solvers.sweeps.simd.work import push_lanes, sweep_lanes
from cardan.engine.solvers.sweeps.steps import step_of
from cardan.engine.world.equations import DROP
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.problem import FRICTION_CONE
from cardan.engine.world.report import STOPPED_EXACT, STOPPED_MAX_ITERATIONS
from cardan.engine.world.rows import ROW_EQUATION, ROW_LIMIT, ROW_NORMAL, ROW_TANGENT
from cardan.engine.world.substeps import LAW_EQUATION, LAW_ONE_SIDED, LAW_STEP, LAW_SURFACE

if TYPE_CHECKING:
    from cardan.engine.solvers.substeps.softness import Softness
    from cardan.engine.solvers.sweeps.simd.soft import Moment
    from cardan.engine.world.options import SolverOptions
    from cardan.engine.world.problem import Lanes, Problem
    from cardan.engine.world.rows import Rows
    from cardan.engine.world.substeps import Substeps
    from cardan.engine.world.workspace import Motion
    from cardan.engine.world.world import World

AUTO = int(SolverMethod.AUTO)
# sweeps for the rebound of contacts, in total
REBOUND_SWEEPS = 10


@kernel
def law_of(rows: Rows, i: int) -> int:
    """LAW_... of a row."""
    kind = rows.kind[i]
    if rows.normal_row[i] >= 0 or kind == ROW_TANGENT:
        return LAW_SURFACE
    if rows.cfm[i] == 0.0 and kind == ROW_EQUATION:
        return LAW_EQUATION
    if rows.cfm[i] == 0.0 and kind in (ROW_NORMAL, ROW_LIMIT):
        return LAW_ONE_SIDED
    return LAW_STEP


@kernel
def start_rows(rows: Rows, problem: Problem, motion: Motion, steps: Substeps, n: int) -> bool:
    """Write row data that is the same in all n substeps; return whether any row may rebound.

    Reads   problem: b = J v_free + bias, the guess lam; motion
    Writes  steps, except lanes, v, moved, shift
    """
    part, share = steps.part, 1.0 / n
    rebounds = False
    for i in range(problem.count[0]):
        steps.law[i] = law_of(rows, i)
        steps.speed[i] = row_speed_before(rows, i, motion)
        steps.total[i] = 0.0
        part.b[i] = 0.0
        part.lam[i] = share * problem.lam[i]
        part.cfm[i] = rows.cfm[i]
        part.lo[i] = share * rows.lo[i]
        part.hi[i] = share * rows.hi[i]
        rebounds = rebounds or rows.rebound[i] > 0.0
    add_up(problem, steps.speed)
    for i in range(problem.count[0]):
        steps.gain[i] = share * (problem.b[i] - rows.bias[i] - steps.speed[i])
    return rebounds


@kernel
def start_bodies(steps: Substeps) -> None:
    """Set velocities and displacements by impulses to zero."""
    steps.v[:] = 0.0
    steps.moved[:] = 0.0
    steps.shift[:] = 0.0


@kernel
def fits_lanes(steps: Substeps) -> bool:
    """Whether contacts can be swept eight at a time: only rigid contacts with round cones."""
    part = steps.part
    if part.friction_kind[0] != FRICTION_CONE or first_dependent(part) < part.count[1]:
        return False
    rigid = True
    for i in range(part.count[1], part.count[0], 3):
        rigid = rigid and steps.law[i] == LAW_ONE_SIDED
    return rigid


@kernel
def write_box_steps(part: Problem) -> None:
    """Write 1/D of all box rows but couplings; soft rows are rewritten in every substep."""
    for i in range(part.count[1]):
        part.w[i] = step_of(part.diagonal[i]) if i >= part.count[2] else 0.0


@kernel
def set_row(steps: Substeps, i: int, aim: float, cfm: float, number: float) -> None:
    """Set w = J v + aim + cfm lam, with the velocities at the kick of substep `number`."""
    part = steps.part
    part.b[i] = steps.speed[i] + number * steps.gain[i] + aim
    part.cfm[i] = cfm
    part.w[i] = step_of(part.diagonal[i] + cfm)


@kernel
def aim_row(rows: Rows, steps: Substeps, i: int, soft: Softness, moment: Moment, left: int) -> None:
    """Write the target of a row in a substep; `left` substeps remain, this one included.

    Writes  steps.part, aim, total
    """
    part, law = steps.part, steps.law[i]
    number, time, reach, counted = moment
    steps.total[i] += counted * part.lam[i]
    if goes_on(part, i):
        return
    if law == LAW_SURFACE:
        part.b[i] = steps.speed[i] + number * steps.gain[i] + rows.bias[i]
        return
    if law == LAW_STEP:
        share = 1.0 / left
        begun = steps.speed[i] + (number - 1.0) * steps.gain[i]
        begun += coupled_velocity(part, steps.v, i)
        part.b[i] = steps.speed[i] + number * steps.gain[i] + (share - 1.0) * begun
        part.b[i] += share * (rows.bias[i] + rows.cfm[i] * steps.total[i])
        return
    C = rows.error[i] + time * steps.speed[i] + reach * steps.gain[i]
    C += relative_velocity(part, steps.moved, i)
    if law == LAW_EQUATION:
        # its bias is H/2 d2C/dt2: tangent at the end of the drift after the kick
        bias_acceleration = 2.0 * rows.bias[i] / soft.step
        C += 0.5 * bias_acceleration * (time * time - 0.25 * soft.h * soft.h)
        steps.aim[i] = bias_acceleration * (time + 0.5 * soft.h)
        gamma = soft.joint_compliance * part.diagonal[i]
        set_row(steps, i, steps.aim[i] + soft.joint_rate * C, gamma, number)
    elif C > 0.0:
        steps.aim[i] = C / soft.h
        set_row(steps, i, steps.aim[i], 0.0, number)
    else:
        steps.aim[i] = 0.0
        push = soft.rate * C
        if rows.kind[i] == ROW_NORMAL:
            push = max(push, -soft.fastest)
        set_row(steps, i, push, soft.compliance * part.diagonal[i], number)


@kernel
def relax_row(rows: Rows, steps: Substeps, i: int, number: float, rebounds: bool) -> None:
    """Write the target of a soft row without position correction, with `rebounds` the rebound.

    Writes  steps.part
    """
    law = steps.law[i]
    if law not in (LAW_EQUATION, LAW_ONE_SIDED):
        return
    aim = steps.aim[i]
    if rebounds and rows.rebound[i] > 0.0 and steps.total[i] + steps.part.lam[i] > 0.0:
        aim = -rows.rebound[i]
    set_row(steps, i, aim, 0.0, number)


@kernel
def aim(
    rows: Rows,
    steps: Substeps,
    lanes: Lanes,
    in_lanes: bool,
    soft: Softness,
    moment: Moment,
    left: int,
) -> None:
    """Write the soft targets of all rows in a substep."""
    n_rows, n_box = steps.part.count[0], steps.part.count[1]
    for i in range(n_box if in_lanes else n_rows):
        aim_row(rows, steps, i, soft, moment, left)
    if in_lanes:
        aim_lanes(steps, lanes, soft, moment)
        for r in range(lanes.count[1]):
            for i in range(lanes.rest[r], lanes.rest[r] + 3):
                aim_row(rows, steps, i, soft, moment, left)


@kernel
def relax(
    rows: Rows, steps: Substeps, lanes: Lanes, in_lanes: bool, number: float, rebounds: bool
) -> None:
    """Write the targets of all rows without position correction."""
    n_rows, n_box = steps.part.count[0], steps.part.count[1]
    for i in range(n_box if in_lanes else n_rows):
        relax_row(rows, steps, i, number, rebounds)
    if in_lanes:
        relax_lanes(steps, lanes, number, rebounds)
        for r in range(lanes.count[1]):
            relax_row(rows, steps, lanes.rest[r], number, rebounds)


@kernel
def push_guess(steps: Substeps, lanes: Lanes, in_lanes: bool) -> None:
    """v += M^-1 J^T lam."""
    part = steps.part
    for i in range(part.count[1] if in_lanes else part.count[0]):
        add_impulse(part, i, part.lam[i], steps.v)
    if in_lanes:
        push_lanes(part, lanes, steps.v)
        for r in range(lanes.count[1]):
            for i in range(lanes.rest[r], lanes.rest[r] + 3):
                add_impulse(part, i, part.lam[i], steps.v)


@kernel
def sweep_rows(steps: Substeps, lanes: Lanes, in_lanes: bool) -> float:
    """Sweep all rows once; return the largest D |change| [m/s or rad/s]."""
    part, v = steps.part, steps.v
    if not in_lanes:
        return sweep_bodies(part, v, 1.0)
    # no row is dependent: see fits_lanes
    change = sweep_couplings(part, v, 1.0)
    change = max(change, sweep_boxes(part, v, part.count[1], 1.0))
    change = max(change, sweep_lanes(part, lanes, v, 1.0))
    for r in range(lanes.count[1]):
        change = max(change, sweep_cone(part, v, lanes.rest[r], 1.0))
    return change


@kernel
def move_bodies(steps: Substeps, h: float) -> None:
    """Integrate displacements with the velocities over h [s]."""
    for i in range(steps.v.shape[0]):
        for k in range(6):
            steps.moved[i, k] += h * steps.v[i, k]


@kernel
def rebound(
    rows: Rows, steps: Substeps, lanes: Lanes, in_lanes: bool, options: SolverOptions
) -> int:
    """Apply restitution to contacts and stops with an impact; return the number of sweeps."""
    relax(rows, steps, lanes, in_lanes, float(options.substeps), True)
    for k in range(REBOUND_SWEEPS):
        if sweep_rows(steps, lanes, in_lanes) <= options.tolerance:
            return k + 1
    return REBOUND_SWEEPS


@kernel
def finish(problem: Problem, steps: Substeps, lanes: Lanes, in_lanes: bool) -> None:
    """problem.lam <- sum of the impulses of all substeps."""
    part = steps.part
    for i in range(part.count[0]):
        problem.lam[i] = steps.total[i] + part.lam[i]
    if in_lanes:
        store_totals(steps, lanes, problem.lam)


@kernel
def take_substeps(world: World) -> int:
    """Do the substeps of a step; return the number of sweeps.

    Writes  work.problem.lam, work.substeps, lanes
    """
    work, options = world.work, world.options
    rows, problem, steps, lanes = work.rows, work.problem, work.substeps, work.dense.lanes
    solver, part = options.solver, steps.part
    n = solver.substeps
    soft = softness_of(options, world.clock.h[0])
    rebounds = start_rows(rows, problem, work.motion, steps, n)
    sweeps = max(1, solver.max_iterations // (2 * n))
    start_bodies(steps)
    in_lanes = fits_lanes(steps)
    if in_lanes:
        write_box_steps(part)
        load_lanes(part, lanes, list_contacts(part, lanes), steps.v)
        write_soft_lanes(rows, steps, lanes, soft)
    else:
        project_impulses(part)
        write_steps(part)
    done, counted = 0, 0.0
    for s in range(n):
        number = s + 1.0
        time = (s + 0.5) * soft.h - 0.5 * soft.step
        moment = (number, time, 0.5 * soft.h * s * number, counted)
        aim(rows, steps, lanes, in_lanes, soft, moment, n - s)
        push_guess(steps, lanes, in_lanes)
        for _ in range(sweeps):
            sweep_rows(steps, lanes, in_lanes)
        move_bodies(steps, soft.h)
        relax(rows, steps, lanes, in_lanes, number, False)
        for _ in range(sweeps):
            sweep_rows(steps, lanes, in_lanes)
        done, counted = done + 2 * sweeps, 1.0
    move_bodies(steps, -0.5 * soft.h)
    if rebounds:
        done += rebound(rows, steps, lanes, in_lanes, solver)
    for i in range(steps.v.shape[0]):
        for k in range(6):
            steps.shift[i, k] = steps.moved[i, k] - 0.5 * soft.step * steps.v[i, k]
    finish(problem, steps, lanes, in_lanes)
    return done


@kernel
def solve_small_steps(world: World) -> None:
    """Compute the impulses of the step by substeps, and the shift of its poses.

    Reads   work.rows, problem (b, the guess lam), motion
    Writes  problem.lam, problem.w; work.substeps; motion.scratch = M^-1 J^T lam; dense.lanes and
            islands are scratch; report as islands.solve_islands
    Source  Macklin et al. 2019, "Small Steps in Physics Simulation"; Catto 2024, "Solver2D"
    Check   tests/engine/solvers/substeps/test_substeps.py, tests/laws/test_small_steps.py
    """
    work, options, report = world.work, world.options, world.report
    problem, n_rows = work.problem, work.problem.count[0]
    work.dense.kept.count[1] = DROP
    if options.solver.warm_start == 0:
        for i in range(n_rows):
            problem.lam[i] = 0.0
    report.islands[0] = find_islands(problem, world.model.bodies.inverse_mass, work.islands)
    report.method[0] = AUTO
    report.iterations[0] = 0
    report.residual[0], report.coulomb_error[0] = 0.0, 0.0
    report.solver_status[0] = STOPPED_EXACT
    work.motion.scratch[:] = 0.0
    if n_rows == 0:
        start_bodies(work.substeps)
        return
    done = take_substeps(world)
    report.method[0] = SMALL_STEPS
    report.methods[0] |= 1 << SMALL_STEPS
    report.iterations[0] = done
    report.residual[0], report.coulomb_error[0] = residual(problem, work.motion.scratch)
    report.solver_status[0] = confirmed(
        STOPPED_MAX_ITERATIONS, report.residual[0], options.solver.tolerance, 0.0
    )
