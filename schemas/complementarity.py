"""Complementarity problems without a scene: request and answer.

With w = A x + b, a row is solved when x lies within its bounds, w = 0 where x is strictly inside,
w >= 0 on a lower bound, w <= 0 on an upper one. Units are the user's own.

A may also be called M or W, and b q.
"""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Discriminator, Field, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Boolean, Index, NonNegative, Number

MAX_LENGTH = 100_000
MAX_UNKNOWNS = 2_000
"""Of a problem that a server takes; the command line takes up to MAX_LENGTH."""
MAX_ENTRIES = 4_000_000
MAX_ITERATIONS = 100_000
TIME_LIMIT_S = 30.0
"""Of a server; longer problems are for the command line and the Python interface."""

ComplementarityMethod = Literal[
    "auto",
    "direct",
    "lemke",
    "pivoting",
    "jacobi",
    "gauss_seidel",
    "sor",
    "pgs_sm",
    "nncg",
    "apgd",
    "proximal",
]

Numbers = Annotated[list[Number], Field(max_length=MAX_LENGTH)]
Bounds = Annotated[list[Number | None], Field(max_length=MAX_LENGTH)]
Row = Annotated[list[Number], Field(max_length=MAX_LENGTH)]


class SparseMatrix(Base):
    """A matrix by its entries; those at the same place are added."""

    rows: Annotated[list[Index], Field(max_length=MAX_ENTRIES)]
    """Row of each entry, from 0."""
    columns: Annotated[list[Index], Field(max_length=MAX_ENTRIES)]
    """Column of each entry, from 0."""
    values: Annotated[list[Number], Field(max_length=MAX_ENTRIES)]
    """Value of each entry."""


class CsrMatrix(Base):
    """A matrix by compressed sparse rows; entries at the same place are added."""

    data: Annotated[list[Number], Field(max_length=MAX_ENTRIES)]
    """Value of each entry, row by row."""
    indices: Annotated[list[Index], Field(max_length=MAX_ENTRIES)]
    """Column of each entry, from 0."""
    indptr: Annotated[list[Index], Field(max_length=MAX_LENGTH + 1)]
    """Where each row begins among the entries, and at last their number."""


def _list_or_object(value: Any) -> str:
    if isinstance(value, CsrMatrix) or (
        isinstance(value, dict) and not value.keys().isdisjoint(CsrMatrix.model_fields)
    ):
        return "union:csr"
    return "union:sparse" if isinstance(value, (dict, SparseMatrix)) else "union:rows"


Matrix = Annotated[
    Annotated[list[Row], Tag("union:rows"), Field(max_length=MAX_LENGTH)]
    | Annotated[SparseMatrix, Tag("union:sparse")]
    | Annotated[CsrMatrix, Tag("union:csr")],
    Discriminator(_list_or_object),
]
"""Rows of numbers, or an object: rows, columns and values, or data, indices and indptr (CSR)."""

SquareMatrix = Annotated[Matrix, Field(validation_alias=AliasChoices("A", "M", "W"))]
RightSide = Annotated[Numbers, Field(validation_alias=AliasChoices("b", "q"))]


class LinearProblem(Base):
    """A x = b."""

    type: Literal["linear"]
    """Class of the problem."""
    A: SquareMatrix
    """n by n."""
    b: RightSide
    """n."""


class Lcp(Base):
    """x >= 0, w = A x + b >= 0, x w = 0."""

    type: Literal["lcp"]
    """Class of the problem."""
    A: SquareMatrix
    """n by n."""
    b: RightSide
    """n."""


class MixedLcp(Base):
    """An `lcp` in which x is free and w = 0 in some rows: `equations`, or those without bounds."""

    type: Literal["mixed_lcp"]
    """Class of the problem."""
    A: SquareMatrix
    """n by n."""
    b: RightSide
    """n."""
    equations: Annotated[list[Index], Field(max_length=MAX_LENGTH)] | None = None
    """Rows with w = 0, from 0; none: by `lo` and `hi`."""
    lo: Bounds | None = None
    """n instead of `equations`; null: no lower bound."""
    hi: Bounds | None = None
    """n; null, or none: no upper bound."""


class BoxLcp(Base):
    """lo <= x <= hi with w = A x + b complementary to it."""

    type: Literal["box_lcp"]
    """Class of the problem."""
    A: SquareMatrix
    """n by n."""
    b: RightSide
    """n."""
    lo: Bounds
    """n; null: no lower bound."""
    hi: Bounds
    """n; null: no upper bound."""


class Contacts(Base):
    """Friction contacts: w = A x + b, |x_t| <= mu x_n, the normal first in each block."""

    A: SquareMatrix
    """n by n, n the contacts times `dim`."""
    b: RightSide
    """n."""
    mu: Annotated[list[NonNegative], Field(max_length=MAX_LENGTH)]
    """Coefficient of friction of each contact."""
    dim: Annotated[Literal[2, 3], Field(validation_alias=AliasChoices("dim", "dimension"))] = 3
    """Rows of a contact: normal and one or two tangents; also `dimension`."""


class CoulombProblem(Contacts):
    """Contacts whose friction opposes sliding: K* contains w + mu |w_t| n, orthogonal to x."""

    type: Literal["coulomb"]
    """Class of the problem."""


class RelaxedProblem(Contacts):
    """The convex relaxation (cone complementarity problem): what slides parts."""

    type: Literal["ccp"]
    """Class of the problem."""


class ConeProblem(Contacts):
    """`coulomb` or `ccp`, by its law."""

    type: Literal["cone"]
    """Class of the problem."""
    law: Literal["coulomb", "relaxed"] = "coulomb"
    """`coulomb`: friction opposes sliding; `relaxed`: the convex problem; what slides parts."""


class LinearProgram(Base):
    """Minimise c x with A_ub x <= b_ub, A_eq x = b_eq, lo <= x <= hi."""

    type: Literal["lp"]
    """Class of the problem."""
    c: Numbers
    """n."""
    A_ub: Matrix | None = None
    """m by n."""
    b_ub: Numbers = Field(default_factory=list)
    """m."""
    A_eq: Matrix | None = None
    """k by n."""
    b_eq: Numbers = Field(default_factory=list)
    """k."""
    lo: Bounds | None = None
    """n; none: 0; null entries: no bound."""
    hi: Bounds | None = None
    """n; none: no bounds."""


class QuadraticProgram(Base):
    """Minimise x P x / 2 + c x with A_ub x <= b_ub, A_eq x = b_eq, lo <= x <= hi."""

    type: Literal["qp"]
    """Class of the problem."""
    P: Matrix
    """n by n, symmetric, without negative eigenvalues."""
    c: Numbers
    """n."""
    A_ub: Matrix | None = None
    """m by n."""
    b_ub: Numbers = Field(default_factory=list)
    """m."""
    A_eq: Matrix | None = None
    """k by n."""
    b_eq: Numbers = Field(default_factory=list)
    """k."""
    lo: Bounds | None = None
    """n; none: no bounds."""
    hi: Bounds | None = None
    """n; none: no bounds."""


AnyProblem = Annotated[
    Annotated[LinearProblem, Tag("union:linear")]
    | Annotated[Lcp, Tag("union:lcp")]
    | Annotated[MixedLcp, Tag("union:mixed_lcp")]
    | Annotated[BoxLcp, Tag("union:box_lcp")]
    | Annotated[CoulombProblem, Tag("union:coulomb")]
    | Annotated[RelaxedProblem, Tag("union:ccp")]
    | Annotated[ConeProblem, Tag("union:cone")]
    | Annotated[LinearProgram, Tag("union:lp")]
    | Annotated[QuadraticProgram, Tag("union:qp")],
    Discriminator(type_tag),
]


class ComplementaritySolver(Base):
    """Options of the solver."""

    method: ComplementarityMethod = "auto"
    """Method; `auto` picks by the problem and says what it picked."""
    tolerance: NonNegative = 1e-10
    """Residual at which iterations may stop, as a share of the largest |b| [-]."""
    max_iterations: Annotated[Index, Field(le=MAX_ITERATIONS)] = 0
    """Largest number of iterations; 0: the method's own."""
    relaxation: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, lt=2.0)] = 1.0
    """Omega of `jacobi` and `sor`, between 0 and 2 [-]."""
    guess: Numbers | None = None
    """Where to start (warm start); none: at 0."""
    history: Boolean = False
    """Whether the residual of each iteration is returned."""


class ComplementarityRequest(Base):
    """Request for the solution of one problem."""

    problem: AnyProblem
    """linear, lcp, mixed_lcp, box_lcp, coulomb, ccp, cone, lp or qp."""
    solver: ComplementaritySolver = ComplementaritySolver()
    """How it is solved."""


class ProgramAnswer(Base):
    """Result of an LP or QP."""

    verdict: Literal["optimal", "infeasible", "unbounded", "not_converged"]
    """Whether x is an optimum, or why there is none."""
    objective: float | None
    """x P x / 2 + c x at x."""
    y_ub: list[float]
    """Multipliers of A_ub x <= b_ub."""
    y_eq: list[float]
    """Multipliers of A_eq x = b_eq."""


class ComplementarityAnswer(Base):
    """A solution, measured by code that no solver shares."""

    status: Literal["solved", "no_solution", "not_found"]
    """Whether there is a solution here, a proof that there is none, or neither."""
    x: list[float]
    """The unknowns."""
    lam: list[float]
    """The same as `x`."""
    w: list[float]
    """A x + b; of `linear` A x - b; of LP and QP that of their optimality conditions."""
    solved: bool
    """Whether the method reached what was asked of it."""
    stopped: Literal["tolerance", "max_iterations", "exact", "stalled", "no_solution", "not_found"]
    """Why it stopped; `no_solution` is proved by `certificate`, `not_found` is not."""
    certificate: list[float] | None = None
    """y that proves `no_solution`: y w >= 0 for all w the law allows, y (A x + b) < 0 for all x."""
    residual: float | None
    """Largest distance to the law, in the unit of w; null: not finite."""
    coulomb_error: float | None
    """Distance to Coulomb's law as a share of |q|, also where the relaxation was solved."""
    iterations: Index
    """Sweeps, steps or pivots."""
    method: ComplementarityMethod
    """What ran; never `auto`."""
    seconds: float
    """Time that solving took [s]."""
    history: list[float | None]
    """Residual of each iteration, where it was asked for."""
    program: ProgramAnswer | None = None
    """Of LP and QP."""
