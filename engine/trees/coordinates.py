"""Integration of joint coordinates from generalised velocities."""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import multiply, rotate, unit
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import Vec3, add_scaled, dot, scale
from cardan.engine.world.tree import NODE_BALL, NODE_FIXED, NODE_FREE, Tree


@kernel
def mean_velocity(w: Vec3, v: Vec3, h: float) -> Vec3:
    """Mean of a vector v that rotates with w over a time h, in the axes at half that time.

    The part normal to w is multiplied by sin x / x, x = h |w|/2; by its series below 1e-3.
    """
    square = dot(w, w)
    x2 = 0.25 * h * h * square
    if x2 < 1e-6:
        shrunk = 1.0 - x2 / 6.0 + x2 * x2 / 120.0
        loss = (0.25 * h * h) * (1.0 / 6.0 - x2 / 120.0)
    else:
        x = math.sqrt(x2)
        shrunk = math.sin(x) / x
        loss = (1.0 - shrunk) / square
    return add_scaled(scale(shrunk, v), loss * dot(w, v), w)


@kernel
def advance_node(tree: Tree, q: NDArray, qd: NDArray, i: int, h: float) -> None:
    """Advance the coordinates of node i by rates qd over h: exact for constant rates."""
    kind, k, v = tree.kind[i], tree.q_start[i], tree.v_start[i]
    if kind == NODE_FIXED:
        return
    if kind != NODE_BALL and kind != NODE_FREE:
        q[k] += h * qd[v]
        return
    turn = exponential(scale(h, (qd[v], qd[v + 1], qd[v + 2])))
    at = k + 3 if kind == NODE_FREE else k
    old = (q[at], q[at + 1], q[at + 2], q[at + 3])
    new = unit(multiply(old, turn))
    q[at], q[at + 1], q[at + 2], q[at + 3] = new
    if kind == NODE_FREE:
        # the velocity rotates with the body: its mean is that at half time, reduced normal to the
        # axis
        w = (qd[v], qd[v + 1], qd[v + 2])
        half = multiply(old, exponential(scale(0.5 * h, w)))
        mean = mean_velocity(w, (qd[v + 3], qd[v + 4], qd[v + 5]), h)
        new_p = add_scaled((q[k], q[k + 1], q[k + 2]), h, rotate(half, mean))
        q[k], q[k + 1], q[k + 2] = new_p


@kernel
def advance_coordinates(tree: Tree, q: NDArray, qd: NDArray, h: float) -> None:
    """Advance q by rates qd (any vector of rates) over a time h.

    Orientations move on the sphere of unit quaternions: q exp(h w).

    Writes  q
    Check   tests/engine/trees/test_kinematics.py
    """
    for i in range(tree.kind.shape[0]):
        advance_node(tree, q, qd, i, h)
