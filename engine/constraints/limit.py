"""Limits: one-sided rows on a joint coordinate."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.constraints.frames import JointFrame
from engine.constraints.joints.coordinates import write_coordinate
from engine.constraints.joints.equations import Slot
from engine.constraints.row import belong_to_joint, row_speed, set_equation, start_row
from engine.kernel import kernel
from engine.world.model import Joints
from engine.world.rows import ROW_EQUATION, ROW_LIMIT, SLOT_LOWER, SLOT_UPPER, Rows
from engine.world.state import State

# [m/s or rad/s] a stop is not bounced off below this speed: it would never come to rest
BOUNCE_SPEED = 0.01


@kernel
def mirror_row(rows: Rows, row: int) -> None:
    """Let a row measure minus its coordinate."""
    for k in range(6):
        rows.J_a[row, k] = -rows.J_a[row, k]
        rows.J_b[row, k] = -rows.J_b[row, k]


@kernel
def one_sided_bias(error: float, h: float, erp: float) -> float:
    """Bias that keeps C >= 0: a violation shrinks by erp, a gap may close but not be crossed."""
    if error < 0.0:
        return erp * error / h
    return error / h


@kernel
def write_stop(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    axis: int,
    frame: JointFrame,
    side: int,
    h: float,
) -> None:
    """One stop of one coordinate: side 0 keeps q - lower >= 0, side 1 keeps upper - q >= 0.

    A hard stop within reach of this step becomes a row with C/h (not yet touching) or erp C/h
    (violated) and bounces with its restitution. A soft one is a spring-damper that only pushes:
    k_erp = h k/(h k + d), cfm = 1/(h (h k + d)).

    Source  physics.md "One step", 000 limits (with the sign of the upper bias corrected)
    Check   tests/references/test_limits.py
    """
    q = state.joint_q[j, axis]
    error = q - joints.limit_lower[j, axis] if side == 0 else joints.limit_upper[j, axis] - q
    if not math.isfinite(error):
        return
    row = start_row(rows, ROW_LIMIT, frame.body_a, frame.body_b)
    write_coordinate(rows, row, joints, j, axis, frame)
    if side == 1:
        mirror_row(rows, row)
    speed = row_speed(rows, row, state)
    # out of reach even at four times the present speed (plus the width of a hair): no row
    if error > 1e-3 + 4.0 * h * abs(speed):
        rows.count[0] = row
        return
    belong_to_joint(rows, row, j, (SLOT_LOWER if side == 0 else SLOT_UPPER) + axis, state)
    rows.axis[row] = axis
    rows.lo[row] = 0.0
    rows.error[row] = error
    stiffness = joints.limit_stiffness[j, axis]
    damping = joints.limit_damping[j, axis]
    if stiffness > 0.0:
        if error >= 0.0:
            rows.count[0] = row
            return
        softness = h * stiffness + damping
        rows.bias[row] = stiffness * error / softness
        rows.cfm[row] = 1.0 / (h * softness)
        return
    rows.bias[row] = one_sided_bias(error, h, rows.share[0] * joints.erp[j])
    bounce = joints.limit_restitution[j, axis] * speed
    if speed < -BOUNCE_SPEED and error + h * speed < 0.0:
        rows.bias[row] = min(rows.bias[row], bounce)


@kernel
def write_limits(
    rows: Rows,
    state: State,
    joints: Joints,
    which: Slot,
    frame: JointFrame,
    h: float,
    turning: NDArray,
) -> None:
    """Both stops of a coordinate, which = (joint, axis); equal ones lock it."""
    j, axis = which
    if joints.limit_on[j, axis] == 0:
        return
    lower, upper = joints.limit_lower[j, axis], joints.limit_upper[j, axis]
    if lower == upper:
        row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
        belong_to_joint(rows, row, j, SLOT_LOWER + axis, state)
        rows.axis[row] = axis
        curvature = write_coordinate(rows, row, joints, j, axis, frame)
        error = state.joint_q[j, axis] - lower
        share = rows.share[0]
        k = (h, share * joints.erp[j], joints.cfm[j] / share)
        set_equation(rows, row, error, curvature, k, turning)
        return
    write_stop(rows, state, joints, j, axis, frame, 0, h)
    write_stop(rows, state, joints, j, axis, frame, 1, h)
