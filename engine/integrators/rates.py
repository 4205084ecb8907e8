"""Smooth motion of trees as an ordinary differential equation, with loop constraints.

    dy/dt = chart of qd,   H dqd/dt + C = forces + J^T lam,   d2C/dt2 + 2 a dC/dt + a^2 C = 0

with equations for loop constraints only. Springs, dampers and motors are forces here, not rows of a
step, so that a high-order integrator keeps its order. External work and impulses are integrated as
quadratures: the remaining error of energy and momenta is that of the integrator.
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.accounting.extremes import record_extremes
from cardan.engine.accounting.triggers import begin_triggers, find_crossings
from cardan.engine.bodies.finite import first_bad_body
from cardan.engine.bodies.forces import elastic_force, elongation, is_elastic, write_forces
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joint_couplings import coupled_sum
from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.constraints.motor_targets import position_error, position_rate, target_at
from cardan.engine.constraints.motors import spring_coordinate
from cardan.engine.constraints.row import row_speed
from cardan.engine.constraints.write_rows import write_rows
from cardan.engine.problem.coupled import add_up
from cardan.engine.problem.no_rows import clear_report
from cardan.engine.problem.operator import copy_geometry
from cardan.engine.sleeping.activity import write_activity
from cardan.engine.solvers.direct.tree_elimination import reduce_on_trees, restore_on_trees
from cardan.engine.spatial.inertia import sym_times
from cardan.engine.spatial.vec3 import add, cross, load3, norm, scale
from cardan.engine.stabilisation.loop_closure import settle_loops
from cardan.engine.trees.articulated_inertia import respond, respond_moving
from cardan.engine.trees.body_sync import (
    prepare,
    read_body_forces,
    write_body_poses,
    write_body_velocities,
    write_joint_coordinates,
)
from cardan.engine.trees.charts import chart_derivatives, place_chart
from cardan.engine.trees.impulses import has_loops
from cardan.engine.trees.kinematics import write_velocities, write_velocity_products
from cardan.engine.trees.loop_prediction import stay_ahead
from cardan.engine.trees.operator import push_node, push_row
from cardan.engine.trees.paths import diagonal_in_trees
from cardan.engine.trees.spatial_arrays import load6, load_sym
from cardan.engine.world.model import MOTOR_FORCE, Joints, Model
from cardan.engine.world.report import NOT_FINITE, TRIGGERED
from cardan.engine.world.rows import (
    ROW_COUPLING,
    ROW_DRAG,
    ROW_ELEMENT,
    ROW_EQUATION,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_SPRING,
    Rows,
)
from cardan.engine.world.state import LEDGER_DAMPING, LEDGER_WORK_IN, State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World

# [1/s] decay rate of loop errors
LOOP_RATE = 10.0
# indices of the quadratures, behind chart and velocities: work in, damping, momentum (linear,
# angular)
WORK_IN, DAMPED, MOMENTUM, N_QUADRATURES = 0, 1, 2, 8


@kernel
def joint_spring_force(model: Model, state: State, j: int, speed: float) -> tuple[float, float]:
    """Force of a joint's own spring and damper, and the power of its damper."""
    joints = model.joints
    x = spring_coordinate(joints, state, j, joint_frame(joints, state, j)) - joints.spring_rest[j]
    viscous = joints.spring_damping[j] * speed
    return -elastic_force(joints.spring_k, j, x) - viscous, viscous * speed


@kernel
def motor_force(model: Model, state: State, rows: Rows, i: int, speed: float) -> float:
    """Force of a force motor, or of a motor that is a spring about its target."""
    joints, j, axis = model.joints, rows.joint[i], rows.axis[i]
    # rows are written for a step of 1 s centred at this time; targets are not averaged over it
    time = state.time[0] + 0.5
    if joints.motor_kind[j, axis] == MOTOR_FORCE:
        return target_at(state, model, j, axis, time, 0.0)
    error = position_error(state, model, j, axis, time, 0.0)
    rate = position_rate(state, model, j, axis, time, 0.0)
    force = -joints.motor_damping[j, axis] * (speed - rate)
    if is_elastic(joints.motor_stiffness[j], axis):
        force -= elastic_force(joints.motor_stiffness[j], axis, error)
    return min(max(force, rows.lo[i]), rows.hi[i])


@kernel
def is_smooth_equation(joints: Joints, rows: Rows, i: int) -> bool:
    """Whether row i is an equation, of a loop or a rigid coupling."""
    kind = rows.kind[i]
    rigid = kind == ROW_COUPLING and joints.spring_on[rows.joint[i]] == 0
    return rigid or kind == ROW_EQUATION


@kernel
def coupling_force(model: Model, state: State, rows: Rows, i: int, out: NDArray) -> float:
    """Force of a compliant coupling, whose row i is one of its terms."""
    joints, j = model.joints, rows.joint[i]
    rate, n = 0.0, 0
    for k in range(rows.count[2]):
        if rows.joint[k] == j:
            rate += row_speed(rows, k, state)
            n += 1
    x = coupled_sum(joints, state, j) - joints.angle0[j]
    viscous = joints.spring_damping[j] * rate
    out[DAMPED] += viscous * rate / n
    return -joints.spring_k[j, 0] * x - viscous


@kernel
def row_force(model: Model, state: State, rows: Rows, i: int, out: NDArray) -> float:
    """Force of a row that is not an equation [N or N m]; its powers are added to `out`."""
    kind, j = rows.kind[i], rows.joint[i]
    speed = row_speed(rows, i, state)
    if kind == ROW_MOTOR:
        force = motor_force(model, state, rows, i, speed)
        out[WORK_IN] += force * speed
        return force
    if kind == ROW_DRAG:
        f = rows.slot[i]
        v = load3(state.v_WB_W, model.forces.body_a[f])
        c = model.forces.coefficient[f, 0] + model.forces.coefficient[f, 1] * norm(v)
        out[DAMPED] += c * speed * speed
        return -c * speed
    if kind == ROW_ELEMENT:
        f = rows.slot[i]
        if model.forces.damping[f] == 0.0:
            return 0.0  # applied by write_forces
        viscous = model.forces.damping[f] * speed
        out[DAMPED] += viscous * speed
        return (
            -elastic_force(model.forces.stiffness, f, elongation(model.forces, state, f)) - viscous
        )
    if kind == ROW_COUPLING:
        return coupling_force(model, state, rows, i, out)
    if kind != ROW_SPRING:
        return 0.0
    if rows.slot[i] == SLOT_SPRING:
        force, lost = joint_spring_force(model, state, j, speed)
    else:
        force = -model.joints.damping[j] * speed
        lost = -force * speed
    out[DAMPED] += lost
    return force


@kernel
def write_smooth_forces(world: World, time: float, out: NDArray) -> int:
    """Write all forces on nodes at this time; return the number of loop equations.

    Reads   clock: 1 s and a negligible share of the scene's step, so that rows give continuous
            forces without the terms of a step

    Writes  work.tree.F, u; work.rows: equations first, those of couplings before others;
            problem.count[2]; out: WORK_IN, DAMPED are powers
    """
    model, state, work = world.model, world.state, world.work
    motion, rows, tree = work.motion, work.rows, model.tree
    write_forces(model, state, time, 0.0, motion)
    read_body_forces(tree, work.tree, motion.wrench, 1.0)
    for i in range(tree.kind.shape[0]):
        for k in range(3):
            work.tree.F[i, 3 + k] += tree.mass[i] * state.gravity_W[k]
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                out[WORK_IN] += motion.booked[body, k] * work.tree.V[i, k]
    motion.bias_acceleration[:] = 0.0
    stay_ahead(state, motion)
    work.contacts.count[0] = 0
    # targets are read in the middle of a step
    now = state.time[0]
    state.time[0] = time - 0.5 * world.clock.h[0]
    write_joint_coordinates(tree, state)
    write_rows(world)
    n, coupled = 0, 0
    for i in range(rows.count[0]):
        if is_smooth_equation(model.joints, rows, i):
            copy_geometry(work.problem, i, work.problem, n)
            rows.error[n], rows.bias[n] = rows.error[i], rows.bias[i]
            coupled += rows.kind[i] == ROW_COUPLING
            n += 1
            continue
        force = row_force(model, state, rows, i, out)
        if force != 0.0:
            for side in range(2):
                body = rows.body_a[i] if side == 0 else rows.body_b[i]
                if tree.node[body] >= 0:
                    J = rows.J_a if side == 0 else rows.J_b
                    push_node(tree, work.tree, body, J, i, force)
    work.problem.count[2] = coupled
    state.time[0] = now
    return n


@kernel
def close_loops(work: Workspace, state: State, n: int) -> None:
    """Solve for the forces of equations 0 ... n - 1, and apply them to the tree.

    Reads   work.motion.velocity_free: accelerations without them; rows: error, bias = curvature/2
    Writes  work.tree.free, motion.velocity_free; problem
    """
    problem, rows, free = work.problem, work.rows, work.motion.velocity_free
    problem.count[0], problem.count[1] = n, n
    for i in range(n):
        a, b = problem.body_a[i], problem.body_b[i]
        speed = row_speed(rows, i, state)
        wanted = 2.0 * rows.bias[i] + LOOP_RATE * (2.0 * speed + LOOP_RATE * rows.error[i])
        for k in range(6):
            wanted += rows.J_a[i, k] * free[a, k] + rows.J_b[i, k] * free[b, k]
            problem.MJ_a[i, k] = 0.0
            problem.MJ_b[i, k] = 0.0
        problem.b[i] = wanted
        problem.diagonal[i] = diagonal_in_trees(problem, i, work.dense.path, work.dense.path_tree)
        problem.cfm[i] = 0.0
        problem.lo[i], problem.hi[i] = -math.inf, math.inf
        problem.normal_row[i] = -1
    add_up(problem, problem.b)
    dp = reduce_on_trees(problem, work.dense, True)
    restore_on_trees(problem, work.dense, dp)
    tree, scratch = problem.mobility.tree, problem.mobility.work
    scratch.F[:] = 0.0
    scratch.u[:] = 0.0
    for i in range(n):
        push_row(tree, scratch, problem, i)
    respond(tree, scratch, scratch.qdd)
    for k in range(scratch.qdd.shape[0]):
        scratch.free[k] += scratch.qdd[k]
    keep_accelerations(work, 1.0)


@kernel
def keep_accelerations(work: Workspace, share: float) -> None:
    """motion.velocity_free of bodies of trees: share * old value + work.A of their nodes."""
    tree, scratch = work.problem.mobility.tree, work.problem.mobility.work
    free = work.motion.velocity_free
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                old = share * free[body, k] if share > 0.0 else 0.0
                free[body, k] = old + scratch.A[i, k]


@kernel
def write_momentum_rates(model: Model, work: Workspace, out: NDArray) -> None:
    """Time derivatives of linear and angular momentum about the origin, from accelerations."""
    tree, scratch = model.tree, work.tree
    for k in range(6):
        out[MOMENTUM + k] = 0.0
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body < 0:
            continue
        turn, a = load6(work.motion.velocity_free, body)
        w, moments = load6(scratch.V, i)[0], load_sym(scratch.I_W, i)
        force = scale(tree.mass[i], a)
        n = add(sym_times(moments, turn), cross(w, sym_times(moments, w)))
        n = add(n, cross(load3(scratch.p_WB, i), force))
        for k in range(3):
            out[MOMENTUM + k] += force[k]
            out[MOMENTUM + 3 + k] += n[k]


@kernel
def show_state(world: World) -> bool:
    """Compute poses and velocities of bodies from q and qd, with closed loops.

    Returns False near a singular configuration of loops; q and qd are then unchanged.

    Writes  state; work.tree: poses, V, the factor
    """
    tree, state, scratch = world.model.tree, world.state, world.work.tree
    if has_loops(tree):
        return settle_loops(world)
    prepare(tree, state, scratch)
    write_velocities(tree, state.tree_qd, scratch)
    write_body_poses(tree, scratch, state)
    write_body_velocities(tree, scratch, state)
    return True


@kernel
def smooth_rates(handle: World, base: NDArray, time: float, x: NDArray, out: NDArray) -> bool:
    """dx/dt of x = (chart y, velocities qd, quadratures) around the coordinates `base`.

    Returns False near a singular configuration of loops: dx/dt is then inaccurate.

    Reads   time [s]; x (2 v + 8,)
    Writes  out (2 v + 8,); state: poses and velocities at x; work, clock
    Check   tests/laws/test_integrators.py
    """
    world = struct_of(handle)
    model, state, work = world.model, world.state, world.work
    tree, scratch = model.tree, work.tree
    world.clock.h[0], world.clock.share[0] = 1.0, 1e-30
    v = state.tree_qd.shape[0]
    place_chart(tree, base, x, state.tree_q)
    for k in range(v):
        state.tree_qd[k] = x[v + k]
    regular = show_state(world)
    write_velocity_products(tree, state.tree_qd, scratch)
    chart_derivatives(tree, state.tree_q, x, state.tree_qd, out)
    sums = out[2 * v :]
    sums[:] = 0.0
    n = write_smooth_forces(world, time, sums)
    respond_moving(tree, scratch, scratch.free)
    keep_accelerations(work, 0.0)
    if n > 0:
        close_loops(work, state, n)
    for k in range(v):
        out[v + k] = scratch.free[k]
    write_momentum_rates(model, work, sums)
    return regular


@kernel
def begin_smooth(handle: World) -> None:
    """Prepare a run; velocities that were set are projected before it (`step.run`)."""
    world = struct_of(handle)
    write_activity(world)
    begin_triggers(world)


@kernel
def end_smooth(handle: World, base: NDArray, x: NDArray) -> None:
    """Write the state at the end x of a step from `base`, and its report."""
    world = struct_of(handle)
    model, state, work, report = world.model, world.state, world.work, world.report
    v = state.tree_qd.shape[0]
    place_chart(model.tree, base, x, state.tree_q)
    for k in range(v):
        state.tree_qd[k] = x[v + k]
    show_state(world)
    state.ledger[LEDGER_WORK_IN] += x[2 * v + WORK_IN]
    state.ledger[LEDGER_DAMPING] += x[2 * v + DAMPED]
    for k in range(6):
        state.momentum_in[k] += x[2 * v + MOMENTUM + k]
    state.step[0] += 1
    state.time[0] = state.step[0] * world.options.time_step
    clear_report(world)
    record_extremes(model, state, work.contacts, report)
    report.status[0] = 0
    report.bad_body[0] = first_bad_body(model.bodies, state)
    if report.bad_body[0] >= 0:
        report.status[0] |= NOT_FINITE
    elif find_crossings(world):
        report.status[0] |= TRIGGERED
