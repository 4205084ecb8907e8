"""Requests and answers of the HTTP interface."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from cardan.schemas.base import Base
from cardan.schemas.error import Fault
from cardan.schemas.limits import SceneCounts
from cardan.schemas.quantities import Boolean, Count, Fraction, Positive, Text
from cardan.schemas.sampling import Distribution, Seed

SimulationStatus = Literal[
    "queued", "starting", "running", "cancelling", "succeeded", "failed", "cancelled", "timed_out"
]
BatchStatus = Literal[
    "queued", "running", "cancelling", "succeeded", "partially_succeeded", "failed", "cancelled"
]
SessionState = Literal[
    "starting", "running", "paused", "finished", "failed", "recovering", "closed", "stored"
]


def _text_or_object(value: Any) -> str | None:
    if isinstance(value, str):
        return "union:name"
    return "union:document" if isinstance(value, dict) else None


def _list_or_object(value: Any) -> str:
    return "union:object" if isinstance(value, dict) else "union:list"


Values = Annotated[list[Any], Field(min_length=1)]
SceneSource = Annotated[
    Annotated[dict[str, Any], Tag("union:document")]
    | Annotated[str, Field(strict=True, min_length=1, max_length=200), Tag("union:name")],
    Discriminator(_text_or_object, "scene_source", "No scene."),
]
"""A scene document, which `load_scene` checks, an example's name, or a stored scene's id."""
Overrides = dict[str, Any]
"""Values by JSON Pointer into the scene."""


class SceneVersion(Base):
    """A stored scene as it was when something was made from it."""

    id: str
    """Identity of the scene."""
    revision: int
    """Its revision at that time."""


class SceneInfo(Base):
    """A stored scene, without its text."""

    id: str
    """Identity."""
    name: str
    """Title of the scene."""
    revision: int
    """Counts its changes, from 1."""
    etag: str
    """Names the text: `If-Match` of a change."""
    scene_hash: str
    """Identity of what it describes, however it is written."""
    bytes: int
    """Size of the text."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC."""
    links: dict[str, str] = Field(default_factory=dict)
    """self, revisions."""


class SceneRevision(Base):
    """A revision of a stored scene, without its text."""

    revision: int
    """Its number."""
    name: str
    """Title of the scene."""
    etag: str
    """Names the text."""
    scene_hash: str
    """Identity of what it describes, however it is written."""
    bytes: int
    """Size of the text."""
    written_at: datetime
    """When it became the present one, UTC."""
    links: dict[str, str] = Field(default_factory=dict)
    """self."""


class SimulationRequest(Base):
    """Request for one run of a scene."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""
    overrides: Overrides = Field(default_factory=dict)
    """Values by JSON Pointer, set in the scene before it is checked."""
    name: Text | None = None
    """Title; default: that of the scene."""
    timeout_s: Positive | None = None
    """Wall-clock time after which the run is stopped [s]."""


class RunError(Base):
    """Why a run or a batch ended early; what the code needs more is in further members."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    code: str
    """Stable name of the kind of error."""
    message: str
    """A sentence: what happened."""


class SimulationInfo(Base):
    """The current state of a simulation."""

    id: str
    """Identity."""
    status: SimulationStatus
    """Where it stands."""
    position: int | None = None
    """Place in the queue, 0 is next."""
    progress: float = 0.0
    """Share of the steps that are done [-]."""
    step: int = 0
    """Steps done."""
    total_steps: int = 0
    """Steps to do."""
    real_time_factor: float | None = None
    """Simulated time over wall clock [-]; null until the first steps are done."""
    name: str = ""
    """Title."""
    stored_scene: SceneVersion | None = None
    """The stored scene it was made from; null: another scene."""
    created_at: datetime
    """UTC."""
    started_at: datetime | None = None
    """UTC."""
    finished_at: datetime | None = None
    """UTC."""
    error: RunError | None = None
    """Why it failed."""
    links: dict[str, str] = Field(default_factory=dict)
    """self, trajectory, summary, events, logs, scene."""


class RunInfo(SimulationInfo):
    """A run of a batch."""

    run: int
    """Place in the batch, from 0."""
    overrides: Overrides
    """Values by JSON Pointer into the scene."""
    attempt: int
    """How often it was begun."""


def _list_or_distribution(value: Any) -> str:
    return "union:object" if isinstance(value, dict | Base) else "union:list"


ValueSource = Annotated[
    Annotated[Values, Tag("union:list")] | Annotated[Distribution, Tag("union:object")],
    Discriminator(_list_or_distribution),
]
"""A list of values, or a distribution that they are drawn from."""


class Variation(Base):
    """Values for one place of the scene."""

    pointer: str
    """JSON Pointer into the scene."""
    values: ValueSource
    """One value per run (zip) or per row of the grid; or what sampled runs draw from: a
    distribution, or a list whose values are equally likely."""


Variations = Annotated[
    Annotated[list[Variation], Tag("union:list")]
    | Annotated[dict[str, ValueSource], Tag("union:object")],
    Discriminator(_list_or_object),
]


def _text_or_number(value: Any) -> str:
    return "union:name" if isinstance(value, str) else "union:share"


RecordRule = Annotated[
    Annotated[Literal["full", "failed", "metrics"], Tag("union:name")]
    | Annotated[Fraction, Tag("union:share")],
    Discriminator(_text_or_number),
]
"""Which runs of a batch store a trajectory."""


class BatchRequest(Base):
    """Request for runs of one scene with variations."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""
    variations: Variations = Field(default_factory=list)
    """What varies: a list of {pointer, values}, or an object of values by pointer."""
    overrides: Overrides = Field(default_factory=dict)
    """Values by JSON Pointer, set in the scene of every run before its own."""
    mode: Literal["grid", "zip", "list", "random", "latin_hypercube", "sobol"] = "grid"
    """`grid`: all combinations; `zip`: first with first, ...; `list`: as `runs` says; `random`,
    `latin_hypercube`, `sobol`: `samples` runs with values drawn from the variations."""
    samples: Count | None = None
    """Runs of a sampled mode."""
    seed: Seed = 0
    """Of a sampled mode: the same seed draws the same values."""
    runs: list[Overrides] = Field(default_factory=list)
    """The overrides of each run, in mode `list`."""
    metrics: list[str] | None = None
    """Keys of the summary, as `energy.max_relative_drift`; none: the usual ones."""
    max_parallel: Count | None = None
    """Runs at once; none: as many as the service has workers."""
    on_failure: Annotated[
        str, Field(strict=True, pattern=r"^(continue|stop|stop_after:[1-9][0-9]{0,8})$")
    ] = "continue"
    """`continue`, `stop`, or `stop_after:n`."""
    record: RecordRule = "full"
    """Which runs store a trajectory: all, those that fail, none, or this share of them, evenly
    spread; the others are simulated again when their trajectory is asked for, and have the same
    bits."""
    name: Text | None = None
    """Title; default: that of the scene."""
    timeout_s: Positive | None = None
    """Wall-clock time after which a run is stopped [s]."""

    def variation_list(self) -> list[Variation]:
        """Return the variations as a list, whichever form they were written in."""
        if isinstance(self.variations, list):
            return self.variations
        return [
            Variation(pointer=pointer, values=values) for pointer, values in self.variations.items()
        ]


class BatchInfo(Base):
    """The current state of a batch."""

    id: str
    """Identity."""
    status: BatchStatus
    """Where it stands."""
    runs: int
    """Runs in all."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Runs by status."""
    progress: float = 0.0
    """Share of the runs that are over [-]."""
    name: str = ""
    """Title."""
    stored_scene: SceneVersion | None = None
    """The stored scene it was made from; null: another scene."""
    created_at: datetime
    """UTC."""
    started_at: datetime | None = None
    """UTC."""
    finished_at: datetime | None = None
    """UTC."""
    error: RunError | None = None
    """Why it was stopped."""
    links: dict[str, str] = Field(default_factory=dict)
    """self, runs, results, events."""


class SessionRequest(Base):
    """Request for a live run."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""
    overrides: Overrides = Field(default_factory=dict)
    """Values by JSON Pointer, set in the scene before it is checked."""
    name: Text | None = None
    """Title; default: that of the scene."""
    paused: Boolean = True
    """Whether it waits for a resume."""
    speed: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=64.0)] | None = 1.0
    """Simulated time per wall time; null: as fast as possible [-]."""


class SessionInfo(Base):
    """The current state of a session."""

    id: str
    """Identity."""
    state: SessionState
    """Where it stands."""
    step: int = 0
    """Steps done."""
    time: float = 0.0
    """Simulated time [s]."""
    speed: float | None = 1.0
    """Simulated time per wall time; null: as fast as possible [-]."""
    epoch: int = 0
    """Counts resets, restores and forks."""
    created_at: datetime
    """UTC."""
    links: dict[str, str] = Field(default_factory=dict)
    """self, scene, frames, stream."""
    failure: dict[str, Any] | None = None
    """Why it failed: step, time, body, quantity, message."""


class RedundantJoint(Base):
    """A joint with equations that those before it already imply: reactions are not unique."""

    joint: str
    """Its name."""
    equations: int
    """How many of its equations."""


class OverlapAtStart(Base):
    """Two bodies that overlap at the start."""

    body: str
    """One of them."""
    other_body: str
    """The other."""
    depth: float
    """How deep [m]."""
    remedy: str | None = None
    """The setting of `simulation` that keeps them from colliding; none: only masks do."""


class AllowedSteps(Base):
    """The largest steps that keep results accurate, by what limits them; none: any step."""

    stiffness: float | None
    """0.2 rad of phase of the stiffest spring or drive, as if nothing else held its bodies [s]."""
    speed: float | None
    """The length of a body over its speed at the start [s]."""
    rotation: float | None
    """0.2 rad of the fastest rotation at the start [s]."""


class ScenePreview(Base):
    """What is known of a scene before it runs."""

    degrees_of_freedom: int | None
    """Of all bodies, by the rank of the joints' equations at the start; none: too large [-]."""
    redundant: list[RedundantJoint]
    """Joints with redundant equations, in the order of the scene."""
    overlaps: list[OverlapAtStart]
    """Bodies that overlap at the start, the worst first."""
    loose: list[str]
    """Bodies that gravity pulls, that nothing leads to the world, and that can touch nothing."""
    steps: AllowedSteps
    """The largest steps."""


class ValidationReport(Base):
    """Report on a scene before it runs."""

    valid: bool
    """Whether the scene would be accepted."""
    errors: list[Fault] = Field(default_factory=list)
    """Every fault."""
    warnings: list[Fault] = Field(default_factory=list)
    """Warnings: allowed, but probably not intended."""
    counts: SceneCounts | None = None
    """Size of the scene."""
    estimate: dict[str, float] | None = None
    """Estimated cost of a run: seconds."""
    scene_hash: str | None = None
    """Identity of the scene."""
    preview: ScenePreview | None = None
    """What is known before the run."""


class ExampleInfo(Base):
    """An example scene."""

    name: str
    """Its name."""
    title: str
    """Its title."""
    description: str
    """What it shows."""
    bodies: int
    """Bodies."""
    joints: int
    """Joints."""
    duration: float
    """Simulated time [s]."""
    url: str
    """Where the scene is."""
