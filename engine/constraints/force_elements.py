"""Springs that are damped or too stiff for explicit integration, as compliant rows."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.bodies.forces import (
    elastic_force,
    elastic_slope,
    elongation,
    implicit_share,
    is_row,
    spring_length,
    torsion_angle,
)
from cardan.engine.bodies.point import point_velocity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.motors import set_spring
from cardan.engine.constraints.row import set_jacobian, start_row
from cardan.engine.spatial.vec3 import Vec3, add, cross, dot, load3, negate, normalised, sub
from cardan.engine.world.model import FORCE_SPRING, FORCE_TORSION, Forces
from cardan.engine.world.rows import ROW_ELEMENT, Rows
from cardan.engine.world.state import State


@kernel
def bias_acceleration_of_point(
    state: State, bias_acceleration: NDArray, body: int, arm: Vec3
) -> Vec3:
    """Acceleration of a body-fixed point without constraint impulses, W [m/s^2]."""
    w = load3(state.w_WB_W, body)
    turn = (bias_acceleration[body, 0], bias_acceleration[body, 1], bias_acceleration[body, 2])
    a = (bias_acceleration[body, 3], bias_acceleration[body, 4], bias_acceleration[body, 5])
    return add(a, add(cross(turn, arm), cross(w, cross(w, arm))))


@kernel
def write_line(
    rows: Rows, row: int, state: State, forces: Forces, f: int, bias_acceleration: NDArray
) -> float:
    """The rate of a spring's length: n . u, u = velocity of its end - velocity of its start.

    Returns the length's second derivative in free flight, (u . u - (n . u)^2)/length + n . du/dt.
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
    bias = sub(
        bias_acceleration_of_point(state, bias_acceleration, b, arm_b),
        bias_acceleration_of_point(state, bias_acceleration, a, arm_a),
    )
    return (dot(u, u) - along * along) / length + dot(n, bias)


@kernel
def write_elements(
    rows: Rows,
    state: State,
    forces: Forces,
    body_kind: NDArray,
    h: float,
    bias_acceleration: NDArray,
) -> None:
    """A row for every spring and torsion spring that `is_row`, unless its bodies sleep.

    A strong damper (theta > 1/2, motors.set_spring) holds the length almost as a rod does. Its row
    therefore uses the rate of the length at the end of the step, which differs by
    (2 theta - 1) h/2 times the second derivative.

    Source  decision 0003; the same rule as for springs of joints (motors.set_spring)
    Check   tests/references/test_springs.py
    """
    for f in range(forces.kind.shape[0]):
        kind = forces.kind[f]
        if is_asleep(body_kind, forces.body_a[f], forces.body_b[f]):
            continue
        if kind not in (FORCE_SPRING, FORCE_TORSION) or not is_row(forces, state, f, h):
            continue
        row = start_row(rows, ROW_ELEMENT, forces.body_a[f], forces.body_b[f])
        rows.slot[row] = f
        curvature = 0.0
        if kind == FORCE_SPRING:
            curvature = write_line(rows, row, state, forces, f, bias_acceleration)
        else:
            direction = torsion_angle(forces, state, f)[0]
            set_jacobian(rows, row, negate(direction), (0.0, 0.0, 0.0), direction)
        x = elongation(forces, state, f)
        force = elastic_force(forces.stiffness, f, x)
        slope = elastic_slope(forces.stiffness, f, x)
        damper = (forces.damping[f], forces.inverse_mass[f])
        share = 2.0 * implicit_share(h * damper[0] * damper[1]) - 1.0
        rows.error[row] = share * 0.5 * h * curvature
        force += damper[0] * rows.error[row]
        set_spring(rows, row, state, force, slope, damper, h)
