"""Articulated-body inertias, and responses to forces: a factorisation of H^-1.

From the leaves to the root, rate by rate: a rate along S subtracts U U^T/D from the inertia passed
to its parent, U = IA S, D = S . U. A joint with several rates is eliminated one rate after the
other, the last one first, like a chain of massless links; no small matrices are needed. Quantities
are in world axes at the origins of the nodes, so that inertias are only translated on the way to
the root.
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import (
    ArticulatedInertia,
    Spatial,
    force_of,
    shifted_back,
    sym_times,
    sym_turned,
    without,
)
from cardan.engine.spatial.vec3 import ZERO3, add, add_scaled, cross, load3, scale
from cardan.engine.trees.kinematics import carried, load_matrix, move_node, place_node
from cardan.engine.trees.spatial_arrays import (
    add6,
    add_articulated,
    add_to6,
    dot6,
    load6,
    load_articulated,
    load_sym,
    store6,
    store_articulated,
)
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def turn_inertia(tree: Tree, work: TreeWork, i: int) -> None:
    """I_W of node i: R I_B R^T."""
    moments = sym_turned(load_matrix(work.R, i), load_sym(tree.inertia_B, i))
    for k in range(6):
        work.I_W[i, k] = moments[k]


@kernel
def write_inertias(tree: Tree, work: TreeWork) -> None:
    """I_W of every node.

    Reads   work.R
    Writes  work.I_W
    """
    for i in range(tree.kind.shape[0]):
        turn_inertia(tree, work, i)


@kernel
def write_nodes(tree: Tree, q: NDArray, qd: NDArray, work: TreeWork) -> None:
    """Pose, motion subspace, I_W and V of every node, in one walk from the root.

    Writes  what write_places, write_inertias and write_velocities do
    """
    for i in range(tree.kind.shape[0]):
        place_node(tree, q, i, work)
        turn_inertia(tree, work, i)
        move_node(tree, qd, i, work)


@kernel
def start_inertia(tree: Tree, work: TreeWork, i: int) -> None:
    """IA of node i without its descendants."""
    for k in range(21):
        work.IA[i, k] = 0.0
    for k in range(6):
        work.IA[i, k] = work.I_W[i, k]
    for k in range(3):
        work.IA[i, 15 + k] = tree.mass[i]


@kernel
def inverse_of(D: float) -> float:
    """1/D, and 0 without inertia."""
    return 1.0 / D if D > 0.0 else 0.0


@kernel
def eliminate_node(tree: Tree, work: TreeWork, i: int, rotors: NDArray) -> ArticulatedInertia:
    """Eliminate the rates of node i from IA; add the result to its parent and return it.

    Writes  work.U, D of its rates; IA of the node, before elimination of its own rates
    """
    inertia = load_articulated(work.IA, i)
    for k in range(tree.v_start[i + 1] - 1, tree.v_start[i] - 1, -1):
        U = force_of(inertia, load6(work.S, k))
        store6(work.U, k, U)
        D = dot6(work.S, k, work.U, k) + rotors[k]
        work.D[k] = inverse_of(D)
        inertia = without(inertia, U, work.D[k])
    if tree.parent[i] >= 0:
        add_articulated(work.IA, tree.parent[i], shifted_back(inertia, load3(work.arm, i)))
    store_articulated(work.IA, i, inertia)
    return inertia


@kernel
def write_factor(tree: Tree, work: TreeWork, rotors: NDArray) -> None:
    """Articulated inertias of all nodes.

    rotors (v,): inertia of the rotor of each rate [kg or kg m^2].

    Reads   work.S, arm, I_W
    Writes  work.IA, U, D
    Source  Featherstone 2022, articulated-body algorithm, second pass
    Check   tests/engine/trees/test_identities.py
    """
    n = tree.kind.shape[0]
    for i in range(n):
        start_inertia(tree, work, i)
    for i in range(n - 1, -1, -1):
        eliminate_node(tree, work, i, rotors)


@kernel
def pass_down(tree: Tree, work: TreeWork, i: int) -> None:
    """Add the force F of node i, less the part that accelerates its rates, to its parent's.

    Reads   work.F[i], the force on the subtree; work.u of its rates (joint forces)
    Writes  work.u: joint forces less S . F; work.F of the parent
    """
    n, f = load6(work.F, i)
    for k in range(tree.v_start[i + 1] - 1, tree.v_start[i] - 1, -1):
        S, U = load6(work.S, k), load6(work.U, k)
        u = work.u[k] + S[0][0] * n[0] + S[0][1] * n[1] + S[0][2] * n[2]
        u += S[1][0] * f[0] + S[1][1] * f[1] + S[1][2] * f[2]
        work.u[k] = u
        give = -work.D[k] * u
        n, f = add_scaled(n, give, U[0]), add_scaled(f, give, U[1])
    if tree.parent[i] >= 0:
        add_to6(work.F, tree.parent[i], (add(n, cross(load3(work.arm, i), f)), f))


@kernel
def follow(tree: Tree, work: TreeWork, i: int, a: Spatial, qdd: NDArray) -> None:
    """Compute the accelerations of the rates of node i, and of the node.

    Reads   a: acceleration of the node for unchanged rates
    Writes  qdd of its rates; work.A[i]
    """
    w, v = a
    for k in range(tree.v_start[i], tree.v_start[i + 1]):
        S, U = load6(work.S, k), load6(work.U, k)
        rest = work.u[k] - U[0][0] * w[0] - U[0][1] * w[1] - U[0][2] * w[2]
        rest -= U[1][0] * v[0] + U[1][1] * v[1] + U[1][2] * v[2]
        x = work.D[k] * rest
        qdd[k] = x
        w, v = add_scaled(w, x, S[0]), add_scaled(v, x, S[1])
    store6(work.A, i, (w, v))


@kernel
def respond_part(tree: Tree, work: TreeWork, begin: int, end: int, qdd: NDArray) -> None:
    """`respond` for the nodes begin ... end - 1: one or more whole trees."""
    for i in range(end - 1, begin - 1, -1):
        pass_down(tree, work, i)
    for i in range(begin, end):
        follow(tree, work, i, carried(tree, work.A, i, work), qdd)


@kernel
def respond(tree: Tree, work: TreeWork, qdd: NDArray) -> None:
    """H^-1 (u + sum of T^T F): response of rates and nodes to forces on both.

    Impulses give changes of velocity, forces accelerations from rest.

    Reads   work.F (k, 6) on the nodes, work.u (v,) on the rates; the factor
    Writes  qdd (v,); work.A (k, 6) of the nodes; work.F and u are spent
    Check   tests/engine/trees/test_identities.py
    """
    respond_part(tree, work, 0, tree.kind.shape[0], qdd)


@kernel
def gyroscopic_force(work: TreeWork, i: int) -> Spatial:
    """-(w x I w): what a free body would need to keep its angular velocity, the other way round."""
    w = load6(work.V, i)[0]
    return scale(-1.0, cross(w, sym_times(load_sym(work.I_W, i), w))), ZERO3


@kernel
def respond_moving(tree: Tree, work: TreeWork, qdd: NDArray) -> None:
    """Accelerations of a tree in motion: H qdd + C(q, qd) = u + sum of T^T F.

    Reads   work.F, u; work.V, velocity_product, I_W; the factor
    Writes  qdd (v,); work.A (k, 6); work.F and u are spent
    Source  Featherstone 2022, articulated-body algorithm, second and third pass
    Check   tests/engine/trees/test_identities.py
    """
    n = tree.kind.shape[0]
    for i in range(n - 1, -1, -1):
        add_to6(work.F, i, gyroscopic_force(work, i))
        parent = tree.parent[i]
        if parent >= 0:
            # the force of the parent produces the velocity-product acceleration of this node
            drag = force_of(load_articulated(work.IA, i), load6(work.velocity_product, i))
            add_to6(
                work.F,
                parent,
                (
                    scale(-1.0, add(drag[0], cross(load3(work.arm, i), drag[1]))),
                    scale(-1.0, drag[1]),
                ),
            )
        pass_down(tree, work, i)
    for i in range(n):
        a = add6(carried(tree, work.A, i, work), load6(work.velocity_product, i))
        follow(tree, work, i, a, qdd)
