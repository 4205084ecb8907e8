"""The constraint problem of one step: answer of `GET /v1/sessions/{id}/problem`."""

from typing import Literal

from cardan.schemas.base import Base
from cardan.schemas.options import ChosenFormulation
from cardan.schemas.quantities import Boolean, Finite, Index

RowKind = Literal[
    "equation",
    "stop",
    "motor",
    "friction",
    "spring",
    "grab",
    "normal",
    "tangent",
    "element",
    "spinning",
    "rolling",
    "drag",
    "coupling",
]


class ProblemRow(Base):
    """One scalar constraint: lo <= lam <= hi, w complementary to it."""

    name: str
    """What it belongs to and which row of it: `pin: equation 1`, `floor - box: normal`."""
    kind: RowKind
    """What it is."""
    joint: str | None
    """Name of its joint; none: of a contact, a force or a hand."""
    contact: Index | None
    """Number of its contact in this step, from 0."""
    body_a: str
    """Body that gets the opposite of the impulse, or `world`."""
    body_b: str
    """Body that gets the impulse, or `world`."""
    lam: Finite
    """Impulse of the step [N s or N m s]."""
    force: Finite
    """lam / time_step [N or N m]."""
    w: Finite
    """J v + bias + cfm lam after the solve [m/s or rad/s]."""
    b: Finite
    """The same without impulses: J v_free + bias [m/s or rad/s]."""
    bias: Finite
    """Added to J v: errors to correct, restitution, surfaces, given motions [m/s or rad/s]."""
    cfm: Finite
    """Compliance [1/kg or 1/(kg m^2)]."""
    lo: Finite | None
    """Lower bound of lam; none: none. Of tangents, spinning and rolling that at this lam."""
    hi: Finite | None
    """Upper bound."""
    mu: Finite
    """Share of the normal's impulse that bounds lam; 0 for other rows [- or m]."""
    normal: Index | None
    """Row of that normal."""
    active: Boolean
    """Whether lam is strictly within its bounds, so that w = 0 is held."""
    redundant: Boolean
    """Whether the equations before this one imply it."""


class ProblemVelocity(Base):
    """One velocity of the formulation: a column of J."""

    name: str
    """`box: wx`, or the name of a joint."""
    before: Finite
    """Before the kick [rad/s or m/s]."""
    free: Finite
    """With forces alone."""
    after: Finite
    """With the impulses of all rows."""


class MatrixEntries(Base):
    """A matrix by its entries that are not zero."""

    shape: tuple[Index, Index]
    """Rows and columns."""
    rows: list[Index]
    """Row of each entry."""
    columns: list[Index]
    """Column of each entry."""
    values: list[Finite]
    """The entries."""


class StepProblemAnswer(Base):
    """M (after - before) = J^T lam + M (free - before), in the middle of the step."""

    step: Index
    """Steps done before this one."""
    time: Finite
    """The middle of the step [s]."""
    time_step: Finite
    """Length of the step [s]."""
    formulation: ChosenFormulation
    """Whose velocities these are."""
    rows: list[ProblemRow]
    """The constraints."""
    velocities: list[ProblemVelocity]
    """Of bodies: angular velocity, then that of the centre of mass, in W; of trees: of joints."""
    J: MatrixEntries
    """(rows, velocities) 1 or m."""
    M: MatrixEntries
    """(velocities, velocities) kg m^2, kg m, kg."""
