"""Drives that do not do what they are told, and stops that are passed.

A motor without a largest force is an equation. Where another motor, a stop or a contact contradicts
it, no impulses satisfy the rows, and whatever the solver leaves is no motion of the scene. What a
motor has lost is followed as the error that its own correction sees,

    lost  <-  (1 - erp) lost + q - q before - h (rate asked for)      erp 0 for velocity motors

between the middles of steps, with poses as they are corrected.

    extremes[LIMITS + j + n + VARIED n + OF_A_DRIVE j :]   each axis, as below
"""

from __future__ import annotations

from math import inf

from cardan.engine.accounting.body_records import BOUND_STEP, VARIED, first_of
from cardan.engine.accounting.crossings import (
    APART,
    DRIVE,
    LIMITS,
    TWIST,
    TWIST_LIMIT,
    note,
    under_way,
)
from cardan.engine.accounting.drive_noise import OF_A_DRIVE, first_drive
from cardan.engine.accounting.impact_errors import mark_stop, note_braking, record_braking
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.drives import impulse_of
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.constraints.motor_targets import largest_force
from cardan.engine.constraints.motors import flight_acceleration
from cardan.engine.constraints.soft_stops import is_soft_stop
from cardan.engine.world.drives import MOTOR
from cardan.engine.world.model import BALL, MOTOR_NONE, MOTOR_POSITION, Model
from cardan.engine.world.rows import ROW_FRICTION, ROW_LIMIT, ROW_MOTOR
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# of each axis: what its motor has lost [m or rad]; coordinate (inf: none yet) and rate asked for
# one step ago
LOST, LAST_Q, LAST_RATE = 0, 1, 2
FOLLOWED = 3
# share of the way from the start that a motor may lose
SMALL_WAY = 0.02


@kernel
def first_followed(model: Model) -> int:
    """Where the numbers of axis 0 of joint 0 are in extremes."""
    return first_drive(model) + OF_A_DRIVE * model.joints.kind.shape[0]


def forget_drives(model: Model, state: State) -> None:
    """Follow all drives anew from the next step on, as after coordinates were set."""
    n_joints, n = len(model.joints.kind), len(model.bodies.kind)
    first = LIMITS + n_joints + (1 + VARIED) * n + OF_A_DRIVE * n_joints
    followed = state.extremes[first : first + 3 * FOLLOWED * n_joints].reshape(-1, FOLLOWED)
    followed[:, LOST], followed[:, LAST_Q] = 0.0, inf


@kernel
def record_drive(world: World, i: int, limit: float) -> None:
    """Follow what the motor of row i has lost, and record it beyond the limit.

    Writes  state.extremes
    """
    model, state, rows = world.model, world.state, world.work.rows
    j, axis, joints, h = rows.joint[i], rows.axis[i], model.joints, world.clock.h[0]
    at, followed = first_followed(model) + FOLLOWED * (3 * j + axis), state.extremes
    q, rate = state.joint_q[j, axis], 0.5 * h * flight_acceleration(world, i) - rows.bias[i]
    if followed[at + LAST_Q] < inf:
        is_servo = joints.motor_kind[j, axis] == MOTOR_POSITION
        lost = (1.0 - joints.erp[j] if is_servo else 1.0) * followed[at + LOST]
        lost += q - followed[at + LAST_Q] - h * followed[at + LAST_RATE]
        followed[at + LOST] = lost
        # a rate that has just changed is one of this step or of the next
        limit += h * abs(rate) + h * abs(followed[at + LAST_RATE]) + SMALL_WAY * abs(q)
        if abs(lost) > limit:
            note(state, DRIVE, abs(lost), limit, j, under_way(state))
    followed[at + LAST_Q], followed[at + LAST_RATE] = q, rate


@kernel
def record_hidden_braking(world: World) -> None:
    """Do as record_braking does for motors of sliders without rows, in a step with other rows.

    Writes  state.extremes
    """
    drives, joints, h = world.model.drives, world.model.joints, world.clock.h[0]
    if world.work.drives.without_rows[0] == 0 or world.work.rows.count[0] == 0:
        return
    for k in range(drives.driven.shape[0]):
        j, axis = drives.joint[k], drives.axis[k]
        if drives.driven[k] == 0 or not is_length(joints.kind[j], axis):
            continue
        kind, impulse = joints.motor_kind[j, axis], impulse_of(world.work.drives, k, MOTOR)
        most = impulse
        if kind == MOTOR_POSITION:
            most = h * largest_force(world.state, world.model, j, axis)
        if kind != MOTOR_NONE and most < inf:
            note_braking(world, joints.body_a[j], impulse, most)
            note_braking(world, joints.body_b[j], impulse, most)


@kernel
def record_commanded(world: World) -> None:
    """Record motors without a largest force that lag, and rigid stops passed or met early.

    Must be called after the kick, before its rows are overwritten. Steps that exact impacts divide
    and the three drives of a ball joint are not followed.

    Reads   rows, coordinates in the middle of the step
    Writes  state.extremes
    Check   tests/engine/test_verdict.py
    """
    joints, state, rows = world.model.joints, world.state, world.work.rows
    record_hidden_braking(world)
    for i in range(rows.count[1]):
        j, kind = rows.joint[i], rows.kind[i]
        if j < 0 or (kind != ROW_LIMIT and kind != ROW_MOTOR and kind != ROW_FRICTION):
            continue
        of_length = is_length(joints.kind[j], rows.axis[i])
        if of_length and kind != ROW_LIMIT:
            record_braking(world, i)
        if kind == ROW_FRICTION:
            continue
        limit = state.extremes[LIMITS + j] if of_length else TWIST_LIMIT
        if kind == ROW_MOTOR:
            is_rigid = rows.hi[i] == inf and rows.cfm[i] == 0.0
            if rows.cfm[i] > 0.0 and abs(world.work.problem.lam[i]) >= rows.hi[i]:
                for body in (rows.body_a[i], rows.body_b[i]):
                    at = first_of(world) + VARIED * body + BOUND_STEP
                    state.extremes[at] = float(state.step[0] + 1)
            if is_rigid and rows.share[0] == 1.0 and joints.kind[j] != BALL:
                record_drive(world, i, limit)
            continue
        if rows.share[0] == 1.0:
            mark_stop(world, i)
        if -rows.error[i] > limit and not is_soft_stop(joints, rows, i):
            what = APART if of_length else TWIST
            note(state, what, -rows.error[i], limit, j, under_way(state))
