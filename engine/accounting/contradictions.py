"""Velocities that joints forbid: of the scene at its start, and after a blow.

The rate J v of an equation is compared with the sum of |J| |v| over its terms: what it would be if
none cancelled another.
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
from cardan.engine.compiler.handles import struct_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.impact_rows import write_instant_equations
from cardan.engine.constraints.row import row_speed
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.world.model import KINEMATIC
from cardan.engine.world.rows import Rows
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# m/s or rad/s: what is left of velocities that cancel
ROUNDING = 1e-12
# share of its terms from which on a rate is no residual of a solver
UNSOLVED = 1e-6
# the same from which on velocities of a scene are no rounded ones
ROUNDED_VELOCITY = 1e-3


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
    """Of the equation that starts with row `first`: its rate, the size of its terms [m/s or rad/s],
    and the row after it.

    A coupling has several rows, one equation. One that yields forbids nothing at once.
    """
    row, rate, size = first, 0.0, 0.0
    while row == first or (row < rows.count[2] and rows.joint[row] == rows.joint[first]):
        rate += row_speed(rows, row, state)
        size += size_of_rate(rows, row, state)
        row += 1
    forbidden = rows.cfm[first] == 0.0 and abs(rate) > ROUNDING
    return (abs(rate) if forbidden else 0.0), size, row


@kernel
def contradicts(world: World) -> bool:
    """Whether the velocities leave an equation of work.rows by more than solvers do."""
    rows, row = world.work.rows, 0
    while row < rows.count[0]:
        rate, size, row = forbidden_rate(rows, row, world.state)
        if rate > UNSOLVED * size:
            return True
    return False


@kernel
def is_carried(world: World, i: int) -> bool:
    """Whether body i is kinematic and moves."""
    v, w = load3(world.state.v_WB_W, i), load3(world.state.w_WB_W, i)
    return bool(world.kind[i] == KINEMATIC and (dot(v, v) > 0.0 or dot(w, w) > 0.0))


@kernel
def note_contradictions(handle: World) -> None:
    """Record the joint that the velocities at the start contradict most, if one is contradicted.

    What a kinematic body carries along starts with it, and is no contradiction.

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
        limit, worst = ROUNDED_VELOCITY * size, extremes[CONTRADICTED + WORST]
        if rate <= limit or rate * extremes[CONTRADICTED + WORST_LIMIT] < worst * limit:
            continue
        if is_carried(world, rows.body_a[first]) or is_carried(world, rows.body_b[first]):
            continue
        extremes[CONTRADICTED + FIRST_STEP] = 1.0
        extremes[CONTRADICTED + FIRST_WHO] = float(rows.joint[first])
        extremes[CONTRADICTED + WORST_WHO] = float(rows.joint[first])
        extremes[CONTRADICTED + WORST] = rate
        extremes[CONTRADICTED + WORST_LIMIT] = limit
    rows.count[:] = 0
