"""Write the constraint rows of a step: joints, stiff springs, drag, the grab force, contacts."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.contacts import start_contacts
from cardan.engine.constraints.drag import write_drags
from cardan.engine.constraints.force_elements import write_elements
from cardan.engine.constraints.grab import write_grab
from cardan.engine.constraints.joint_couplings import write_couplings
from cardan.engine.constraints.joints.coordinates import keep_coordinate, n_coordinates
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import JointFrame, has_rows, joint_frame
from cardan.engine.constraints.limits import reach_of, write_ball_limits, write_limits
from cardan.engine.constraints.motors import (
    Axis,
    is_free,
    write_damper,
    write_joint_friction,
    write_joint_spring,
    write_motor,
)
from cardan.engine.spatial.vec3 import store3
from cardan.engine.trees.loop_prediction import exchange_velocities
from cardan.engine.world.model import BALL, COUPLING
from cardan.engine.world.rows import Rows
from cardan.engine.world.world import World


@kernel
def leave_errors(rows: Rows, first: int, h: float, erp: float) -> None:
    """Remove the position correction from equations: joint coordinates close the loops of trees.

    bias = h/2 curvature + erp/h (C - h^2/8 curvature) becomes h/2 curvature: see
    stabilisation/loop_closure.py, and set_equation.
    """
    per_step = erp / h
    for row in range(first, rows.count[0]):
        bent = rows.bias[row] - per_step * rows.error[row]
        rows.bias[row] = bent / (1.0 - 0.25 * h * per_step)


@kernel
def write_loop_equations(world: World, j: int) -> None:
    """Equations of a joint that closes a loop of a tree, for the velocities at the end of the step.

    Of rigid ones joint coordinates correct the errors.
    """
    state, motion, rows, h = world.state, world.work.motion, world.work.rows, world.clock.h[0]
    joints, first = world.model.joints, rows.count[0]
    a, b = joints.body_a[j], joints.body_b[j]
    exchange_velocities(state, motion, a)
    exchange_velocities(state, motion, b)
    ahead = motion.acceleration_ahead
    write_equations(rows, state, joints, j, joint_frame(joints, state, j), h, ahead)
    exchange_velocities(state, motion, a)
    exchange_velocities(state, motion, b)
    if joints.cfm[j] == 0.0:
        leave_errors(rows, first, h, rows.share[0] * joints.erp[j])


@kernel
def are_hidden(world: World) -> bool:
    """Whether hidden drives have no rows in this step."""
    return bool(world.work.drives.without_rows[0] == 1)


@kernel
def write_drives(world: World, which: Axis, frame: JointFrame) -> None:
    """Motor and damper of one coordinate."""
    write_motor(world, which, frame)
    if world.model.joints.damping[which[0]] > 0.0 and is_free(world.model.joints, which[0]):
        write_damper(world, which, frame)


@kernel
def write_joint(world: World, j: int) -> None:
    """The rows of one joint: equations; limits, motor, damper of each axis; friction and spring.

    A joint of a tree has no equations.

    Writes  rows, state.joint_q[j] (of joints in trees: trees/body_sync.py)
    """
    model, state, rows = world.model, world.state, world.work.rows
    joints, node = model.joints, model.bodies.node
    kind, hides = joints.kind[j], are_hidden(world) and model.drives.hidden[j] == 1
    frame = joint_frame(joints, state, j)
    store3(rows.joint_arm, j, frame.arm_b)
    if model.tree.inner[j] == 0:
        if node[frame.body_a] >= 0 or node[frame.body_b] >= 0:
            write_loop_equations(world, j)
        else:
            bias_acceleration = world.work.motion.bias_acceleration
            write_equations(rows, state, joints, j, frame, world.clock.h[0], bias_acceleration)
    if kind == BALL:
        write_ball_limits(world, j, frame)
    for axis in range(n_coordinates(kind)):
        if kind != BALL:
            if model.tree.inner[j] == 0:
                keep_coordinate(joints, state, j, axis, frame)
            write_limits(world, (j, axis), frame)
        if not hides:
            write_drives(world, (j, axis), frame)
    write_joint_friction(world, j, frame)
    if not hides:
        write_joint_spring(world, j, frame)


@kernel
def has_nothing(world: World, j: int) -> bool:
    """Whether a joint of a tree has no row in this step: no drives, and no stop within reach."""
    tree, model, hides = world.model.tree, world.model, are_hidden(world)
    if (model.drives.silent[j] if hides else tree.silent[j]) == 1:
        return True
    node = model.drives.stopped[j] if hides else tree.stopped[j]
    if node < 0:
        return False
    x, lower, upper = world.state.joint_q[j, 0], model.joints.limit_lower, model.joints.limit_upper
    reach = reach_of(world.clock.h[0], world.state.tree_qd[tree.v_start[node]])
    return bool(x - lower[j, 0] > reach and upper[j, 0] - x > reach)


@kernel
def write_rows(world: World) -> None:
    """The box rows of this step: couplings, joints, stiff springs, drag, the grab force, rolling.

    Those of contacts have room after them (contacts.py).

    Joints and springs of sleeping bodies have no rows; their coordinates keep their values.

    Reads   poses and velocities in the middle of the step, work.contacts, motion.bias_acceleration
    Writes  work.rows, state.joint_q
    Check   tests/engine/constraints/test_rows.py
    """
    model, state, rows, h = world.model, world.state, world.work.rows, world.clock.h[0]
    bias_acceleration = world.work.motion.bias_acceleration
    rows.count[0] = 0
    rows.share[0] = world.clock.share[0]
    joints, kind = model.joints, model.bodies.kind
    rows.count[2] = 0
    if joints.term_joint.shape[0] > 0:
        write_couplings(model, state, rows, h, bias_acceleration, False)
    for j in range(joints.kind.shape[0]):
        if joints.kind[j] == COUPLING:
            continue
        if not has_nothing(world, j) and has_rows(joints, kind, state, j):
            write_joint(world, j)
    write_elements(rows, state, model.forces, kind, h, bias_acceleration)
    write_drags(rows, state, model.bodies, model.forces, h)
    write_grab(rows, state, model.bodies, h)
    start_contacts(world)
