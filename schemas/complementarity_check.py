"""From a document to a checked complementarity problem: every fault at once, at its place."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from cardan.schemas.complementarity import (
    BoxLcp,
    ComplementarityRequest,
    Contacts,
    CsrMatrix,
    LinearProgram,
    Matrix,
    MixedLcp,
    QuadraticProgram,
    SparseMatrix,
)
from cardan.schemas.error import Fault, SceneInvalid
from cardan.schemas.translate import translate

# names that a field may have in a document
NAMES = {
    "A": ("A", "M", "W"),
    "b": ("b", "q"),
    "dim": ("dim", "dimension"),
}
Found = tuple[str, str]
"""A field and what is wrong with it."""


def read_problem(document: Any, most: int | None = None) -> ComplementarityRequest:
    """The request of a document: `problem` and `solver`, or the problem with `solver` in it.

    most   unknowns and constraints that are allowed; none: those of the schema

    Raises SceneInvalid with every fault.
    """
    asked, flat = _wrapped(document)
    try:
        request = ComplementarityRequest.model_validate(asked)
    except ValidationError as error:
        faults = translate(error, ComplementarityRequest, asked)
        raise SceneInvalid([_moved(fault, flat) for fault in faults]) from error
    found = [*_faults(request.problem), *_too_long(request.problem, most)]
    if found:
        raise SceneInvalid(
            [
                Fault(
                    pointer=place_of(document, field),
                    code="unsuitable",
                    message=_worded(document, message),
                )
                for field, message in found
            ]
        )
    return request


def place_of(document: Any, field: str) -> str:
    """Pointer to a field of the problem or, as `solver/NAME`, of the solver, by the name it has."""
    asked, flat = _wrapped(document)
    if field.startswith("solver/"):
        return f"/{field}"
    name = _name_in(asked["problem"], field)
    return f"/{name}" if flat else f"/problem/{name}"


def _name_in(problem: Any, field: str) -> str:
    return next((name for name in NAMES.get(field, ()) if name in problem), field)


def _worded(document: Any, message: str) -> str:
    """A message with the names that fields have in the document."""
    problem = _wrapped(document)[0]["problem"]
    for field in NAMES:
        message = message.replace(f"`{field}`", f"`{_name_in(problem, field)}`")
    return message


def _wrapped(document: Any) -> tuple[Any, bool]:
    """Problem and solver, and whether the document has the problem's fields at its top."""
    if not isinstance(document, dict) or "problem" in document or document.keys() <= {"solver"}:
        return document, False
    problem = {key: value for key, value in document.items() if key != "solver"}
    solver = {"solver": document["solver"]} if "solver" in document else {}
    return {"problem": problem, **solver}, True


def _moved(fault: Fault, flat: bool) -> Fault:
    if not flat:
        return fault
    return fault.model_copy(update={"pointer": fault.pointer.removeprefix("/problem")})


def _too_long(problem: Any, most: int | None) -> Iterator[Found]:
    for field in ("b", "c", "b_ub", "b_eq"):
        size = len(getattr(problem, field, ()))
        if most is not None and size > most:
            yield field, f"`{field}` has {size} entries; at most {most} are allowed here."


def _faults(problem: Any) -> Iterator[Found]:
    """What does not fit together. Of LP and QP the engine says it."""
    if isinstance(problem, LinearProgram | QuadraticProgram):
        return
    n = len(problem.b)
    yield from (("A", message) for message in _matrix_faults(problem.A, n))
    if isinstance(problem, Contacts) and n != problem.dim * len(problem.mu):
        contacts = f"{len(problem.mu)} contacts of {problem.dim} rows"
        needed = problem.dim * len(problem.mu)
        yield "b", f"`b` has {n} entries; {contacts} need {needed}."
    if isinstance(problem, BoxLcp | MixedLcp):
        yield from _bound_faults(problem, n)
    if isinstance(problem, MixedLcp):
        yield from _equation_faults(problem, n)


def _bound_faults(problem: BoxLcp | MixedLcp, n: int) -> Iterator[Found]:
    for field in ("lo", "hi"):
        values = getattr(problem, field)
        if values is not None and len(values) != n:
            yield field, f"`{field}` has {len(values)} entries; `b` has {n}."
    for i, (low, high) in enumerate(zip(problem.lo or (), problem.hi or (), strict=False)):
        if low is not None and high is not None and low > high:
            yield f"lo/{i}", f"`lo` is {low:g}, above `hi`, which is {high:g}."


def _equation_faults(problem: MixedLcp, n: int) -> Iterator[Found]:
    if problem.equations is None and problem.lo is None:
        yield "equations", "`equations` is missing; `lo`, null in these rows, says the same."
    if problem.equations is not None and not problem.lo is problem.hi is None:
        yield "equations", "`equations` and bounds exclude each other."
    for i, row in enumerate(problem.equations or ()):
        if row >= n:
            yield f"equations/{i}", f"`equations` names row {row}; `b` has {n} entries."


def _matrix_faults(matrix: Matrix, n: int) -> Iterator[str]:
    if isinstance(matrix, CsrMatrix):
        yield from _csr_faults(matrix, n)
    elif isinstance(matrix, SparseMatrix):
        sizes = len(matrix.rows), len(matrix.columns), len(matrix.values)
        if len(set(sizes)) > 1:
            yield "It has {} rows, {} columns and {} values; as many of each are needed.".format(
                *sizes
            )
        largest = max([*matrix.rows, *matrix.columns], default=-1)
        if largest >= n:
            yield f"It has an entry in row or column {largest}; `b` has {n} entries."
    elif len(matrix) != n:
        yield f"It has {len(matrix)} rows; `b` has {n} entries."
    else:
        wrong = [i for i, row in enumerate(matrix) if len(row) != n]
        if wrong:
            i = wrong[0]
            yield f"Row {i} has {len(matrix[i])} entries; {n} by {n} are needed."


def _csr_faults(matrix: CsrMatrix, n: int) -> Iterator[str]:
    if len(matrix.data) != len(matrix.indices):
        yield f"`data` has {len(matrix.data)} entries, `indices` {len(matrix.indices)}."
    if len(matrix.indptr) != n + 1:
        yield f"`indptr` has {len(matrix.indptr)} entries; {n + 1} are needed."
    elif matrix.indptr[0] != 0 or matrix.indptr[-1] != len(matrix.data):
        yield f"`indptr` must begin with 0 and end with {len(matrix.data)}, the entries of `data`."
    if any(after < before for before, after in pairwise(matrix.indptr)):
        yield "`indptr` falls; it must not."
    largest = max(matrix.indices, default=-1)
    if largest >= n:
        yield f"`indices` names column {largest}; `b` has {n} entries."
