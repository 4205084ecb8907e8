"""Displacement of trees by their coordinates, without velocities of its own."""

from __future__ import annotations

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.assemble import product
from cardan.engine.spatial.inertia import Spatial, sym_times
from cardan.engine.spatial.vec3 import ZERO3, add, load3, load3_from, scale, store3, sub
from cardan.engine.trees.articulated_inertia import (
    eliminate_node,
    respond_part,
    start_inertia,
    turn_inertia,
)
from cardan.engine.trees.body_sync import (
    prepare,
    read_body_velocities,
    write_body_pose,
    write_body_velocity,
)
from cardan.engine.trees.coordinates import advance_node
from cardan.engine.trees.energy_momentum import momentum
from cardan.engine.trees.impulses import add_moment
from cardan.engine.trees.invariants import change_root, restore_floating, write_sums
from cardan.engine.trees.kinematics import move_node, place_node
from cardan.engine.trees.operator import is_on_tree
from cardan.engine.trees.paths import diagonal_in_trees
from cardan.engine.trees.spatial_arrays import load6, load_sym, store6
from cardan.engine.world.problem import Problem
from cardan.engine.world.tree import INVARIANT_CENTRE, INVARIANT_ENERGY, INVARIANT_MASS
from cardan.engine.world.world import World


@kernel
def prepare_trees(world: World, problem: Problem) -> None:
    """The factor of all trees at their present coordinates, and what it makes of rows on them.

    Writes  work.tree; problem.diagonal of rows on trees
    """
    tree, work, dense = world.model.tree, world.work.tree, world.work.dense
    if tree.kind.shape[0] == 0:
        return
    prepare(tree, world.state, work)
    read_body_velocities(tree, world.state, work)
    work.qdd[:] = 0.0
    for i in range(problem.count[0]):
        if is_on_tree(problem, i):
            own = product(problem.J_a[i], problem.MJ_a[i]) + product(
                problem.J_b[i], problem.MJ_b[i]
            )
            part = diagonal_in_trees(problem, i, dense.path, dense.path_tree)
            problem.diagonal[i] = own + part
    # rows on no tree have no path
    work.paths[0] = 0


@kernel
def is_shifted(world: World, t: int) -> bool:
    """Whether tree t moves by work.tree.qdd."""
    tree, qdd = world.model.tree, world.work.tree.qdd
    for k in range(tree.v_start[tree.start[t]], tree.v_start[tree.start[t + 1]]):
        if qdd[k] != 0.0:
            return True
    return False


@kernel
def energy_of_tree(world: World, t: int) -> float:
    """Kinetic energy of tree t, and potential energy in gravity [J], from work.tree.found."""
    found, g = world.work.tree.found, load_gravity(world.state)
    centre = load3_from(found, t, INVARIANT_CENTRE)
    height = g[0] * centre[0] + g[1] * centre[1] + g[2] * centre[2]
    return float(found[t, INVARIANT_ENERGY] - found[t, INVARIANT_MASS] * height)


@kernel
def keep_velocities(world: World, t: int) -> None:
    """Rates of a tree in its new pose, from the velocities of its bodies before it moved.

        H qd = T^T M v + armature qd-        the joints' impulses do no work that could bring energy

    A floating tree keeps its momentum, and its angular momentum about its centre of mass.

    Reads   the factor; work.tree.V of the bodies, invariants of the tree before
    Writes  state.tree_qd, velocities of its bodies; work.tree.V, found
    """
    tree, work, qd = world.model.tree, world.work.tree, world.state.tree_qd
    begin, end = tree.start[t], tree.start[t + 1]
    for i in range(begin, end):
        w, v = load6(work.V, i)
        store6(work.F, i, (sym_times(load_sym(work.I_W, i), w), scale(tree.mass[i], v)))
    for k in range(tree.v_start[begin], tree.v_start[end]):
        work.u[k] = tree.armature[k] * qd[k]
    respond_part(tree, work, begin, end, qd)
    for i in range(begin, end):
        move_node(tree, qd, i, work)
    if tree.floating[t] == 1:
        restore_floating(tree, work, t, qd, False)
        for i in range(begin, end):
            move_node(tree, qd, i, work)
    write_sums(tree, work, t, qd, work.found)


@kernel
def book_shift(world: World, t: int, before: Spatial) -> None:
    """Book what a shift took of the momenta (L, P) about the origin that tree t had before.

    On the ground it is an impulse of its joints; afloat, angular momentum is owed to the tree and
    to what it touches (`return_momentum`).

    Writes  state.momentum_in, or positions.lost
    """
    tree, lost = world.model.tree, world.work.positions.lost
    begin, end, (L, P) = tree.start[t], tree.start[t + 1], before
    L_now, P_now = momentum(tree, world.work.tree, begin, end, ZERO3)
    if tree.floating[t] == 1:
        body = tree.body[begin]
        store3(lost, body, add(load3(lost, body), sub(L, L_now)))
        return
    add_moment(world.state.momentum_in, sub(P_now, P), sub(L_now, L), ZERO3)


@kernel
def place_tree(world: World, t: int) -> None:
    """Move tree t by work.tree.qdd [rad, m], and factor its inertia there.

    Writes  state.tree_q; work.tree: places, inertias, the factor
    """
    tree, work, q = world.model.tree, world.work.tree, world.state.tree_q
    begin, end = tree.start[t], tree.start[t + 1]
    for i in range(begin, end):
        advance_node(tree, q, work.qdd, i, 1.0)
        place_node(tree, q, i, work)
        turn_inertia(tree, work, i)
        start_inertia(tree, work, i)
    for i in range(end - 1, begin - 1, -1):
        eliminate_node(tree, work, i, tree.armature)


@kernel
def shift_trees(world: World) -> float:
    """Move the coordinates of trees by work.tree.qdd [rad, m]; keep the velocities of bodies.

    Reads   work.tree from `prepare_trees`
    Writes  state.tree_q, tree_qd; poses and velocities of bodies of trees that move; momentum_in;
            positions.lost
    Returns gain of kinetic energy and of potential energy in gravity [J]
    Check   tests/laws/test_overlapping_trees.py
    """
    tree, work, gained = world.model.tree, world.work.tree, 0.0
    for t in range(tree.floating.shape[0]):
        if not is_shifted(world, t):
            continue
        write_sums(tree, work, t, world.state.tree_qd, work.found)
        for k in range(work.found.shape[1]):
            work.invariants[t, k] = work.found[t, k]
        before = momentum(tree, work, tree.start[t], tree.start[t + 1], ZERO3)
        gained -= energy_of_tree(world, t)
        place_tree(world, t)
        keep_velocities(world, t)
        gained += energy_of_tree(world, t)
        book_shift(world, t, before)
        for i in range(tree.start[t], tree.start[t + 1]):
            write_body_pose(tree, work, world.state, i)
            write_body_velocity(tree, work, world.state, i)
    return gained


@kernel
def turn_tree(world: World, body: int, motion: Spatial) -> None:
    """Add a rigid motion (w, v at the root) to the floating tree whose root this body is, if any.

    Writes  state.tree_qd
    """
    tree, node, (w, v) = world.model.tree, world.model.tree.node[body], motion
    if node >= 0 and tree.start[tree.tree[node]] == node and tree.floating[tree.tree[node]] == 1:
        change_root(tree, world.work.tree, tree.tree[node], w, v, world.state.tree_qd)
