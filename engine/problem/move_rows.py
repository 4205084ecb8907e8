"""A row of the kick moved to another place."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.problem.operator import copy_geometry
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import Rows


@kernel
def move_row(rows: Rows, problem: Problem, i: int, k: int) -> None:
    """Copy row i to place k, of the rows and of the problem that shares their arrays."""
    copy_geometry(problem, i, problem, k)
    rows.kind[k], rows.slot[k], rows.axis[k] = rows.kind[i], rows.slot[i], rows.axis[i]
    rows.bias[k], rows.cfm[k], rows.rebound[k] = rows.bias[i], rows.cfm[i], rows.rebound[i]
    rows.sweep_bias_delta[k], rows.smooth[k] = rows.sweep_bias_delta[i], rows.smooth[i]
    rows.lo[k], rows.hi[k] = rows.lo[i], rows.hi[i]
    rows.normal_row[k], rows.mu[k] = rows.normal_row[i], rows.mu[i]
    rows.lam_warm[k] = rows.lam_warm[i]
    problem.b[k], problem.lam[k], problem.w[k] = problem.b[i], problem.lam[i], problem.w[i]
