"""Dampers of force elements: compliant rows, because a force that follows the velocity is stiff."""

from __future__ import annotations

from engine.bodies.forces import spring_length, torsion_angle
from engine.constraints.drive import set_spring
from engine.constraints.row import set_jacobian, start_row
from engine.kernel import kernel
from engine.spatial.vec3 import cross, load3, negate, normalised, sub
from engine.world.model import FORCE_SPRING, FORCE_TORSION, Forces
from engine.world.rows import ROW_DAMPER, Rows
from engine.world.state import State


@kernel
def write_dampers(rows: Rows, state: State, forces: Forces, h: float) -> None:
    """One row for each spring or torsion spring with damping d, by the trapezoidal rule.

        lam = -h d 1/2 (J v + J v+)
        spring    J v = n . (v_b - v_a), the rate of its length;  J_a = -[r_a x n, n]
        torsion   J v = axis . (w_b - w_a), the rate of its twist

    Second order and stable for any d; the velocity before the kick alone would be first order and
    unstable from h d = 2 m. The elastic part stays a force (bodies/forces.py).

    Check   tests/references/test_springs.py
    """
    for f in range(forces.kind.shape[0]):
        if forces.damping[f] == 0.0 or forces.kind[f] not in (FORCE_SPRING, FORCE_TORSION):
            continue
        i, j = forces.body_a[f], forces.body_b[f]
        row = start_row(rows, ROW_DAMPER, i, j)
        if forces.kind[f] == FORCE_SPRING:
            a, b, _ = spring_length(forces, state, f)
            n = normalised(sub(b, a))
            r_a, r_b = sub(a, load3(state.p_WB, i)), sub(b, load3(state.p_WB, j))
            set_jacobian(rows, row, cross(n, r_a), n, cross(r_b, n))
        else:
            axis, _ = torsion_angle(forces, state, f)
            set_jacobian(rows, row, negate(axis), (0.0, 0.0, 0.0), axis)
        set_spring(rows, row, state, 0.0, 0.0, forces.damping[f], h)
