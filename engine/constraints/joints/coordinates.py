"""Joint coordinates: their value, their row, and their second derivative at constant velocities.

joint                coordinates
hinge, screw         angle about s
slider               displacement along s
hinge2, universal    angle about s_i, angle about s_j
cylindrical          displacement along s, angle about s
planar               displacements along t1 and t2, angle about s
distance             distance of the anchors; with wheels, straight and wound length
ball                 rotation vector of B relative to A since the start, along t1, t2, t1 x t2
gear                 rotation of A, rotation of B
rack                 rotation of A, travel of B
fixed                none
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.couplings import (
    rotation_of_child,
    rotation_of_parent,
    travel_of_child,
    write_rotations,
)
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.parts.along import write_along
from cardan.engine.constraints.parts.distance import write_distance
from cardan.engine.constraints.parts.twist import twist_angle, write_twist
from cardan.engine.constraints.parts.wound import (
    is_cable,
    keep_winding,
    wound_length,
    write_wound,
)
from cardan.engine.constraints.row import set_jacobian
from cardan.engine.spatial.quaternion import Quaternion, conjugate, load4, multiply, rotate
from cardan.engine.spatial.rotation import angle_about, logarithm, nearest_turn
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot, load3, negate, norm, scale, sub
from cardan.engine.world.model import (
    BALL,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    GEAR,
    HINGE,
    HINGE2,
    PLANAR,
    RACK,
    SCREW,
    SLIDER,
    UNIVERSAL,
    Joints,
)
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State


@kernel
def n_coordinates(kind: int) -> int:
    """How many coordinates a joint has."""
    if kind == FIXED:
        return 0
    if kind in (BALL, PLANAR):
        return 3
    if kind in (UNIVERSAL, HINGE2, CYLINDRICAL, GEAR, RACK):
        return 2
    return 1


@kernel
def is_translation(kind: int, axis: int) -> bool:
    """Whether a coordinate is a displacement along an axis of A (else an angle or a distance)."""
    return kind == SLIDER or (kind == CYLINDRICAL and axis == 0) or (kind == PLANAR and axis < 2)


@kernel
def is_length(kind: int, axis: int) -> bool:
    """Whether a coordinate is in metres."""
    return is_translation(kind, axis) or kind == DISTANCE or (kind == RACK and axis == 1)


@kernel
def axis_of(kind: int, axis: int, frame: JointFrame) -> Vec3:
    """The axis, fixed in A, of a coordinate of a ball, planar or one-axis joint."""
    if kind in (BALL, PLANAR):
        if axis == 0:
            return frame.t1
        if axis == 1:
            return frame.t2
        return cross(frame.t1, frame.t2)
    return frame.s


@kernel
def turned_in_A(joints: Joints, state: State, j: int) -> Quaternion:
    """The rotation of B relative to A since coordinates zero, in A's axes."""
    q_a = load4(state.q_WB, joints.body_a[j])
    q_AB = multiply(conjugate(q_a), load4(state.q_WB, joints.body_b[j]))
    return multiply(q_AB, conjugate(load4(joints.q_AB0, j)))


@kernel
def along_ball_axis(joints: Joints, j: int, axis: int, vector_A: Vec3) -> float:
    """Component of a vector in A's axes along the first, second or third axis of a ball joint."""
    t1, t2 = load3(joints.tangent1_A, j), load3(joints.tangent2_A, j)
    if axis == 0:
        return dot(t1, vector_A)
    if axis == 1:
        return dot(t2, vector_A)
    return dot(cross(t1, t2), vector_A)


@kernel
def coordinate(joints: Joints, state: State, j: int, axis: int, frame: JointFrame) -> float:
    """Value of a joint coordinate [m or rad]: motion of B relative to A along or about its axis.

    Angles continue from the last value across whole turns (except for a ball joint, whose rotation
    vector has at most length pi).
    Check   tests/engine/constraints/test_rows.py
    """
    kind = joints.kind[j]
    if kind == BALL:
        return along_ball_axis(joints, j, axis, logarithm(turned_in_A(joints, state, j)))
    if is_translation(kind, axis):
        return dot(axis_of(kind, axis, frame), frame.gap)
    if kind == DISTANCE:
        if is_cable(joints, j):
            return wound_length(joints, state, j, frame)
        return norm(frame.gap)
    if kind == RACK and axis == 1:
        return travel_of_child(joints, state, j)
    if kind in (HINGE, CYLINDRICAL, PLANAR, SCREW):
        angle = twist_angle(turned_in_A(joints, state, j), load3(joints.axis_A, j))
    elif kind in (GEAR, RACK):
        angle = (
            rotation_of_parent(joints, state, j)
            if axis == 0
            else rotation_of_child(joints, state, j)
        )
    elif axis == 0:
        zero = rotate(load4(state.q_WB, frame.body_a), load3(joints.zero2_A, j))
        angle = angle_about(frame.s, zero, frame.s_b)
    else:
        zero = rotate(load4(state.q_WB, frame.body_b), load3(joints.zero1_B, j))
        angle = -angle_about(frame.s_b, zero, frame.s)
    return nearest_turn(angle, state.joint_q[j, axis])


@kernel
def keep_coordinate(joints: Joints, state: State, j: int, axis: int, frame: JointFrame) -> None:
    """Write state.joint_q of a coordinate, and the winding of a cable on its wheels."""
    if is_cable(joints, j):
        keep_winding(joints, state, j, frame)
    state.joint_q[j, axis] = coordinate(joints, state, j, axis, frame)


@kernel
def write_length(rows: Rows, row: int, joints: Joints, j: int, frame: JointFrame) -> float:
    """The row of the coordinate of a distance joint; its second derivative is returned."""
    if is_cable(joints, j):
        return write_wound(rows, row, joints, j, frame)
    return write_distance(rows, row, frame)


@kernel
def write_coordinate(
    rows: Rows, row: int, joints: Joints, j: int, axis: int, frame: JointFrame
) -> float:
    """The row of a coordinate: its rate is J v.

        way                    the part `along` with e = s, t1 or t2
        distance               the part `apart`, or `wound`
        hinge, cylindrical     J = [-s, 0, s, 0]
        screw                  the part `twist`
        ball                   J = [-e, 0, e, 0]: relative angular velocity along e, which is the
                               rate of the rotation vector only while that is short or along e
        hinge2, universal      w_rel = rate1 s_i + rate2 s_j  =>  rate1 = d . w_rel with
                               d = (s_i - c s_j)/(1 - c^2), c = s_i . s_j, and alike for rate2
        gear, rack             see constraints/couplings.py

    Returns the coordinate's second derivative at constant velocities (for hinge2 and universal
    without the rotation of d, of second order in the rates across both axes)
    Check   tests/engine/constraints/test_rows.py
    """
    kind = joints.kind[j]
    if is_translation(kind, axis):
        return write_along(rows, row, frame, axis_of(kind, axis, frame))
    if kind == DISTANCE:
        return write_length(rows, row, joints, j, frame)
    if kind == SCREW:
        return write_twist(rows, row, frame)
    if kind in (GEAR, RACK):
        side = (1.0, 0.0, 0.0) if axis == 0 else (0.0, 1.0, 0.0)
        return write_rotations(rows, row, joints, j, frame, side)
    d = axis_of(kind, axis, frame)
    base = frame.w_a
    if kind in (UNIVERSAL, HINGE2):
        c = dot(frame.s, frame.s_b)
        if axis == 0:
            d = scale(1.0 / (1.0 - c * c), add_scaled(frame.s, -c, frame.s_b))
        else:
            d = scale(1.0 / (1.0 - c * c), add_scaled(frame.s_b, -c, frame.s))
            base = frame.w_b
    set_jacobian(rows, row, negate(d), (0.0, 0.0, 0.0), d)
    return dot(cross(base, d), sub(frame.w_b, frame.w_a))
