"""In a worker process: a complementarity problem from its document to its answer."""

import math
from collections.abc import Iterable
from typing import Any

from schemas.complementarity import (
    BoxLcp,
    ComplementarityRequest,
    ConeProblem,
    Lcp,
    LinearProblem,
    LinearProgram,
    Matrix,
    MixedLcp,
    QuadraticProgram,
    SparseMatrix,
)
from schemas.error import Fault
from service.jobs import messages as m


def solve(order: m.SolveOrder) -> m.Solved:
    """Solve it, or say what is wrong with it."""
    from engine.complementarity import ProblemError, Program

    request = ComplementarityRequest.model_validate_json(order.document)
    solver = request.solver.model_dump()
    try:
        found = _call(request.problem, solver)
    except ProblemError as error:
        part = "solver" if error.where in solver else "problem"
        message = str(error).removeprefix(f"{error.where}: ")
        place = f"/{part}/{_FIELDS.get(error.where, error.where)}"
        fault = Fault(pointer=place, code="unsuitable", message=f"`{error.where}` {message}.")
        return m.Solved(fault=fault.model_dump())
    except MemoryError:
        fault = Fault(pointer="/problem", code="too_large", message="It needs too much memory.")
        return m.Solved(fault=fault.model_dump())
    program = None
    if isinstance(found, Program):
        program = {
            "verdict": found.verdict,
            "objective": _finite(found.objective),
            "y_ub": found.y_ub.tolist(),
            "y_eq": found.y_eq.tolist(),
        }
        solution, x = found.solution, found.x
    else:
        solution, x = found, found.x
    return m.Solved(
        answer={
            "x": x.tolist(),
            "w": solution.w.tolist(),
            "solved": solution.solved,
            "stopped": str(solution.stopped),
            "residual": _finite(solution.residual),
            "coulomb_error": _finite(solution.coulomb_error),
            "iterations": solution.iterations,
            "method": solution.method,
            "history": [_finite(value) for value in solution.history],
            "program": program,
        }
    )


# arguments of the engine that are called otherwise in a document
_FIELDS = {"bounds": "lo"}


def _call(problem: Any, solver: dict[str, Any]) -> Any:
    """The engine's function for the class of a problem. Raises ProblemError."""
    from engine import complementarity as c

    if isinstance(problem, LinearProblem):
        return c.solve_linear(_matrix("A", problem.A), problem.b, **solver)
    if isinstance(problem, MixedLcp):
        return c.solve_mixed_lcp(_matrix("M", problem.M), problem.q, problem.equations, **solver)
    if isinstance(problem, Lcp):
        return c.solve_lcp(_matrix("M", problem.M), problem.q, **solver)
    if isinstance(problem, BoxLcp):
        lo, hi = _bounds(problem.lo, -math.inf), _bounds(problem.hi, math.inf)
        return c.solve_box_lcp(_matrix("A", problem.A), problem.b, lo, hi, **solver)
    if isinstance(problem, ConeProblem):
        return c.solve_cone(
            _matrix("W", problem.W),
            problem.q,
            problem.mu,
            dimension=problem.dimension,
            law=problem.law,
            **solver,
        )
    return _call_program(problem, solver)


def _call_program(problem: LinearProgram | QuadraticProgram, solver: dict[str, Any]) -> Any:
    """An LP or QP. Raises ProblemError."""
    from engine import complementarity as c

    lowest = 0.0 if isinstance(problem, LinearProgram) else -math.inf
    lo = lowest if problem.lo is None else _bounds(problem.lo, -math.inf)
    hi = math.inf if problem.hi is None else _bounds(problem.hi, math.inf)
    constraints = (
        _matrix("A_ub", problem.A_ub, len(problem.b_ub), len(problem.c)),
        problem.b_ub,
        _matrix("A_eq", problem.A_eq, len(problem.b_eq), len(problem.c)),
        problem.b_eq,
        (lo, hi),
    )
    if isinstance(problem, QuadraticProgram):
        return c.solve_qp(_matrix("P", problem.P), problem.c, *constraints, **solver)
    return c.solve_lp(problem.c, *constraints, **solver)


def _matrix(
    where: str, matrix: Matrix | None, n_rows: int | None = None, n_columns: int | None = None
) -> Any:
    """Rows as they are, entries as a sparse matrix. Raises ProblemError."""
    import scipy.sparse

    from engine.complementarity import ProblemError

    if isinstance(matrix, SparseMatrix):
        if not len(matrix.rows) == len(matrix.columns) == len(matrix.values):
            raise ProblemError(where, "needs as many rows as columns and values")
        shape = None if n_rows is None else (n_rows, n_columns)
        try:
            entries = (matrix.values, (matrix.rows, matrix.columns))
            return scipy.sparse.coo_matrix(entries, shape=shape)
        except ValueError as error:
            raise ProblemError(where, f"has entries outside of it: {error}") from error
    if matrix is not None and len({len(row) for row in matrix}) > 1:
        raise ProblemError(where, "has rows of different lengths")
    return matrix


def _bounds(values: Iterable[float | None], none: float) -> list[float]:
    return [none if value is None else value for value in values]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
