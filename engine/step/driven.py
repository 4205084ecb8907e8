"""The kick of a scene whose drives need no rows (constraints/drives.py).

Rows of contacts, stops and friction are written and solved as in any step, but for trees whose
inertia includes that of the drives, after the kick of forces and drives. If a motor then exceeds
its largest force, the kick is repeated with rows for all drives.

Where reactions, forces of motors or rows are requested (`tree.asked`), rows of drives are still
written: behind all others, with the impulses that were found. They move to their usual places when
the step is over, so that a request changes no result.

Check   tests/engine/constraints/test_drives_without_rows.py
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.drives import (
    are_within_bounds,
    book_drives,
    is_undisturbed,
    solve_drives,
    store_drives,
)
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.constraints.motors import write_joint_spring
from cardan.engine.constraints.write_rows import write_drives
from cardan.engine.impacts.laws import has_impact_law
from cardan.engine.problem.operator import copy_geometry
from cardan.engine.spatial.vec3 import store3
from cardan.engine.step.timing import read_clock, record_phase
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.report import PHASE_SOLVE
from cardan.engine.world.rows import Rows
from cardan.engine.world.world import World

AUTO = int(SolverMethod.AUTO)


@kernel
def need_no_rows(world: World) -> bool:
    """Whether the drives of a scene need no rows in this step.

    They need rows if the scene names a solver, if an impact law may have to act, or if a motor
    would exceed its largest force even without other rows.

    Reads   as `solve_drives`; work.contacts
    Writes  work.drives: without_rows, and the rates after the kick of forces and drives
    """
    work, h, now = world.work.drives, world.clock.h[0], read_clock(world.report)
    work.without_rows[0], work.shown[0] = 0, 0
    if world.model.drives.count[0] == 0 or world.options.solver.method != AUTO:
        return False
    if has_impact_law(world.options) and not is_undisturbed(world):
        return False
    solve_drives(world, h, world.state.time[0] + 0.5 * h)
    record_phase(world.report, PHASE_SOLVE, now)
    if not are_within_bounds(world):
        return False
    work.without_rows[0] = 1
    return True


@kernel
def exchange_inertia(world: World) -> None:
    """Swap the factor and the free velocities of trees with those that include drives.

    Writes  work.tree: U, D, free; motion.velocity_free of bodies of trees; work.drives likewise
    """
    tree, work, drives = world.model.tree, world.work.tree, world.work.drives
    free = world.work.motion.velocity_free
    for k in range(work.D.shape[0]):
        work.D[k], drives.tree.D[k] = drives.tree.D[k], work.D[k]
        work.free[k], drives.after[k] = drives.after[k], work.free[k]
        for c in range(6):
            work.U[k, c], drives.tree.U[k, c] = drives.tree.U[k, c], work.U[k, c]
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for c in range(6):
                free[body, c], drives.free[i, c] = drives.free[i, c], free[body, c]


@kernel
def begin_with_drives(world: World) -> None:
    """Make trees include their drives until `end_with_drives`, so that rows are written for them.

    Reads   work.drives: the factor, and the rates after the kick of forces and drives
    Writes  as `exchange_inertia`; work.tree.V
    """
    work = world.work
    write_velocities(world.model.tree, work.drives.after, work.tree)
    for i in range(work.drives.free.shape[0]):
        for c in range(6):
            work.drives.free[i, c] = work.tree.V[i, c]
    exchange_inertia(world)


@kernel
def end_with_drives(world: World) -> bool:
    """Undo `begin_with_drives`; False: a motor exceeds its largest force, and the kick is undone.

    Reads   state: velocities after the kick
    Writes  as `exchange_inertia`; drives.after; if the kick is undone, also the velocities in
            `state`, to those before it, and drives.without_rows, shown
    """
    exchange_inertia(world)
    state, drives, old = world.state, world.work.drives, world.work.motion.velocity_old
    for k in range(drives.after.shape[0]):
        drives.after[k] = state.tree_qd[k]
    if are_within_bounds(world):
        return True
    drives.without_rows[0], drives.shown[0] = 0, 0
    for k in range(drives.before.shape[0]):
        state.tree_qd[k] = drives.before[k]
    for i in range(world.model.bodies.kind.shape[0]):
        if world.model.bodies.kind[i] == DYNAMIC:
            for c in range(3):
                state.w_WB_W[i, c], state.v_WB_W[i, c] = old[i, c], old[i, 3 + c]
    return False


@kernel
def write_rows_to_show(world: World) -> None:
    """Write the rows of drives that the solve left out, behind all others.

    Reads   rows: all others; velocities before the kick
    Writes  rows beyond the others, rows.joint_arm; drives.shown
    """
    model, rows, count = world.model, world.work.rows, world.work.rows.count[0]
    for j in range(model.joints.kind.shape[0]):
        if model.drives.hidden[j] == 1:
            frame = joint_frame(model.joints, world.state, j)
            store3(rows.joint_arm, j, frame.arm_b)
            for axis in range(n_coordinates(model.joints.kind[j])):
                write_drives(world, (j, axis), frame)
            write_joint_spring(world, j, frame)
    world.work.drives.shown[0], rows.count[0] = rows.count[0] - count, count


@kernel
def record_drives(world: World) -> None:
    """Record impulses, work and losses of drives without rows.

    Writes  state.joint_lam, ledger; problem.lam of their rows, where they are to be shown
    """
    rows, problem = world.work.rows, world.work.problem
    store_drives(world)
    book_drives(world, world.clock.h[0])
    for i in range(rows.count[0], rows.count[0] + world.work.drives.shown[0]):
        problem.lam[i] = world.state.joint_lam[rows.joint[i], rows.slot[i]]
        problem.w[i] = 0.0


@kernel
def move_row(world: World, i: int, k: int) -> None:
    """Copy row i to place k, of the rows and of the problem that shares their arrays."""
    rows, problem = world.work.rows, world.work.problem
    copy_geometry(problem, i, problem, k)
    rows.kind[k], rows.slot[k], rows.axis[k] = rows.kind[i], rows.slot[i], rows.axis[i]
    rows.bias[k], rows.cfm[k], rows.rebound[k] = rows.bias[i], rows.cfm[i], rows.rebound[i]
    rows.sweep_bias_delta[k], rows.smooth[k] = rows.sweep_bias_delta[i], rows.smooth[i]
    rows.lo[k], rows.hi[k] = rows.lo[i], rows.hi[i]
    rows.normal_row[k], rows.mu[k] = rows.normal_row[i], rows.mu[i]
    rows.lam_warm[k] = rows.lam_warm[i]
    problem.b[k], problem.lam[k], problem.w[k] = problem.b[i], problem.lam[i], problem.w[i]


@kernel
def comes_later(rows: Rows, i: int, j: int) -> bool:
    """Whether row i comes after the rows of joint j."""
    return i >= rows.count[2] and (i >= rows.count[1] or rows.joint[i] < 0 or rows.joint[i] > j)


@kernel
def show_rows(world: World) -> None:
    """Put the rows of drives where they would have been: after the other rows of their joints.

    Writes  rows, problem, drives.shown
    """
    rows, problem, shown = world.work.rows, world.work.problem, world.work.drives.shown[0]
    apart, last, left = rows.kind.shape[0] - shown, rows.count[0] - 1, shown
    for i in range(shown):
        move_row(world, rows.count[0] + i, apart + i)
    for i in range(rows.count[0]):
        if rows.normal_row[i] >= 0:
            rows.normal_row[i] += shown
    for i in range(apart + shown - 1, apart - 1, -1):
        while last >= 0 and comes_later(rows, last, rows.joint[i]):
            move_row(world, last, last + left)
            last -= 1
        move_row(world, i, last + left)
        left -= 1
    for k in range(2):
        rows.count[k] += shown
        problem.count[k] = rows.count[k]
    world.work.drives.shown[0] = 0
