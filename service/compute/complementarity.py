"""In a worker process: a complementarity problem from its document to its answer."""

import math
from collections.abc import Iterable
from typing import Any

from cardan.schemas.complementarity import (
    MAX_UNKNOWNS,
    ComplementarityAnswer,
    ComplementarityRequest,
    ConeProblem,
    Contacts,
    CsrMatrix,
    Lcp,
    LinearProblem,
    LinearProgram,
    Matrix,
    MixedLcp,
    QuadraticProgram,
    RelaxedProblem,
    SparseMatrix,
)
from cardan.schemas.complementarity_check import place_of, read_problem
from cardan.schemas.error import Fault, SceneInvalid
from cardan.service import clock
from cardan.service.compute import messages as m
from cardan.service.intake import invalid, read_document

# arguments of the engine that are called otherwise in a document
_FIELDS = {"bounds": "lo", "M": "A", "W": "A", "q": "b", "dimension": "dim"}


def solve(order: m.SolveOrder) -> m.Written:
    """Answer the body of a request with JSON. Raises ServiceError."""
    document = read_document(order.body)
    try:
        found = answer(read_problem(document, MAX_UNKNOWNS), document)
    except SceneInvalid as error:
        raise invalid(error.errors, "request") from error
    return m.Written(ComplementarityAnswer.model_validate(found).model_dump_json().encode())


def answer(request: ComplementarityRequest, document: Any) -> dict[str, Any]:
    """A `ComplementarityAnswer`; the document is for pointers. Raises SceneInvalid."""
    from cardan.engine.complementarity import ProblemError, Program

    solver = request.solver.model_dump()
    start = clock.monotonic()
    try:
        found = _call(request.problem, solver)
    except ProblemError as error:
        field = _FIELDS.get(error.where, error.where)
        place = place_of(document, f"solver/{field}" if field in solver else field)
        message = f"`{field}` {str(error).removeprefix(f'{error.where}: ')}."
        raise SceneInvalid([Fault(pointer=place, code="unsuitable", message=message)]) from error
    except MemoryError as error:
        fault = Fault(pointer="", code="too_large", message="It needs too much memory.")
        raise SceneInvalid([fault]) from error
    seconds = clock.monotonic() - start
    program = None
    solution = found
    if isinstance(found, Program):
        solution = found.solution
        program = {
            "verdict": found.verdict,
            "objective": _finite(found.objective),
            "y_ub": found.y_ub.tolist(),
            "y_eq": found.y_eq.tolist(),
        }
    x = found.x.tolist()
    return {
        "status": _status(solution),
        "x": x,
        "lam": x,
        "w": solution.w.tolist(),
        "solved": solution.solved,
        "stopped": str(solution.stopped),
        "certificate": None if solution.certificate is None else solution.certificate.tolist(),
        "residual": _finite(solution.residual),
        "coulomb_error": _finite(solution.coulomb_error),
        "iterations": solution.iterations,
        "method": solution.method,
        "seconds": seconds,
        "history": [_finite(value) for value in solution.history],
        "program": program,
    }


def _status(solution: Any) -> str:
    if solution.solved:
        return "solved"
    return "not_found" if solution.certificate is None else "no_solution"


def _call(problem: Any, solver: dict[str, Any]) -> Any:
    """The engine's function for the class of a problem. Raises ProblemError."""
    from cardan.engine import complementarity as c

    if isinstance(problem, LinearProgram | QuadraticProgram):
        return _call_program(problem, solver)
    b = problem.b
    matrix = _matrix("A", problem.A, len(b), len(b))
    if isinstance(problem, LinearProblem):
        return c.solve_linear(matrix, b, **solver)
    if isinstance(problem, Lcp):
        return c.solve_lcp(matrix, b, **solver)
    if isinstance(problem, Contacts):
        relaxed = isinstance(problem, RelaxedProblem) or (
            isinstance(problem, ConeProblem) and problem.law == "relaxed"
        )
        law = "relaxed" if relaxed else "coulomb"
        return c.solve_cone(matrix, b, problem.mu, dimension=problem.dim, law=law, **solver)
    if isinstance(problem, MixedLcp) and problem.equations is not None:
        return c.solve_mixed_lcp(matrix, b, problem.equations, **solver)
    lo, hi = _bounds(problem.lo, -math.inf), _bounds(problem.hi or [None] * len(b), math.inf)
    return c.solve_box_lcp(matrix, b, lo, hi, **solver)


def _call_program(problem: LinearProgram | QuadraticProgram, solver: dict[str, Any]) -> Any:
    """An LP or QP. Raises ProblemError."""
    from cardan.engine import complementarity as c

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

    from cardan.engine.complementarity import ProblemError

    if isinstance(matrix, CsrMatrix):
        csr = (matrix.data, matrix.indices, matrix.indptr)
        try:
            shape = None if n_rows is None else (n_rows, n_columns)
            return scipy.sparse.csr_matrix(csr, shape=shape)
        except ValueError as error:
            raise ProblemError(where, f"is no CSR matrix: {error}") from error
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
