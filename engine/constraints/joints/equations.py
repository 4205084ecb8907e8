"""The equations of every joint, as sums of parts.

joint        free motions                 rows
ball         3 rotations                  3 along
hinge        1 rotation about s           3 along, 2 perpendicular
universal    2 rotations                  3 along, 1 perpendicular (axes at 90 degrees)
hinge2       2 rotations (and a spring)   3 along (2 with a suspension spring), 1 perpendicular
slider       1 translation along s        2 along, 3 perpendicular
cylindrical  1 rotation, 1 translation    2 along, 2 perpendicular
planar       2 translations, 1 rotation   1 along, 2 perpendicular
fixed        none                         3 along, 3 perpendicular
distance     all but one translation      1 apart, unless it has limits, a spring or a motor
screw        1 rotation with its advance  2 along, 2 perpendicular, 1 displacement - lead * angle
gear         all but the ratio of angles  1 rotation of B - ratio * rotation of A
rack         all but the ratio            1 travel of B - ratio * rotation of A
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.couplings import write_rotations
from cardan.engine.constraints.joints.coordinates import coordinate, write_length
from cardan.engine.constraints.joints.frames import JointFrame
from cardan.engine.constraints.parts.along import write_along
from cardan.engine.constraints.parts.function import add_row
from cardan.engine.constraints.parts.perpendicular import write_perpendicular
from cardan.engine.constraints.parts.twist import write_twist
from cardan.engine.constraints.row import belong_to_joint, set_equation, start_row
from cardan.engine.spatial.quaternion import conjugate, load4, multiply, rotate
from cardan.engine.spatial.vec3 import Vec3, cross, dot, load3, scale
from cardan.engine.world.model import (
    COUPLING,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    GEAR,
    HINGE,
    HINGE2,
    MOTOR_NONE,
    PLANAR,
    RACK,
    SCREW,
    SLIDER,
    UNIVERSAL,
    Joints,
)
from cardan.engine.world.rows import ROW_EQUATION, Rows
from cardan.engine.world.state import State

Slot = tuple[int, int]  # joint, impulse slot
Axes = tuple[Vec3, Vec3]


@kernel
def add_along(
    rows: Rows,
    state: State,
    slot: Slot,
    frame: JointFrame,
    e: Vec3,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: no motion of B's anchor along e of A."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, slot[0], slot[1], state)
    curvature = write_along(rows, row, frame, e)
    set_equation(rows, row, dot(e, frame.gap), curvature, k, bias_acceleration)


@kernel
def add_perpendicular(
    rows: Rows,
    state: State,
    slot: Slot,
    frame: JointFrame,
    ab: Axes,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: a . b = 0 for ab = (a, b)."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, slot[0], slot[1], state)
    curvature = write_perpendicular(rows, row, frame, ab[0], ab[1])
    set_equation(rows, row, dot(ab[0], ab[1]), curvature, k, bias_acceleration)


@kernel
def add_axes_angle(
    rows: Rows,
    state: State,
    j: int,
    frame: JointFrame,
    angle: float,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: s_i and s_j keep their angle, C = (s_i . s_j - cos angle)/sin angle [rad]."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 3, state)
    s = 1.0 / math.sin(angle)
    curvature = write_perpendicular(rows, row, frame, scale(s, frame.s), frame.s_b)
    set_equation(
        rows, row, s * (dot(frame.s, frame.s_b) - math.cos(angle)), curvature, k, bias_acceleration
    )


@kernel
def is_rigid_distance(joints: Joints, j: int) -> bool:
    """Whether a distance joint keeps its length: it has no limits, no spring and no motor."""
    return (
        joints.limit_on[j, 0] == 0
        and joints.spring_on[j] == 0
        and joints.motor_kind[j, 0] == MOTOR_NONE
    )


@kernel
def add_distance(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    frame: JointFrame,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: the anchors keep their distance."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 0, state)
    curvature = write_length(rows, row, joints, j, frame)
    error = coordinate(joints, state, j, 0, frame) - joints.angle0[j]
    set_equation(rows, row, error, curvature, k, bias_acceleration)


@kernel
def add_screw(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    frame: JointFrame,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: C = displacement along s - lead * angle about s [m], lead = pitch/(2 pi)."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 2, state)
    lead = joints.ratio[j]
    curvature = write_along(rows, row, frame, frame.s)
    # the next row is unused: it holds the angle temporarily
    curvature -= lead * write_twist(rows, row + 1, frame)
    add_row(rows, row, -lead, row + 1)
    error = dot(frame.s, frame.gap) - lead * coordinate(joints, state, j, 0, frame)
    set_equation(rows, row, error, curvature, k, bias_acceleration)


@kernel
def add_turns(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    frame: JointFrame,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Equation: C = rotation (or travel) of B - ratio * rotation of A [rad or m], unwrapped."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 0, state)
    ratio = joints.ratio[j]
    curvature = write_rotations(rows, row, joints, j, frame, (-ratio, 1.0, 0.0))
    error = coordinate(joints, state, j, 1, frame) - ratio * coordinate(joints, state, j, 0, frame)
    set_equation(rows, row, error, curvature, k, bias_acceleration)


@kernel
def add_orientation(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    frame: JointFrame,
    k: Vec3,
    bias_acceleration: NDArray,
) -> None:
    """Three equations: B keeps its orientation in A.

    t1, t2 of A against s of B, and t1 of A against t2 of B, where s and t2 of B are those that
    coincided with A's at the start.
    """
    q_start = multiply(load4(state.q_WB, frame.body_b), conjugate(load4(joints.q_AB0, j)))
    s_b = rotate(q_start, load3(joints.axis_A, j))
    t2_b = rotate(q_start, load3(joints.tangent2_A, j))
    add_perpendicular(rows, state, (j, 3), frame, (frame.t1, s_b), k, bias_acceleration)
    add_perpendicular(rows, state, (j, 4), frame, (frame.t2, s_b), k, bias_acceleration)
    add_perpendicular(rows, state, (j, 5), frame, (frame.t1, t2_b), k, bias_acceleration)


@kernel
def write_equations(
    rows: Rows,
    state: State,
    joints: Joints,
    j: int,
    frame: JointFrame,
    h: float,
    bias_acceleration: NDArray,
) -> None:
    """All equations of joint j; bias_acceleration (n, 3) as in `set_equation`.

    A coupling has none here: see constraints/joint_couplings.py.

    Check   tests/engine/constraints/test_rows.py: J v against finite differences of C, every joint
    """
    kind = joints.kind[j]
    if kind == COUPLING:
        return
    share = rows.share[0]
    k = (h, share * joints.erp[j], joints.cfm[j] / share)
    if kind == DISTANCE:
        if is_rigid_distance(joints, j):
            add_distance(rows, state, joints, j, frame, k, bias_acceleration)
        return
    if kind in (GEAR, RACK):
        add_turns(rows, state, joints, j, frame, k, bias_acceleration)
        return
    # position: directions among t1, t2, s in which B's anchor must not move
    if kind != PLANAR:
        add_along(rows, state, (j, 0), frame, frame.t1, k, bias_acceleration)
        add_along(rows, state, (j, 1), frame, frame.t2, k, bias_acceleration)
    has_suspension = kind == HINGE2 and joints.spring_on[j] == 1
    if kind == SCREW:
        add_screw(rows, state, joints, j, frame, k, bias_acceleration)
    elif kind not in (SLIDER, CYLINDRICAL) and not has_suspension:
        add_along(rows, state, (j, 2), frame, cross(frame.t1, frame.t2), k, bias_acceleration)
    # orientation
    if kind in (HINGE, CYLINDRICAL, PLANAR, SCREW):
        add_perpendicular(rows, state, (j, 3), frame, (frame.t1, frame.s_b), k, bias_acceleration)
        add_perpendicular(rows, state, (j, 4), frame, (frame.t2, frame.s_b), k, bias_acceleration)
    elif kind in (UNIVERSAL, HINGE2):
        add_axes_angle(rows, state, j, frame, joints.angle0[j], k, bias_acceleration)
    elif kind in (SLIDER, FIXED):
        add_orientation(rows, state, joints, j, frame, k, bias_acceleration)
