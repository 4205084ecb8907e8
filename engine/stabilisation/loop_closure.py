"""Closure of the loops of trees at the end of each step, by correction of joint coordinates.

Velocity-level correction removes a share of the position error per step, which is too slow near a
singular configuration: with an error C a flat parallelogram linkage leaves its branch and continues
as another mechanism. The coordinates are therefore corrected too, by Gauss-Newton in the mass
metric:

    A d = -C,   q <- q + H^-1 J^T d       with J, A and C at the end of the step

The kinetic energy, and the momenta of floating trees, are restored afterwards together with the
error of the drift (trees/invariants.py).
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.equations import write_equations
from cardan.engine.constraints.joints.frames import has_rows, joint_frame
from cardan.engine.constraints.row import row_speed
from cardan.engine.problem.coupled import add_up_matrix
from cardan.engine.solvers.direct.cholesky import Factor, add_row
from cardan.engine.solvers.direct.tree_elimination import (
    factor_equations,
    reduce_on_trees,
    restore_on_trees,
    write_order,
    write_sizes,
)
from cardan.engine.spatial.vec3 import (
    ZERO3,
    add,
    add_scaled,
    cross,
    load3,
    load3_from,
    store3,
    store3_from,
    sub,
)
from cardan.engine.stabilisation.passes import LEVER, way_of
from cardan.engine.trees.articulated_inertia import respond
from cardan.engine.trees.body_sync import (
    clear_forces,
    prepare,
    write_body_poses,
    write_body_velocities,
)
from cardan.engine.trees.coordinates import advance_coordinates
from cardan.engine.trees.impulses import has_loops
from cardan.engine.trees.invariants import centre_of, floats_tied
from cardan.engine.trees.kinematics import write_velocities
from cardan.engine.trees.operator import push_row, write_tree_matrix
from cardan.engine.trees.paths import diagonal_in_trees
from cardan.engine.world.problem import Dense, Problem
from cardan.engine.world.tree import INVARIANT_CENTRE, INVARIANT_LINEAR, Tree, TreeWork
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import World

# m or rad: tolerated error; largest number of passes
CLOSED, PASSES = 1e-12, 2
# the same for smooth motion
CLOSED_EXACTLY, NEWTON_PASSES = 1e-13, 8
# shares of A_ii: (5e-3 rad)^2 from a singular configuration; rounding
LITTLE, NOTHING = 2.5e-5, 1e-12


@kernel
def write_loops(world: World) -> tuple[float, float]:
    """Write the equations of all loops at the current poses; the largest error, and way [m].

    Writes  work.loop_rows, loops
    """
    model, state, work = world.model, world.state, world.work
    rows, problem, tree = work.loop_rows, work.loops, model.tree
    rows.count[0] = 0
    rows.share[0] = 1.0
    for j in range(tree.inner.shape[0]):
        if tree.inner[j] == 0 and has_rows(model.joints, model.bodies.kind, state, j):
            frame = joint_frame(model.joints, state, j)
            write_equations(rows, state, model.joints, j, frame, 1.0, work.motion.bias_acceleration)
    n, largest, missed = 0, 0.0, 0.0
    for i in range(rows.count[0]):
        a, b = rows.body_a[i], rows.body_b[i]
        # an equation with compliance is a spring; one between free bodies is corrected at velocity
        # level
        if rows.cfm[i] > 0.0 or (tree.node[a] < 0 and tree.node[b] < 0):
            continue
        rows.body_a[n], rows.body_b[n], rows.joint[n] = a, b, rows.joint[i]
        for k in range(6):
            rows.J_a[n, k], rows.J_b[n, k] = rows.J_a[i, k], rows.J_b[i, k]
            problem.MJ_a[n, k], problem.MJ_b[n, k] = 0.0, 0.0
        problem.b[n], rows.error[n] = rows.error[i], rows.error[i]
        problem.cfm[n], problem.lo[n], problem.hi[n] = 0.0, -math.inf, math.inf
        problem.normal_row[n] = -1
        problem.diagonal[n] = diagonal_in_trees(problem, n, work.dense.path, work.dense.path_tree)
        largest = max(largest, abs(rows.error[n]))
        missed = max(missed, abs(rows.error[n]) * way_of(rows, model.bodies.span, n))
        n += 1
    problem.count[0], problem.count[1], problem.count[2] = n, n, 0
    return largest, missed


@kernel
def way_of_rates(tree: Tree, work: TreeWork, span: NDArray) -> float:
    """The largest way [m or m/s] of a component of work.mean: of an angle with the span."""
    largest, i = 0.0, tree.kind.shape[0] - 1
    length = 0.0
    for k in range(work.mean.shape[0] - 1, -1, -1):
        while k < tree.v_start[i]:
            i -= 1
        # a massless node leads to the body of a later one
        length = span[tree.body[i]] if tree.body[i] >= 0 else length
        turns = work.S[k, 0] != 0.0 or work.S[k, 1] != 0.0 or work.S[k, 2] != 0.0
        largest = max(largest, abs(work.mean[k]) * (length if turns else 1.0))
    return largest


@kernel
def write_shift(tree: Tree, work: TreeWork, problem: Problem) -> None:
    """work.mean <- H^-1 J^T d of the solution d."""
    clear_forces(tree, work)
    for i in range(problem.count[0]):
        push_row(tree, work, problem, i)
    respond(tree, work, work.mean)


@kernel
def move_centres(tree: Tree, work: TreeWork, sign: float) -> None:
    """Add sign * current centres of mass to the stored ones: corrections move trees.

    That moves the momenta of floating ones too, unless one floats alone: it keeps its centre.

    Reads   work.invariants of the drift
    Writes  also work.lost: 0 before they move (sign < 0), and what that took after it
    """
    for t in range(tree.floating.shape[0]):
        centre = centre_of(tree, work, t)[1]
        lost = load3(work.lost, t) if sign > 0.0 else ZERO3
        if floats_tied(tree, t):
            carried = cross(centre, load3_from(work.invariants, t, INVARIANT_LINEAR))
            lost = add_scaled(lost, -sign, carried)
        store3(work.lost, t, lost)
        old = load3_from(work.invariants, t, INVARIANT_CENTRE)
        new = add(old, centre) if sign > 0.0 else sub(old, centre)
        store3_from(work.invariants, t, INVARIANT_CENTRE, new)


@kernel
def solve_shift(tree: Tree, work: Workspace, span: NDArray) -> float:
    """work.tree.mean <- correction that removes b of the loops; return its largest way."""
    dp = reduce_on_trees(work.loops, work.dense, True)
    restore_on_trees(work.loops, work.dense, dp)
    write_shift(tree, work.tree, work.loops)
    return way_of_rates(tree, work.tree, span)


@kernel
def level_rates(world: World) -> None:
    """Project rates on J v = 0 of the loops at the current poses, in the mass metric.

    Reads   work.loops from `write_loops`, the factor
    Writes  state.tree_qd, velocities of bodies of trees; work.tree.V
    """
    tree, state, work = world.model.tree, world.state, world.work
    scratch, rows, problem, span = work.tree, work.loop_rows, work.loops, world.model.bodies.span
    write_velocities(tree, state.tree_qd, scratch)
    write_body_velocities(tree, scratch, state)
    missed = 0.0
    for i in range(problem.count[0]):
        problem.b[i] = row_speed(rows, i, state)
        missed = max(missed, abs(problem.b[i]) * way_of(rows, span, i))
    if solve_shift(tree, work, span) <= LEVER * missed:
        for k in range(scratch.mean.shape[0]):
            state.tree_qd[k] += scratch.mean[k]
    write_velocities(tree, state.tree_qd, scratch)
    write_body_velocities(tree, scratch, state)


@kernel
def is_near_singular(problem: Problem, dense: Dense) -> bool:
    """Whether some equation is nearly, but not exactly, redundant.

    Its pivot is the square of the distance to a configuration with an additional freedom.

    Reads   the loops
    Writes  dense: S, path, path_tree, factor, indices, vectors[8]
    """
    factor = Factor(dense.factor, dense.indices[5], dense.indices[6], dense.indices[2])
    S, size, n, taken = dense.S, dense.vectors[8], problem.count[0], dense.indices[4]
    write_order(problem, True, dense)
    write_tree_matrix(problem, dense.indices[0], n, dense)
    add_up_matrix(problem, dense.indices[0], n, S)
    least = max(write_sizes(problem, dense.indices[0], 0, n, size), NOTHING)
    factor_equations(S, size, max(least, LITTLE), (0, n), taken, factor)
    for e in range(n):
        left = taken[e] == 0 and S[e, e] > least * size[e]
        if left and add_row(S, e, least * size[e] / S[e, e], factor):
            return True
    return False


@kernel
def settle_loops(world: World) -> bool:
    """Project coordinates and rates on the equations of loops, to rounding.

    Returns False, and changes nothing, near a singular configuration.

    Reads   state.tree_q, tree_qd close to a closed configuration
    Writes  state.tree_q, tree_qd, poses and velocities of bodies of trees; work.tree: V, the factor
    Check   tests/laws/test_integrators.py
    """
    tree, state, work = world.model.tree, world.state, world.work
    scratch, problem = work.tree, work.loops
    before = math.inf
    for k in range(NEWTON_PASSES):
        prepare(tree, state, scratch)
        write_body_poses(tree, scratch, state)
        largest, _ = write_loops(world)
        if problem.count[0] > work.dense.path.shape[0]:
            return False
        # an error that no longer decreases is rounding, or the loops cannot be closed
        moves = CLOSED_EXACTLY < largest < before and k < NEWTON_PASSES - 1
        if k > 0 and not moves:
            break
        if k == 0 and is_near_singular(problem, work.dense):
            write_velocities(tree, state.tree_qd, scratch)
            write_body_velocities(tree, scratch, state)
            return False
        solve_shift(tree, work, world.model.bodies.span)
        if not moves:
            break
        before = 0.5 * largest
        advance_coordinates(tree, state.tree_q, scratch.mean, 1.0)
    level_rates(world)
    return True


@kernel
def close_loops(world: World) -> bool:
    """Close all loops of trees by their coordinates; False near a singular configuration.

    Reads   state.tree_q at the end of the step; work.tree.invariants of the drift there
    Writes  state.tree_q, poses of bodies of trees; work.tree
    Check   tests/references/test_mechanisms.py, tests/laws/test_reduced.py
    """
    tree, state, work = world.model.tree, world.state, world.work
    scratch, problem = work.tree, work.loops
    if not has_loops(tree):
        return True
    closed = True
    for k in range(PASSES + 1):
        prepare(tree, state, scratch)
        write_body_poses(tree, scratch, state)
        if k == 0:
            move_centres(tree, scratch, -1.0)
        largest, missed = write_loops(world)
        fits = problem.count[0] <= work.dense.path.shape[0]
        if not largest > CLOSED or not fits or k == PASSES:
            closed = fits
            break
        if not solve_shift(tree, work, world.model.bodies.span) <= LEVER * missed:
            closed = False
            break
        advance_coordinates(tree, state.tree_q, scratch.mean, 1.0)
    move_centres(tree, scratch, 1.0)
    return closed
