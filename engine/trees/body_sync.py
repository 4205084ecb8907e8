"""Synchronisation of bodies with the coordinates and rates of their trees."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import sym_times, sym_turned
from cardan.engine.spatial.quaternion import load4, store4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import ZERO3, load3, scale, store3
from cardan.engine.trees.articulated_inertia import respond, write_factor, write_inertias
from cardan.engine.trees.kinematics import write_places, write_velocities
from cardan.engine.trees.spatial_arrays import load6, load_sym, store6
from cardan.engine.world.state import State
from cardan.engine.world.tree import NODE_BALL, Tree, TreeWork

NO_MOMENTS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def write_body_pose(tree: Tree, work: TreeWork, state: State, i: int) -> None:
    """Copy the pose of node i to its body, if it has one."""
    body = tree.body[i]
    if body >= 0:
        store3(state.p_WB, body, load3(work.p_WB, i))
        store4(state.q_WB, body, load4(work.q_WB, i))


@kernel
def write_body_velocity(tree: Tree, work: TreeWork, state: State, i: int) -> None:
    """Copy the velocity of node i to its body, if it has one."""
    body = tree.body[i]
    if body >= 0:
        w, v = load6(work.V, i)
        store3(state.w_WB_W, body, w)
        store3(state.v_WB_W, body, v)


@kernel
def write_body_poses(tree: Tree, work: TreeWork, state: State) -> None:
    """Copy poses of nodes to their bodies."""
    for i in range(tree.kind.shape[0]):
        write_body_pose(tree, work, state, i)


@kernel
def write_body_velocities(tree: Tree, work: TreeWork, state: State) -> None:
    """Copy velocities of nodes to their bodies."""
    for i in range(tree.kind.shape[0]):
        write_body_velocity(tree, work, state, i)


@kernel
def read_body_velocities(tree: Tree, state: State, work: TreeWork) -> None:
    """Copy velocities of bodies to their nodes; massless nodes get 0, which has no effect."""
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            store6(work.V, i, (load3(state.w_WB_W, body), load3(state.v_WB_W, body)))
        else:
            store6(work.V, i, (ZERO3, ZERO3))


@kernel
def read_bodies(tree: Tree, state: State, work: TreeWork) -> None:
    """Copy positions, moments of inertia and velocities of bodies to their nodes.

    Writes  work.p_WB, I_W, V
    """
    read_body_velocities(tree, state, work)
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        p, moments = ZERO3, NO_MOMENTS
        if body >= 0:
            p = load3(state.p_WB, body)
            R = matrix(load4(state.q_WB, body))
            moments = sym_turned(R, load_sym(tree.inertia_B, i))
        store3(work.p_WB, i, p)
        for k in range(6):
            work.I_W[i, k] = moments[k]


@kernel
def forget_forces(work: TreeWork) -> None:
    """Mark all trees as without pending forces."""
    for t in range(work.touched.shape[0]):
        work.touched[t] = 0


@kernel
def prepare(tree: Tree, state: State, work: TreeWork) -> None:
    """Compute poses, inertias and their factor at the current coordinates.

    Writes  work.q_WB ... S, I_W, IA, U, D; touched = 0
    """
    forget_forces(work)
    write_places(tree, state.tree_q, work)
    write_inertias(tree, work)
    write_factor(tree, work, tree.armature)


@kernel
def write_joint_coordinates(tree: Tree, state: State) -> None:
    """Copy coordinates of nodes to their joints.

    Writes  state.joint_q, except of balls
    """
    for i in range(tree.kind.shape[0]):
        if tree.joint[i] >= 0 and tree.axis[i] >= 0 and tree.kind[i] != NODE_BALL:
            state.joint_q[tree.joint[i], tree.axis[i]] = state.tree_q[tree.q_start[i]]


@kernel
def clear_forces(tree: Tree, work: TreeWork) -> None:
    """Set the forces on all nodes and rates to zero."""
    for i in range(tree.kind.shape[0]):
        for k in range(6):
            work.F[i, k] = 0.0
    for k in range(work.u.shape[0]):
        work.u[k] = 0.0


@kernel
def read_body_forces(tree: Tree, work: TreeWork, X: NDArray, h: float) -> None:
    """Set forces on nodes to h times those of their bodies, X (n, 6), and forces on rates to 0."""
    clear_forces(tree, work)
    for i in range(tree.kind.shape[0]):
        body = tree.body[i]
        if body >= 0:
            for k in range(6):
                work.F[i, k] = h * X[body, k]


@kernel
def settle(tree: Tree, state: State, work: TreeWork) -> None:
    """Compute rates from prescribed velocities of bodies, by ideal joints that keep momenta.

        qd = H^-1 T^T M v,   then v = T qd;   H without rotors, which follow their joints

    Reads   state.tree_q; velocities of bodies
    Writes  state.tree_qd; poses and velocities of bodies of trees; the factor
    Check   tests/laws/test_reduced.py
    """
    read_body_velocities(tree, state, work)
    prepare(tree, state, work)
    clear_forces(tree, work)
    # without rotors: the forces on rates are zero
    write_factor(tree, work, work.u)
    for i in range(tree.kind.shape[0]):
        if tree.body[i] >= 0:
            w, v = load6(work.V, i)
            store6(work.F, i, (sym_times(load_sym(work.I_W, i), w), scale(tree.mass[i], v)))
    respond(tree, work, state.tree_qd)
    write_factor(tree, work, tree.armature)
    write_velocities(tree, state.tree_qd, work)
    write_body_poses(tree, work, state)
    write_body_velocities(tree, work, state)
