"""Force elements that are damped or too stiff for a force: springs as compliant rows."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.bodies.forces import (
    elastic_force,
    elastic_slope,
    elongation,
    implicit_share,
    is_row,
    spring_length,
    torsion_angle,
)
from engine.bodies.point import point_velocity
from engine.bodies.resting import rests
from engine.constraints.drive import set_spring
from engine.constraints.row import set_jacobian, start_row
from engine.kernel import kernel
from engine.spatial.vec3 import Vec3, add, cross, dot, load3, negate, normalised, sub
from engine.world.model import FORCE_SPRING, FORCE_TORSION, Forces
from engine.world.rows import ROW_ELEMENT, Rows
from engine.world.state import State


@kernel
def bend_of_point(state: State, turning: NDArray, body: int, arm: Vec3) -> Vec3:
    """Acceleration of a point of a body that flies."""
    w = load3(state.w_WB_W, body)
    turn = (turning[body, 0], turning[body, 1], turning[body, 2])
    a = (turning[body, 3], turning[body, 4], turning[body, 5])
    return add(a, add(cross(turn, arm), cross(w, cross(w, arm))))


@kernel
def write_line(
    rows: Rows, row: int, state: State, forces: Forces, f: int, turning: NDArray
) -> float:
    """The rate of a spring's length: n . u, u = velocity of its end - velocity of its start.

    Returns the length's second derivative in flight, (u . u - (n . u)^2)/length + n . du/dt.
    """
    start, end, length = spring_length(forces, state, f)
    a, b = forces.body_a[f], forces.body_b[f]
    n = normalised(sub(end, start))
    arm_a, arm_b = sub(start, load3(state.p_WB, a)), sub(end, load3(state.p_WB, b))
    set_jacobian(rows, row, negate(cross(arm_a, n)), n, cross(arm_b, n))
    if not length > 0.0:
        return 0.0
    u = sub(point_velocity(state, b, end), point_velocity(state, a, start))
    along = dot(n, u)
    bend = sub(bend_of_point(state, turning, b, arm_b), bend_of_point(state, turning, a, arm_a))
    return (dot(u, u) - along * along) / length + dot(n, bend)


@kernel
def write_elements(
    rows: Rows, state: State, forces: Forces, body_kind: NDArray, h: float, turning: NDArray
) -> None:
    """A row for every spring and torsion spring that `is_row`, unless its bodies sleep.

    A strong damper (theta > 1/2, drive.set_spring) holds a length as a rod does, so it asks for its
    speed where the step ends, which is (2 theta - 1) h/2 of its second derivative away.

    Source  decision 0003; the rule of springs of joints (drive.set_spring)
    Check   tests/references/test_springs.py
    """
    for f in range(forces.kind.shape[0]):
        kind = forces.kind[f]
        if rests(body_kind, forces.body_a[f], forces.body_b[f]):
            continue
        if kind not in (FORCE_SPRING, FORCE_TORSION) or not is_row(forces, state, f, h):
            continue
        row = start_row(rows, ROW_ELEMENT, forces.body_a[f], forces.body_b[f])
        rows.slot[row] = f
        curvature = 0.0
        if kind == FORCE_SPRING:
            curvature = write_line(rows, row, state, forces, f, turning)
        else:
            axis = torsion_angle(forces, state, f)[0]
            set_jacobian(rows, row, negate(axis), (0.0, 0.0, 0.0), axis)
        x = elongation(forces, state, f)
        force = elastic_force(forces.stiffness, f, x)
        slope = elastic_slope(forces.stiffness, f, x)
        damper = (forces.damping[f], forces.inverse_mass[f])
        share = 2.0 * implicit_share(h * damper[0] * damper[1]) - 1.0
        rows.error[row] = share * 0.5 * h * curvature
        force += damper[0] * rows.error[row]
        set_spring(rows, row, state, force, slope, damper, h)
