"""Reactions of joints of trees, from the motion of their subtrees."""

from __future__ import annotations

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import Spatial, sym_times
from cardan.engine.spatial.quaternion import load4, rotate
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, cross, load3, scale, sub
from cardan.engine.trees.spatial_arrays import add_to6, load6, load_sym, store6
from cardan.engine.world.model import Joints
from cardan.engine.world.state import State
from cardan.engine.world.world import World


@kernel
def needed_force(world: World, i: int) -> Spatial:
    """Force on node i besides weight and wrenches: inertia times its acceleration in the step.

    The kick changed its velocity, free flight accelerates it (motion.bias_acceleration).
    """
    tree, state, motion = world.model.tree, world.state, world.work.motion
    h, body = world.clock.h[0], tree.body[i]
    if body < 0:
        return ZERO3, ZERO3
    w_old, v_old = load6(motion.velocity_old, body)
    w_new, v_new = load3(state.w_WB_W, body), load3(state.v_WB_W, body)
    turn, bias = load6(motion.bias_acceleration, body)
    torque, force = load6(motion.wrench, body)
    moments = load_sym(world.work.tree.I_W, i)
    w = scale(0.5, add(w_old, w_new))
    n = sym_times(moments, add(turn, scale(1.0 / h, sub(w_new, w_old))))
    n = sub(add(n, cross(w, sym_times(moments, w))), torque)
    g = load_gravity(state)
    a = sub(add(bias, scale(1.0 / h, sub(v_new, v_old))), g)
    return n, sub(scale(tree.mass[i], a), force)


@kernel
def take_rows(world: World, end: int) -> None:
    """Subtract the forces of the rows before `end` from those of joints."""
    tree, work, problem = world.model.tree, world.work.tree, world.work.problem
    h = world.clock.h[0]
    for i in range(end):
        lam = problem.lam[i]
        a, b = tree.node[problem.body_a[i]], tree.node[problem.body_b[i]]
        for k in range(6):
            if a >= 0:
                work.F[a, k] -= lam / h * problem.J_a[i, k]
            if b >= 0:
                work.F[b, k] -= lam / h * problem.J_b[i, k]


@kernel
def anchor_arm(joints: Joints, state: State, j: int, body: int) -> Vec3:
    """Vector from the anchor of joint j, which is its child's, to the origin of a body, W [m]."""
    child = joints.body_b[j]
    arm = rotate(load4(state.q_WB, child), load3(joints.anchor_B, j))
    return sub(sub(load3(state.p_WB, body), load3(state.p_WB, child)), arm)


@kernel
def write_reactions(world: World, shown: int) -> None:
    """Force and torque of every inner joint on its child, at its anchor, without its rows.

    shown: number of rows behind those of the problem that count, too

    Must be called in the middle of the step, after the kick; of smooth motion at any state
    (integrators/joint_forces.py).

    Writes  work.reaction (j, 6): torque, force, W; work.F (scratch)
    Check   tests/references/test_reduced_reactions.py
    """
    tree, work, joints = world.model.tree, world.work.tree, world.model.joints
    n_nodes = tree.kind.shape[0]
    for i in range(n_nodes):
        store6(work.F, i, needed_force(world, i))
    if n_nodes > 0:
        take_rows(world, world.work.problem.count[0] + shown)
    for i in range(n_nodes - 1, -1, -1):
        n, f = load6(work.F, i)
        j, body = tree.joint[i], tree.body[i]
        if j >= 0 and body >= 0:
            n_anchor = add(n, cross(anchor_arm(joints, world.state, j, body), f))
            on_child = 1.0 if joints.body_b[j] == body else -1.0
            store6(work.reaction, j, (scale(on_child, n_anchor), scale(on_child, f)))
        if tree.parent[i] >= 0:
            add_to6(work.F, tree.parent[i], (add(n, cross(load3(work.arm, i), f)), f))
