"""Stops that yield: springs and dampers that act while a limit is violated, and only push."""

from __future__ import annotations

from cardan.engine.bodies.forces import (
    elastic_energy,
    elastic_force,
    elastic_slope,
    implicit_share,
    is_elastic,
)
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import is_length
from cardan.engine.world.model import Joints
from cardan.engine.world.rows import ROW_LIMIT, Rows


@kernel
def is_soft(joints: Joints, j: int, axis: int) -> bool:
    """Whether the stops of a coordinate yield: they have a stiffness or a damping."""
    return joints.limit_damping[j, axis] > 0.0 or is_elastic(joints.limit_stiffness[j], axis)


@kernel
def is_soft_stop(joints: Joints, rows: Rows, row: int) -> bool:
    """Whether a row is that of a stop that yields."""
    return rows.kind[row] == ROW_LIMIT and is_soft(joints, rows.joint[row], rows.axis[row])


@kernel
def stop_energy(joints: Joints, j: int, axis: int, error: float) -> float:
    """Energy stored in a stop that yields, at C = error [J]."""
    return elastic_energy(joints.limit_stiffness[j], axis, min(error, 0.0))


@kernel
def violated_share(error: float, speed: float, h: float) -> float:
    """The share of the step in which C < 0, with C = error in its middle and a constant speed."""
    way = h * abs(speed)
    if way == 0.0:
        return 1.0 if error < 0.0 else 0.0
    return min(max(0.5 - error / way, 0.0), 1.0)


@kernel
def set_soft_stop(
    rows: Rows, row: int, joints: Joints, j: int, error: float, speed: float, h: float
) -> bool:
    """The row of a stop that yields, by the trapezoidal rule; False: it does not act in this step.

        lam = -h/2 [f(C-) + f(C+)] - h s d ((1 - theta) J v + theta J v+) >= 0
        C- = min(C - h/2 J v, 0),   C+ = C + h/2 J v+

    the mean of the spring's force at the beginning and at the end of the step, f(C+) by its slope
    at C, or at C + h/2 J v where the stop is met after the middle. So the spring has taken from
    the motion what it gives back. The damper acts in the share s of the step in which the limit is
    violated: with all or nothing of it the step in which the stop is met would cost an error of
    first order. theta as of other dampers.

    Reads   error C in the middle of the step [m or rad]; speed J v before the kick
    Check   tests/references/test_soft_stops.py
    """
    axis = rows.axis[row]
    viscous = h * violated_share(error, speed, h) * joints.limit_damping[j, axis]
    near = error if error < 0.0 else error + 0.5 * h * speed
    if near >= 0.0:
        return False
    stiffness = joints.limit_stiffness[j]
    slope = max(elastic_slope(stiffness, axis, near), 0.0)
    force = elastic_force(stiffness, axis, min(error - 0.5 * h * speed, 0.0))
    force += elastic_force(stiffness, axis, near) + slope * (error - near)
    elastic = 0.25 * h * h * slope
    part = 0 if is_length(joints.kind[j], axis) else 1
    theta = implicit_share(viscous * joints.inverse_mass[j, part])
    softness = elastic + theta * viscous
    push = 0.5 * h * force + (1.0 - theta) * viscous * speed
    if softness > 0.0:
        rows.bias[row] = push / softness
        rows.cfm[row] = 1.0 / softness
    else:
        # a flat or falling characteristic has no implicit form
        rows.lo[row] = max(-push, 0.0)
        rows.hi[row] = rows.lo[row]
    return True
