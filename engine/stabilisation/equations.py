"""Projection of poses onto joint equations: Gauss-Newton on C with the factor of the kick."""

from __future__ import annotations

from math import sqrt

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import coordinate, n_coordinates
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.solvers.direct.block_ldlt import solve_one, write_factor
from cardan.engine.solvers.direct.elimination_order import write_graph
from cardan.engine.solvers.direct.schur_complement import write_sides
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.stabilisation.shift import shift_body
from cardan.engine.stabilisation.tangent import is_hard
from cardan.engine.world.model import BALL, DYNAMIC
from cardan.engine.world.options import SolverMethod, Stabilisation
from cardan.engine.world.rows import SLOT_LOWER
from cardan.engine.world.world import World

ELIMINATION = int(SolverMethod.ELIMINATION)
PROJECTION = int(Stabilisation.PROJECTION)

# [m or rad] a joint with a smaller error is in place
IN_PLACE = 1e-9
# [m or rad] errors below this count as rounding
ROUNDING = 1e-13
# [m or rad] larger errors are removed in more than one pass
FAR = 0.05
# a pass that would move bodies by this multiple of the error is skipped: the equations of a flat
# loop are nearly inconsistent, and one step later they are not
LEVER = 300.0
PASSES = 16
# from this pass on the factor is recomputed at the current poses
RENEWED = 2


@kernel
def write_errors(world: World) -> None:
    """Write C of all equations at the current poses to positions.error, with their row numbers."""
    model, state, positions = world.model, world.state, world.work.positions
    joints, rows, kind = model.joints, positions.rows, model.bodies.kind
    # equations need accelerations of free flight, on which no error depends
    bias_acceleration = world.work.motion.bias_acceleration
    rows.count[0] = 0
    for j in range(joints.kind.shape[0]):
        if not has_rows(joints, kind, state, j):
            continue
        frame = joint_frame(joints, state, j)
        write_equations(rows, state, joints, j, frame, 1.0, bias_acceleration)
        for axis in range(n_coordinates(joints.kind[j])):
            locked = joints.limit_lower[j, axis] == joints.limit_upper[j, axis]
            if locked and joints.kind[j] != BALL:
                q = coordinate(joints, state, j, axis, frame)
                positions.error[j, SLOT_LOWER + axis] = q - joints.limit_lower[j, axis]
    for row in range(rows.count[0]):
        positions.error[rows.joint[row], rows.slot[row]] = rows.error[row]
        positions.place[rows.joint[row], rows.slot[row]] = row


@kernel
def removes_all(world: World) -> bool:
    """Whether whole errors of equations are removed; else the share erp of each joint."""
    return bool(world.options.stabilisation == PROJECTION)


@kernel
def write_wanted(world: World, least: float) -> float:
    """Write the correction of every row to positions.wanted; return the largest.

    Errors below `least` [m or rad] are kept.
    """
    rows, positions, at_once = world.work.rows, world.work.positions, removes_all(world)
    largest = 0.0
    for i in range(rows.count[0]):
        positions.wanted[i] = 0.0
        if is_hard(rows, i):
            part = 1.0 if at_once else world.model.joints.erp[rows.joint[i]]
            C = part * positions.error[rows.joint[i], rows.slot[i]]
            if abs(C) > least:
                positions.wanted[i] = min(max(C, -FAR), FAR)
                largest = max(largest, abs(positions.wanted[i]))
    return largest


@kernel
def has_factor(world: World) -> bool:
    """Ensure that dense holds the factor of all equations; return False when it does not fit."""
    problem, dense, report = world.work.problem, world.work.dense, world.report
    if report.islands[0] == 1 and report.method[0] == ELIMINATION:
        return True
    if not write_graph(problem, dense.graph):
        return False
    write_factor(problem, dense.graph, dense.equations)
    return True


@kernel
def renew_factor(world: World) -> None:
    """Recompute the factor with J at the current poses (not of stops with equal limits)."""
    rows, problem, dense = world.work.rows, world.work.problem, world.work.dense
    positions = world.work.positions
    now, fresh = positions.problem, positions.rows
    for i in range(rows.count[1]):
        now.cfm[i], now.joint[i], now.error[i] = problem.cfm[i], problem.joint[i], 0.0
        source_a, source_b, r = problem.J_a, problem.J_b, i
        if is_hard(rows, i) and rows.slot[i] < SLOT_LOWER:
            source_a, source_b = fresh.J_a, fresh.J_b
            r = positions.place[rows.joint[i], rows.slot[i]]
            now.error[i] = fresh.error[r]
        for k in range(6):
            now.J_a[i, k] = source_a[r, k]
            now.J_b[i, k] = source_b[r, k]
    write_factor(now, dense.graph, dense.equations)


@kernel
def largest_shift(world: World) -> float:
    """Largest component [rad, m] of the shift of any body by a pass."""
    bodies, graph = world.model.bodies, world.work.dense.graph
    x = world.work.dense.equations.x
    largest = 0.0
    for k in range(graph.count[0]):
        if bodies.kind[graph.body[k]] == DYNAMIC:
            for c in range(6):
                largest = max(largest, abs(x[graph.body_node[k], c]))
    return largest


@kernel
def shift_bodies(world: World) -> tuple[float, float]:
    """Shift all bodies of a graph; return their energy gain [J] and largest spin [rad/s].

    Writes  poses; positions.lost, gained
    """
    bodies, graph = world.model.bodies, world.work.dense.graph
    x = world.work.dense.equations.x
    total, fastest = 0.0, 0.0
    for k in range(graph.count[0]):
        i = graph.body[k]
        if bodies.kind[i] == DYNAMIC:
            gained = shift_body(world, i, x[graph.body_node[k]])
            world.work.positions.gained[i] += gained
            total += gained
            w = load3(world.state.w_WB_W, i)
            fastest = max(fastest, dot(w, w))
    return total, sqrt(fastest)


@kernel
def correct_equations(world: World) -> float:
    """Move poses by M^-1 J^T d with A d = -C, if the loops fit into memory.

    Projection repeats this with C at the new poses until all joints are in place; split impulse
    makes one pass that removes the share erp. J, M and the factor of A are those of the kick, half
    a step earlier, so a pass leaves an error in proportion to the rotation since then. If that is
    large, the third pass uses a new factor; if it is negligible, no further pass is made.

    Reads   report of the solve of this step: which factor is available
    Writes  state.p_WB, q_WB, w_WB_W; dense; positions: wanted: the remaining correction
    Returns gain of kinetic energy and of potential energy in gravity [J]
    Check   tests/laws/test_stabilisation.py
    """
    positions, graph = world.work.positions, world.work.dense.graph
    factor = world.work.dense.equations
    gained = 0.0
    for n in range(PASSES if removes_all(world) else 1):
        write_errors(world)
        wanted = write_wanted(world, ROUNDING if n == 0 else IN_PLACE)
        if wanted == 0.0:
            break
        if n == 0 and not has_factor(world):
            return 0.0
        if n >= RENEWED:
            renew_factor(world)
        write_sides(graph, positions.wanted, factor.x)
        solve_one(graph, factor)
        shift = largest_shift(world)
        if not shift <= LEVER * wanted:
            break
        more, fastest = shift_bodies(world)
        gained += more
        if wanted * (world.options.time_step * fastest + shift) <= 0.5 * IN_PLACE:
            break
    for i in range(world.work.rows.count[0]):
        positions.wanted[i] = 0.0
    return gained
