"""Velocities v = v_free + M^-1 J^T lam after the kick, and warm-start data for the next step."""

from __future__ import annotations

from cardan.engine.bodies.asleep import is_asleep
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import ZERO3, store3
from cardan.engine.trees.impulses import apply_tree_impulses
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.world import World


@kernel
def apply_impulses(world: World) -> None:
    """Write the velocities after the kick.

    Reads   motion.scratch, where solve_islands left M^-1 J^T lam
    Writes  state.v_WB_W, w_WB_W, tree_qd
    Check   tests/engine/problem/test_assemble.py
    """
    bodies, state, motion = world.model.bodies, world.state, world.work.motion
    free, v = motion.velocity_free, motion.scratch
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC and bodies.node[i] < 0:
            for k in range(3):
                state.w_WB_W[i, k] = free[i, k] + v[i, k]
                state.v_WB_W[i, k] = free[i, 3 + k] + v[i, 3 + k]
    apply_tree_impulses(world)


@kernel
def forget_impulses(world: World) -> None:
    """Clear stored impulses of all joints, except those between sleeping bodies."""
    bodies, joints, state = world.model.bodies, world.model.joints, world.state
    for j in range(joints.kind.shape[0]):
        if not is_asleep(bodies.kind, joints.body_a[j], joints.body_b[j]):
            for slot in range(state.joint_lam.shape[1]):
                state.joint_lam[j, slot] = 0.0


@kernel
def store_warm_start(world: World) -> None:
    """Store impulses as warm start of the next step, by joint slot and by contact (in W)."""
    rows, problem, contacts = world.work.rows, world.work.problem, world.work.contacts
    state = world.state
    n_box = rows.count[1]
    for i in range(n_box):
        if rows.joint[i] >= 0:
            state.joint_lam[rows.joint[i], rows.slot[i]] = problem.lam[i]
    J = rows.J_b
    for c in range(contacts.count[0]):
        row = n_box + 3 * c
        x, y, z = problem.lam[row], problem.lam[row + 1], problem.lam[row + 2]
        store3(contacts.moment_W, c, ZERO3)
        push = ZERO3
        if x != 0.0 or y != 0.0 or z != 0.0:
            push = (
                x * J[row, 3] + y * J[row + 1, 3] + z * J[row + 2, 3],
                x * J[row, 4] + y * J[row + 1, 4] + z * J[row + 2, 4],
                x * J[row, 5] + y * J[row + 1, 5] + z * J[row + 2, 5],
            )
        store3(contacts.impulse_W, c, push)
    for i in range(n_box):
        if rows.normal_row[i] >= 0:
            for k in range(3):
                contacts.moment_W[rows.slot[i], k] += rows.J_b[i, k] * problem.lam[i]
