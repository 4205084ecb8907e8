"""The kick of worlds side by side: gravity, motors, dampers and springs of joints.

A drive without a bound that is reached gives the impulse

    lam = -(gain qd+ + push),   qd+ after the kick

which is what its row of the scalar step solves for (constraints/motors.py): 1/cfm = gain. Each acts
on one generalised velocity, so that the rows need no matrix: gain is a rotor inertia more,

    (H + diag(gain)) dqd = -(gain qd_free + push),   qd+ = qd_free + dqd

Worlds in which a stop comes within reach, or a motor to its largest force, are left.
"""

from __future__ import annotations

from typing import Any

from cardan.engine.bodies.forces import (
    elastic_force,
    elastic_slope,
    implicit_share,
    slope_at,
    value_at,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import in_all_lanes, select
from cardan.engine.constraints.limits import reach_of
from cardan.engine.constraints.springs import drive_gain
from cardan.engine.trees.articulated_inertia import respond, write_factor
from cardan.engine.trees.body_sync import clear_forces, write_body_velocities
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.world.lanes import LaneDrives, LaneState, LaneWorld
from cardan.engine.world.model import MOTOR_FORCE, MOTOR_POSITION
from cardan.engine.world.state import LEDGER_DAMPING, LEDGER_WORK_IN

Lanes = Any  # float64 of each world


@kernel
def leave_where(state: LaneState, mask: Any) -> None:
    """Leave the worlds of a mask to the scalar step."""
    state.left[0] = select(mask, 1.0, state.left[0])


@kernel
def leave_at_stops(world: LaneWorld, h: float) -> None:
    """Leave worlds in which a coordinate has a stop within reach; as has_nothing in write_rows."""
    drives, state = world.model.drives, world.state
    for k in range(drives.limited.shape[0]):
        if drives.limited[k] == 1:
            x, reach = state.tree_q[drives.coordinate[k]], reach_of(h, state.tree_qd[k])
            apart = (x - drives.lower[k] > reach) & (drives.upper[k] - x > reach)
            leave_where(state, ~apart)


@kernel
def target_of(drives: LaneDrives, k: int, middle: float) -> Lanes:
    """Target of the motor of rate k: the command, or the scene's at this time."""
    if drives.commanded[k] == 1:
        return drives.command[k]
    return value_at(drives.targets, drives.table[k], middle)


@kernel
def write_motor(world: LaneWorld, k: int, h: float, middle: float) -> None:
    """Gain and push of the motor of rate k; middle [s]: of the step.

    Reads   state: coordinates in the middle of the step; kick.before
    Writes  kick.motor_gain, motor_push
    """
    drives, kick = world.model.drives, world.work.kick
    zero = in_all_lanes(0.0, kick.gain)
    kick.motor_gain[k], kick.motor_push[k] = zero, zero
    if drives.motor_kind[k] == MOTOR_FORCE:
        kick.motor_push[k] = -h * target_of(drives, k, middle)
    elif drives.motor_kind[k] == MOTOR_POSITION:
        error = world.state.tree_q[drives.coordinate[k]] - target_of(drives, k, middle)
        targets, table, rate = drives.targets, drives.table[k], 0.0
        if drives.commanded[k] == 0 and targets.count[table] > 1 and targets.is_step[table] == 0:
            rate = slope_at(targets, table, middle)
        force = elastic_force(drives.motor_stiffness, k, error)
        slope = elastic_slope(drives.motor_stiffness, k, error)
        damper = (drives.motor_damping[k], drives.motor_mass[k])
        gain, known = drive_gain(select(slope > 0.0, slope, 0.0), damper, h)
        kick.motor_gain[k] = gain
        kick.motor_push[k] = h * force + known * (kick.before[k] - rate) - gain * rate


@kernel
def add_passive(world: LaneWorld, k: int, h: float) -> None:
    """Add damper and spring of rate k to its gain and push; see set_spring.

    Reads   kick.before
    Writes  kick.gain, push
    """
    drives, kick = world.model.drives, world.work.kick
    speed = kick.before[k]
    viscous = h * drives.damping[k]
    share = implicit_share(viscous * drives.damping_mass[k])
    kick.gain[k] += viscous * share
    kick.push[k] += viscous * (1.0 - share) * speed
    x = world.state.tree_q[drives.coordinate[k]] - drives.spring_rest[k]
    slope = elastic_slope(drives.spring_k, k, x)
    elastic = 0.25 * h * h * select(slope > 0.0, slope, 0.0)
    viscous = h * drives.spring_damping[k]
    share = implicit_share(viscous * drives.spring_mass[k])
    kick.gain[k] += elastic + viscous * share
    known = viscous * (1.0 - share) - elastic
    kick.push[k] += h * elastic_force(drives.spring_k, k, x) + known * speed


@kernel
def write_drives(world: LaneWorld, h: float) -> None:
    """Gain and push of all drives.

    Writes  work.kick
    """
    drives, kick, tree = world.model.drives, world.work.kick, world.model.tree
    middle = float(world.state.step[0]) * h + 0.5 * h
    zero = in_all_lanes(0.0, kick.gain)
    for k in range(drives.driven.shape[0]):
        kick.gain[k], kick.push[k] = zero, zero
        if drives.driven[k] == 1:
            write_motor(world, k, h, middle)
            kick.gain[k], kick.push[k] = kick.motor_gain[k], kick.motor_push[k]
            add_passive(world, k, h)
        kick.tree.armature[k] = tree.armature[k] + kick.gain[k]


@kernel
def solve_drives(world: LaneWorld) -> None:
    """Rates under gravity and all drives.

    Reads   state.tree_qd: under gravity alone
    Writes  state.tree_qd
    """
    state, kick = world.state, world.work.kick
    write_factor(kick.tree, kick.work, 1.0)
    clear_forces(kick.tree, kick.work)
    for k in range(state.tree_qd.shape[0]):
        kick.work.u[k] = -(kick.gain[k] * state.tree_qd[k] + kick.push[k])
    respond(kick.tree, kick.work, kick.work.qdd)
    for k in range(state.tree_qd.shape[0]):
        state.tree_qd[k] += kick.work.qdd[k]


@kernel
def damped(damping: Lanes, mass: Lanes, before: Lanes, after: Lanes, h: float) -> Lanes:
    """Energy that a damper dissipates in the kick [J]."""
    share = implicit_share(h * damping * mass)
    return h * damping * ((1.0 - share) * before + share * after) * (0.5 * (before + after))


@kernel
def book_drives(world: LaneWorld, h: float) -> None:
    """Work of motors, losses of dampers; worlds with a motor at its largest force are left.

    Writes  state.ledger, left
    """
    state, drives, kick = world.state, world.model.drives, world.work.kick
    for k in range(drives.driven.shape[0]):
        if drives.driven[k] == 0:
            continue
        before, after = kick.before[k], state.tree_qd[k]
        lam = -(kick.motor_gain[k] * after + kick.motor_push[k])
        if drives.motor_kind[k] == MOTOR_POSITION:
            leave_where(state, ~(abs(lam) < h * drives.motor_max_force[k]))
        state.ledger[LEDGER_WORK_IN] += lam * (0.5 * (before + after))
        lost = damped(drives.damping[k], drives.damping_mass[k], before, after, h)
        lost += damped(drives.spring_damping[k], drives.spring_mass[k], before, after, h)
        state.ledger[LEDGER_DAMPING] += lost


@kernel
def keep_velocities(world: LaneWorld) -> None:
    """Keep the velocities of bodies: kick.velocity_old."""
    state, old = world.state, world.work.kick.velocity_old
    for i in range(state.p_WB.shape[0]):
        for k in range(3):
            old[i, k] = state.w_WB_W[i, k]
            old[i, 3 + k] = state.v_WB_W[i, k]


@kernel
def apply_kick(world: LaneWorld, h: float) -> None:
    """Rates after the kick.

    Reads   state in the middle of the step; work.tree.fall, the factor
    Writes  state.tree_qd, velocities of bodies, ledger, left; work.kick
    Check   tests/engine/lanes/test_lanes.py
    """
    state, tree, work = world.state, world.model.tree, world.work.tree
    kick = world.work.kick
    keep_velocities(world)
    leave_at_stops(world, h)
    for k in range(state.tree_qd.shape[0]):
        kick.before[k] = state.tree_qd[k]
        state.tree_qd[k] = state.tree_qd[k] + h * work.fall[k]
    if world.model.drives.count[0] > 0:
        write_drives(world, h)
        solve_drives(world)
        book_drives(world, h)
    write_velocities(tree, state.tree_qd, work)
    write_body_velocities(tree, work, state)
