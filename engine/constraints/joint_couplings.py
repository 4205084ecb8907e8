"""Couplings: relations of the coordinates of any number of joints.

    C = sum of c_t f_t(q_t) - offset,     dC/dt = sum of c_t f_t' J_t v

f_t(q) = q, unless the term has a curve.

A row has two bodies, C has those of all its joints. Each term is therefore a row of its own, and
the rows of a coupling are one constraint: they have one impulse lam, and the sum of their J v is
its rate (problem/coupled.py). J_t^T c_t f_t' lam is what a term does to its two bodies, so whatever
adds impulses of rows needs to know nothing of this. What belongs to the sum (bias, error,
compliance) is in the first row.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.coupling_terms import is_straight, term_at
from cardan.engine.constraints.joints.coordinates import (
    coordinate,
    is_length,
    keep_coordinate,
    write_coordinate,
)
from cardan.engine.constraints.joints.frames import is_broken, joint_frame
from cardan.engine.constraints.limits import holds, one_sided_bias, reach_of
from cardan.engine.constraints.parts.function import scale_row
from cardan.engine.constraints.row import (
    belong_to_joint,
    equation_bias,
    jacobian_product,
    row_speed,
    start_row,
)
from cardan.engine.constraints.springs import spring_law
from cardan.engine.world.model import COUPLING, Joints, Model
from cardan.engine.world.rows import ROW_COUPLING, Rows
from cardan.engine.world.state import State


@kernel
def acts(joints: Joints, kind: NDArray, state: State, j: int) -> bool:
    """Whether coupling j acts: it and its joints are whole, and none of their bodies sleeps.

    Coupled bodies fall asleep together (sleeping/rest.py).
    """
    if is_broken(state, j):
        return False
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        k = joints.term_joint[t]
        if is_broken(state, k) or is_asleep(kind, joints.body_a[k], joints.body_b[k]):
            return False
    return True


@kernel
def coupled_sum(joints: Joints, state: State, j: int) -> float:
    """The sum of c q of coupling j at the current poses [m or rad]."""
    total = 0.0
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        k, axis = joints.term_joint[t], joints.term_axis[t]
        frame = joint_frame(joints, state, k)
        total += term_at(joints, t, coordinate(joints, state, k, axis, frame))[0]
    return total


@kernel
def coupled_rate(joints: Joints, state: State, j: int, rows: Rows, row: int) -> float:
    """The rate of that sum [m/s or rad/s]; `row` is scratch."""
    total = 0.0
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        k = joints.term_joint[t]
        frame = joint_frame(joints, state, k)
        rows.body_a[row], rows.body_b[row] = frame.body_a, frame.body_b
        write_coordinate(rows, row, joints, k, joints.term_axis[t], frame)
        slope = joints.term_factor[t]
        if not is_straight(joints, t):
            q = coordinate(joints, state, k, joints.term_axis[t], frame)
            slope = term_at(joints, t, q)[1]
        total += slope * row_speed(rows, row, state)
    return total


@kernel
def is_of_lengths(joints: Joints, j: int) -> bool:
    """Whether the offset of a coupling is in metres, taken from its first term."""
    first = joints.term_start[j]
    return is_length(joints.kind[joints.term_joint[first]], joints.term_axis[first])


@kernel
def may_be_slack(joints: Joints, j: int) -> bool:
    """Whether coupling j is an upper bound of its sum: a rope."""
    return joints.limit_on[j, 0] == 1


@kernel
def write_terms(
    rows: Rows, state: State, model: Model, j: int, bias_acceleration: NDArray
) -> tuple[float, float, float]:
    """The rows of all terms of coupling j, without bias.

    Writes  state.joint_q of joints outside of trees
    Returns C [m or rad], its rate, and its second derivative in free flight
    """
    joints = model.joints
    value, speed, curvature = -joints.angle0[j], 0.0, 0.0
    for t in range(joints.term_start[j], joints.term_start[j + 1]):
        k, axis = joints.term_joint[t], joints.term_axis[t]
        frame = joint_frame(joints, state, k)
        if model.tree.inner[k] == 0:
            keep_coordinate(joints, state, k, axis, frame)
        row = start_row(rows, ROW_COUPLING, frame.body_a, frame.body_b)
        belong_to_joint(rows, row, j, 0, state)
        own, slope, second = term_at(joints, t, state.joint_q[k, axis])
        curvature += slope * write_coordinate(rows, row, joints, k, axis, frame)
        if second != 0.0:
            curvature += second * row_speed(rows, row, state) ** 2
        scale_row(rows, row, slope)
        value += own
        speed += row_speed(rows, row, state)
        curvature += jacobian_product(rows, row, bias_acceleration)
    return value, speed, curvature


@kernel
def write_couplings(
    model: Model,
    state: State,
    rows: Rows,
    h: float,
    bias_acceleration: NDArray,
    instant: bool,
) -> None:
    """Write the rows of all couplings, in an `instant` of the rigid ones; they must be the first.

    A rigid coupling is an equation, with the bias of `set_equation` for the sum of its terms. One
    with a stiffness or a damper is a spring by the trapezoidal rule (`spring_law`). One that may be
    slack only pulls: C <= 0 and lam <= 0, with a row where C may become 0 in this step; while it
    holds what goes round it, it is an equation, as a stop is (limits.keep_positive).

    Writes  rows of the couplings, rows.count
    Check   tests/references/test_couplings.py
    """
    joints, kind = model.joints, model.bodies.kind
    for j in range(joints.kind.shape[0]):
        if joints.kind[j] != COUPLING or not acts(joints, kind, state, j):
            continue
        if instant and (joints.spring_on[j] == 1 or may_be_slack(joints, j)):
            continue
        first = rows.count[0]
        value, speed, curvature = write_terms(rows, state, model, j, bias_acceleration)
        if joints.spring_on[j] == 1:
            damper = (joints.spring_damping[j], joints.inverse_mass[j, 0])
            k = joints.spring_k[j, 0]
            rows.bias[first], rows.cfm[first] = spring_law(speed, k * value, k, damper, h)
            continue
        rows.error[first] = value
        erp = rows.share[0] * joints.erp[j]
        if may_be_slack(joints, j):
            if -value > reach_of(h, speed):
                rows.count[0] = first
                continue
            if holds(-rows.lam_warm[first], -speed, -curvature, h):
                rows.bias[first] = equation_bias(value, curvature, h, erp)
            else:
                rows.bias[first] = -one_sided_bias(-value, h, erp)
            for row in range(first, rows.count[0]):
                rows.hi[row] = 0.0
            continue
        rows.bias[first] = equation_bias(value, curvature, h, erp)
        rows.cfm[first] = joints.cfm[j] / rows.share[0]
    rows.count[2] = rows.count[0]
