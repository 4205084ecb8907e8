"""Projection of poses onto joint equations: Gauss-Newton on C with the factor of the kick.

Each set of bodies that equations join is corrected by itself: it takes part in passes until its
joints are in place.
"""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.coordinates import coordinate, n_coordinates
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.problem.islands import gather
from cardan.engine.solvers.direct.block_ldlt import solve_one, write_live_factor
from cardan.engine.solvers.direct.island_factors import (
    NONE,
    add_island,
    factor_of,
    forget,
    graph_of,
)
from cardan.engine.solvers.direct.schur_complement import ensure_factor, write_sides
from cardan.engine.spatial.vec3 import dot, load3
from cardan.engine.stabilisation.passes import (
    BEFORE,
    ERROR,
    LEAST,
    LEFT,
    MISSED,
    MOVED,
    NO,
    SHIFT,
    SPIN,
    TAKES_PART,
    YES,
    end_pass,
    is_moved,
    join_equations,
    mark_due,
    mark_live,
    set_of,
    takes_part,
    way_of,
)
from cardan.engine.stabilisation.shift import shift_body
from cardan.engine.stabilisation.tangent import is_hard
from cardan.engine.world.equations import KEPT, Factor, Graph
from cardan.engine.world.model import BALL, DYNAMIC
from cardan.engine.world.options import Stabilisation
from cardan.engine.world.rows import SLOT_LOWER
from cardan.engine.world.world import World

PROJECTION = int(Stabilisation.PROJECTION)

# errors below this count as rounding [m or rad]
ROUNDING = 1e-13
# errors above this are removed in more than one pass [m or rad]
FAR = 0.05
PASSES = 16


@kernel
def write_errors(world: World, every: bool) -> None:
    """Write C of equations at the current poses to positions.error, with their row numbers.

    Of every joint, or of the sets that take part in this pass.
    """
    model, state, positions = world.model, world.state, world.work.positions
    joints, rows, kind = model.joints, positions.rows, model.bodies.kind
    # an argument of the equations, but the errors do not depend on it
    bias_acceleration = world.work.motion.bias_acceleration
    rows.count[0] = 0
    for j in range(joints.kind.shape[0]):
        if not has_rows(joints, kind, state, j):
            continue
        if not (every or takes_part(world, joints.body_a[j], joints.body_b[j])):
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
def wanted_of(world: World, i: int, least: float) -> float:
    """The correction of hard row i; 0 for an error below `least` [m or rad]."""
    rows, positions = world.work.rows, world.work.positions
    part = 1.0 if removes_all(world) else world.model.joints.erp[rows.joint[i]]
    C = part * positions.error[rows.joint[i], rows.slot[i]]
    return float(min(max(C, -FAR), FAR)) if abs(C) > least else 0.0


@kernel
def are_in_place(world: World) -> bool:
    """Whether no joint has an error beyond rounding.

    Writes  positions.wanted: 0, if so
    """
    rows, wanted = world.work.rows, world.work.positions.wanted
    for i in range(rows.count[0]):
        wanted[i] = 0.0
        if is_hard(rows, i) and wanted_of(world, i, ROUNDING) != 0.0:
            return False
    return True


@kernel
def write_wanted(world: World, is_first: bool) -> bool:
    """Write the correction of every row of the sets that take part to positions.wanted.

    Errors up to rounding, and after the first pass those of joints in place, are not corrected;
    sets without a larger one no longer take part. Returns whether any set does.
    """
    rows, positions = world.work.rows, world.work.positions
    passes, span = positions.passes, world.model.bodies.span
    for s in range(passes.shape[0]):
        passes[s, BEFORE] = passes[s, ERROR]
        passes[s, ERROR], passes[s, SHIFT], passes[s, SPIN] = 0.0, 0.0, 0.0
        passes[s, MISSED], passes[s, MOVED] = 0.0, 0.0
    for i in range(rows.count[0]):
        positions.wanted[i] = 0.0
        s = set_of(world, rows.body_a[i], rows.body_b[i])
        if s < 0 or not is_hard(rows, i) or passes[s, TAKES_PART] != YES:
            continue
        wanted = wanted_of(world, i, ROUNDING if is_first else passes[s, LEAST])
        positions.wanted[i] = wanted
        passes[s, ERROR] = max(passes[s, ERROR], abs(wanted))
        passes[s, MISSED] = max(passes[s, MISSED], abs(wanted) * way_of(rows, span, i))
    found = False
    for s in range(passes.shape[0]):
        if passes[s, ERROR] > 0.0:
            found = True
        elif passes[s, TAKES_PART] == YES:
            passes[s, TAKES_PART] = NO
    return found


@kernel
def _lacks_factor(world: World, first: int, end: int) -> bool:
    """Whether islands.order[first:end] has rows to correct whose graph is not kept."""
    problem, islands, positions = world.work.problem, world.work.islands, world.work.positions
    for k in range(first, end):
        i = islands.order[k]
        if i < problem.count[1] and positions.wanted[i] != 0.0:
            a, b = problem.body_a[i], problem.body_b[i]
            body = b if problem.inverse_mass[b] > 0.0 else a
            return bool(world.work.dense.kept.number[body] == NONE)
    return False


@kernel
def complete_factors(world: World) -> None:
    """Ensure that graphs are kept for all sets that take part; sets that do not fit become LEFT.

    Writes  dense.graph, kept; islands.part; positions.passes
    """
    work = world.work
    problem, islands, dense = work.problem, work.islands, work.dense
    kept = dense.kept
    if kept.count[1] != KEPT:
        forget(kept)
        add_island(problem, dense, islands, NONE)
    elif islands.count[0] <= 1:
        if kept.count[0] == 0:
            add_island(problem, dense, islands, NONE)
    else:
        for k in range(islands.count[0]):
            if _lacks_factor(world, islands.start[k], islands.start[k + 1]):
                gather(problem, islands, k)
                add_island(islands.part, dense, islands, k)
    passes = work.positions.passes
    for i in range(passes.shape[0]):
        if passes[i, TAKES_PART] == YES and kept.number[i] == NONE:
            passes[i, TAKES_PART] = LEFT


@kernel
def needs_new_factor(world: World, graph: Graph) -> bool:
    """Whether the kept factor would leave errors if this pass reduced them as the one before did.

    In the first pass BEFORE is inf, so that the kept factor is used.
    """
    positions = world.work.positions
    for k in range(graph.count[0]):
        passes = positions.passes[positions.parent[graph.body[k]]]
        if passes[TAKES_PART] == YES:
            share = passes[ERROR] / passes[BEFORE]
            if passes[ERROR] * share > 0.5 * passes[LEAST]:
                return True
    return False


@kernel
def renew_factor(world: World, graph: Graph, factor: Factor) -> bool:
    """Recompute a kept factor with J at the current poses, except for stops with equal limits.

    Returns whether there are no such stops, so that all of J is current.
    """
    rows, problem, positions = world.work.rows, world.work.problem, world.work.positions
    now, fresh, all_new = positions.problem, positions.rows, True
    for g in range(graph.count[1]):
        if factor.live[graph.group_node[g]] == 0:
            continue
        for t in range(graph.size[g]):
            i = graph.member[g, t]
            now.cfm[i], now.joint[i], now.error[i] = problem.cfm[i], problem.joint[i], 0.0
            source_a, source_b, r = problem.J_a, problem.J_b, i
            if is_hard(rows, i) and rows.slot[i] < SLOT_LOWER:
                source_a, source_b = fresh.J_a, fresh.J_b
                r = positions.place[rows.joint[i], rows.slot[i]]
                now.error[i] = fresh.error[r]
            elif is_hard(rows, i):
                all_new = False
            for k in range(6):
                now.J_a[i, k] = source_a[r, k]
                now.J_b[i, k] = source_b[r, k]
    write_live_factor(now, graph, factor)
    return all_new


@kernel
def measure_shifts(world: World, graph: Graph, factor: Factor) -> None:
    """Largest component [rad, m] of the shift of any body of each set, and as a displacement [m].

    Writes  positions.passes
    """
    passes, x, span = world.work.positions.passes, factor.x, world.model.bodies.span
    for k in range(graph.count[0]):
        i, node = graph.body[k], graph.body_node[k]
        if world.model.bodies.kind[i] == DYNAMIC and factor.live[node] == 1:
            s = world.work.positions.parent[i]
            for c in range(6):
                passes[s, SHIFT] = max(passes[s, SHIFT], abs(x[node, c]))
                way = abs(x[node, c]) * (span[i] if c < 3 else 1.0)
                passes[s, MOVED] = max(passes[s, MOVED], way)


@kernel
def shift_bodies(world: World, graph: Graph, factor: Factor) -> float:
    """Shift the bodies of the sets that take part, unless too far; return their energy gain [J].

    Writes  poses; positions.lost, gained, passes
    """
    positions, total = world.work.positions, 0.0
    passes = positions.passes
    for k in range(graph.count[0]):
        i, node = graph.body[k], graph.body_node[k]
        if world.model.bodies.kind[i] != DYNAMIC or factor.live[node] == 0:
            continue
        s = positions.parent[i]
        if not is_moved(passes, s):
            continue
        gained = shift_body(world, i, factor.x[node])
        positions.gained[i] += gained
        total += gained
        w = load3(world.state.w_WB_W, i)
        passes[s, SPIN] = max(passes[s, SPIN], dot(w, w))
    return total


@kernel
def correct_factor(world: World, e: int) -> float:
    """One pass over the sets of kept factor e; return their gain of energy [J].

    Writes  poses; dense; positions
    """
    positions, dense = world.work.positions, world.work.dense
    graph, factor = graph_of(dense, e), factor_of(dense, e)
    exact = False
    if needs_new_factor(world, graph):
        mark_live(world, graph, factor)
        dense.kept.exact[e] = 0
        exact = renew_factor(world, graph, factor)
    else:
        ensure_factor(world.work.problem, graph, factor)
        mark_live(world, graph, factor)
    write_sides(graph, positions.wanted, factor.x)
    solve_one(graph, factor)
    measure_shifts(world, graph, factor)
    gained = shift_bodies(world, graph, factor)
    for k in range(graph.count[0]):
        if exact:
            # J is that of the current poses
            positions.passes[positions.parent[graph.body[k]], SPIN] = 0.0
    return gained


@kernel
def write_rest(world: World) -> None:
    """Write the corrections that remain: those of sets without a factor.

    Writes  positions.wanted
    """
    rows, positions = world.work.rows, world.work.positions
    for i in range(rows.count[0]):
        s = set_of(world, rows.body_a[i], rows.body_b[i])
        positions.wanted[i] = 0.0
        if s >= 0 and is_hard(rows, i) and positions.passes[s, TAKES_PART] == LEFT:
            positions.wanted[i] = wanted_of(world, i, ROUNDING)


@kernel
def correct_equations(world: World) -> float:
    """Move poses by M^-1 J^T d where A d = -C, if the loops fit into memory.

    Projection repeats this with C at the new poses until all joints are in place; split impulse
    makes one pass that removes the share erp. J, M and the factor of A are those of the kick, half
    a step earlier, so a pass leaves an error in proportion to the rotation since then. If this
    error is negligible, it was the last pass; a pass that would leave a larger one uses a new
    factor, and leaves an error of second order.

    Reads   dense.kept: factors of the solve of this step
    Writes  state.p_WB, q_WB, w_WB_W; dense; positions: wanted: the remaining correction
    Returns gain of kinetic energy and of potential energy in gravity [J]
    Check   tests/laws/test_stabilisation.py
    """
    kept, gained = world.work.dense.kept, 0.0
    write_errors(world, True)
    if are_in_place(world):
        return 0.0
    join_equations(world)
    for n in range(PASSES if removes_all(world) else 1):
        if n > 0:
            write_errors(world, False)
        if not write_wanted(world, n == 0):
            break
        if n == 0:
            complete_factors(world)
        mark_due(world)
        for e in range(kept.count[0]):
            if kept.due[e] == 1:
                gained += correct_factor(world, e)
        end_pass(world)
    write_rest(world)
    return gained
