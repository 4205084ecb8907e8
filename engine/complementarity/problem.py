"""One problem for all classes: w = A x + b with boxes first, then friction contacts.

    box       lo <= x <= hi:  x on lo -> w >= 0, strictly inside -> w = 0, on hi -> w <= 0
    contact   x = (x_n, x_t), |x_t| <= mu x_n, normal first, 1 or 2 tangents:
              coulomb   K* contains (w_n + mu |w_t|, w_t), orthogonal to x: friction opposes sliding
              relaxed   K* contains w, orthogonal to x: the convex problem; what slides parts

A linear system is boxes without bounds; an LCP boxes with lo = 0; a mixed one some of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

# share of the largest |A_ij| by which a matrix may differ from its transpose and be symmetric
SYMMETRY = 1e-12


class ProblemError(ValueError):
    """An invalid problem; `where` is the argument at fault ("A", "b", "lo", ...)."""

    def __init__(self, where: str, message: str) -> None:
        """Store where and the message."""
        self.where = where
        super().__init__(f"{where}: {message}")


@dataclass(frozen=True)
class Complementarity:
    """A, b and the sets; made and checked by `problem`."""

    A: scipy.sparse.csr_matrix  # (n, n)
    b: Array  # (n,)
    lo: Array  # (n_box,)
    hi: Array  # (n_box,)
    mu: Array  # (n_contacts,)
    tangents: int = 2  # of every contact: 1 or 2
    relaxed: bool = False  # the convex relaxation instead of Coulomb's law

    @property
    def n(self) -> int:
        """Unknowns."""
        return len(self.b)

    @property
    def n_box(self) -> int:
        """Unknowns before the first contact."""
        return len(self.lo)

    @cached_property
    def dense(self) -> Array:
        """A in full."""
        return np.asarray(self.A.toarray())

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether A equals its transpose but for rounding."""
        largest = abs(self.A).max() if self.A.nnz else 0.0
        difference = abs(self.A - self.A.T)
        return bool(not difference.nnz or difference.max() <= SYMMETRY * largest)

    @cached_property
    def block_size(self) -> Array:
        """Per unknown: |A_ii|, of a contact the largest of its rows, never 0."""
        size = np.abs(self.A.diagonal())
        if len(self.mu):
            blocks = size[self.n_box :].reshape(len(self.mu), -1)
            size[self.n_box :] = np.repeat(blocks.max(axis=1), blocks.shape[1])
        return np.where(size > 0.0, size, 1.0)


def problem(
    A: Any,
    b: ArrayLike,
    lo: ArrayLike = (),
    hi: ArrayLike = (),
    mu: ArrayLike = (),
    *,
    tangents: int = 2,
    relaxed: bool = False,
) -> Complementarity:
    """A checked problem. Raises ProblemError.

    A (n, n) dense or sparse; b (n,); lo, hi (n_box,); mu (n_contacts,);
    n = n_box + n_contacts (1 + tangents)
    """
    rhs = vector("b", b)
    matrix = square_matrix("A", A, len(rhs))
    low, high = vector("lo", lo, infinite=True), vector("hi", hi, infinite=True)
    friction = vector("mu", mu)
    if len(low) != len(high):
        raise ProblemError("hi", f"has {len(high)} entries, `lo` has {len(low)}")
    wrong = np.flatnonzero(~(low <= high))
    if len(wrong):
        i = int(wrong[0])
        raise ProblemError("lo", f"entry {i} is {low[i]:g}, above `hi`, which is {high[i]:g}")
    if np.any(friction < 0.0):
        i = int(np.argmin(friction))
        raise ProblemError("mu", f"entry {i} is {friction[i]:g}; 0 or more is allowed")
    if tangents not in (1, 2):
        raise ProblemError("tangents", f"is {tangents}; 1 (plane) or 2 (space) is allowed")
    n = len(low) + (1 + tangents) * len(friction)
    if n != len(rhs):
        raise ProblemError("b", f"has {len(rhs)} entries; bounds and contacts ask for {n}")
    return Complementarity(matrix, rhs, low, high, friction, tangents, relaxed)


def vector(where: str, value: ArrayLike, *, infinite: bool = False) -> Array:
    """A vector of floats. Raises ProblemError."""
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ProblemError(where, f"is no vector of numbers: {error}") from error
    if out.ndim != 1:
        raise ProblemError(where, f"has {out.ndim} dimensions; a vector is needed")
    bad = np.isnan(out) if infinite else ~np.isfinite(out)
    if bad.any():
        i = int(np.argmax(bad))
        raise ProblemError(where, f"entry {i} is {out[i]}; a finite number is needed")
    return out


def any_matrix(where: str, value: Any) -> scipy.sparse.csr_matrix:
    """A matrix of finite floats, by its non-zeros. Raises ProblemError."""
    try:
        out = scipy.sparse.csr_matrix(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ProblemError(where, f"is no matrix of numbers: {error}") from error
    if not np.isfinite(out.data).all():
        raise ProblemError(where, "has entries that are not finite")
    out.sum_duplicates()
    return out


def square_matrix(where: str, value: Any, n: int) -> scipy.sparse.csr_matrix:
    """A matrix (n, n) by its non-zeros. Raises ProblemError."""
    if n == 0:
        return scipy.sparse.csr_matrix((0, 0))
    out = any_matrix(where, value)
    if out.shape != (n, n):
        raise ProblemError(where, f"has shape {out.shape}; {(n, n)} is needed")
    return out
