"""A of a problem as a matrix, written row by row: what operators and factors are compared with."""

from __future__ import annotations

import numpy as np

from cardan.engine.problem.operator import write_matrix
from cardan.engine.world.problem import Dense, Problem


def dense_matrix(problem: Problem, dense: Dense) -> None:
    """dense.S[0:n_rows, 0:n_rows] = A in the order of the rows; the caller knows that it fits."""
    n = int(problem.count[0])
    order = dense.indices[0]
    order[:n] = np.arange(n)
    write_matrix(problem, order, n, dense.S, dense.indices[1:3])
