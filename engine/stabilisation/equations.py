"""Joints that are apart are put together: Gauss-Newton on C with the factor of the kick."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.constraints.frames import has_rows, joint_frame
from engine.constraints.joints.coordinates import coordinate, n_coordinates
from engine.constraints.joints.equations import write_equations
from engine.kernel import kernel
from engine.solvers.block_factor import solve_one, write_factor
from engine.solvers.elimination import write_sides
from engine.solvers.forest import write_graph
from engine.stabilisation.shift import shift_body
from engine.stabilisation.tangent import is_hard
from engine.world.equations import Graph
from engine.world.model import BALL, DYNAMIC, Model
from engine.world.options import SolverMethod
from engine.world.positions import Positions
from engine.world.problem import Dense, Problem
from engine.world.report import Report
from engine.world.rows import SLOT_LOWER, Rows
from engine.world.state import State

ELIMINATION = int(SolverMethod.ELIMINATION)

# [m or rad] a joint this close is in place
IN_PLACE = 1e-9
# [m or rad] farther than this is gone in more than one pass
FAR = 0.05
# a pass that would move bodies this many times what is to be taken away is left out: where a loop
# lies flat its equations all but contradict each other, and a step later they do not
LEVER = 300.0
# the factor is that of half a step before: each pass leaves some percent where bodies whirl
PASSES = 16


@kernel
def write_errors(model: Model, state: State, positions: Positions, turning: NDArray) -> None:
    """positions.error <- C of all equations at the present poses.

    Reads   turning (n, 3): any numbers, no error depends on them
    """
    joints, rows, kind = model.joints, positions.rows, model.bodies.kind
    rows.count[0] = 0
    for j in range(joints.kind.shape[0]):
        if not has_rows(joints, kind, state, j):
            continue
        frame = joint_frame(joints, state, j)
        write_equations(rows, state, joints, j, frame, 1.0, turning)
        for axis in range(n_coordinates(joints.kind[j])):
            locked = joints.limit_lower[j, axis] == joints.limit_upper[j, axis]
            if locked and joints.kind[j] != BALL:
                q = coordinate(joints, state, j, axis, frame)
                positions.error[j, SLOT_LOWER + axis] = q - joints.limit_lower[j, axis]
    for row in range(rows.count[0]):
        positions.error[rows.joint[row], rows.slot[row]] = rows.error[row]


@kernel
def write_wanted(rows: Rows, positions: Positions, share: NDArray, at_once: bool) -> float:
    """positions.wanted <- what to take away of every row; the largest of it.

    Reads   share (j,) of the error, unless all is taken away at once
    """
    largest = 0.0
    for i in range(rows.count[0]):
        positions.wanted[i] = 0.0
        if is_hard(rows, i):
            C = positions.error[rows.joint[i], rows.slot[i]]
            if abs(C) > IN_PLACE:
                part = 1.0 if at_once else share[rows.joint[i]]
                positions.wanted[i] = min(max(part * C, -FAR), FAR)
                largest = max(largest, abs(positions.wanted[i]))
    return largest


@kernel
def has_factor(problem: Problem, dense: Dense, report: Report) -> bool:
    """Make sure that dense holds the factor of all equations; False when there is no room."""
    if report.islands[0] == 1 and report.method[0] == ELIMINATION:
        return True
    if not write_graph(problem, dense.graph):
        return False
    write_factor(problem, dense.graph, dense.equations)
    return True


@kernel
def largest_shift(model: Model, graph: Graph, x: NDArray) -> float:
    """The largest of the six numbers [rad, m] by which a pass would move a body."""
    largest = 0.0
    for k in range(graph.count[0]):
        if model.bodies.kind[graph.body[k]] == DYNAMIC:
            for c in range(6):
                largest = max(largest, abs(x[graph.body_node[k], c]))
    return largest


@kernel
def correct_equations(
    model: Model,
    state: State,
    rows: Rows,
    problem: Problem,
    dense: Dense,
    positions: Positions,
    report: Report,
    at_once: bool,
) -> bool:
    """Move poses by M^-1 J^T d with A d = -C; False when there are too many loops for that.

    `at_once` repeats that with C where poses are now until all joints are in place; else one pass
    takes away the joints' erp. J, M and the factor of A are those of the kick, half a step before.

    Reads   report of the solve of this step: which factor there is
    Writes  state.p_WB, q_WB, w_WB_W; dense; positions: wanted is what others are left to do
    Check   tests/laws/test_stabilisation.py
    """
    graph, factor = dense.graph, dense.equations
    ready = False
    for _ in range(PASSES if at_once else 1):
        write_errors(model, state, positions, positions.lost)
        wanted = write_wanted(rows, positions, model.joints.erp, at_once)
        if wanted == 0.0:
            return True
        if not ready and not has_factor(problem, dense, report):
            return False
        ready = True
        write_sides(graph, positions.wanted, factor.x)
        solve_one(graph, factor)
        if not largest_shift(model, graph, factor.x) <= LEVER * wanted:
            break
        for k in range(graph.count[0]):
            i = graph.body[k]
            if model.bodies.kind[i] == DYNAMIC:
                shift = factor.x[graph.body_node[k]]
                shift_body(model.bodies, state, i, shift, positions.lost)
    for i in range(rows.count[0]):
        positions.wanted[i] = 0.0
    return True
