"""Studies: design variables, what is to be small or to agree with measurements, and a budget."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.api import Overrides, RunError, SceneSource, SceneVersion
from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Count, Finite, Index, Name, Number, Positive, Text
from cardan.schemas.sampling import Seed

StudyStatus = Literal["running", "cancelling", "succeeded", "failed", "cancelled"]
StudyMethod = Literal[
    "nelder_mead", "l_bfgs_b", "differential_evolution", "cma_es", "cobyqa", "least_squares"
]
Pointer = Annotated[str, Field(strict=True, max_length=1000)]
MOST_VARIABLES = 64
MOST_POINTS = 2000

# columns of signals of joints and of the energy; those of bodies and momentum: see record.py
JOINTS = (
    "q", "qd", "motor_force", "limit_force", "fx", "fy", "fz", "tx", "ty", "tz",
)  # fmt: skip
ENERGY = (
    "kinetic", "potential", "total", "work_in", "dissipated_friction", "dissipated_impact",
    "dissipated_damping", "correction",
)  # fmt: skip


class StudyVariable(Base):
    """A number of the scene that the study chooses."""

    pointers: Annotated[tuple[Pointer, ...], Field(min_length=1, max_length=100)]
    """JSON Pointers into the scene: all these places get the value."""
    lower: Number
    """Smallest value."""
    upper: Number
    """Largest value."""
    start: Number | None = None
    """Where the search begins; none: in the middle of the range, in its scale."""
    scale: Literal["linear", "log"] = "linear"
    """`log`: steps are ratios, for values over orders of magnitude; the range is above zero."""


class Signal(Base):
    """A recorded number over time: of a body, of a joint coordinate, or of the whole scene."""

    body: Name | None = None
    """Name of a recorded body."""
    joint: Name | None = None
    """Name of a joint, instead of a body; neither: energy or momentum of the scene."""
    coordinate: Index = 0
    """Number of the coordinate within the joint, from 0."""
    column: Literal[
        "px", "py", "pz", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
        "q", "qd", "motor_force", "limit_force", "fx", "fy", "fz", "tx", "ty", "tz",
        "kinetic", "potential", "total", "work_in", "dissipated_friction", "dissipated_impact",
        "dissipated_damping", "correction", "lx", "ly", "lz", "hx", "hy", "hz",
    ]  # fmt: skip
    """Column of the recorded table, in its unit."""


class MetricQuantity(Base):
    """A number of a run's summary."""

    type: Literal["metric"]
    """Kind of quantity."""
    metric: Annotated[
        str,
        Field(strict=True, max_length=200, pattern=r"^[A-Za-z_]\w*(\.\w+)*$"),
    ]
    """Key of the summary, as `energy.final`."""


class SignalQuantity(Signal):
    """A number made of a signal."""

    type: Literal["signal"]
    """Kind of quantity."""
    reduce: Literal["rms", "mean", "min", "max", "peak", "final"]
    """Root mean square and mean over time, extremes, the largest magnitude, the last value."""
    target: Number = 0.0
    """Taken from the signal first [unit of the column]."""


Quantity = Annotated[
    Annotated[MetricQuantity, Tag("union:metric")] | Annotated[SignalQuantity, Tag("union:signal")],
    Discriminator(type_tag),
]


class MeasuredSeries(Signal):
    """Measured values of a signal."""

    times: Annotated[tuple[Number, ...], Field(max_length=MOST_POINTS)] | None = None
    """Times of the values, strictly increasing [s]; none: the first column of `csv`."""
    values: Annotated[tuple[Number, ...], Field(max_length=MOST_POINTS)] | None = None
    """One value per time, in the unit of the column; none: column `csv_column` of `csv`."""
    csv_column: Name | None = None
    """Heading of the column of `csv`, instead of `times` and `values`."""
    deviation: Positive = 1.0
    """Standard deviation of the values, in the unit of the column: the weight of the series."""


class MeasuredData(Base):
    """The mean square of (simulated - measured) / deviation over all measured values."""

    type: Literal["data"]
    """Kind of objective."""
    series: Annotated[tuple[MeasuredSeries, ...], Field(min_length=1, max_length=100)]
    """What was measured."""
    csv: Annotated[str, Field(strict=True, max_length=1_000_000)] | None = None
    """A table as text: a line of headings, then numbers, separated by commas; first the time [s].
    An empty field was not measured."""


class MetricObjective(MetricQuantity):
    """A number of the summary that is to be small, or large."""

    goal: Literal["minimise", "maximise"] = "minimise"
    """Which way."""


class SignalObjective(SignalQuantity):
    """A number made of a signal that is to be small, or large."""

    goal: Literal["minimise", "maximise"] = "minimise"
    """Which way."""


Objective = Annotated[
    Annotated[MetricObjective, Tag("union:metric")]
    | Annotated[SignalObjective, Tag("union:signal")]
    | Annotated[MeasuredData, Tag("union:data")],
    Discriminator(type_tag),
]


class StudyConstraint(Base):
    """Bounds of a quantity that the answer has to keep."""

    quantity: Quantity
    """What is bounded."""
    at_least: Number | None = None
    """Smallest value; none: unbounded."""
    at_most: Number | None = None
    """Largest value; none: unbounded."""


class StudyRequest(Base):
    """Request to minimise a quantity, or to fit a scene to measurements."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""
    overrides: Overrides = Field(default_factory=dict)
    """Values by JSON Pointer, set in the scene of every evaluation before the variables."""
    variables: Annotated[tuple[StudyVariable, ...], Field(min_length=1, max_length=MOST_VARIABLES)]
    """What the study chooses."""
    objective: Objective
    """What is to be small (or large), or the measurements to agree with."""
    constraints: Annotated[tuple[StudyConstraint, ...], Field(max_length=100)] = ()
    """What the answer has to keep; needs the method `cobyqa`."""
    method: StudyMethod | None = None
    """None: `least_squares` for measurements, `cobyqa` with constraints, `nelder_mead` for one
    variable, else `cma_es`."""
    max_evaluations: Count = 200
    """Runs that the study may do."""
    tolerance: Annotated[float, Field(strict=True, ge=1e-8, le=0.1)] = 1e-4
    """The search ends when variables change by less than this share of their ranges [-]."""
    seed: Seed = 0
    """Of the methods that draw: the same seed gives the same answer."""
    max_parallel: Count | None = None
    """Runs at once; none: as many as the service has workers."""
    name: Text | None = None
    """Title; default: that of the scene."""
    timeout_s: Positive | None = None
    """Wall-clock time after which a run is stopped, and counts as failed [s]."""


class StudyBest(Base):
    """The best evaluation so far."""

    run: int
    """Its number in the batch, from 0."""
    simulation: str
    """Id of its run."""
    values: dict[str, Finite]
    """Values of the variables by JSON Pointer."""
    deviations: dict[str, Finite] | None = None
    """Standard deviations of fitted values by JSON Pointer, from the scatter of the measurements
    about the fit, of those that ended inside of their ranges; null: not a fit by least squares, not
    ended, or not determined by the data."""
    objective: Finite
    """Value of the objective."""
    constraints: list[Finite] = Field(default_factory=list)
    """Values of the constrained quantities."""
    feasible: bool
    """Whether it keeps all constraints."""


class StudyInfo(Base):
    """The current state of a study."""

    id: str
    """Identity."""
    status: StudyStatus
    """Where it stands."""
    method: StudyMethod
    """How it searches."""
    evaluations: int
    """Runs that have ended."""
    failed: int
    """Those of them without a value of the objective."""
    max_evaluations: int
    """Runs that it may do."""
    best: StudyBest | None = None
    """The best evaluation so far; null: there is none yet."""
    reason: str | None = None
    """Why the search ended."""
    error: RunError | None = None
    """Why it failed."""
    name: str = ""
    """Title."""
    stored_scene: SceneVersion | None = None
    """The stored scene it was made from; null: another scene."""
    created_at: datetime
    """UTC."""
    finished_at: datetime | None = None
    """UTC."""
    links: dict[str, str] = Field(default_factory=dict)
    """self, batch, results, events, scene (of the best evaluation)."""
