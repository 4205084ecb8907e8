"""The equations of motion of Articulated Notes n.d., dense.

T^T M T qdd + T^T M T' qd + T^T (0, w x I w) = T^T f

Places are products of 4 x 4 matrices; their derivatives are the same products with the twist of a
rate put in between. Nothing is recursive and nothing is shared with the engine's algorithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from cardan.engine.world.tree import (
    NODE_BALL,
    NODE_FREE,
    NODE_HINGE,
    NODE_SCREW,
    NODE_SLIDER,
    Tree,
)

Array = np.ndarray


class Projected(NamedTuple):
    """What the projection gives."""

    H: Array  # (v, v) T^T M T
    bias: Array  # (v,) all that is not H qdd, at qd
    weight: Array  # (v,) T^T of the bodies' weights
    T: Array  # (k, 6, v) angular, linear of the origins
    V: Array  # (k, 6) T qd
    place: Array  # (k, 4, 4)


def rotation(q: Array) -> Array:
    w, x, y, z = q
    v = skew(np.array([x, y, z]))
    return np.eye(3) + 2.0 * w * v + 2.0 * v @ v


def skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def pose(R: Array, p: Array) -> Array:
    G = np.eye(4)
    G[:3, :3], G[:3, 3] = R, p
    return G


def twist(w: Array, v: Array) -> Array:
    G = np.zeros((4, 4))
    G[:3, :3], G[:3, 3] = skew(w), v
    return G


def twists(tree: Tree, i: int) -> list[Array]:
    """4 x 4 twists of the rates of node i, in the frame that has the joint behind it."""
    kind, s, zero = tree.kind[i], tree.axis_B[i], np.zeros(3)
    if kind == NODE_HINGE:
        return [twist(s, zero)]
    if kind == NODE_SLIDER:
        return [twist(zero, s)]
    if kind == NODE_SCREW:
        return [twist(s, tree.lead[i] * s)]
    if kind == NODE_BALL:
        return [twist(e, zero) for e in np.eye(3)]
    if kind == NODE_FREE:
        return [twist(e, zero) for e in np.eye(3)] + [twist(zero, e) for e in np.eye(3)]
    return []


def joint_place(tree: Tree, q: Array, i: int) -> Array:
    """What the coordinates of node i do, from the frame before the joint to the one behind it."""
    k, kind = tree.q_start[i], tree.kind[i]
    if kind == NODE_BALL:
        return pose(rotation(q[k : k + 4]), np.zeros(3))
    if kind == NODE_FREE:
        return pose(rotation(q[k + 3 : k + 7]), q[k : k + 3])
    found = twists(tree, i)
    return expm(q[k] * found[0]) if found else np.eye(4)


def chain(tree: Tree, q: Array, i: int) -> list[tuple[Array, int]]:
    """Matrices from W to node i; a number >= 0 says whose twist goes behind a matrix."""
    nodes = []
    while i >= 0:
        nodes.append(i)
        i = int(tree.parent[i])
    found = []
    for node in reversed(nodes):
        found.append((pose(rotation(tree.q_PB0[node]), tree.anchor_P[node]), -1))
        found.append((joint_place(tree, q, node), node))
        found.append((pose(np.eye(3), -tree.anchor_B[node]), -1))
    return found


def product_with(steps: list[tuple[Array, int]], inserted: dict[int, Array]) -> Array:
    """The product of all matrices, a matrix put in behind the joint of some nodes."""
    G = np.eye(4)
    for matrix, node in steps:
        G = G @ matrix
        if node in inserted:
            G = G @ inserted[node]
    return G


def motion_of(rate: Array, R: Array) -> Array:
    """(w, v) of dG = rate, [w x] = dR R^T."""
    W = rate[:3, :3] @ R.T
    return np.array([W[2, 1], W[0, 2], W[1, 0], *rate[:3, 3]])


def project(tree: Tree, q: Array, qd: Array, gravity: Array) -> Projected:
    n_nodes, n_rates = len(tree.kind), len(qd)
    H, bias, weight = np.zeros((n_rates, n_rates)), np.zeros(n_rates), np.zeros(n_rates)
    all_T, all_V = np.zeros((n_nodes, 6, n_rates)), np.zeros((n_nodes, 6))
    place = np.zeros((n_nodes, 4, 4))
    moving = {
        i: sum(
            (x * qd[tree.v_start[i] + c] for c, x in enumerate(twists(tree, i))), np.zeros((4, 4))
        )
        for i in range(n_nodes)
    }
    for i in range(n_nodes):
        steps = chain(tree, q, i)
        above = [node for _, node in steps if node >= 0]
        G = product_with(steps, {})
        R = G[:3, :3]
        T = all_T[i]
        for node in above:
            for c, x in enumerate(twists(tree, node)):
                T[:, tree.v_start[node] + c] = motion_of(product_with(steps, {node: x}), R)
        first = sum((product_with(steps, {a: moving[a]}) for a in above), np.zeros((4, 4)))
        second = np.zeros((4, 4))
        for a in above:
            for b in above:
                both = {a: moving[a], b: moving[b]} if a != b else {a: moving[a] @ moving[a]}
                second += product_with(steps, both)
        W = (second[:3, :3] @ R.T) - (first[:3, :3] @ R.T) @ (first[:3, :3] @ R.T)
        drift = np.array([W[2, 1], W[0, 2], W[1, 0], *second[:3, 3]])
        V = T @ qd
        moments = tree.inertia_B[i]
        xx, yy, zz, xy, xz, yz = moments
        I_W = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = I_W, tree.mass[i] * np.eye(3)
        spin = np.concatenate([np.cross(V[:3], I_W @ V[:3]), np.zeros(3)])
        H += T.T @ M @ T
        bias += T.T @ (M @ drift + spin)
        weight += T.T[:, 3:] @ (tree.mass[i] * gravity)
        all_V[i], place[i] = V, G
    return Projected(H, bias, weight, all_T, all_V, place)
