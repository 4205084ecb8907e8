"""Accelerations of trees in free flight, in as few traversals as possible.

A traversal from the roots computes poses and velocities; one to the roots eliminates rates from the
inertia and propagates forces; one from the roots computes accelerations. The last serves two
right-hand sides: the motion itself (accelerations without forces, H qdd + C(q, qd) = 0) and
gravity, which is equivalent to an upward acceleration of the ground and needs no forces.

Source  Featherstone 2022, articulated-body algorithm
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import ArticulatedInertia, Spatial, force_of
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, add_scaled, cross, load3, scale, sub
from cardan.engine.trees.articulated_inertia import (
    eliminate_node,
    follow,
    gyroscopic_force,
    pass_down,
    start_inertia,
    turn_inertia,
)
from cardan.engine.trees.kinematics import carried, move_node, place_node, velocity_product_of
from cardan.engine.trees.spatial_arrays import (
    add6,
    add_to6,
    load6,
    load_articulated,
    store6,
)
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def move_freely(tree: Tree, qd: NDArray, i: int, work: TreeWork) -> None:
    """Velocity of node i for rates qd, its velocity-product acceleration, and the gyroscopic force.

    Writes  work.V, velocity_product, F; u = 0 of its rates
    """
    move_node(tree, qd, i, work)
    store6(work.velocity_product, i, velocity_product_of(tree, qd, i, work))
    store6(work.F, i, gyroscopic_force(work, i))
    for k in range(tree.v_start[i], tree.v_start[i + 1]):
        work.u[k] = 0.0


@kernel
def pass_force(tree: Tree, work: TreeWork, i: int, rest: ArticulatedInertia) -> None:
    """Add the force of node i, less that of its velocity-product acceleration, to its parent.

    Reads   rest: inertia of node i after elimination of its rates
    """
    if tree.parent[i] >= 0:
        n, f = force_of(rest, load6(work.velocity_product, i))
        moment = add(n, cross(load3(work.arm, i), f))
        add_to6(work.F, tree.parent[i], (scale(-1.0, moment), scale(-1.0, f)))
    pass_down(tree, work, i)


@kernel
def factor_free_flight(tree: Tree, q: NDArray, qd: NDArray, work: TreeWork) -> None:
    """Compute poses and factor at coordinates q, and generalised forces for motion at rates qd.

    Writes  work.q_WB ... S, I_W, IA, U, D; V, velocity_product; u
    Check   tests/engine/trees/test_free_flight.py
    """
    n = tree.kind.shape[0]
    for i in range(n):
        place_node(tree, q, i, work)
        turn_inertia(tree, work, i)
        start_inertia(tree, work, i)
        move_freely(tree, qd, i, work)
    for i in range(n - 1, -1, -1):
        pass_force(tree, work, i, eliminate_node(tree, work, i, tree.armature))


@kernel
def fall_node(tree: Tree, work: TreeWork, i: int, above: Spatial) -> None:
    """Acceleration of node i by gravity, relative to free fall.

    Reads   above: acceleration of its parent at the node's origin
    Writes  work.fall of its rates, drop[i]
    """
    w, v = above
    for k in range(tree.v_start[i], tree.v_start[i + 1]):
        S, U = load6(work.S, k), load6(work.U, k)
        rest = U[0][0] * w[0] + U[0][1] * w[1] + U[0][2] * w[2]
        rest += U[1][0] * v[0] + U[1][1] * v[1] + U[1][2] * v[2]
        x = -work.D[k] * rest
        work.fall[k] = x
        w, v = add_scaled(w, x, S[0]), add_scaled(v, x, S[1])
    store6(work.drop, i, (w, v))


@kernel
def solve_free_flight(tree: Tree, work: TreeWork, gravity_W: Vec3) -> None:
    """Accelerations of rates and nodes in free flight, and those by gravity.

    Reads   work.u, velocity_product; the factor
    Writes  work.qdd (v,), A (k, 6): in free flight; work.fall (v,), drop (k, 6): by gravity alone,
            drop relative to free fall
    Check   tests/engine/trees/test_free_flight.py
    """
    for i in range(tree.kind.shape[0]):
        a = add6(carried(tree, work.A, i, work), load6(work.velocity_product, i))
        follow(tree, work, i, a, work.qdd)
        above = carried(tree, work.drop, i, work)
        if tree.parent[i] < 0:
            above = (ZERO3, sub(ZERO3, gravity_W))
        fall_node(tree, work, i, above)


@kernel
def repeat_free_flight(tree: Tree, qd: NDArray, work: TreeWork, t: int) -> None:
    """Accelerations of tree t in free flight at rates qd, with known poses and factor.

    Writes  work.qdd of its rates; V, velocity_product, A of its nodes
    Check   tests/engine/trees/test_free_flight.py
    """
    begin, end = tree.start[t], tree.start[t + 1]
    for i in range(begin, end):
        move_freely(tree, qd, i, work)
    for i in range(end - 1, begin - 1, -1):
        pass_force(tree, work, i, load_articulated(work.IA, i))
    for i in range(begin, end):
        a = add6(carried(tree, work.A, i, work), load6(work.velocity_product, i))
        follow(tree, work, i, a, work.qdd)
