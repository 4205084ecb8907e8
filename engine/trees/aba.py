"""Accelerations from forces: the articulated-body algorithm."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.trees.articulated_inertia import respond_moving, write_factor, write_inertias
from cardan.engine.trees.kinematics import write_frames, write_velocities, write_velocity_products
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def start_forces(
    tree: Tree, work: TreeWork, tau: NDArray, wrench: NDArray, gravity_W: Vec3
) -> None:
    """work.F, u <- gravity, wrenches (k, 6) at the nodes' origins in W, joint forces tau."""
    for i in range(tree.kind.shape[0]):
        for k in range(3):
            work.F[i, k] = wrench[i, k]
            work.F[i, 3 + k] = wrench[i, 3 + k] + tree.mass[i] * gravity_W[k]
    for k in range(tau.shape[0]):
        work.u[k] = tau[k]


@kernel
def forward_dynamics(
    tree: Tree,
    q: NDArray,
    qd: NDArray,
    tau: NDArray,
    wrench: NDArray,
    gravity_W: Vec3,
    work: TreeWork,
    qdd: NDArray,
) -> None:
    """Accelerations qdd (v,) of a tree under joint forces tau (v,) and wrenches (k, 6).

    Time and memory are proportional to the number of nodes.

    Reads   wrench: moment about the node's origin [N m], force [N], W
    Writes  qdd; work, with frames, V, A and the factor at q; not q_WB
    Source  Featherstone 1983; Featherstone 2022, articulated-body algorithm
    Check   tests/engine/trees/test_identities.py
    """
    write_frames(tree, q, work)
    write_velocities(tree, qd, work)
    write_velocity_products(tree, qd, work)
    write_inertias(tree, work)
    write_factor(tree, work, tree.armature)
    start_forces(tree, work, tau, wrench, gravity_W)
    respond_moving(tree, work, qdd)
