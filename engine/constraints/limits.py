"""Limits: one-sided rows on functions of joint coordinates."""

from __future__ import annotations

import math

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import turned_in_A, write_coordinate
from cardan.engine.constraints.joints.equations import Slot
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.parts.function import scale_row
from cardan.engine.constraints.parts.perpendicular import write_perpendicular
from cardan.engine.constraints.parts.twist import TURNED_OVER, twist_angle, write_twist
from cardan.engine.constraints.row import (
    belong_to_joint,
    equation_bias,
    jacobian_product,
    row_speed,
    set_equation,
    set_jacobian,
    start_row,
)
from cardan.engine.constraints.soft_stops import is_soft, set_soft_stop
from cardan.engine.spatial.rotation import nearest_turn
from cardan.engine.spatial.vec3 import ZERO3, cross, dot, load3, negate, norm, perpendicular
from cardan.engine.world.options import SolverMethod, StepOptions
from cardan.engine.world.rows import ROW_EQUATION, ROW_LIMIT, SLOT_LOWER, SLOT_UPPER
from cardan.engine.world.world import World

SMALL_STEPS = int(SolverMethod.SMALL_STEPS)

# [m/s or rad/s] below this speed a stop has no restitution, so that the joint comes to rest ...
BOUNCE_SPEED = 0.01
# ... or below this share of the threshold of contacts, where a scene of small speeds sets that
BOUNCE_SHARE = 0.02
# what holds is approached half as fast as its direction turns in a step; what is approached faster
# than this multiple of that turn is being struck, in one step or two
STRUCK = 4.0
# sin(swing) below which two axes count as being in line
IN_LINE = 1e-9


@kernel
def one_sided_bias(error: float, h: float, erp: float) -> float:
    """Bias that keeps C >= 0: a violation shrinks by erp per step, a gap closes at most to zero."""
    if error < 0.0:
        return erp * error / h
    return error / h


@kernel
def reach_of(h: float, speed: float) -> float:
    """Distance within which a limit has a row: four times the motion per step, plus a constant."""
    return 1e-3 + 4.0 * h * abs(speed)


@kernel
def bounce_speed(options: StepOptions) -> float:
    """Approach speed below which a stop does not rebound [m/s or rad/s]."""
    return min(BOUNCE_SPEED, BOUNCE_SHARE * options.restitution_threshold)


@kernel
def holds(lam: float, speed: float, acceleration: float, h: float) -> bool:
    """Whether a bound C >= 0 held in the last step what turns away from it, and is not struck.

    lam: its impulse; speed, acceleration: dC/dt and d2C/dt2 of free flight
    """
    return lam > 0.0 and acceleration < 0.0 and speed > STRUCK * h * acceleration


@kernel
def keep_positive(world: World, slot: Slot, error: float, curvature: float) -> None:
    """The general limit: C(x(s)) >= 0, where the last row holds dC/dt = dC/dx dx/ds S u.

    A hard limit within reach of this step becomes C/h (not yet touching) or erp C/h (violated) and
    bounces with its restitution. A soft one is a spring-damper that only pushes, and only while it
    is violated (soft_stops.py); damping without stiffness only slows an increasing violation. Out
    of reach the row is dropped. A hard one that holds what goes round it, as a taut rope or the
    end of an arm that turns, is an equation as long as it does: with C/h each kick would remove
    the velocity that the way takes on since the last.

    Reads   error C [m or rad]; curvature d2C/dt2 at constant velocities; slot (joint, impulse
            slot): both stops of a coordinate have one law
    Source  Constraint Notes n.d., joint limits and their generalisation
    Check   tests/references/test_limits.py, tests/references/test_ball_limits.py
    """
    rows, joints, h, (j, which) = world.work.rows, world.model.joints, world.clock.h[0], slot
    row, axis = rows.count[0] - 1, (which - SLOT_LOWER) % 3
    speed = row_speed(rows, row, world.state)
    if error > reach_of(h, speed):
        rows.count[0] = row
        return
    belong_to_joint(rows, row, j, which, world.state)
    rows.axis[row] = axis
    rows.lo[row] = 0.0
    rows.error[row] = error
    if is_soft(joints, j, axis):
        if not set_soft_stop(rows, row, joints, j, error, speed, h):
            rows.count[0] = row
        return
    erp = rows.share[0] * joints.erp[j]
    acceleration = curvature + jacobian_product(rows, row, world.work.motion.bias_acceleration)
    by_substeps = world.options.solver.method == SMALL_STEPS
    if not by_substeps and holds(rows.lam_warm[row], speed, acceleration, h):
        rows.bias[row] = equation_bias(error, acceleration, h, erp)
        rows.smooth[row] = 1
        return
    rows.bias[row] = one_sided_bias(error, h, erp)
    restitution = joints.limit_restitution[j, axis]
    # without restitution the remaining gap may close, and the motion ends at the stop; a blow that
    # may break the joint is whole
    whole = restitution > 0.0 or math.isfinite(joints.breaking_force[j])
    if whole and speed < -bounce_speed(world.options) and error + h * speed < 0.0:
        rows.rebound[row] = -restitution * speed
        rows.bias[row] = min(rows.bias[row], -rows.rebound[row])


@kernel
def write_stop(world: World, slot: Slot, frame: JointFrame) -> None:
    """One stop of one coordinate: C = q - lower or C = upper - q by its slot (joint, impulse slot).

    Source  Constraint Notes n.d., limits.  Differs: sign of the upper bias
    """
    rows, joints, (j, which) = world.work.rows, world.model.joints, slot
    axis = (which - SLOT_LOWER) % 3
    q = world.state.joint_q[j, axis]
    upper = which >= SLOT_UPPER
    error = joints.limit_upper[j, axis] - q if upper else q - joints.limit_lower[j, axis]
    if not math.isfinite(error):
        return
    row = start_row(rows, ROW_LIMIT, frame.body_a, frame.body_b)
    curvature = write_coordinate(rows, row, joints, j, axis, frame)
    if upper:
        scale_row(rows, row, -1.0)
    keep_positive(world, slot, error, -curvature if upper else curvature)


@kernel
def write_limits(world: World, which: Slot, frame: JointFrame) -> None:
    """Both stops of a coordinate, which = (joint, axis); equal limits lock it."""
    rows, state, joints, (j, axis) = world.work.rows, world.state, world.model.joints, which
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
        k = (world.clock.h[0], share * joints.erp[j], joints.cfm[j] / share)
        set_equation(rows, row, error, curvature, k, world.work.motion.bias_acceleration)
        return
    write_stop(world, (j, SLOT_LOWER + axis), frame)
    write_stop(world, (j, SLOT_UPPER + axis), frame)


@kernel
def write_swing_limit(world: World, j: int, frame: JointFrame) -> None:
    """The cone of a ball joint: C = limit - swing, swing = acos(s . s_b), s in A and s_b in B.

    The general limit with x = s . s_b (the part `perpendicular`) and dC/dx = 1/sin(swing). With
    the axes in line (swing 0 or pi) the direction of the swing is undefined; a fixed direction
    perpendicular to s is used: at 0 it matters only for a cone of nearly zero width, at pi it leads
    back into the cone.
    """
    rows, state, joints = world.work.rows, world.state, world.model.joints
    c = dot(frame.s, frame.s_b)
    sine = norm(cross(frame.s, frame.s_b))
    state.joint_q[j, 0] = math.atan2(sine, c)
    row = start_row(rows, ROW_LIMIT, frame.body_a, frame.body_b)
    curvature = 0.0
    if sine > IN_LINE:
        curvature = write_perpendicular(rows, row, frame, frame.s, frame.s_b)
        scale_row(rows, row, 1.0 / sine)
        # C = limit - acos c: -swing'' = (c'' + c swing'^2)/sin(swing)
        curvature = (curvature + c * row_speed(rows, row, state) ** 2) / sine
    else:
        across = perpendicular(frame.s)
        set_jacobian(rows, row, across, ZERO3, negate(across))
    error = joints.limit_upper[j, 0] - state.joint_q[j, 0]
    keep_positive(world, (j, SLOT_UPPER), error, curvature)


@kernel
def write_twist_limit(world: World, j: int, frame: JointFrame) -> None:
    """Both twist limits of a ball joint: C = limit - twist and C = limit + twist.

    The general limit with x = twist (the part `twist`), dC/dx = -1 and 1. The twist is
    continuous across pi. At swing = pi (within TURNED_OVER) it is undefined: no rows are written.
    """
    if 1.0 + dot(frame.s, frame.s_b) < TURNED_OVER:
        return
    rows, state, joints = world.work.rows, world.state, world.model.joints
    turned = turned_in_A(joints, state, j)
    twist = nearest_turn(twist_angle(turned, load3(joints.axis_A, j)), state.joint_q[j, 1])
    state.joint_q[j, 1] = twist
    for side in range(2):
        row = start_row(rows, ROW_LIMIT, frame.body_a, frame.body_b)
        curvature = write_twist(rows, row, frame)
        slope = 1.0 if side == 0 else -1.0
        scale_row(rows, row, slope)
        error = joints.limit_upper[j, 1] + slope * twist
        which = SLOT_LOWER + 1 if side == 0 else SLOT_UPPER + 1
        keep_positive(world, (j, which), error, slope * curvature)


@kernel
def write_ball_limits(world: World, j: int, frame: JointFrame) -> None:
    """The rows of a ball joint's swing and twist limits, if it has any.

    Writes  rows, state.joint_q[j] (swing, twist)
    Check   tests/references/test_ball_limits.py, tests/engine/constraints/test_rows.py
    """
    limit_on = world.model.joints.limit_on
    if limit_on[j, 0] == 1:
        write_swing_limit(world, j, frame)
    if limit_on[j, 1] == 1:
        write_twist_limit(world, j, frame)
