"""Boxes and friction on squares or polygons as one linear complementarity problem, for Lemke.

    box, lo finite    x = lam - lo >= 0  _|_  w + nu >= 0,   nu >= 0  _|_  hi - lo - x >= 0
    box, hi only      x = hi - lam >= 0  _|_  -w >= 0
    normal            lam_n >= 0         _|_  w_n >= 0
    friction          beta >= 0          _|_  D^T w_t + e aux >= 0,        lam_t = D beta
                      aux >= 0           _|_  mu lam_n - e^T beta >= 0

D holds the directions d_k = (cos, sin)(2 pi k / directions) of a polygon, or +1 and -1 for each row
of a square and for spin; aux is the sliding speed. Variables are scaled by the square roots of the
diagonal, so that all have the unit sqrt(J).
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from cardan.engine.compiler.kernel import kernel
from cardan.engine.solvers.direct.dense_problem import DenseProblem, project_guess, write_velocities
from cardan.engine.solvers.pivoting.lemke import lemke
from cardan.engine.world.problem import FRICTION_POLYGON

if TYPE_CHECKING:
    from numpy.typing import NDArray

# kinds of variables other than directions of a polygon (0, 1, ...): lam of its row, or its
# negative; multiplier nu of an upper bound on the previous variable; aux of the previous directions
PLUS, MINUS, UPPER, AUXILIARY = -1, -2, -3, -4


@kernel
def most_variables(n_boxes: int, n_dependent: int, n_contacts: int, kind: int, dirs: int) -> int:
    """Largest number of variables for given numbers of boxes, dependent blocks and contacts."""
    pair = dirs + 1 if kind == FRICTION_POLYGON else 6
    return 2 * n_boxes + (3 + pair) * n_dependent + (1 + pair) * n_contacts


@kernel
def _add(basis: NDArray, n: int, row: int, what: int) -> int:
    """Record variable n; return n + 1."""
    basis[2, n] = row
    basis[3, n] = what
    return n + 1


@kernel
def _add_pair(dp: DenseProblem, basis: NDArray, n: int, row: int) -> int:
    """Variables of the rows row, row + 1, which lie within mu lam_n together."""
    if dp.friction_kind == FRICTION_POLYGON:
        for k in range(dp.directions):
            n = _add(basis, n, row, k)
        return _add(basis, n, row, AUXILIARY)
    return _add_single(basis, _add_single(basis, n, row), row + 1)


@kernel
def _add_single(basis: NDArray, n: int, row: int) -> int:
    """Variables of a row within mu lam_n alone."""
    n = _add(basis, _add(basis, n, row, PLUS), row, MINUS)
    return _add(basis, n, row, AUXILIARY)


@kernel
def write_variables(dp: DenseProblem, basis: NDArray) -> tuple[int, int]:
    """List the variables: boxes, all normals, then friction block by block.

    Writes  basis[2] row, basis[3] PLUS ...
    Returns the number of variables, and the index of the first normal
    """
    n = 0
    for i in range(dp.first_dependent):
        if dp.lo[i] == dp.hi[i]:
            continue
        if dp.lo[i] > -np.inf:
            n = _add(basis, n, i, PLUS)
            if dp.hi[i] < np.inf:
                n = _add(basis, n, i, UPPER)
        elif dp.hi[i] < np.inf:
            n = _add(basis, n, i, MINUS)
    first_normal = n
    for i in range(dp.n_box, dp.n, 3):
        n = _add(basis, n, i, PLUS)
    for i in range(dp.n_box, dp.n, 3):
        n = _add_pair(dp, basis, n, i + 1)
    for i in range(dp.first_dependent, dp.n_box, 3):
        n = _add_pair(dp, basis, _add_single(basis, n, i), i + 1)
    return n, first_normal


@kernel
def _diagonal(dp: DenseProblem, basis: NDArray, k: int) -> float:
    """Diagonal entry that scales variable k (polygon: the larger of two); 1 in place of 0."""
    row = basis[2, k]
    polygon = basis[3, k] >= 0
    if basis[3, k] == AUXILIARY:
        polygon = basis[3, k - 1] >= 0
    D = dp.scale[row]
    if polygon:
        D = max(D, dp.scale[row + 1])
    return D if D > 0.0 else 1.0


@kernel
def _weights(dp: DenseProblem, basis: NDArray, k: int) -> tuple[float, float]:
    """Coefficients of variable k in lam of its row and of the next row."""
    what = basis[3, k]
    size = 1.0 / sqrt(_diagonal(dp, basis, k))
    if what >= 0:
        angle = 2.0 * pi * what / dp.directions
        return size * cos(angle), size * sin(angle)
    if what == PLUS:
        return size, 0.0
    return (-size, 0.0) if what == MINUS else (0.0, 0.0)


@kernel
def _write_base(dp: DenseProblem) -> None:
    """Write lam where all variables are 0, and w there."""
    for i in range(dp.n):
        dp.lam[i] = 0.0
    for i in range(dp.first_dependent):
        if dp.lo[i] > -np.inf:
            dp.lam[i] = dp.lo[i]
        elif dp.hi[i] < np.inf:
            dp.lam[i] = dp.hi[i]
    write_velocities(dp)


@kernel
def _couple(dp: DenseProblem, T: NDArray, basis: NDArray, k: int, first_normal: int) -> None:
    """Write rows and columns of an UPPER or AUXILIARY variable k, a bound on the previous ones."""
    row = basis[2, k]
    j = k - 1
    while True:
        T[j, k] = 1.0
        T[k, j] = -1.0
        j -= 1
        if basis[3, k] == UPPER or j < 0 or basis[2, j] != row or basis[3, j] == AUXILIARY:
            break
    if basis[3, k] == AUXILIARY:
        contact = dp.normal[row] if row < dp.n_box else row - (row - dp.n_box) % 3
        normal = first_normal + (contact - dp.n_box) // 3
        T[k, normal] = dp.mu[row] * sqrt(_diagonal(dp, basis, k) / _diagonal(dp, basis, normal))


@kernel
def write_table(dp: DenseProblem, T: NDArray, basis: NDArray, n: int, first_normal: int) -> None:
    """Write the tableau of lemke() for the variables listed in basis.

    Writes  T (n, n + 2); dp.lam, dp.w
    """
    _write_base(dp)
    # the last two columns hold the weights until the others are written
    for k in range(n):
        T[k, n], T[k, n + 1] = _weights(dp, basis, k)
    for k in range(n):
        i = basis[2, k]
        for j in range(n):
            m = basis[2, j]
            value = 0.0
            if T[k, n] != 0.0:
                value += T[k, n] * dp.A[i, m] * T[j, n]
                if T[j, n + 1] != 0.0:
                    value += T[k, n] * dp.A[i, m + 1] * T[j, n + 1]
            if T[k, n + 1] != 0.0:
                value += T[k, n + 1] * dp.A[i + 1, m] * T[j, n]
                if T[j, n + 1] != 0.0:
                    value += T[k, n + 1] * dp.A[i + 1, m + 1] * T[j, n + 1]
            T[k, j] = value
    for k in range(n):
        i = basis[2, k]
        q = T[k, n] * dp.w[i]
        if T[k, n + 1] != 0.0:
            q += T[k, n + 1] * dp.w[i + 1]
        if basis[3, k] <= UPPER:
            _couple(dp, T, basis, k, first_normal)
            q = 0.0
        if basis[3, k] == UPPER:
            q = (dp.hi[i] - dp.lo[i]) * sqrt(_diagonal(dp, basis, k))
        T[k, n] = 1.0
        T[k, n + 1] = q


@kernel
def solve_polyhedral(dp: DenseProblem, T: NDArray, basis: NDArray) -> tuple[int, int]:
    """Solve by Lemke's method without a guess; return STOPPED_... and the number of pivots.

    The caller must ensure that the tableau has room (most_variables).

    Writes  dp.lam, dp.w; T, basis   scratch
    Source  Stewart and Trinkle 1996; Anitescu and Potra 1997.  Differs: boxes, scaling.
    Check   tests/engine/solvers/pivoting/test_polyhedral.py
    """
    n, first_normal = write_variables(dp, basis)
    write_table(dp, T, basis, n, first_normal)
    status, count = lemke(T, basis, n, 0, T[:0])
    for p in range(n):
        k = basis[0, p] - n
        if 0 <= k < n:
            x = max(T[p, n + 1], 0.0)
            c1, c2 = _weights(dp, basis, k)
            i = basis[2, k]
            dp.lam[i] += c1 * x
            if c2 != 0.0:
                dp.lam[i + 1] += c2 * x
    project_guess(dp)
    write_velocities(dp)
    return status, count
