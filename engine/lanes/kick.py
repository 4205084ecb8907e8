"""The kick of worlds side by side: gravity, wrenches, motors, dampers and springs of joints.

Worlds in which a stop comes within reach, or a motor to its largest force, are left.
"""

from __future__ import annotations

from typing import Any

from cardan.engine.accounting.work import wrench_power
from cardan.engine.bodies.forces import mean_about, slope_at, write_applied
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import in_all_lanes, lane_form_of, select
from cardan.engine.constraints import drives
from cardan.engine.constraints.drives import book_drives, impulse_of, is_off_stops, solve_drives
from cardan.engine.trees import impulses
from cardan.engine.trees.articulated_inertia import respond
from cardan.engine.trees.body_sync import read_body_forces, write_body_velocities
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.world.drives import MOTOR
from cardan.engine.world.lanes import LaneState, LaneWorld
from cardan.engine.world.model import MOTOR_POSITION
from cardan.engine.world.state import LEDGER_WORK_IN
from cardan.engine.world.tree import Tree

Lanes = Any  # float64 of each world


@lane_form_of(drives.target_of)
def target_of(world: LaneWorld, k: int, middle: float, h: float) -> Lanes:
    """Target of the motor of rate k: the command, or the mean of the scene's over the step."""
    model = world.model
    if model.commanded[k] == 1:
        return model.command[k]
    table = model.joints.motor_table[model.drives.joint[k], model.drives.axis[k]]
    return mean_about(model.targets, table, middle, h)


@lane_form_of(drives.target_rate)
def target_rate(world: LaneWorld, k: int, time: float) -> Lanes:
    """Rate of that target; 0 for step functions and commands."""
    model, rate = world.model, in_all_lanes(0.0, world.state.left)
    targets = model.targets
    table = model.joints.motor_table[model.drives.joint[k], model.drives.axis[k]]
    if model.commanded[k] == 0 and targets.count[table] > 1 and targets.is_step[table] == 0:
        rate = slope_at(targets, table, time)
    return rate


@kernel
def leave_where(state: LaneState, mask: Any) -> None:
    """Leave the worlds of a mask to the scalar step."""
    state.left[0] = select(mask, 1.0, state.left[0])


@kernel
def leave_at_stops(world: LaneWorld, h: float) -> None:
    """Leave worlds in which a coordinate has a stop within reach; as drives.is_undisturbed."""
    limited = world.model.drives.limited
    for k in range(limited.shape[0]):
        if limited[k] == 1:
            leave_where(world.state, ~is_off_stops(world, k, h))


@kernel
def leave_at_bounds(world: LaneWorld, h: float) -> None:
    """Leave worlds with a motor at its largest force; as drives.is_within_bounds."""
    drives, joints = world.model.drives, world.model.joints
    for k in range(drives.driven.shape[0]):
        j, axis = drives.joint[k], drives.axis[k]
        if drives.driven[k] == 1 and joints.motor_kind[j, axis] == MOTOR_POSITION:
            lam = impulse_of(world.work.drives, k, MOTOR)
            leave_where(world.state, ~(abs(lam) < h * joints.motor_max_force[j, axis]))


@lane_form_of(impulses.is_pushed)
def is_pushed(tree: Tree, X: Any) -> Any:
    """Whether a wrench of X acts on any body of a tree."""
    size = in_all_lanes(0.0, X)
    for i in range(tree.kind.shape[0]):
        if tree.body[i] >= 0:
            for k in range(6):
                size += abs(X[tree.body[i], k])
    return size > 0.0


@kernel
def push_trees(world: LaneWorld, h: float) -> None:
    """Add what wrenches of the scene do to the rates, as trees/impulses.predict_tree_velocities.

    Reads   poses in the middle of the step; work.tree: the factor
    Writes  work.booked; work.tree.free
    """
    tree, state, work = world.model.tree, world.state, world.work
    booked, free, change = work.booked, work.tree.free, work.tree.qdd
    for i in range(booked.shape[0]):
        for k in range(6):
            booked[i, k] = in_all_lanes(0.0, booked)
    middle = float(state.step[0]) * h + 0.5 * h
    for f in range(world.model.forces.body_a.shape[0]):
        write_applied(world.model, state, f, (middle, h), work)
    pushed = impulses.is_pushed(tree, booked)
    read_body_forces(tree, work.tree, booked, h)
    respond(tree, work.tree, change)
    for k in range(free.shape[0]):
        free[k] = select(pushed, free[k] + change[k], free[k])


@kernel
def keep_velocities(world: LaneWorld) -> None:
    """Keep the velocities of bodies: work.velocity_old."""
    state, old = world.state, world.work.velocity_old
    for i in range(state.p_WB.shape[0]):
        for k in range(3):
            old[i, k] = state.w_WB_W[i, k]
            old[i, 3 + k] = state.v_WB_W[i, k]


@kernel
def apply_kick(world: LaneWorld, h: float) -> None:
    """Rates after the kick.

    Reads   state in the middle of the step; work.tree.fall, the factor
    Writes  state.tree_qd, velocities of bodies, ledger, left; work.drives, booked
    Check   tests/engine/lanes/test_lanes.py
    """
    state, tree, work = world.state, world.model.tree, world.work.tree
    keep_velocities(world)
    leave_at_stops(world, h)
    for k in range(state.tree_qd.shape[0]):
        work.free[k] = state.tree_qd[k] + h * work.fall[k]
    has_wrenches = world.model.forces.body_a.shape[0] > 0
    if has_wrenches:
        push_trees(world, h)
    after = work.free
    if world.model.drives.count[0] > 0:
        solve_drives(world, h, float(state.step[0]) * h + 0.5 * h)
        leave_at_bounds(world, h)
        book_drives(world, h)
        after = world.work.drives.after
    for k in range(state.tree_qd.shape[0]):
        state.tree_qd[k] = after[k]
    write_velocities(tree, state.tree_qd, work)
    write_body_velocities(tree, work, state)
    if has_wrenches:
        power = wrench_power(world.model.bodies, state, world.work)
        state.ledger[LEDGER_WORK_IN] += h * power
