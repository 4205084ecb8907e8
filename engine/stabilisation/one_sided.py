"""Position correction of violated stops and contacts by impulses that move poses only."""

from __future__ import annotations

from math import inf

from cardan.engine.accounting.variation import note_shift
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.row import row_speed
from cardan.engine.problem.islands import join_bodies, root_of
from cardan.engine.problem.operator import body_velocities, copy_geometry
from cardan.engine.solvers.islands import solve_islands
from cardan.engine.stabilisation.shift import shift_body
from cardan.engine.stabilisation.shift_trees import prepare_trees, shift_trees
from cardan.engine.stabilisation.tangent import is_hard, is_hard_stop
from cardan.engine.world.equations import DROP, REUSE
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.options import ImpactTime, Stabilisation
from cardan.engine.world.problem import BIAS_APPLIED, FRICTION_BOX
from cardan.engine.world.rows import ROW_NORMAL
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World

EXACT, ONE_SIDED = int(ImpactTime.EXACT), int(Stabilisation.ONE_SIDED)

# tolerated violation: stops [m or rad], contacts as a share of their margin
STOP_SLOP, CONTACT_SLOP = 1e-6, 1e-4


@kernel
def _copy_row(work: Workspace, i: int, r: int) -> None:
    """Row i of the step's problem, without its law, as row r of positions.problem."""
    to = work.positions.problem
    copy_geometry(work.problem, i, to, r)
    to.cfm[r] = 0.0
    to.normal_row[r] = -1
    to.mu[r] = 0.0
    to.lam[r] = 0.0
    to.lo[r] = -inf
    to.hi[r] = inf


@kernel
def correction_of(world: World, row: int) -> float:
    """Gap of a hard stop or contact to correct [m or rad]: negative where it is violated.

    inf for other rows, and for contacts solved by sweeps, which were corrected in the kick.
    """
    rows, options = world.work.rows, world.options
    is_normal = rows.kind[row] == ROW_NORMAL and rows.cfm[row] == 0.0
    if is_normal and rows.sweep_bias_delta[row] == BIAS_APPLIED and options.impact_time != EXACT:
        return inf
    if not is_normal and not is_hard_stop(rows, row):
        return inf
    # the kick was half a step ago, or half of the last part with exact impacts; a stop has a row
    # only if it was in range then
    h = rows.share[0] * options.time_step
    C = float(rows.error[row] + 0.5 * h * row_speed(rows, row, world.state))
    slop = CONTACT_SLOP * options.margin if is_normal else STOP_SLOP
    if C + slop >= 0.0:
        return max(C, 0.0)
    if not is_normal:
        return float(world.model.joints.erp[rows.joint[row]] * (C + slop))
    if options.stabilisation == ONE_SIDED:
        slop *= 0.5  # a depth that only nears its tolerance would need a solve in every step
    most = options.max_correction_speed * options.time_step
    return float(max(options.position_erp * (C + slop), -most))


@kernel
def is_clear(world: World, row: int) -> bool:
    """Whether a normal was swept, or is clearly not violated at the velocity after the kick.

    J v+ = w - bias of a rigid row; drifts and later impacts change it little, which half the
    slop allows for.
    """
    rows, options = world.work.rows, world.options
    if rows.sweep_bias_delta[row] == BIAS_APPLIED and options.impact_time != EXACT:
        return True
    if rows.cfm[row] != 0.0:
        return False
    speed = world.work.problem.w[row] - rows.bias[row]
    C = rows.error[row] + 0.5 * rows.share[0] * options.time_step * speed
    return bool(C + 0.5 * CONTACT_SLOP * options.margin >= 0.0)


@kernel
def is_anything_due(world: World) -> bool:
    """Whether an equation, a stop or a contact is violated."""
    rows, positions = world.work.rows, world.work.positions
    for i in range(rows.count[1]):
        if is_hard(rows, i) and positions.wanted[i] != 0.0:
            return True
        if correction_of(world, i) < 0.0:
            return True
    # only the normal row of a contact can be violated
    for i in range(rows.count[1], rows.count[0], 3):
        if not is_clear(world, i) and correction_of(world, i) < 0.0:
            return True
    return False


@kernel
def _find_violations(world: World) -> None:
    """Write what is left to correct, and mark the islands in which something is violated.

    Reads   positions.wanted of hard equations
    Writes  positions.wanted of all other rows: see `correction_of`;
            positions.islands: parent; number: 1 at the root body of such an island, else 0
    """
    rows, problem, positions = world.work.rows, world.work.problem, world.work.positions
    islands, inverse_mass = positions.islands, world.model.bodies.inverse_mass
    join_bodies(problem, inverse_mass, islands)
    for k in range(islands.number.shape[0]):
        islands.number[k] = 0
    for i in range(rows.count[0]):
        if is_hard(rows, i):
            due = positions.wanted[i] != 0.0
        else:
            positions.wanted[i] = correction_of(world, i)
            due = positions.wanted[i] < 0.0
        if due:
            islands.number[root_of(problem, inverse_mass, islands, i)] = 1


@kernel
def _gather_violations(world: World) -> None:
    """Write equations, hard stops and normals of the marked islands to positions.problem."""
    rows, problem, positions = world.work.rows, world.work.problem, world.work.positions
    islands, inverse_mass = positions.islands, world.model.bodies.inverse_mass
    part = positions.problem
    r = 0
    for i in range(rows.count[0]):
        if positions.wanted[i] == inf:
            continue
        if islands.number[root_of(problem, inverse_mass, islands, i)] == 0:
            continue
        _copy_row(world.work, i, r)
        part.b[r] = positions.wanted[i]
        if not is_hard(rows, i):
            part.lo[r] = 0.0
        r += 1
    part.count[0] = r
    part.count[1] = r
    part.count[2] = 0
    part.friction_kind[0] = FRICTION_BOX


@kernel
def correct_violations(world: World) -> float:
    """Move poses by M^-1 J^T d where d >= 0 is complementary to A d + C >= 0.

    C of one-sided rows is the gap in the middle of the step, extrapolated to its end. A step
    removes the share contact.erp of a violation (stops: erp of the joint), without friction and
    velocity. Islands without a violation are left out: their solution is d = 0.

    Reads   positions.wanted: remaining correction of the equations
    Writes  state.p_WB, q_WB, w_WB_W, of trees tree_q, tree_qd; positions
    Returns gain of kinetic energy and of potential energy in gravity [J]
    Source  split impulse: Guendelman, Bridson and Fedkiw 2003; Catto 2009
    Check   tests/laws/test_stabilisation.py
    """
    if not is_anything_due(world):
        return 0.0
    model, state, work = world.model, world.state, world.work
    positions, v = work.positions, work.motion.scratch
    _find_violations(world)
    _gather_violations(world)
    prepare_trees(world, positions.problem)
    kept = work.dense.kept
    # factors that were found in this step, if any
    kept.count[1] = REUSE
    solve_islands(
        positions.problem,
        model.bodies.inverse_mass,
        positions.islands,
        work.dense,
        v,
        world.options.solver,
        positions.report,
    )
    kept.count[1] = DROP
    for i in range(v.shape[0]):
        for k in range(6):
            v[i, k] = 0.0
    body_velocities(positions.problem, v)
    gained = shift_trees(world)
    for i in range(v.shape[0]):
        if model.bodies.kind[i] == DYNAMIC:
            note_shift(model, state, i, v[i])
            if model.bodies.node[i] < 0:
                gained += shift_body(world, i, v[i])
    return gained
