"""The proof that a problem has no solution: a y that contradicts its linear part (Farkas).

Any solution has x in X (bounds, cones) and w = A x + b in W, where W holds what the law allows:

    no bounds     w = 0                  lower bound only   w >= 0
    both bounds   any w                  upper bound only   w <= 0
    contact       w_n >= 0; of the relaxation w in the dual cone K*

Let y be such that y w >= 0 for every w of W. If

    sup over x in X of  y (A x + b) = y b + sup (A^T y) x  < 0

then no x of X has its w in W: there is no solution, whatever the matrix. A monotone problem of
boxes without such a y has a solution, so there the search for y decides. Of problems that are not
monotone it finds those whose linear part is infeasible; the others stay undecided.

Rounding: y counts where a matrix that differs from A in no entry by more than SLOPE of it makes the
supremum finite, and where it is negative by more than MARGIN of sum |y_i b_i|, which is the share
of b that a solution may miss.

Source  Cottle, Pang and Stone 2009, 2.7.9 and 3.1.2
"""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse

from cardan.engine.complementarity.problem import Array, Complementarity, Mask

SLOPE, MARGIN = 1e-12, 1e-9
# directions of the plane by which cones are approached from inside
DIRECTIONS = 16
# entries of y and A^T y below this share of the largest are zeros of the linear program
ZERO = 1e-7


def excess(problem: Complementarity, y: Array) -> float:
    """Supremum of y (A x + b) over x in X as a share of sum |y_i b_i|; inf: y proves nothing.

    Below 0 there is no solution.

    Check   tests/engine/complementarity/test_certificate.py
    """
    if not _signs_fit(problem, y):
        return np.inf
    slope = np.asarray(problem.A.T @ y)
    size = np.asarray(abs(problem.A).T @ np.abs(y))
    slope = np.where(np.abs(slope) <= SLOPE * size, 0.0, slope)
    n_box = problem.n_box
    box = slope[:n_box]
    bound = np.where(box > 0.0, problem.hi, problem.lo)
    total = float(y @ problem.b) + float(np.sum(box[box != 0.0] * bound[box != 0.0]))
    if len(problem.mu):
        # (A^T y) x <= 0 on all of K: -A^T y in K*
        block, sizes = (part[n_box:].reshape(len(problem.mu), -1) for part in (slope, size))
        friction = problem.mu * np.sqrt(np.sum(block[:, 1:] ** 2, axis=1))
        if np.any(block[:, 0] + friction > SLOPE * sizes.max(axis=1)):
            return np.inf
    return total / max(float(np.abs(y) @ np.abs(problem.b)), 1e-300)


def _signs_fit(problem: Complementarity, y: Array) -> bool:
    """Whether y w >= 0 for every w that the law allows."""
    least, most = _signs(problem)
    if np.any(y < least) or np.any(y > most):
        return False
    if not (problem.relaxed and len(problem.mu)):
        return True
    block = y[problem.n_box :].reshape(len(problem.mu), -1)
    return bool(np.all(np.sqrt(np.sum(block[:, 1:] ** 2, axis=1)) <= problem.mu * block[:, 0]))


def _signs(problem: Complementarity) -> tuple[Array, Array]:
    """Least and largest y: 0 or 1 in size."""
    low, high = np.isfinite(problem.lo), np.isfinite(problem.hi)
    least, most = np.zeros(problem.n), np.zeros(problem.n)
    least[: problem.n_box] = np.where(low, 0.0, -1.0)
    most[: problem.n_box] = np.where(high, 0.0, 1.0)
    for k in range(problem.tangents + 1):
        rows = slice(problem.n_box + k, None, problem.tangents + 1)
        most[rows] = float(k == 0 or problem.relaxed)
        least[rows] = -float(k > 0 and problem.relaxed)
    return least, most


def infeasibility(problem: Complementarity) -> Array | None:
    """y (n,) which proves that there is no solution, the largest |y_i| 1; None: none was found.

    Check   tests/engine/complementarity/test_certificate.py
    """
    if not np.any(problem.b) and not np.any(np.clip(0.0, problem.lo, problem.hi)):
        # x = 0
        return None
    for y in (_of_equations(problem), _of_program(problem)):
        if y is not None and excess(problem, y) < -MARGIN:
            return y
    return None


def _of_equations(problem: Complementarity) -> Array | None:
    """Where all rows are equations: what their least squares leave, orthogonal to every A x."""
    if len(problem.mu) or np.isfinite(problem.lo).any() or np.isfinite(problem.hi).any():
        return None
    A, left = problem.dense, problem.b
    for _ in range(2):
        left = left - A @ np.linalg.lstsq(A, left, rcond=None)[0]
    largest = np.abs(left).max(initial=0.0)
    return -left / largest if largest > 0.0 else None


def _of_program(problem: Complementarity) -> Array | None:
    """The y of least supremum, by a linear program on rows and columns of like size.

    minimise  y b + hi p - lo m   with  A^T y = p - m on boxes, -A^T y in K* on contacts

    p, m >= 0, and 0 where the bound is infinite.
    """
    n, n_box = problem.n, problem.n_box
    row, column = _scales(problem)
    A = scipy.sparse.diags(row) @ problem.A @ scipy.sparse.diags(column)
    size = max(float(np.abs(row * problem.b).max(initial=0.0)), 1e-300)
    lo, hi = problem.lo / column[:n_box] / size, problem.hi / column[:n_box] / size
    cost = np.concatenate(
        [
            row * problem.b / size,
            np.where(np.isfinite(hi), hi, 0),
            -np.where(np.isfinite(lo), lo, 0),
        ]
    )
    split = scipy.sparse.identity(n_box, format="csr")
    equal = scipy.sparse.hstack([A.T.tocsr()[:n_box], -split, split], format="csr")
    least, most = _signs(problem)
    bounds = np.concatenate(
        [
            np.column_stack([least, most]),
            np.column_stack([np.zeros(n_box), np.where(np.isfinite(hi), np.inf, 0.0)]),
            np.column_stack([np.zeros(n_box), np.where(np.isfinite(lo), np.inf, 0.0)]),
        ]
    )
    cones = _cone_rows(problem, A)
    found = scipy.optimize.linprog(
        cost,
        A_ub=None
        if cones is None
        else scipy.sparse.hstack([cones, scipy.sparse.csr_matrix((cones.shape[0], 2 * n_box))]),
        b_ub=None if cones is None else np.zeros(cones.shape[0]),
        A_eq=equal if n_box else None,
        b_eq=np.zeros(n_box) if n_box else None,
        bounds=bounds,
        method="highs",
        options={"maxiter": 20 * n + 1000},
    )
    if found.x is None or not found.fun < 0.0:
        return None
    y = _refined(problem, row * found.x[:n])
    largest = np.abs(y).max(initial=0.0)
    return y / largest if largest > 0.0 else None


def _scales(problem: Complementarity) -> tuple[Array, Array]:
    """Factors of rows and columns by which the largest entries become 1; contacts share theirs."""
    size = abs(problem.A)
    row = _inverse(_shared(problem, np.asarray(size.max(axis=1).toarray()).ravel()))
    scaled = scipy.sparse.diags(row) @ size
    column = _inverse(_shared(problem, np.asarray(scaled.tocsr().max(axis=0).toarray()).ravel()))
    return row, column


def _shared(problem: Complementarity, size: Array) -> Array:
    """Sizes with the largest of every contact in place of each of its rows."""
    out = size.copy()
    if len(problem.mu):
        blocks = out[problem.n_box :].reshape(len(problem.mu), -1)
        out[problem.n_box :] = np.repeat(blocks.max(axis=1), blocks.shape[1])
    return out


def _inverse(size: Array) -> Array:
    return np.asarray(1.0 / np.where(size > 0.0, size, 1.0))


def _cone_rows(
    problem: Complementarity, A: scipy.sparse.csr_matrix
) -> scipy.sparse.csr_matrix | None:
    """Rows R with R y <= 0 only where -A^T y lies in K* and, of the relaxation, y in K."""
    if not len(problem.mu):
        return None
    size = 1 + problem.tangents
    if problem.tangents == 1:
        directions, reach = np.array([[1.0], [-1.0]]), 1.0
    else:
        angle = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
        reach = 1.0 / np.cos(np.pi / DIRECTIONS)
    k, n_contacts = len(directions), len(problem.mu)
    # slope_n + mu d slope_t <= 0
    slopes = np.zeros((n_contacts, k, size))
    slopes[:, :, 0] = 1.0
    slopes[:, :, 1:] = reach * problem.mu[:, None, None] * directions
    blocks = [scipy.sparse.block_diag(list(slopes)) @ A.T.tocsr()[problem.n_box :]]
    if problem.relaxed:
        # d y_t - mu y_n <= 0
        cones = np.zeros((n_contacts, k, size))
        cones[:, :, 0] = -problem.mu[:, None]
        cones[:, :, 1:] = reach * directions
        none = scipy.sparse.csr_matrix((n_contacts * k, problem.n_box))
        blocks.append(scipy.sparse.hstack([none, scipy.sparse.block_diag(list(cones))]))
    return scipy.sparse.vstack(blocks, format="csr")


def _refined(problem: Complementarity, y: Array) -> Array:
    """y with rounding taken off: its zeros, and those of A^T y, made exact by least squares."""
    y = np.where(np.abs(y) > ZERO * np.abs(y).max(initial=0.0), y, 0.0)
    kept = np.flatnonzero(y)
    size = np.asarray(abs(problem.A).T @ np.abs(y))
    zero = _zeros(problem, np.abs(problem.A.T @ y) <= ZERO * size)
    block = problem.A[kept][:, np.flatnonzero(zero)].toarray().T
    if not block.size:
        return y
    for _ in range(2):
        y[kept] -= np.linalg.lstsq(block, block @ y[kept], rcond=None)[0]
    least, most = _signs(problem)
    largest = np.abs(y).max(initial=0.0)
    return np.clip(y, least * largest, most * largest)


def _zeros(problem: Complementarity, small: Mask) -> Mask:
    """Small entries of A^T y that must be zero: of boxes with an infinite bound, of cones."""
    out = small.copy()
    out[: problem.n_box] &= np.isinf(problem.lo) | np.isinf(problem.hi)
    return out
