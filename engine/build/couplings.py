"""Couplings to arrays: relations of joint coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.joint_errors import write_joint_errors
from cardan.engine.build.faults import Faults
from cardan.engine.constraints.coupling_terms import curve_at
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.world.model import COUPLING, DISTANCE, Joints, Model
from cardan.engine.world.state import State
from cardan.schemas import Scene

ROUNDING = 1e-9


def with_couplings(joints: Joints, scene_joints: Any) -> Joints:
    """The joints with terms, offset, spring and damper of all couplings among them.

    A coupling has the bodies of its first term: they say whether it sleeps, and where it is shown.
    """
    numbers = {joint.name: j for j, joint in enumerate(scene_joints)}
    start, of, axis, factor = [0], [], [], []
    curves = [np.zeros((0, 5))]
    period: list[float] = []
    for j, joint in enumerate(scene_joints):
        for term in getattr(joint, "terms", ()):
            of.append(numbers[term.joint])
            free_segment(joints, of[-1])
            axis.append(term.coordinate)
            factor.append(term.factor)
            curves.append(pieces_of(term.curve))
            period.append(period_of(term.curve))
        if len(of) > start[-1]:
            first = of[start[-1]]
            joints.body_a[j], joints.body_b[j] = joints.body_a[first], joints.body_b[first]
            sum_now = 0.0
            for k in range(start[-1], len(of)):
                sum_now += factor[k] * value_at_zero(joints, of[k], curves[k + 1], period[k])
            joints.angle0[j] = sum_now if joint.offset is None else joint.offset
            joints.spring_k[j, 0] = joint.stiffness or 0.0
            joints.spring_damping[j] = joint.damping
            joints.spring_on[j] = is_elastic(joint)
            joints.limit_on[j, 0] = joint.slack
            joints.q_AB0[j, 0] = 1.0
        start.append(len(of))
    return joints._replace(
        term_start=np.array(start, np.int64),
        term_joint=np.array(of, np.int64),
        term_axis=np.array(axis, np.int64),
        term_factor=np.array(factor, np.float64),
        term_piece=np.cumsum([len(curve) for curve in curves]),
        term_period=np.array(period, np.float64),
        piece=np.concatenate(curves),
    )


def pieces_of(curve: Any) -> NDArray[np.float64]:
    """(k, 5): where each piece of a curve begins, and its coefficients from there; none: (0, 5).

    Before and after the points of a curve that does not repeat there is a straight piece each.
    """
    if curve is None:
        return np.zeros((0, 5))
    x, y = np.array(curve.points, np.float64).T
    # SciPy takes the parabola through three points, the line through two
    from scipy.interpolate import CubicSpline  # slow to load, and rarely needed

    spline = CubicSpline(x, y, bc_type="periodic" if curve.periodic else "not-a-knot")
    pieces = np.column_stack([spline.x[:-1], spline.c[::-1].T])
    if curve.periodic:
        return pieces
    before = [x[0], y[0], float(spline(x[0], 1)), 0.0, 0.0]
    after = [x[-1], y[-1], float(spline(x[-1], 1)), 0.0, 0.0]
    return np.vstack([before, pieces, after])


def period_of(curve: Any) -> float:
    """Period of a curve that repeats [m or rad]; else 0."""
    if curve is None or not curve.periodic:
        return 0.0
    return float(curve.points[-1][0] - curve.points[0][0])


def value_at_zero(joints: Joints, k: int, pieces: NDArray[np.float64], period: float) -> float:
    """The factor of a term at the poses of the scene: its curve at the coordinate there.

    The coordinate is 0, for a distance joint its length.
    """
    q = float(joints.angle0[k]) if joints.kind[k] == DISTANCE else 0.0
    return float(curve_at(pieces, (0, len(pieces)), period, q)[0]) if len(pieces) else q


def free_segment(joints: Joints, k: int) -> None:
    """A distance joint in a coupling is a segment of a cable: its length varies."""
    if joints.kind[k] == DISTANCE:
        joints.limit_on[k, 0] = 1


def is_elastic(joint: Any) -> bool:
    """Whether a coupling is a spring or a damper: a belt, not a pair of gears."""
    return bool(joint.stiffness is not None or joint.damping > 0.0)


def write_coupling_masses(joints: Joints) -> None:
    """joints.inverse_mass of couplings: t times the sum of c^2 J M^-1 J^T of their t terms.

    It bounds (sum of c J) M^-1 (sum of c J)^T. A coordinate in metres has the first column of its
    joint, an angle the second.
    """
    for j in np.flatnonzero(joints.kind == COUPLING):
        terms = np.arange(joints.term_start[j], joints.term_start[j + 1])
        most = np.array(
            [
                joints.inverse_mass[k, 0 if is_length(int(joints.kind[k]), int(axis)) else 1]
                for k, axis in zip(joints.term_joint[terms], joints.term_axis[terms], strict=True)
            ]
        )
        joints.inverse_mass[j] = len(terms) * float(joints.term_factor[terms] ** 2 @ most)


def check_couplings(scene: Scene, model: Model, state: State, faults: Faults) -> None:
    """Add faults for couplings that do not hold at the start, or that others imply."""
    joints = model.joints
    couplings = np.flatnonzero((joints.kind == COUPLING) & (joints.spring_on == 0))
    rigid = joints.limit_on[:, 0] == 0
    if not len(couplings):
        return
    errors = np.zeros((len(joints.kind), 2))
    write_joint_errors(joints, state, errors)
    columns: dict[tuple[int, int], int] = {}
    known: dict[int, dict[int, float]] = {}
    for j in couplings:
        name, open_by = scene.joints[j].name, float(errors[j].max())
        if open_by > scene.simulation.anchor_tolerance:
            faults.add(
                f"/joints/{j}/offset",
                "coupling_open",
                f"At the start the sum of coupling '{name}' is {open_by:.6g} away from its "
                f"`offset` {joints.angle0[j]:.6g}.",
                "Coordinates are 0 at the poses of the scene and `initial` where it is given (that "
                "of a distance joint is its length): change or leave out `offset`.",
            )
        terms = slice(joints.term_start[j], joints.term_start[j + 1] + 1)
        if not rigid[j] or np.ptp(joints.term_piece[terms]) > 0:
            continue
        found: dict[int, float] = {}
        for t in range(joints.term_start[j], joints.term_start[j + 1]):
            key = (int(joints.term_joint[t]), int(joints.term_axis[t]))
            found[columns.setdefault(key, len(columns))] = float(joints.term_factor[t])
        if not _is_independent(found, known):
            faults.add(
                f"/joints/{j}/terms",
                "coupling_implied",
                f"Coupling '{name}' says what the couplings before it already say: its force is "
                "not determined.",
                "Leave it out.",
            )


def _is_independent(row: dict[int, float], known: dict[int, dict[int, float]]) -> bool:
    """Whether a relation (factor by column) does not follow from those before it.

    Gauss's elimination of sparse rows: `known` has what is left of each row before, by the column
    of its largest factor, which is 1 there; it gets what is left of this one.
    """
    largest = max(abs(factor) for factor in row.values())
    left = {column: factor / largest for column, factor in row.items()}
    # a row has no column of those before it: each is taken once
    for column, other in known.items():
        share = left.pop(column, 0.0)
        if share == 0.0:
            continue
        for k, factor in other.items():
            if k != column:
                left[k] = left.get(k, 0.0) - share * factor
    pivot = max(left, key=lambda column: abs(left[column]), default=-1)
    if pivot < 0 or abs(left[pivot]) <= ROUNDING:
        return False
    known[pivot] = {k: factor / left[pivot] for k, factor in left.items() if factor != 0.0}
    return True
