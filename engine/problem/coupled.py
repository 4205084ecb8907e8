"""Constraints of several rows: a coupling of joints has one row for each of its terms.

A row has two bodies. The rows i, i + 1, ... of a coupling have one impulse, and one velocity:

    lam_i = lam_i+1 = ... = lam,    w = w_i + w_i+1 + ...

With P the matrix that repeats lam, the problem of the impulses is P^T A P: rows and columns of A
are added up. Whatever acts by the impulses of single rows takes them as those of any other row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.engine.compiler.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cardan.engine.world.problem import Problem


@kernel
def goes_on(problem: Problem, i: int) -> bool:
    """Whether row i is a further term of the coupling of row i - 1."""
    return 0 < i < problem.count[2] and problem.joint[i] == problem.joint[i - 1]


@kernel
def add_up(problem: Problem, x: NDArray) -> None:
    """Add x of all rows of a coupling to that of its first row; 0 remains for the others."""
    head = 0
    for i in range(problem.count[2]):
        if goes_on(problem, i):
            x[head] += x[i]
            x[i] = 0.0
        else:
            head = i


@kernel
def repeat(problem: Problem, x: NDArray) -> None:
    """Copy x of the first row of a coupling to its other rows."""
    for i in range(problem.count[2]):
        if goes_on(problem, i):
            x[i] = x[i - 1]


@kernel
def add_up_matrix(problem: Problem, order: NDArray, n: int, A: NDArray) -> None:
    """A <- P^T A P over the rows order[0:n]; rows and columns of further terms become 0.

    Rows of a coupling must follow each other in `order`.

    Writes  A (>= n, >= n)
    """
    head = 0
    for p in range(n):
        if not goes_on(problem, order[p]):
            head = p
            continue
        for q in range(n):
            A[head, q] += A[p, q]
        for q in range(n):
            A[q, head] += A[q, p]
        for q in range(n):
            A[p, q] = 0.0
            A[q, p] = 0.0
