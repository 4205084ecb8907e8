"""Motors, joint friction, springs and dampers: rows with bounded or compliant impulses."""

from __future__ import annotations

import math

from cardan.engine.bodies.forces import elastic_force, elastic_slope, is_elastic
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joint_couplings import coupled_sum
from cardan.engine.constraints.joints.coordinates import (
    coordinate,
    is_length,
    n_coordinates,
    write_coordinate,
)
from cardan.engine.constraints.joints.equations import is_rigid_distance
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.motor_targets import (
    largest_force,
    mean_target,
    position_error,
    position_rate,
    soft_error,
    speed_over,
    target_at,
)
from cardan.engine.constraints.parts.along import write_along
from cardan.engine.constraints.parts.function import add_row, scale_row
from cardan.engine.constraints.row import (
    belong_to_joint,
    jacobian_product,
    row_speed,
    start_row,
)
from cardan.engine.constraints.springs import Damper, drive_gain, spring_law
from cardan.engine.spatial.vec3 import dot
from cardan.engine.world.model import (
    BALL,
    COUPLING,
    DISTANCE,
    GEAR,
    HINGE2,
    MOTOR_FORCE,
    MOTOR_NONE,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    PLANAR,
    RACK,
    Joints,
)
from cardan.engine.world.rows import (
    ROW_FRICTION,
    ROW_MOTOR,
    ROW_SPRING,
    SLOT_DAMPING,
    SLOT_FRICTION,
    SLOT_MOTOR,
    SLOT_SPRING,
    Rows,
)
from cardan.engine.world.state import BIAS_BEFORE, BIAS_CHANGE, State
from cardan.engine.world.world import World

Axis = tuple[int, int]  # joint, axis
Target = tuple[float, float]  # error of a drive in the middle of the step [m or rad], rate of its
#                               target [m/s or rad/s]

# [m/s or rad/s] below this speed each axis has its own friction row, above it they share one
SLIDING = 1e-3


@kernel
def set_compliant(world: World, row: int, target: Target) -> None:
    """A drive that yields: a spring-damper against the moving target (springs.drive_gain).

        lam = -h f(error) - known (J v - rate) - gain (J v+ - rate)

    If slope and damping are both zero, the row applies the force itself within its bounds.

    Check   tests/references/test_drives.py, tests/references/test_motors.py
    """
    rows, joints, h, (error, rate) = world.work.rows, world.model.joints, world.clock.h[0], target
    j, axis = rows.joint[row], rows.axis[row]
    stiffness = joints.motor_stiffness[j]
    force, slope = elastic_force(stiffness, axis, error), elastic_slope(stiffness, axis, error)
    damper = (joints.motor_damping[j, axis], joints.motor_inverse_mass[j, axis])
    gain, known = drive_gain(max(slope, 0.0), damper, h)
    if gain > 0.0:
        speed = row_speed(rows, row, world.state) - rate
        rows.bias[row] = (h * force + known * speed) / gain - rate
        rows.cfm[row] = 1.0 / gain
        return
    impulse = min(max(-h * force, rows.lo[row]), rows.hi[row])
    rows.lo[row] = impulse
    rows.hi[row] = impulse


@kernel
def braking_speed(acceleration: float, distance: float, h: float) -> float:
    """The largest speed from which steps of h that slow by `acceleration` end at this distance.

        distance = v^2/(2 a) + v h/2,  so that  v -> v - a h  while  distance -> distance - v h

    Reads   acceleration m/s^2 or rad/s^2; distance m or rad, of either sign
    Check   tests/references/test_servo.py
    """
    half = 0.5 * h * acceleration
    return math.sqrt(half * half + 2.0 * acceleration * abs(distance)) - half


@kernel
def servo_speed(
    joints: Joints, j: int, axis: int, error: float, max_force: float, h: float
) -> float:
    """The speed at which a servo takes its error away [m/s or rad/s], before its target's own.

    erp/h of the error, and from afar no more than half of the force can brake in time. The other
    half is left for loads, and for the last steps, which the first law slows by nearly twice that.

    Source  decision 0450
    """
    speed = joints.erp[j] / h * error
    if math.isinf(max_force):
        return speed
    fastest = braking_speed(0.5 * max_force * joints.motor_inverse_mass[j, axis], error, h)
    return min(max(speed, -fastest), fastest)


@kernel
def flight_acceleration(world: World, row: int) -> float:
    """Acceleration of a motor's coordinate in free flight after the kick, as it was last time.

    Of a joint in a tree it follows from that before the kick, and from how the last kick changed
    it: in a mechanism both differ by a first order of the step, and the driven speed would, too.

    Reads   motion.bias_acceleration (n, 6) rad/s^2, m/s^2: of bodies before the kick
    Check   tests/references/test_driven_mechanisms.py
    """
    model, rows = world.model, world.work.rows
    tree, j, axis = model.tree, rows.joint[row], rows.axis[row]
    if tree.inner[j] == 1 and model.joints.kind[j] != BALL:
        node = tree.node[rows.body_b[row]]
        while node >= 0 and tree.joint[node] == j:
            if tree.axis[node] == axis:
                k, found = tree.v_start[node], world.state.tree_bias_acceleration
                return float(found[BIAS_BEFORE, k] + found[BIAS_CHANGE, k])
            node = tree.parent[node]
    return jacobian_product(rows, row, world.work.motion.bias_acceleration)


@kernel
def write_motor(world: World, which: Axis, frame: JointFrame) -> None:
    """A motor on one coordinate; its target is the commanded one, or the scene's at this time.

        velocity   bias = -target                                     |lam| <= max_force h
        position   a servo: the lock lower = upper = target with a bounded force,
                   bias = erp/h (q - target) - target', at most what it can brake from and
                   max_speed (servo_speed)                            |lam| <= max_force h
                   with stiffness: a spring-damper against the moving target (set_compliant)
                                                                      |lam| <= max_force h
        force      lam  = target h

    Free flight after the kick changes J v by h/2 J a: rigid motors leave room for it, so that the
    speed at the end of the step is the one asked for (flight_acceleration).

    Source  Constraint Notes n.d., motors, with one sign convention: B relative to A
    Check   tests/references/test_motors.py, tests/references/test_servo.py,
            tests/references/test_following.py
    """
    model, state, rows, h = world.model, world.state, world.work.rows, world.clock.h[0]
    joints, (j, axis) = model.joints, which
    kind = joints.motor_kind[j, axis]
    if kind == MOTOR_NONE:
        return
    max_force = largest_force(state, model, j, axis)
    row = start_row(rows, ROW_MOTOR, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_MOTOR + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    rows.lo[row] = -max_force * h
    rows.hi[row] = max_force * h
    middle = state.time[0] + 0.5 * h
    if kind == MOTOR_VELOCITY:
        target = target_at(state, model, j, axis, middle, 0.0)
        if max_force == math.inf and rows.share[0] == 1.0:
            target = speed_over(state, model, j, axis, middle, middle + 0.5 * h)
        rows.bias[row] = -target
        rows.bias[row] += 0.5 * h * flight_acceleration(world, row)
    elif kind == MOTOR_POSITION:
        # of a step between exact impacts this is a part; targets are told by whole steps
        soft, whole = is_elastic(joints.motor_stiffness[j], axis), h / rows.share[0]
        width = 0.0 if soft else whole
        rate = position_rate(state, model, j, axis, middle, width)
        if soft:
            set_compliant(world, row, (soft_error(state, model, j, axis, middle, h), rate))
        else:
            error = position_error(state, model, j, axis, middle, width)
            fastest = joints.motor_max_speed[j, axis]
            speed = servo_speed(joints, j, axis, error, max_force, whole) - rate
            rows.bias[row] = min(max(speed, -fastest), fastest)
            rows.bias[row] += 0.5 * h * flight_acceleration(world, row)
    elif kind == MOTOR_FORCE:
        target = mean_target(state, model, j, axis, middle, h)
        rows.lo[row] = target * h
        rows.hi[row] = target * h


@kernel
def is_free(joints: Joints, j: int) -> bool:
    """Whether the coordinates of a joint are motions that friction and damping can act on.

    False for gears and racks, whose coordinates are rotations in W, and for rods of fixed length.
    """
    kind = joints.kind[j]
    if kind == DISTANCE:
        return not is_rigid_distance(joints, j)
    return kind not in (GEAR, RACK)


@kernel
def write_friction(world: World, which: Axis, frame: JointFrame) -> None:
    """Dry friction of a free axis: opposes the motion, bounded by joints.friction."""
    rows, joints, h, (j, axis) = world.work.rows, world.model.joints, world.clock.h[0], which
    row = start_row(rows, ROW_FRICTION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_FRICTION + axis, world.state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    rows.lo[row] = -joints.friction[j] * h
    rows.hi[row] = joints.friction[j] * h


@kernel
def spring_part(joints: Joints, j: int) -> int:
    """Column of joints.inverse_mass for the coordinate of the joint's own spring."""
    return 0 if joints.kind[j] == HINGE2 or is_length(joints.kind[j], 0) else 1


@kernel
def join_friction(rows: Rows, state: State, first: int) -> None:
    """Combine the friction rows of several sliding axes into one row against the motion.

    Above the speed SLIDING the axes (rows `first` to the last one) share one friction force along
    -x_dot/|x_dot|. Below it each axis keeps its own row, so that friction resists motion in every
    direction; the set of friction forces is then a box that contains the sphere.
    """
    last = rows.count[0]
    square = 0.0
    for row in range(first, last):
        rows.bias[row] = row_speed(rows, row, state)
        square += rows.bias[row] ** 2
    speed = math.sqrt(square)
    if speed > SLIDING:
        scale_row(rows, first, rows.bias[first] / speed)
        for row in range(first + 1, last):
            add_row(rows, first, rows.bias[row] / speed, row)
        rows.lam_warm[first] = rows.lo[first]
        rows.count[0] = first + 1
        last = first + 1
    for row in range(first, last):
        rows.bias[row] = 0.0


@kernel
def write_joint_friction(world: World, j: int, frame: JointFrame) -> None:
    """Dry friction of all free motions of a joint, one bound per axis.

    The three rotations of a ball joint share one isotropic bound, and so do the two displacements
    of a planar joint.

    Check   tests/references/test_joint_friction.py
    """
    rows, joints = world.work.rows, world.model.joints
    if joints.friction[j] == 0.0 or not is_free(joints, j):
        return
    kind = joints.kind[j]
    together = 3 if kind == BALL else (2 if kind == PLANAR else 0)
    first = rows.count[0]
    for axis in range(n_coordinates(kind)):
        write_friction(world, (j, axis), frame)
        if axis + 1 == together:
            join_friction(rows, world.state, first)


@kernel
def set_spring(
    rows: Rows, row: int, state: State, force: float, stiffness: float, damper: Damper, h: float
) -> None:
    """Bias and compliance of a spring's row, see `spring_law`; `force` and `stiffness` as there."""
    speed = row_speed(rows, row, state)
    rows.bias[row], rows.cfm[row] = spring_law(speed, force, stiffness, damper, h)


@kernel
def spring_coordinate(joints: Joints, state: State, j: int, frame: JointFrame) -> float:
    """The coordinate of the spring of a joint, without subtracting its rest value [m or rad].

    The first coordinate; for a hinge2 the displacement along the first axis, for a distance joint
    the distance minus its initial value, for a coupling the sum minus its offset.
    """
    if joints.kind[j] == HINGE2:
        return dot(frame.s, frame.gap)
    if joints.kind[j] == COUPLING:
        return coupled_sum(joints, state, j) - joints.angle0[j]
    x = coordinate(joints, state, j, 0, frame)
    return x - joints.angle0[j] if joints.kind[j] == DISTANCE else x


@kernel
def write_joint_spring(world: World, j: int, frame: JointFrame) -> None:
    """The spring of a joint: on its first coordinate, or along the first axis of a hinge2."""
    rows, state, joints, h = world.work.rows, world.state, world.model.joints, world.clock.h[0]
    if joints.spring_on[j] == 0:
        return
    if not is_elastic(joints.spring_k, j) and joints.spring_damping[j] == 0.0:
        return
    row = start_row(rows, ROW_SPRING, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_SPRING, state)
    x = spring_coordinate(joints, state, j, frame) - joints.spring_rest[j]
    if joints.kind[j] == HINGE2:
        write_along(rows, row, frame, frame.s)
    else:
        write_coordinate(rows, row, joints, j, 0, frame)
    force = elastic_force(joints.spring_k, j, x)
    stiffness = elastic_slope(joints.spring_k, j, x)
    if stiffness <= 0.0 and joints.spring_damping[j] == 0.0:
        # a flat or falling characteristic has no implicit form: the force is applied explicitly
        rows.lo[row] = -force * h
        rows.hi[row] = -force * h
        return
    damper = (joints.spring_damping[j], joints.inverse_mass[j, spring_part(joints, j)])
    set_spring(rows, row, state, force, stiffness, damper, h)


@kernel
def write_damper(world: World, which: Axis, frame: JointFrame) -> None:
    """Viscous damping of one coordinate."""
    rows, state, joints, h = world.work.rows, world.state, world.model.joints, world.clock.h[0]
    j, axis = which
    row = start_row(rows, ROW_SPRING, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, SLOT_DAMPING + axis, state)
    rows.axis[row] = axis
    write_coordinate(rows, row, joints, j, axis, frame)
    part = 0 if is_length(joints.kind[j], axis) else 1
    damper = (joints.damping[j], joints.inverse_mass[j, part])
    set_spring(rows, row, state, 0.0, 0.0, damper, h)
