"""The algorithms over arrays of states of one tree, one state per row.

q (n, nq), qd, qdd, tau (n, nv); every kernel writes to its last argument.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector
from cardan.engine.spatial.vec3 import ZERO3, Vec3, cross, load3
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.articulated_inertia import write_inertias
from cardan.engine.trees.crba import joint_inertia
from cardan.engine.trees.energy_momentum import (
    gravitational_energy,
    kinetic_energy,
    momentum,
    rotor_energy,
)
from cardan.engine.trees.jacobian import write_point_jacobian, write_point_jacobian_rate
from cardan.engine.trees.kinematics import load_matrix, write_places, write_velocities
from cardan.engine.trees.rnea import inverse_dynamics
from cardan.engine.trees.spatial_arrays import load6
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def inverse_dynamics_of_states(
    tree: Tree,
    q: NDArray,
    qd: NDArray,
    qdd: NDArray,
    gravity_W: Vec3,
    work: TreeWork,
    tau: NDArray,
) -> None:
    """tau (n, nv); with qdd = 0 the bias forces."""
    for s in range(q.shape[0]):
        inverse_dynamics(tree, q[s], qd[s], qdd[s], gravity_W, work, tau[s])


@kernel
def forward_dynamics_of_states(
    tree: Tree,
    q: NDArray,
    qd: NDArray,
    tau: NDArray,
    wrench: NDArray,
    gravity_W: Vec3,
    work: TreeWork,
    qdd: NDArray,
) -> None:
    """qdd (n, nv); the same wrenches (k, 6) on the nodes in every state."""
    for s in range(q.shape[0]):
        forward_dynamics(tree, q[s], qd[s], tau[s], wrench, gravity_W, work, qdd[s])


@kernel
def mass_matrices(tree: Tree, q: NDArray, work: TreeWork, H: NDArray) -> None:
    """H (n, nv, nv), both triangles."""
    for s in range(q.shape[0]):
        joint_inertia(tree, q[s], work)
        for i in range(H.shape[1]):
            for j in range(i + 1):
                H[s, i, j] = work.H[i, j]
                H[s, j, i] = work.H[i, j]


@kernel
def jacobians(tree: Tree, q: NDArray, node: int, point_B: Vec3, work: TreeWork, J: NDArray) -> None:
    """J (n, 6, nv) of a point of a node, from the node's origin in its axes."""
    for s in range(q.shape[0]):
        write_places(tree, q[s], work)
        write_point_jacobian(tree, work, node, point_B, J[s])


@kernel
def jacobian_rates(
    tree: Tree,
    q: NDArray,
    qd: NDArray,
    node: int,
    point_B: Vec3,
    work: TreeWork,
    rate: NDArray,
) -> None:
    """dJ/dt (n, 6, nv)."""
    for s in range(q.shape[0]):
        write_places(tree, q[s], work)
        write_velocities(tree, qd[s], work)
        write_point_jacobian_rate(tree, work, node, point_B, rate[s])


@kernel
def kinematics_of_states(
    tree: Tree, q: NDArray, qd: NDArray, com_B: NDArray, work: TreeWork, found: NDArray
) -> None:
    """Kinematics of the bodies that have a node: found (n, b, 13).

    Origin [m] 0-2, orientation [w, x, y, z] 3-6, velocity of the origin [m/s] 7-9, angular
    velocity [rad/s] 10-12, all in W; rows of bodies without a node are not written.
    """
    for s in range(q.shape[0]):
        write_places(tree, q[s], work)
        write_velocities(tree, qd[s], work)
        for b in range(found.shape[1]):
            i = tree.node[b]
            if i < 0:
                continue
            arm = times_vector(load_matrix(work.R, i), load3(com_B, b))
            w, v = load6(work.V, i)
            turned = cross(w, arm)
            for c in range(3):
                found[s, b, c] = work.p_WB[i, c] - arm[c]
                found[s, b, 7 + c] = v[c] - turned[c]
                found[s, b, 10 + c] = w[c]
            for c in range(4):
                found[s, b, 3 + c] = work.q_WB[i, c]


@kernel
def sums_of_states(
    tree: Tree, q: NDArray, qd: NDArray, gravity_W: Vec3, work: TreeWork, found: NDArray
) -> None:
    """found (n, 8): kinetic and potential energy [J], momentum [N s], angular about O [N m s]."""
    n = tree.kind.shape[0]
    for s in range(q.shape[0]):
        write_places(tree, q[s], work)
        write_velocities(tree, qd[s], work)
        write_inertias(tree, work)
        found[s, 0] = kinetic_energy(tree, work, 0, n) + rotor_energy(tree, qd[s], 0, n)
        found[s, 1] = gravitational_energy(tree, work, gravity_W)
        angular, linear = momentum(tree, work, 0, n, ZERO3)
        for c in range(3):
            found[s, 2 + c] = linear[c]
            found[s, 5 + c] = angular[c]
