"""Velocities that joints forbid: those of a scene at its start, and those after an impact.

The rate J v of an equation is compared with the sum of |J| |v| over its terms, which it would reach
if no term cancelled another. At the start the kinetic energy that the equation removes counts as
well: a scene may give a small bob on a ball joint its speed and leave out its angular velocity.
"""

from __future__ import annotations

from cardan.engine.accounting.crossings import (
    CONTRADICTED,
    FIRST_STEP,
    FIRST_WHO,
    WORST,
    WORST_LIMIT,
    WORST_WHO,
)
from cardan.engine.accounting.energy import kinetic_energy_of
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.impact_rows import write_instant_equations
from cardan.engine.constraints.row import row_speed
from cardan.engine.spatial.mat3 import load33, times_vector, transposed
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.world.model import DYNAMIC, KINEMATIC, Bodies
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# m/s or rad/s: what rounding leaves of velocities that cancel
ROUNDING = 1e-12
# a rate is a solver's residual up to this share of its terms
RESIDUAL_SHARE = 1e-6
# a rate comes from velocities that the scene's author rounded up to this share of its terms
ROUNDED_SHARE = 1e-3
# an equation may remove this share of its bodies' kinetic energy without a report
ENERGY_SHARE = 1e-3


@kernel
def size_of_rate(rows: Rows, row: int, state: State) -> float:
    """Sum of |J| |v| over the terms of a row [m/s or rad/s]."""
    total = 0.0
    for k in range(3):
        for body, J in ((rows.body_a[row], rows.J_a[row]), (rows.body_b[row], rows.J_b[row])):
            total += abs(J[k] * state.w_WB_W[body, k]) + abs(J[3 + k] * state.v_WB_W[body, k])
    return total


@kernel
def forbidden_rate(rows: Rows, first: int, state: State) -> tuple[float, float, int]:
    """Rate of the equation that starts with row `first`, size of its terms [m/s or rad/s], and the
    row after it.

    A coupling is one equation of several rows. An equation with compliance forbids no velocity.
    """
    row, rate, size = first, 0.0, 0.0
    while row == first or (row < rows.count[2] and rows.joint[row] == rows.joint[first]):
        rate += row_speed(rows, row, state)
        size += size_of_rate(rows, row, state)
        row += 1
    forbidden = rows.cfm[first] == 0.0 and abs(rate) > ROUNDING
    return (abs(rate) if forbidden else 0.0), size, row


@kernel
def inverse_mass_of(rows: Rows, row: int, bodies: Bodies, state: State) -> float:
    """J M^-1 J^T of a row, its bodies free [1/kg or 1/(kg m^2)]."""
    total = 0.0
    for body, J in ((rows.body_a[row], rows.J_a[row]), (rows.body_b[row], rows.J_b[row])):
        if bodies.kind[body] != DYNAMIC:
            continue
        turning, linear = (J[0], J[1], J[2]), (J[3], J[4], J[5])
        turning = times_vector(transposed(matrix(load4(state.q_WB, body))), turning)
        turned = times_vector(load33(bodies.inverse_inertia_B, body), turning)
        total += dot(turning, turned) + bodies.inverse_mass[body] * dot(linear, linear)
    return total


@kernel
def removes_energy(world: World, first: int, end: int, rate: float) -> bool:
    """Whether an equation, rows `first` to `end`, removes more than ENERGY_SHARE of the kinetic
    energy of its bodies.

        rate^2 / (2 J M^-1 J^T) > ENERGY_SHARE T

    rate [m/s or rad/s]: J v, which the equation sets to zero
    """
    rows, bodies, state = world.work.rows, world.model.bodies, world.state
    mobility, kinetic = 0.0, 0.0
    for row in range(first, end):
        mobility += inverse_mass_of(rows, row, bodies, state)
        for body in (rows.body_a[row], rows.body_b[row]):
            if bodies.kind[body] == DYNAMIC:
                kinetic += kinetic_energy_of(bodies, state, body)
    return 0.5 * rate * rate > ENERGY_SHARE * kinetic * mobility


@kernel
def contradicts(world: World) -> bool:
    """Whether velocities violate an equation of work.rows by more than a solver's residual."""
    rows, row = world.work.rows, 0
    while row < rows.count[0]:
        rate, size, row = forbidden_rate(rows, row, world.state)
        if rate > RESIDUAL_SHARE * size:
            return True
    return False


@kernel
def is_moving_kinematic(world: World, i: int) -> bool:
    """Whether body i is kinematic and moves."""
    v, w = load3(world.state.v_WB_W, i), load3(world.state.w_WB_W, i)
    return bool(world.kind[i] == KINEMATIC and (dot(v, v) > 0.0 or dot(w, w) > 0.0))


@kernel
def note_contradictions(handle: World) -> None:
    """Record the joint that the velocities at the start violate most, if they violate one.

    Joints of a moving kinematic body are left out: the first step gives the other body its motion.

    Writes  state.extremes (CONTRADICTED ...); work.rows
    Check   tests/laws/test_moments.py
    """
    world = struct_of(handle)
    state, rows = world.state, world.work.rows
    extremes = state.extremes
    write_instant_equations(world, True)
    row = 0
    while row < rows.count[0]:
        first = row
        rate, size, row = forbidden_rate(rows, first, state)
        limit, worst = ROUNDED_SHARE * size, extremes[CONTRADICTED + WORST]
        if rate <= limit or rate * extremes[CONTRADICTED + WORST_LIMIT] < worst * limit:
            continue
        body_a, body_b = rows.body_a[first], rows.body_b[first]
        if is_moving_kinematic(world, body_a) or is_moving_kinematic(world, body_b):
            continue
        if not removes_energy(world, first, row, rate):
            continue
        extremes[CONTRADICTED + FIRST_STEP] = 1.0
        extremes[CONTRADICTED + FIRST_WHO] = float(rows.joint[first])
        extremes[CONTRADICTED + WORST_WHO] = float(rows.joint[first])
        extremes[CONTRADICTED + WORST] = rate
        extremes[CONTRADICTED + WORST_LIMIT] = limit
    rows.count[:] = 0
