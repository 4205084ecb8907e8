"""Jacobian of a point of a node, and its time derivative."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import times_vector
from cardan.engine.spatial.vec3 import Vec3, add, cross, load3, sub
from cardan.engine.trees.kinematics import load_matrix
from cardan.engine.trees.spatial_arrays import load6
from cardan.engine.world.tree import Tree, TreeWork


@kernel
def write_point_jacobian(tree: Tree, work: TreeWork, node: int, point_B: Vec3, J: NDArray) -> None:
    """J (6, v): angular velocity of a node and velocity of a point fixed in it, W, from the rates.

    Reads   work.S, p_WB, R; point_B from the node's origin, node axes
    Check   tests/engine/trees/test_jacobian.py
    """
    for r in range(6):
        for k in range(J.shape[1]):
            J[r, k] = 0.0
    arm = times_vector(load_matrix(work.R, node), point_B)
    i = node
    while i >= 0:
        for k in range(tree.v_start[i], tree.v_start[i + 1]):
            w, v = load6(work.S, k)
            v = add(v, cross(w, arm))
            for r in range(3):
                J[r, k] = w[r]
                J[3 + r, k] = v[r]
        arm = add(arm, load3(work.arm, i))
        i = tree.parent[i]


@kernel
def write_point_jacobian_rate(
    tree: Tree, work: TreeWork, node: int, point_B: Vec3, rate: NDArray
) -> None:
    """dJ/dt (6, v) of `write_point_jacobian`.

    S is constant in the axes of its own node and rotates with it; the point moves relative to the
    node's origin o:

        angular   w_i x s
        linear    w_i x S_v + (w_i x s) x (p - o_i) + s x (dp/dt - v_i)

    Reads   work.S, V, p_WB, R
    Check   tests/engine/trees/test_jacobian.py
    """
    for r in range(6):
        for k in range(rate.shape[1]):
            rate[r, k] = 0.0
    out = times_vector(load_matrix(work.R, node), point_B)
    p = add(load3(work.p_WB, node), out)
    w, v = load6(work.V, node)
    p_dot = add(v, cross(w, out))
    i = node
    while i >= 0:
        w, v = load6(work.V, i)
        arm, away = sub(p, load3(work.p_WB, i)), sub(p_dot, v)
        for k in range(tree.v_start[i], tree.v_start[i + 1]):
            s, s_v = load6(work.S, k)
            turn = cross(w, s)
            linear = add(cross(w, s_v), add(cross(turn, arm), cross(s, away)))
            for r in range(3):
                rate[r, k] = turn[r]
                rate[3 + r, k] = linear[r]
        i = tree.parent[i]
