"""Kick of trees: change of generalised velocities by forces and constraint impulses."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import sym_times
from cardan.engine.spatial.vec3 import Vec3, add, cross, load3, scale, sub
from cardan.engine.trees.articulated_inertia import respond, respond_moving
from cardan.engine.trees.body_sync import clear_forces, read_body_forces, write_body_velocities
from cardan.engine.trees.kinematics import write_velocities, write_velocity_products
from cardan.engine.trees.loop_prediction import write_ahead
from cardan.engine.trees.operator import push_row
from cardan.engine.trees.spatial_arrays import load6, load_sym
from cardan.engine.world.problem import Problem
from cardan.engine.world.state import State
from cardan.engine.world.tree import Tree, TreeWork
from cardan.engine.world.world import World


@kernel
def has_loops(tree: Tree) -> bool:
    """Whether any joint of the scene is not inside a tree."""
    for j in range(tree.inner.shape[0]):
        if tree.inner[j] == 0:
            return tree.kind.shape[0] > 0
    return False


@kernel
def write_bias_accelerations(world: World) -> None:
    """Write the free-flight accelerations of the bodies of trees.

    With loops they are evaluated at the generalised velocities before the kick, otherwise taken
    from the drift to it; loops also get predictions for the end of the step (loop_prediction.py).

    Reads   work.A, V of the drift to the kick
    Writes  motion.bias_acceleration; with loops also motion.velocity_ahead, acceleration_ahead
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    motion = world.work.motion
    if has_loops(tree):
        write_ahead(tree, work, state, motion, world.clock.h[0])
        write_velocity_products(tree, state.tree_qd, work)
        clear_forces(tree, work)
        respond_moving(tree, work, work.qdd)
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                motion.bias_acceleration[body, k] = work.A[i, k]


@kernel
def is_pushed(tree: Tree, X: NDArray) -> bool:
    """Whether a wrench of X (n, 6) acts on any body of a tree."""
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                if X[body, k] != 0.0:
                    return True
    return False


@kernel
def predict_tree_velocities(world: World) -> None:
    """Generalised velocities after the kick of forces alone: qd_free = qd + h H^-1 T^T (m g + f).

    T maps generalised velocities to velocities of bodies; f are their wrenches.

    Reads   motion.wrench; the factor; work.fall, drop
    Writes  work.free; motion.velocity_free of bodies of trees
    Check   tests/laws/test_reduced.py
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    motion, h = world.work.motion, world.clock.h[0]
    if tree.kind.shape[0] == 0:
        return
    old, free = motion.velocity_old, motion.velocity_free
    for k in range(work.free.shape[0]):
        work.free[k] = state.tree_qd[k] + h * work.fall[k]
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(3):
                free[body, k] = old[body, k] + h * work.drop[i, k]
                fallen = work.drop[i, 3 + k] + state.gravity_W[k]
                free[body, 3 + k] = old[body, 3 + k] + h * fallen
    if not is_pushed(tree, motion.wrench):
        return
    read_body_forces(tree, work, motion.wrench, h)
    respond(tree, work, work.qdd)
    for k in range(work.free.shape[0]):
        work.free[k] += work.qdd[k]
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                free[body, k] += work.A[i, k]


@kernel
def hold_trees(state: State, work: TreeWork) -> None:
    """No forces: qd_free = qd."""
    for k in range(work.free.shape[0]):
        work.free[k] = state.tree_qd[k]


@kernel
def apply_tree_forces(problem: Problem, tree: Tree, work: TreeWork) -> bool:
    """Set forces of all nodes to J^T lam; return False, and keep forces, if lam is zero."""
    found = False
    for i in range(problem.count[0]):
        lam = problem.lam[i]
        a, b = tree.node[problem.body_a[i]], tree.node[problem.body_b[i]]
        if lam == 0.0 or (a < 0 and b < 0):
            continue
        if not found:
            clear_forces(tree, work)
            found = True
        push_row(tree, work, problem, i)
    return found


@kernel
def apply_tree_impulses(world: World) -> None:
    """qd = qd_free + H^-1 J^T lam, and the velocities of bodies.

    Writes  state.tree_qd, v_WB_W, w_WB_W
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    if tree.kind.shape[0] == 0:
        return
    for k in range(work.free.shape[0]):
        state.tree_qd[k] = work.free[k]
    if apply_tree_forces(world.work.problem, tree, work):
        respond(tree, work, work.qdd)
        for k in range(work.qdd.shape[0]):
            state.tree_qd[k] += work.qdd[k]
    write_velocities(tree, state.tree_qd, work)
    write_body_velocities(tree, work, state)


@kernel
def add_moment(sums: NDArray, linear: Vec3, angular: Vec3, p: Vec3) -> None:
    """sums += an impulse at p and an angular impulse about p."""
    moment = add(angular, cross(p, linear))
    for k in range(3):
        sums[k] += linear[k]
        sums[3 + k] += moment[k]


@kernel
def book_supports(world: World, h: float) -> None:
    """Book the impulse of the ground on grounded trees in a kick.

    It is the change of their momenta less the impulses of gravity and wrenches, which act for
    h [s], and of rows.

    Reads   velocities before (motion) and after (state) the kick, poses in its middle, rows
    Writes  state.momentum_in
    Check   tests/laws/test_reduced.py
    """
    tree, work, state = world.model.tree, world.work.tree, world.state
    if tree.kind.shape[0] == 0:
        return
    problem, motion, sums = world.work.problem, world.work.motion, state.momentum_in
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body < 0 or tree.floating[tree.tree[i]] == 1:
            continue
        w_old, v_old = load6(motion.velocity_old, body)
        change = sub(load3(state.w_WB_W, body), w_old)
        torque, force = load6(motion.wrench, body)
        g = load_gravity(state)
        weight = add(force, scale(tree.mass[i], g))
        linear = scale(tree.mass[i], sub(load3(state.v_WB_W, body), v_old))
        linear = sub(linear, scale(h, weight))
        angular = sub(sym_times(load_sym(work.I_W, i), change), scale(h, torque))
        add_moment(sums, linear, angular, load3(state.p_WB, body))
    for i in range(problem.count[0]):
        lam = problem.lam[i]
        if lam == 0.0:
            continue
        for side in range(2):
            body = problem.body_a[i] if side == 0 else problem.body_b[i]
            node = tree.node[body]
            if node < 0 or tree.floating[tree.tree[node]] == 1:
                continue
            n, f = load6(problem.J_a, i) if side == 0 else load6(problem.J_b, i)
            add_moment(sums, scale(-lam, f), scale(-lam, n), load3(state.p_WB, body))
