"""Spatial vectors of nodes in arrays of six, angular part first."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.inertia import ArticulatedInertia, Spatial, Sym3
from cardan.engine.spatial.vec3 import add
from cardan.engine.world.tree import Tree


@kernel
def load6(X: NDArray, i: int) -> Spatial:
    """Row i of an (n, 6) array."""
    return (X[i, 0], X[i, 1], X[i, 2]), (X[i, 3], X[i, 4], X[i, 5])


@kernel
def store6(X: NDArray, i: int, x: Spatial) -> None:
    """Write row i of an (n, 6) array."""
    X[i, 0], X[i, 1], X[i, 2] = x[0]
    X[i, 3], X[i, 4], X[i, 5] = x[1]


@kernel
def add6(a: Spatial, b: Spatial) -> Spatial:
    """a + b."""
    return add(a[0], b[0]), add(a[1], b[1])


@kernel
def add_to6(X: NDArray, i: int, x: Spatial) -> None:
    """X[i] += x."""
    for c in range(3):
        X[i, c] += x[0][c]
        X[i, 3 + c] += x[1][c]


@kernel
def load_sym(X: NDArray, i: int) -> Sym3:
    """Row i of an (n, 6) array as a symmetric matrix."""
    return (X[i, 0], X[i, 1], X[i, 2], X[i, 3], X[i, 4], X[i, 5])


@kernel
def load_articulated(X: NDArray, i: int) -> ArticulatedInertia:
    """Row i of an (n, 21) array."""
    return (
        (X[i, 0], X[i, 1], X[i, 2], X[i, 3], X[i, 4], X[i, 5]),
        (
            (X[i, 6], X[i, 7], X[i, 8]),
            (X[i, 9], X[i, 10], X[i, 11]),
            (X[i, 12], X[i, 13], X[i, 14]),
        ),
        (X[i, 15], X[i, 16], X[i, 17], X[i, 18], X[i, 19], X[i, 20]),
    )


@kernel
def add_articulated(X: NDArray, i: int, inertia: ArticulatedInertia) -> None:
    """X[i] += an articulated inertia."""
    A, B, C = inertia
    for k in range(6):
        X[i, k] += A[k]
        X[i, 15 + k] += C[k]
    for r in range(3):
        for c in range(3):
            X[i, 6 + 3 * r + c] += B[r][c]


@kernel
def store_articulated(X: NDArray, i: int, inertia: ArticulatedInertia) -> None:
    """Write row i of an (n, 21) array."""
    A, B, C = inertia
    for k in range(6):
        X[i, k] = A[k]
        X[i, 15 + k] = C[k]
    for r in range(3):
        for c in range(3):
            X[i, 6 + 3 * r + c] = B[r][c]


@kernel
def dot6(X: NDArray, i: int, Y: NDArray, j: int) -> float:
    """Product of two rows of six."""
    total = X[i, 0] * Y[j, 0]
    for c in range(1, 6):
        total += X[i, c] * Y[j, c]
    return total


@kernel
def velocity_of_node(tree: Tree, S: NDArray, qd: NDArray, i: int) -> Spatial:
    """S qd of node i."""
    x0, x1, x2, x3, x4, x5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(tree.v_start[i], tree.v_start[i + 1]):
        rate = qd[k]
        x0 += S[k, 0] * rate
        x1 += S[k, 1] * rate
        x2 += S[k, 2] * rate
        x3 += S[k, 3] * rate
        x4 += S[k, 4] * rate
        x5 += S[k, 5] * rate
    return (x0, x1, x2), (x3, x4, x5)
