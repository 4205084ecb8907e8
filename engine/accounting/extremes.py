"""The largest errors of a run so far, updated at the end of each step."""

from __future__ import annotations

import math

from cardan.engine.accounting.crossings import (
    GATE_APART,
    GATES,
    note_apart,
    note_motion,
    note_twist,
)
from cardan.engine.accounting.energy import potential_energy, whole_motion
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joint_couplings import (
    coupled_sum,
    is_of_lengths,
    may_be_slack,
)
from cardan.engine.constraints.joints.coordinates import coordinate, turned_in_A
from cardan.engine.constraints.joints.equations import is_rigid_distance
from cardan.engine.constraints.joints.frames import JointFrame, has_rows, is_open, joint_frame
from cardan.engine.spatial.vec3 import Vec3, cross, dot, norm, scale, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import (
    COUPLING,
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
    Model,
)
from cardan.engine.world.report import Report
from cardan.engine.world.state import (
    EXTREME_ANGULAR,
    EXTREME_BALANCE,
    EXTREME_CONTACTS,
    EXTREME_COULOMB,
    EXTREME_DRIFT,
    EXTREME_JOINT_ANGLE,
    EXTREME_JOINT_POSITION,
    EXTREME_KINETIC,
    EXTREME_LINEAR,
    EXTREME_PENETRATION,
    EXTREME_RESIDUAL,
    FIRST_ENERGY,
    FIRST_MOMENTUM,
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    SUM_ITERATIONS,
    State,
)


@kernel
def turns_error(joints: Joints, state: State, j: int, frame: JointFrame) -> float:
    """Error of the ratio of a gear [rad] or rack [m]."""
    second = coordinate(joints, state, j, 1, frame)
    return second - joints.ratio[j] * coordinate(joints, state, j, 0, frame)


@kernel
def coupling_error(joints: Joints, state: State, j: int) -> float:
    """How far the sum of a rigid coupling is from its offset, of a rope beyond it [m or rad]."""
    if joints.spring_on[j] == 1:
        return 0.0
    error = coupled_sum(joints, state, j) - joints.angle0[j]
    return max(error, 0.0) if may_be_slack(joints, j) else abs(error)


@kernel
def joint_position_error(joints: Joints, state: State, j: int, frame: JointFrame) -> float:
    """How far the anchors are apart in the directions the joint forbids [m]."""
    kind = joints.kind[j]
    along = dot(frame.s, frame.gap)
    if kind == DISTANCE:
        if not is_rigid_distance(joints, j):
            return 0.0
        return abs(coordinate(joints, state, j, 0, frame) - joints.angle0[j])
    if kind == COUPLING:
        return coupling_error(joints, state, j) if is_of_lengths(joints, j) else 0.0
    if kind == GEAR:
        return 0.0
    if kind == RACK:
        return abs(turns_error(joints, state, j, frame))
    if kind == PLANAR:
        return abs(along)
    if kind in (SLIDER, CYLINDRICAL) or (kind == HINGE2 and joints.spring_on[j] == 1):
        return norm(sub(frame.gap, scale(along, frame.s)))
    if kind == SCREW:
        thrust = joints.ratio[j] * coordinate(joints, state, j, 0, frame)
        return norm(sub(frame.gap, scale(thrust, frame.s)))
    return norm(frame.gap)


@kernel
def joint_angle_error(joints: Joints, state: State, j: int, frame: JointFrame) -> float:
    """How far axes or orientations are from where the joint keeps them [rad]."""
    kind = joints.kind[j]
    if kind == COUPLING:
        return 0.0 if is_of_lengths(joints, j) else coupling_error(joints, state, j)
    if kind == GEAR:
        return abs(turns_error(joints, state, j, frame))
    if kind in (HINGE, CYLINDRICAL, PLANAR, SCREW):
        return math.atan2(norm(cross(frame.s, frame.s_b)), dot(frame.s, frame.s_b))
    if kind in (UNIVERSAL, HINGE2):
        sine = norm(cross(frame.s, frame.s_b))
        return abs(math.atan2(sine, dot(frame.s, frame.s_b)) - joints.angle0[j])
    if kind in (SLIDER, FIXED):
        e = turned_in_A(joints, state, j)
        return 2.0 * math.atan2(math.sqrt(e[1] * e[1] + e[2] * e[2] + e[3] * e[3]), abs(e[0]))
    return 0.0


@kernel
def raise_to(state: State, which: int, value: float) -> None:
    """Keep the larger of a record and a new value."""
    if value > state.extremes[which]:
        state.extremes[which] = value


@kernel
def start_extremes(model: Model, state: State) -> None:
    """Reset all records but not the limits; set the initial energy and momenta.

    Writes  state.extremes, ledger, momentum_in
    """
    state.extremes[:GATES] = 0.0
    state.ledger[:] = 0.0
    state.momentum_in[:] = 0.0
    kinetic, linear, angular = whole_motion(model, state)
    state.extremes[EXTREME_KINETIC] = kinetic
    state.extremes[FIRST_ENERGY] = kinetic + potential_energy(model, state)
    for k in range(3):
        state.extremes[FIRST_MOMENTUM + k] = linear[k]
        state.extremes[FIRST_MOMENTUM + 3 + k] = angular[k]


@kernel
def inner_errors(model: Model, state: State) -> tuple[float, float]:
    """Errors of joints of trees at the current poses of their bodies [m], [rad]."""
    joints = model.joints
    position, angle = 0.0, 0.0
    for j in range(joints.kind.shape[0]):
        if model.tree.inner[j] == 1:
            frame = joint_frame(joints, state, j)
            position = max(position, joint_position_error(joints, state, j, frame))
            angle = max(angle, joint_angle_error(joints, state, j, frame))
    return position, angle


@kernel
def raise_to_norm(state: State, which: int, x: Vec3) -> None:
    """Keep the larger of a record and |x|."""
    last = state.extremes[which]
    if dot(x, x) > last * last:
        state.extremes[which] = norm(x)


@kernel
def record_motion(model: Model, state: State) -> None:
    """Compare energy and momenta at the end of this step with the start of the run.

        drift    |E - E(0) - work in + dissipation|        unexplained by the laws of mechanics
        balance  |the same - correction|                   unexplained by the ledger
        momenta  |P - P(0) - impulse from outside|, alike about the origin

    Writes  state.extremes
    Check   tests/laws/test_energy.py, tests/laws/test_momentum.py
    """
    ledger = state.ledger
    kinetic, linear, angular = whole_motion(model, state)
    energy = kinetic + potential_energy(model, state)
    dissipated = ledger[LEDGER_FRICTION] + ledger[LEDGER_IMPACT] + ledger[LEDGER_DAMPING]
    drift = energy - state.extremes[FIRST_ENERGY] - ledger[LEDGER_WORK_IN] + dissipated
    raise_to(state, EXTREME_KINETIC, kinetic)
    raise_to(state, EXTREME_DRIFT, abs(drift))
    raise_to(state, EXTREME_BALANCE, abs(drift - ledger[LEDGER_CORRECTION]))
    first, added = state.extremes[FIRST_MOMENTUM : FIRST_MOMENTUM + 6], state.momentum_in
    linear_drift = (
        linear[0] - first[0] - added[0],
        linear[1] - first[1] - added[1],
        linear[2] - first[2] - added[2],
    )
    angular_drift = (
        angular[0] - first[3] - added[3],
        angular[1] - first[4] - added[4],
        angular[2] - first[5] - added[5],
    )
    raise_to_norm(state, EXTREME_LINEAR, linear_drift)
    raise_to_norm(state, EXTREME_ANGULAR, angular_drift)
    note_motion(state, energy)


@kernel
def record_extremes(model: Model, state: State, contacts: Contacts, report: Report) -> None:
    """Keep the largest errors of this step, where they are larger than those before.

    Reads   state at the end of the step; contacts as found in its middle; joints of sleeping bodies
            were recorded before
    Writes  state.extremes
    Check   tests/laws/test_energy.py, tests/laws/test_momentum.py
    """
    record_motion(model, state)
    joints, kind = model.joints, model.bodies.kind
    for j in range(joints.kind.shape[0]):
        # joints of trees hold by construction: their errors are computed on request
        if model.tree.inner[j] == 1 or not has_rows(joints, kind, state, j):
            continue
        # a coupling of a joint that broke, too
        if is_open(joints, state, j):
            continue
        frame = joint_frame(joints, state, j)
        error = joint_position_error(joints, state, j, frame)
        raise_to(state, EXTREME_JOINT_POSITION, error)
        if error > state.extremes[GATE_APART]:
            note_apart(state, j, error)
        twist = joint_angle_error(joints, state, j, frame)
        raise_to(state, EXTREME_JOINT_ANGLE, twist)
        note_twist(joints, state, j, twist)
    depth = 0.0
    for c in range(contacts.count[0]):
        depth = max(depth, -contacts.gap[c])
    raise_to(state, EXTREME_PENETRATION, depth)
    raise_to(state, EXTREME_RESIDUAL, report.residual[0])
    raise_to(state, EXTREME_COULOMB, report.coulomb_error[0])
    raise_to(state, EXTREME_CONTACTS, float(contacts.count[0]))
    state.extremes[SUM_ITERATIONS] += report.iterations[0]
