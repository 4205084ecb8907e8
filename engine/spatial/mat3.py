"""3 x 3 matrices as tuples of three rows."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3


@kernel
def times_vector(A: Mat3, v: Vec3) -> Vec3:
    """A v."""
    return (
        A[0][0] * v[0] + A[0][1] * v[1] + A[0][2] * v[2],
        A[1][0] * v[0] + A[1][1] * v[1] + A[1][2] * v[2],
        A[2][0] * v[0] + A[2][1] * v[1] + A[2][2] * v[2],
    )


@kernel
def transposed(E: Mat3) -> Mat3:
    """E^T."""
    return (
        (E[0][0], E[1][0], E[2][0]),
        (E[0][1], E[1][1], E[2][1]),
        (E[0][2], E[1][2], E[2][2]),
    )


@kernel
def times_matrix(A: Mat3, B: Mat3) -> Mat3:
    """A B."""
    T = transposed(B)
    return (times_vector(T, A[0]), times_vector(T, A[1]), times_vector(T, A[2]))


@kernel
def load33(array: NDArray, i: int) -> Mat3:
    """Element i of an (n, 3, 3) array as rows."""
    return (
        (array[i, 0, 0], array[i, 0, 1], array[i, 0, 2]),
        (array[i, 1, 0], array[i, 1, 1], array[i, 1, 2]),
        (array[i, 2, 0], array[i, 2, 1], array[i, 2, 2]),
    )


@kernel
def turned_back(array: NDArray, i: int, column: int, x: Vec3) -> Vec3:
    """R^T x for the matrix R that begins, row by row, in a column of row i."""
    a, k = array, column
    return (
        a[i, k] * x[0] + a[i, k + 3] * x[1] + a[i, k + 6] * x[2],
        a[i, k + 1] * x[0] + a[i, k + 4] * x[1] + a[i, k + 7] * x[2],
        a[i, k + 2] * x[0] + a[i, k + 5] * x[1] + a[i, k + 8] * x[2],
    )


@kernel
def store33(array: NDArray, i: int, A: Mat3) -> None:
    """Write rows into element i of an (n, 3, 3) array."""
    for k in range(3):
        array[i, 0, k] = A[0][k]
        array[i, 1, k] = A[1][k]
        array[i, 2, k] = A[2][k]


@kernel
def store_congruent(R: Mat3, S: Mat3, array: NDArray, i: int) -> None:
    """array[i] = R S R^T for a symmetric S."""
    T = (
        times_vector(S, R[0]),
        times_vector(S, R[1]),
        times_vector(S, R[2]),
    )
    for j in range(3):
        for k in range(j + 1):
            r = R[j]
            t = T[k]
            value = r[0] * t[0] + r[1] * t[1] + r[2] * t[2]
            array[i, j, k] = value
            array[i, k, j] = value


@kernel
def inverse_symmetric(S: Mat3) -> Mat3:
    """S^-1 of a symmetric positive definite S, by its cofactors."""
    a = S[1][1] * S[2][2] - S[1][2] * S[1][2]
    b = S[0][2] * S[1][2] - S[0][1] * S[2][2]
    c = S[0][1] * S[1][2] - S[0][2] * S[1][1]
    f = 1.0 / (S[0][0] * a + S[0][1] * b + S[0][2] * c)
    d = S[0][0] * S[2][2] - S[0][2] * S[0][2]
    e = S[0][1] * S[0][2] - S[0][0] * S[1][2]
    g = S[0][0] * S[1][1] - S[0][1] * S[0][1]
    return ((f * a, f * b, f * c), (f * b, f * d, f * e), (f * c, f * e, f * g))
