"""Force elements that are damped or too stiff for a force: springs as compliant rows."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.bodies.forces import (
    elastic_force,
    elastic_slope,
    elongation,
    is_row,
    spring_length,
    torsion_angle,
)
from engine.bodies.resting import rests
from engine.constraints.drive import set_spring
from engine.constraints.row import set_jacobian, start_row
from engine.kernel import kernel
from engine.spatial.vec3 import cross, load3, negate, normalised, sub
from engine.world.model import FORCE_SPRING, FORCE_TORSION, Forces
from engine.world.rows import ROW_ELEMENT, Rows
from engine.world.state import State


@kernel
def write_line(rows: Rows, row: int, state: State, forces: Forces, f: int) -> None:
    """The rate of a spring's length: n . (velocity of its end - velocity of its start)."""
    start, end, _ = spring_length(forces, state, f)
    n = normalised(sub(end, start))
    arm_a = sub(start, load3(state.p_WB, forces.body_a[f]))
    arm_b = sub(end, load3(state.p_WB, forces.body_b[f]))
    set_jacobian(rows, row, negate(cross(arm_a, n)), n, cross(arm_b, n))


@kernel
def write_elements(rows: Rows, state: State, forces: Forces, body_kind: NDArray, h: float) -> None:
    """A row for every spring and torsion spring that `is_row`, unless its bodies sleep.

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
        if kind == FORCE_SPRING:
            write_line(rows, row, state, forces, f)
        else:
            axis = torsion_angle(forces, state, f)[0]
            set_jacobian(rows, row, negate(axis), (0.0, 0.0, 0.0), axis)
        x = elongation(forces, state, f)
        force = elastic_force(forces.stiffness, f, x)
        slope = elastic_slope(forces.stiffness, f, x)
        damper = (forces.damping[f], forces.inverse_mass[f])
        set_spring(rows, row, state, force, slope, damper, h)
