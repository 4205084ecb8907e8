"""Forward kinematics: poses, motion subspaces and velocities of nodes, in world axes."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import Spatial
from cardan.engine.spatial.mat3 import times_matrix, times_vector
from cardan.engine.spatial.quaternion import (
    IDENTITY,
    Quaternion,
    load4,
    multiply,
    nearly_unit,
    store4,
    unit,
)
from cardan.engine.spatial.rotation import Mat3, matrix, sine_cosine
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    cross,
    load3,
    negate,
    scale,
    store3,
    sub,
)
from cardan.engine.trees.spatial_arrays import add6, load6, store6, velocity_of_node
from cardan.engine.world.tree import (
    NODE_BALL,
    NODE_FREE,
    NODE_HINGE,
    NODE_SCREW,
    NODE_SLIDER,
    Tree,
    TreeWork,
)


@kernel
def joint_turn(tree: Tree, q: NDArray, i: int) -> Quaternion:
    """Orientation of node i in its parent."""
    kind, k = tree.kind[i], tree.q_start[i]
    turn = load4(tree.q_PB0, i)
    if kind in (NODE_HINGE, NODE_SCREW):
        (s, c), axis = sine_cosine(0.5 * q[k]), load3(tree.axis_B, i)
        return multiply(turn, (c, s * axis[0], s * axis[1], s * axis[2]))
    if kind == NODE_BALL:
        return multiply(turn, (q[k], q[k + 1], q[k + 2], q[k + 3]))
    if kind == NODE_FREE:
        return (q[k + 3], q[k + 4], q[k + 5], q[k + 6])
    return turn


@kernel
def turned_about(s: Vec3, angle: float) -> Mat3:
    """The rotation by an angle about a unit axis: cos 1 + sin [s x] + (1 - cos) s s^T.

    Source  Rodrigues 1840
    """
    n, c = sine_cosine(angle)
    x, y, z = (1.0 - c) * s[0], (1.0 - c) * s[1], (1.0 - c) * s[2]
    xy, xz, yz = x * s[1], x * s[2], y * s[2]
    a, b, d = n * s[0], n * s[1], n * s[2]
    return (
        (c + x * s[0], xy - d, xz + b),
        (xy + d, c + y * s[1], yz - a),
        (xz - b, yz + a, c + z * s[2]),
    )


@kernel
def turn_in_parent(tree: Tree, q: NDArray, i: int) -> Mat3:
    """Node axes -> parent axes."""
    kind, k = tree.kind[i], tree.q_start[i]
    q_PB0 = load4(tree.q_PB0, i)
    if kind in (NODE_HINGE, NODE_SCREW):
        turn = turned_about(load3(tree.axis_B, i), q[k])
        # most massless nodes have their parent's axes
        return turn if q_PB0[0] == 1.0 else times_matrix(matrix(q_PB0), turn)
    if kind == NODE_BALL:
        turned = unit((q[k], q[k + 1], q[k + 2], q[k + 3]))
        return times_matrix(matrix(q_PB0), matrix(turned))
    if kind == NODE_FREE:
        return matrix(unit((q[k + 3], q[k + 4], q[k + 5], q[k + 6])))
    return matrix(q_PB0)


@kernel
def joint_way(tree: Tree, q: NDArray, i: int) -> float:
    """Displacement of a slider or screw along its axis [m]."""
    kind = tree.kind[i]
    if kind == NODE_SLIDER:
        return q[tree.q_start[i]]
    if kind == NODE_SCREW:
        return tree.lead[i] * q[tree.q_start[i]]
    return 0.0


@kernel
def store_matrix(R: NDArray, i: int, M: Mat3) -> None:
    """Write a matrix into row i of an (n, 9) array."""
    for r in range(3):
        for c in range(3):
            R[i, 3 * r + c] = M[r][c]


@kernel
def load_matrix(R: NDArray, i: int) -> Mat3:
    """Row i of an (n, 9) array as a matrix."""
    return (
        (R[i, 0], R[i, 1], R[i, 2]),
        (R[i, 3], R[i, 4], R[i, 5]),
        (R[i, 6], R[i, 7], R[i, 8]),
    )


@kernel
def put_velocity(S: NDArray, k: int, w: Vec3, v: Vec3) -> None:
    """Column k of the motion subspaces."""
    for c in range(3):
        S[k, c] = w[c]
        S[k, 3 + c] = v[c]


@kernel
def write_subspace(tree: Tree, work: TreeWork, i: int, R: Mat3, from_anchor: Vec3) -> None:
    """S of node i: its velocity per unit of each rate.

        hinge    (s, s x e)        e from the anchor to the node's origin
        slider   (0, s)
        screw    (s, s x e + lead s)
        ball     the hinge for every axis of the node
        free     (x, 0) and (0, x) for every axis of the node

    Source  Featherstone 2022, motion subspaces
    Check   tests/engine/trees/test_kinematics.py
    """
    kind, k = tree.kind[i], tree.v_start[i]
    if kind in (NODE_BALL, NODE_FREE):
        for c in range(3):
            x = (R[0][c], R[1][c], R[2][c])
            if kind == NODE_BALL:
                put_velocity(work.S, k + c, x, cross(x, from_anchor))
            else:
                put_velocity(work.S, k + c, x, ZERO3)
                put_velocity(work.S, k + 3 + c, ZERO3, x)
        return
    s = times_vector(R, load3(tree.axis_B, i))
    if kind == NODE_HINGE:
        put_velocity(work.S, k, s, cross(s, from_anchor))
    elif kind == NODE_SLIDER:
        put_velocity(work.S, k, ZERO3, s)
    elif kind == NODE_SCREW:
        put_velocity(work.S, k, s, add_scaled(cross(s, from_anchor), tree.lead[i], s))


@kernel
def attach_node(tree: Tree, q: NDArray, i: int, R: Mat3, work: TreeWork) -> None:
    """Position, arm and subspace of node i from its axes and its parent's position."""
    parent = tree.parent[i]
    p_WP = ZERO3
    to_anchor = load3(tree.anchor_P, i)
    if parent >= 0:
        p_WP = load3(work.p_WB, parent)
        to_anchor = times_vector(load_matrix(work.R, parent), to_anchor)
    from_anchor = negate(times_vector(R, load3(tree.anchor_B, i)))
    arm = add(to_anchor, from_anchor)
    if tree.kind[i] in (NODE_SLIDER, NODE_SCREW):
        arm = add_scaled(arm, joint_way(tree, q, i), times_vector(R, load3(tree.axis_B, i)))
    if tree.kind[i] == NODE_FREE:
        k = tree.q_start[i]
        arm = (q[k], q[k + 1], q[k + 2])
    store_matrix(work.R, i, R)
    store3(work.arm, i, arm)
    store3(work.p_WB, i, add(p_WP, arm))
    write_subspace(tree, work, i, R, from_anchor)


@kernel
def place_node(tree: Tree, q: NDArray, i: int, work: TreeWork) -> None:
    """Pose and motion subspace of node i, from the pose of its parent."""
    parent = tree.parent[i]
    q_WP = load4(work.q_WB, parent) if parent >= 0 else IDENTITY
    q_WB = nearly_unit(multiply(q_WP, joint_turn(tree, q, i)))
    store4(work.q_WB, i, q_WB)
    attach_node(tree, q, i, matrix(q_WB), work)


@kernel
def write_places(tree: Tree, q: NDArray, work: TreeWork) -> None:
    """Poses and motion subspaces of all nodes.

    Writes  work.q_WB, R, p_WB, arm, S
    Check   tests/engine/trees/test_kinematics.py
    """
    for i in range(tree.kind.shape[0]):
        place_node(tree, q, i, work)


@kernel
def write_frames(tree: Tree, q: NDArray, work: TreeWork) -> None:
    """Write places as `write_places`, with rotation matrices instead of quaternions.

    Writes  work.R, p_WB, arm, S
    Check   tests/engine/trees/test_kinematics.py
    """
    for i in range(tree.kind.shape[0]):
        R, parent = turn_in_parent(tree, q, i), tree.parent[i]
        if parent >= 0:
            R = times_matrix(load_matrix(work.R, parent), R)
        attach_node(tree, q, i, R, work)


@kernel
def carried(tree: Tree, X: NDArray, i: int, work: TreeWork) -> Spatial:
    """Motion of node i by a motion X of its parent with a fixed joint."""
    parent = tree.parent[i]
    if parent < 0:
        return ZERO3, ZERO3
    w, v = load6(X, parent)
    return w, add(v, cross(w, load3(work.arm, i)))


@kernel
def move_node(tree: Tree, qd: NDArray, i: int, work: TreeWork) -> None:
    """V of node i: V = V_parent + S qd, at the node's origin."""
    store6(work.V, i, add6(carried(tree, work.V, i, work), velocity_of_node(tree, work.S, qd, i)))


@kernel
def write_velocities(tree: Tree, qd: NDArray, work: TreeWork) -> None:
    """V of all nodes.

    Reads   work.arm, S
    Writes  work.V
    Check   tests/engine/trees/test_kinematics.py
    """
    for i in range(tree.kind.shape[0]):
        move_node(tree, qd, i, work)


@kernel
def velocity_product_of(tree: Tree, qd: NDArray, i: int, work: TreeWork) -> Spatial:
    """Acceleration of node i relative to its parent at constant rates.

    With w_r the angular velocity relative to the parent, y the velocity along a slider's axis, d
    from the parent's origin to the anchor (moved by the joint), e from there to the node's origin:

        angular   w_P x w_r
        linear    w_P x (w_P x d) + 2 w_P x y + w x (w x e) + (w_P x w_r) x e
        free      (0, w x v)

    Reads   work.V, R, arm
    Source  Featherstone 2022, c = v x S qd, written at the node's origin
    Check   tests/engine/trees/test_identities.py
    """
    w, v = load6(work.V, i)
    kind, parent = tree.kind[i], tree.parent[i]
    if kind == NODE_FREE:
        return ZERO3, cross(w, v)
    w_P = ZERO3 if parent < 0 else load6(work.V, parent)[0]
    R = load_matrix(work.R, i)
    e = negate(times_vector(R, load3(tree.anchor_B, i)))
    d = sub(load3(work.arm, i), e)
    turning = cross(w_P, sub(w, w_P))
    linear = add(cross(w_P, cross(w_P, d)), cross(w, cross(w, e)))
    linear = add(linear, cross(turning, e))
    if kind in (NODE_SLIDER, NODE_SCREW):
        rate = qd[tree.v_start[i]]
        if kind == NODE_SCREW:
            rate *= tree.lead[i]
        along = scale(2.0 * rate, times_vector(R, load3(tree.axis_B, i)))
        linear = add(linear, cross(w_P, along))
    return turning, linear


@kernel
def write_velocity_products(tree: Tree, qd: NDArray, work: TreeWork) -> None:
    """Accelerations of all nodes relative to their parents at constant rates.

    Reads   work.V, R, arm
    Writes  work.velocity_product
    """
    for i in range(tree.kind.shape[0]):
        store6(work.velocity_product, i, velocity_product_of(tree, qd, i, work))
