"""Forces from accelerations: the recursive Newton-Euler algorithm, in the nodes' own axes."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import sym_times
from cardan.engine.spatial.mat3 import times_vector, transposed
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    negate,
    scale,
    slice3,
    sub,
)
from cardan.engine.trees.kinematics import load_matrix, store_matrix, turn_in_parent
from cardan.engine.trees.spatial_arrays import add_to6, load6, load_sym, store6
from cardan.engine.world.tree import (
    NODE_BALL,
    NODE_FIXED,
    NODE_FREE,
    NODE_HINGE,
    NODE_SCREW,
    NODE_SLIDER,
    Tree,
    TreeWork,
)


@kernel
def accelerate_node(
    tree: Tree, q: NDArray, qd: NDArray, qdd: NDArray, i: int, ground: Vec3, work: TreeWork
) -> None:
    """Angular velocity and accelerations of node i, in its axes, from its parent's.

    Writes  work.R (node axes -> parent axes), arm (in the parent's axes), V (angular part), A
    """
    kind, k, parent = tree.kind[i], tree.v_start[i], tree.parent[i]
    R = turn_in_parent(tree, q, i)
    store_matrix(work.R, i, R)
    back = transposed(R)
    e = negate(load3(tree.anchor_B, i))
    d = load3(tree.anchor_P, i)
    s = load3(tree.axis_B, i)
    rate, change, way, slide, slide_change = ZERO3, ZERO3, 0.0, 0.0, 0.0
    if kind in (NODE_HINGE, NODE_SCREW):
        rate, change = scale(qd[k], s), scale(qdd[k], s)
    elif kind == NODE_BALL:
        rate, change = slice3(qd, k), slice3(qdd, k)
    if kind in (NODE_SLIDER, NODE_SCREW):
        lead = 1.0 if kind == NODE_SLIDER else tree.lead[i]
        way = lead * q[tree.q_start[i]]
        slide, slide_change = lead * qd[k], lead * qdd[k]
        d = add_scaled(d, way, times_vector(R, s))
    if parent >= 0:
        w_P = load6(work.V, parent)[0]
        turn_P, a_P = load6(work.A, parent)
    else:
        w_P, turn_P, a_P = ZERO3, ZERO3, ground
    at_anchor = add(a_P, add(cross(turn_P, d), cross(w_P, cross(w_P, d))))
    w_P = times_vector(back, w_P)
    w = add(w_P, rate)
    turn = add(add(times_vector(back, turn_P), change), cross(w_P, rate))
    a = add(times_vector(back, at_anchor), add(cross(turn, e), cross(w, cross(w, e))))
    if slide != 0.0 or slide_change != 0.0:
        a = add(a, add_scaled(scale(2.0 * slide, cross(w_P, s)), slide_change, s))
    if kind == NODE_FREE:
        w = slice3(qd, k)
        turn = slice3(qdd, k)
        a = add(times_vector(back, ground), add(slice3(qdd, k + 3), cross(w, slice3(qd, k + 3))))
    store6(work.V, i, (w, ZERO3))
    store6(work.A, i, (turn, a))
    arm = add(d, times_vector(R, e))
    for c in range(3):
        work.arm[i, c] = arm[c]


@kernel
def project_force(tree: Tree, work: TreeWork, i: int, tau: NDArray) -> None:
    """tau = S^T F of node i: the joint force of its own rates."""
    kind, k = tree.kind[i], tree.v_start[i]
    if kind == NODE_FIXED:
        return
    n, f = load6(work.F, i)
    if kind == NODE_FREE:
        for c in range(3):
            tau[k + c] = n[c]
            tau[k + 3 + c] = f[c]
        return
    about_anchor = sub(n, cross(load3(tree.anchor_B, i), f))
    if kind == NODE_BALL:
        for c in range(3):
            tau[k + c] = about_anchor[c]
        return
    s = load3(tree.axis_B, i)
    if kind == NODE_SLIDER:
        tau[k] = dot(s, f)
    else:
        tau[k] = dot(s, about_anchor)
        if kind == NODE_SCREW:
            tau[k] += tree.lead[i] * dot(s, f)


@kernel
def inverse_dynamics(
    tree: Tree,
    q: NDArray,
    qd: NDArray,
    qdd: NDArray,
    gravity_W: Vec3,
    work: TreeWork,
    tau: NDArray,
) -> None:
    """Joint forces tau (v,) that produce the accelerations qdd (v,) of a tree.

        outwards   w, dw/dt, a of every node in its own axes; gravity as acceleration of the ground
        n = I dw/dt + w x I w,   f = m a
        inwards    tau = S^T F + armature qdd,   F_parent += F

    With qd = 0 and gravity 0 this is H qdd; with qdd = 0 it is C(q, qd).

    Writes  tau; work.R, arm, V, A, F in the nodes' own axes (not those of the other algorithms);
            work.F[i] is the force of the joint of node i on it
    Source  Luh, Walker and Paul 1980; Featherstone 2022
    Check   tests/engine/trees/test_identities.py
    """
    n_nodes = tree.kind.shape[0]
    ground = negate(gravity_W)
    for i in range(n_nodes):
        accelerate_node(tree, q, qd, qdd, i, ground, work)
        w = load6(work.V, i)[0]
        turn, a = load6(work.A, i)
        moments = load_sym(tree.inertia_B, i)
        n = add(sym_times(moments, turn), cross(w, sym_times(moments, w)))
        store6(work.F, i, (n, scale(tree.mass[i], a)))
    for i in range(n_nodes - 1, -1, -1):
        project_force(tree, work, i, tau)
        parent = tree.parent[i]
        if parent >= 0:
            R = load_matrix(work.R, i)
            n, f = load6(work.F, i)
            f = times_vector(R, f)
            add_to6(work.F, parent, (add(times_vector(R, n), cross(load3(work.arm, i), f)), f))
    for k in range(qdd.shape[0]):
        tau[k] += tree.armature[k] * qdd[k]
