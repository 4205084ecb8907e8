"""Drag as compliant rows: implicit in the velocity after the step, of second order."""

from __future__ import annotations

from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.bodies.forces import implicit_share
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import set_jacobian, start_row
from cardan.engine.spatial.vec3 import Vec3, load3, norm, scale, tangents_of
from cardan.engine.world.model import FORCE_DRAG, Bodies, Forces
from cardan.engine.world.rows import ROW_DRAG, Rows
from cardan.engine.world.state import State

NOWHERE = (0.0, 0.0, 0.0)


@kernel
def _add_row(rows: Rows, forces: Forces, f: int, e: Vec3) -> int:
    """A row for the velocity of the body of f along e, against the world."""
    row = start_row(rows, ROW_DRAG, forces.body_b[f], forces.body_a[f])
    rows.slot[row] = f
    set_jacobian(rows, row, NOWHERE, e, NOWHERE)
    return row


@kernel
def write_drag(rows: Rows, state: State, bodies: Bodies, forces: Forces, f: int, h: float) -> None:
    """Force -(c1 + c2 |v|) v on the centre of mass, linear about the speed s before the kick.

        c = c1 + c2 s,   slope k = c1 + 2 c2 s along v, c across it
        lam = -h (c v + k theta (v+ - v))      theta = 1/2: the rule of the midpoint
        0   = v+ + (c/(k theta) - 1) v + lam/(h k theta)

        If this rule would reverse the velocity (h k/m > 2), theta is larger (`implicit_share`).

    Check   tests/references/test_drag.py
    """
    i = forces.body_a[f]
    v = load3(state.v_WB_W, i)
    s = norm(v)
    c = forces.coefficient[f, 0] + forces.coefficient[f, 1] * s
    # at rest quadratic drag vanishes: it acts on the speed gained here from the next step on
    if not h * c > 0.0:
        return
    along = scale(1.0 / s, v) if s > 0.0 else (1.0, 0.0, 0.0)
    k = c + forces.coefficient[f, 1] * s
    row = _add_row(rows, forces, f, along)
    theta = implicit_share(h * k * bodies.inverse_mass[i])
    rows.bias[row] = (c / (k * theta) - 1.0) * s
    rows.cfm[row] = 1.0 / (h * k * theta)
    rows.lam_warm[row] = -h * c * s
    theta = implicit_share(h * c * bodies.inverse_mass[i])
    for e in tangents_of(along):
        row = _add_row(rows, forces, f, e)
        rows.cfm[row] = 1.0 / (h * c * theta)


@kernel
def write_drags(rows: Rows, state: State, bodies: Bodies, forces: Forces, h: float) -> None:
    """The drag rows of all awake bodies."""
    for f in range(forces.kind.shape[0]):
        if forces.kind[f] == FORCE_DRAG and not is_asleep(
            bodies.kind, forces.body_a[f], forces.body_b[f]
        ):
            write_drag(rows, state, bodies, forces, f, h)
