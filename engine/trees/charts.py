"""Charts: local coordinates with three numbers for an orientation.

A chart y has one number for every rate: increments of angles and displacements; for a ball and a
free root the rotation vector x of q = q_base exp(x), for a free root also its displacement in W.
Quaternions stay of unit length.

    dx/dt = w + x x w/2 + c x x (x x w),   c = 1/|x|^2 - (1 + cos|x|)/(2 |x| sin|x|)

for w in the node's own axes.

Source  Hairer, Lubich and Wanner 2006, "Geometric Numerical Integration", IV.7
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import multiply, rotate, unit
from cardan.engine.spatial.rotation import exponential
from cardan.engine.spatial.vec3 import Vec3, add_scaled, cross, dot
from cardan.engine.world.tree import NODE_BALL, NODE_FIXED, NODE_FREE, Tree


@kernel
def chart_derivative(x: Vec3, w: Vec3) -> Vec3:
    """dx/dt of a rotation vector x for the angular velocity w in body axes."""
    square = dot(x, x)
    if square < 1e-4:
        c = 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
    else:
        angle = math.sqrt(square)
        c = 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    turn = cross(x, w)
    return add_scaled(add_scaled(w, 0.5, turn), c, cross(x, turn))


@kernel
def place_chart(tree: Tree, base: NDArray, y: NDArray, q: NDArray) -> None:
    """Coordinates q at the point y of the chart around `base`."""
    for i in range(tree.kind.shape[0]):
        kind, k, v = tree.kind[i], tree.q_start[i], tree.v_start[i]
        if kind == NODE_FIXED:
            continue
        if kind not in (NODE_BALL, NODE_FREE):
            q[k] = base[k] + y[v]
            continue
        at = k + 3 if kind == NODE_FREE else k
        old = (base[at], base[at + 1], base[at + 2], base[at + 3])
        new = unit(multiply(old, exponential((y[v], y[v + 1], y[v + 2]))))
        q[at], q[at + 1], q[at + 2], q[at + 3] = new
        if kind == NODE_FREE:
            for c in range(3):
                q[k + c] = base[k + c] + y[v + 3 + c]


@kernel
def chart_derivatives(tree: Tree, q: NDArray, y: NDArray, qd: NDArray, out: NDArray) -> None:
    """dy/dt for rates qd, where the coordinates are q."""
    for i in range(tree.kind.shape[0]):
        kind, k, v = tree.kind[i], tree.q_start[i], tree.v_start[i]
        if kind == NODE_FIXED:
            continue
        if kind not in (NODE_BALL, NODE_FREE):
            out[v] = qd[v]
            continue
        w = (qd[v], qd[v + 1], qd[v + 2])
        out[v], out[v + 1], out[v + 2] = chart_derivative((y[v], y[v + 1], y[v + 2]), w)
        if kind == NODE_FREE:
            turn = (q[k + 3], q[k + 4], q[k + 5], q[k + 6])
            way = rotate(turn, (qd[v + 3], qd[v + 4], qd[v + 5]))
            out[v + 3], out[v + 4], out[v + 5] = way
