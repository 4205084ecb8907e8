"""Drives of trees without rows: motors, dampers and springs of joints in a kick.

A drive without a bound that is reached gives the impulse

    lam = -(gain qd+ + push),   qd+ after the kick

which is what its row asks for (motors.py, springs.py): 1/cfm = gain. Each acts on one generalised
velocity, so that it needs no row: gain is a rotor inertia more,

    (H + diag(gain)) dqd = -(gain qd_free + push) + J^T lam of other rows,   qd+ = qd_free + dqd

Other rows, of contacts and stops, are then those of trees with this inertia, on which forces and
drives have acted (step/driven.py).

These kernels are those of worlds side by side, too: both have the same bits.

Check   tests/engine/constraints/test_drives_without_rows.py
"""

from __future__ import annotations

from cardan.engine.bodies.forces import elastic_force, elastic_slope, implicit_share
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import in_all_lanes, select
from cardan.engine.constraints.limits import reach_of
from cardan.engine.constraints.motor_targets import largest_force, mean_target, rate_at
from cardan.engine.constraints.springs import Damper, drive_gain, lagged_gain
from cardan.engine.trees.articulated_inertia import respond, write_factor
from cardan.engine.trees.body_sync import clear_forces
from cardan.engine.world.drives import DAMPER, MOTOR, SPRING, DriveWork
from cardan.engine.world.lanes import LaneWorld
from cardan.engine.world.model import MOTOR_FORCE, MOTOR_NONE, MOTOR_POSITION
from cardan.engine.world.rows import SLOT_DAMPING, SLOT_MOTOR, SLOT_SPRING
from cardan.engine.world.state import LEDGER_DAMPING, LEDGER_WORK_IN
from cardan.engine.world.world import World

Worlds = World | LaneWorld  # numbers are then those of each world


@kernel
def target_of(world: Worlds, k: int, middle: float, h: float) -> float:
    """Target of the motor of rate k: commanded, or the mean of the scene's over the step."""
    drives = world.model.drives
    return mean_target(world.state, world.model, drives.joint[k], drives.axis[k], middle, h)


@kernel
def target_rate(world: Worlds, k: int, time: float) -> float:
    """Rate of that target [m/s or rad/s]; 0 for step functions and commands."""
    drives = world.model.drives
    return rate_at(world.state, world.model, drives.joint[k], drives.axis[k], time, 0.0)


@kernel
def set_motor(world: Worlds, k: int, h: float, middle: float) -> None:
    """Gain and push of the motor of rate k; see motors.set_compliant.

    Reads   state: coordinates in the middle of the step; drives.before
    Writes  drives.gain, push
    """
    drives, joints, work = world.model.drives, world.model.joints, world.work.drives
    j, axis = drives.joint[k], drives.axis[k]
    zero = in_all_lanes(0.0, work.gain)
    work.gain[k, MOTOR], work.push[k, MOTOR] = zero, zero
    if joints.motor_kind[j, axis] == MOTOR_FORCE:
        work.push[k, MOTOR] = -h * target_of(world, k, middle, h)
    elif joints.motor_kind[j, axis] == MOTOR_POSITION:
        error = world.state.tree_q[drives.coordinate[k]] - target_of(world, k, middle, h)
        rate = target_rate(world, k, middle)
        force = elastic_force(joints.motor_stiffness[j], axis, error)
        slope = elastic_slope(joints.motor_stiffness[j], axis, error)
        damper = (joints.motor_damping[j, axis], joints.motor_inverse_mass[j, axis])
        gain, known = drive_gain(select(slope > 0.0, slope, 0.0), damper, h)
        work.gain[k, MOTOR] = gain
        work.push[k, MOTOR] = h * force + known * (work.before[k] - rate) - gain * rate


@kernel
def damper_of(world: Worlds, k: int) -> Damper:
    """The damper of the joint of rate k; its damping may be 0."""
    drives, joints = world.model.drives, world.model.joints
    j = drives.joint[k]
    return joints.damping[j], joints.inverse_mass[j, drives.part[k]]


@kernel
def spring_damper_of(world: Worlds, k: int) -> Damper:
    """The damper of the spring of rate k, which has one."""
    drives, joints = world.model.drives, world.model.joints
    j = drives.joint[k]
    return joints.spring_damping[j], joints.inverse_mass[j, drives.spring[k]]


@kernel
def set_passive(world: Worlds, k: int, h: float) -> None:
    """Gain and push of damper and spring of rate k; see springs.spring_law.

    Reads   drives.before
    Writes  drives.gain, push
    """
    drives, joints, work = world.model.drives, world.model.joints, world.work.drives
    speed, none = work.before[k], in_all_lanes(0.0, work.gain)
    gain, known = lagged_gain(none, damper_of(world, k), 0.5, h)
    work.gain[k, DAMPER], work.push[k, DAMPER] = gain, known * speed
    work.gain[k, SPRING], work.push[k, SPRING] = none, none
    if drives.spring[k] < 0:
        return
    j = drives.joint[k]
    x = world.state.tree_q[drives.coordinate[k]] - joints.spring_rest[j]
    slope = elastic_slope(joints.spring_k, j, x)
    gain, known = lagged_gain(select(slope > 0.0, slope, 0.0), spring_damper_of(world, k), 0.5, h)
    work.gain[k, SPRING] = gain
    work.push[k, SPRING] = h * elastic_force(joints.spring_k, j, x) + known * speed


@kernel
def gain_of(work: DriveWork, k: int) -> float:
    """Gain of all drives of rate k [kg or kg m^2]."""
    return work.gain[k, MOTOR] + work.gain[k, DAMPER] + work.gain[k, SPRING]


@kernel
def impulse_of(work: DriveWork, k: int, part: int) -> float:
    """Impulse of the motor, damper or spring of rate k [N s or N m s]."""
    return -(work.gain[k, part] * work.after[k] + work.push[k, part])


@kernel
def solve_drives(world: Worlds, h: float, middle: float) -> None:
    """Rates after the kick of all drives, if none reaches a bound; middle [s]: of the step.

    Reads   state.tree_q, tree_qd in the middle of the step; work.tree.free: rates after the kick
            of all other forces
    Writes  work.drives
    """
    tree, drives, state = world.model.tree, world.model.drives, world.state
    free, work = world.work.tree.free, world.work.drives
    for k in range(drives.driven.shape[0]):
        work.before[k] = state.tree_qd[k]
        work.rotors[k] = tree.armature[k]
        if drives.driven[k] == 1:
            set_motor(world, k, h, middle)
            set_passive(world, k, h)
            work.rotors[k] = tree.armature[k] + gain_of(work, k)
    write_factor(tree, work.tree, work.rotors)
    clear_forces(tree, work.tree)
    for k in range(drives.driven.shape[0]):
        if drives.driven[k] == 1:
            push = work.push[k, MOTOR] + work.push[k, DAMPER] + work.push[k, SPRING]
            work.tree.u[k] = -(gain_of(work, k) * free[k] + push)
    respond(tree, work.tree, work.tree.qdd)
    for k in range(drives.driven.shape[0]):
        work.after[k] = free[k] + work.tree.qdd[k]


@kernel
def damped(damper: Damper, before: float, after: float, h: float) -> float:
    """Energy that a damper dissipates in the kick [J]."""
    damping, inverse_mass = damper
    share = implicit_share(h * damping * inverse_mass)
    return h * damping * ((1.0 - share) * before + share * after) * (0.5 * (before + after))


@kernel
def book_drives(world: Worlds, h: float) -> None:
    """Work of motors, losses of dampers.

    Writes  state.ledger
    """
    drives, work, ledger = world.model.drives, world.work.drives, world.state.ledger
    for k in range(drives.driven.shape[0]):
        if drives.driven[k] == 0:
            continue
        before, after = work.before[k], work.after[k]
        ledger[LEDGER_WORK_IN] += impulse_of(work, k, MOTOR) * (0.5 * (before + after))
        ledger[LEDGER_DAMPING] += damped(damper_of(world, k), before, after, h)
        if drives.spring[k] >= 0:
            ledger[LEDGER_DAMPING] += damped(spring_damper_of(world, k), before, after, h)


@kernel
def is_off_stops(world: Worlds, k: int, h: float) -> bool:
    """Whether neither stop of the coordinate of rate k, which has some, is within reach."""
    drives, joints, state = world.model.drives, world.model.joints, world.state
    j, axis = drives.joint[k], drives.axis[k]
    x, reach = state.tree_q[drives.coordinate[k]], reach_of(h, state.tree_qd[k])
    below, above = x - joints.limit_lower[j, axis], joints.limit_upper[j, axis] - x
    return (below > reach) & (above > reach)


@kernel
def is_undisturbed(world: World) -> bool:
    """Whether nothing needs a row in this step: no contact, no grab, no stop within reach.

    Reads   work.contacts
    """
    limited, h = world.model.drives.limited, world.clock.h[0]
    if world.work.contacts.count[0] > 0 or world.state.grab_body[0] >= 0:
        return False
    for k in range(limited.shape[0]):
        if limited[k] == 1 and not is_off_stops(world, k, h):
            return False
    return True


@kernel
def are_within_bounds(world: World) -> bool:
    """Whether no motor to a position needs its largest force, or more.

    Reads   drives.after
    """
    drives, joints, state = world.model.drives, world.model.joints, world.state
    for k in range(drives.driven.shape[0]):
        j, axis = drives.joint[k], drives.axis[k]
        if drives.driven[k] == 0 or joints.motor_kind[j, axis] != MOTOR_POSITION:
            continue
        bound = world.clock.h[0] * largest_force(state, world.model, j, axis)
        if not abs(impulse_of(world.work.drives, k, MOTOR)) < bound:
            return False
    return True


@kernel
def store_drives(world: Worlds) -> None:
    """Store the impulses of drives by joint slot, as those of rows.

    Writes  state.joint_lam
    """
    drives, joints, work = world.model.drives, world.model.joints, world.work.drives
    stored = world.state.joint_lam
    for k in range(drives.driven.shape[0]):
        j, axis = drives.joint[k], drives.axis[k]
        if drives.driven[k] == 0:
            continue
        if joints.motor_kind[j, axis] != MOTOR_NONE:
            stored[j, SLOT_MOTOR + axis] = impulse_of(work, k, MOTOR)
        slot = SLOT_DAMPING + axis
        stored[j, slot] = select(
            joints.damping[j] > 0.0, impulse_of(work, k, DAMPER), stored[j, slot]
        )
        if drives.spring[k] >= 0:
            stored[j, SLOT_SPRING] = impulse_of(work, k, SPRING)
