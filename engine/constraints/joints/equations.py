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
distance     all but one translation      1 along the line between the anchors
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from engine.constraints.frames import JointFrame
from engine.constraints.parts.along import write_along
from engine.constraints.parts.perpendicular import write_perpendicular
from engine.constraints.row import belong_to_joint, set_equation, set_jacobian, start_row
from engine.kernel import kernel
from engine.spatial.quaternion import load4, multiply, rotate
from engine.spatial.vec3 import Vec3, cross, dot, load3, norm, scale, sub
from engine.world.model import (
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    HINGE,
    HINGE2,
    PLANAR,
    SLIDER,
    UNIVERSAL,
    Joints,
)
from engine.world.rows import ROW_EQUATION, Rows
from engine.world.state import State

Slot = tuple[int, int]  # joint, impulse slot
Axes = tuple[Vec3, Vec3]


@kernel
def add_along(
    rows: Rows, state: State, slot: Slot, frame: JointFrame, e: Vec3, k: Vec3, turning: NDArray
) -> None:
    """Equation: no motion of B's anchor along e of A."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, slot[0], slot[1], state)
    curvature = write_along(rows, row, frame, e)
    set_equation(rows, row, dot(e, frame.gap), curvature, k, turning)


@kernel
def add_perpendicular(
    rows: Rows, state: State, slot: Slot, frame: JointFrame, ab: Axes, k: Vec3, turning: NDArray
) -> None:
    """Equation: a . b = 0 for ab = (a, b)."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, slot[0], slot[1], state)
    curvature = write_perpendicular(rows, row, frame, ab[0], ab[1])
    set_equation(rows, row, dot(ab[0], ab[1]), curvature, k, turning)


@kernel
def add_axes_angle(
    rows: Rows, state: State, j: int, frame: JointFrame, angle: float, k: Vec3, turning: NDArray
) -> None:
    """Equation: s_i and s_j keep their angle, C = (s_i . s_j - cos angle)/sin angle [rad]."""
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 3, state)
    s = 1.0 / math.sin(angle)
    curvature = write_perpendicular(rows, row, frame, scale(s, frame.s), frame.s_b)
    set_equation(rows, row, s * (dot(frame.s, frame.s_b) - math.cos(angle)), curvature, k, turning)


@kernel
def add_distance(
    rows: Rows, state: State, joints: Joints, j: int, frame: JointFrame, k: Vec3, turning: NDArray
) -> None:
    """Equation: the anchors keep their distance.

    C = |gap| - l,  n = gap/|gap|;  J_a = -[r_A x n, n], J_b = [r_B x n, n] with r_A to A's anchor
    d2C/dt2 = n . (bend_B - bend_A) + (|rate|^2 - (n . rate)^2)/|gap|
    """
    length = norm(frame.gap)
    n = scale(1.0 / length, frame.gap) if length > 0.0 else (0.0, 0.0, 1.0)
    r_a = sub(frame.arm_a, frame.gap)
    row = start_row(rows, ROW_EQUATION, frame.body_a, frame.body_b)
    belong_to_joint(rows, row, j, 0, state)
    set_jacobian(rows, row, cross(n, r_a), n, cross(frame.arm_b, n))
    spin_a = cross(frame.w_a, r_a)
    rate = sub(frame.slip, spin_a)
    along = dot(n, rate)
    curvature = dot(n, sub(frame.bend, cross(frame.w_a, spin_a)))
    if length > 0.0:
        curvature += (dot(rate, rate) - along * along) / length
    set_equation(rows, row, length - joints.angle0[j], curvature, k, turning)


@kernel
def add_orientation(
    rows: Rows, state: State, joints: Joints, j: int, frame: JointFrame, k: Vec3, turning: NDArray
) -> None:
    """Three equations: B keeps its orientation in A.

    t1, t2 of A against s of B, and t1 of A against t2 of B, where s and t2 of B are those that
    coincided with A's at the start.
    """
    q_start = multiply(load4(state.q_WB, frame.body_b), load4(joints.q_AB0, j))
    s_b = rotate(q_start, load3(joints.axis_A, j))
    t2_b = rotate(q_start, load3(joints.tangent2_A, j))
    add_perpendicular(rows, state, (j, 3), frame, (frame.t1, s_b), k, turning)
    add_perpendicular(rows, state, (j, 4), frame, (frame.t2, s_b), k, turning)
    add_perpendicular(rows, state, (j, 5), frame, (frame.t1, t2_b), k, turning)


@kernel
def write_equations(
    rows: Rows, state: State, joints: Joints, j: int, frame: JointFrame, h: float, turning: NDArray
) -> None:
    """All equations of joint j; turning (n, 3) as in `set_equation`.

    Check   tests/engine/constraints/test_rows.py: J v against finite differences of C, every joint
    """
    kind = joints.kind[j]
    share = rows.share[0]
    k = (h, share * joints.erp[j], joints.cfm[j] / share)
    if kind == DISTANCE:
        add_distance(rows, state, joints, j, frame, k, turning)
        return
    # position: which of t1, t2, s are forbidden to B's anchor
    if kind != PLANAR:
        add_along(rows, state, (j, 0), frame, frame.t1, k, turning)
        add_along(rows, state, (j, 1), frame, frame.t2, k, turning)
    has_suspension = kind == HINGE2 and joints.spring_on[j] == 1
    if kind not in (SLIDER, CYLINDRICAL) and not has_suspension:
        add_along(rows, state, (j, 2), frame, frame.s, k, turning)
    # orientation
    if kind in (HINGE, CYLINDRICAL, PLANAR):
        add_perpendicular(rows, state, (j, 3), frame, (frame.t1, frame.s_b), k, turning)
        add_perpendicular(rows, state, (j, 4), frame, (frame.t2, frame.s_b), k, turning)
    elif kind in (UNIVERSAL, HINGE2):
        add_axes_angle(rows, state, j, frame, joints.angle0[j], k, turning)
    elif kind in (SLIDER, FIXED):
        add_orientation(rows, state, joints, j, frame, k, turning)
