"""Questions to the compute pool and their answers, as frozen dataclasses."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cardan.schemas.options import SimulationOptions
from cardan.service.intake import SceneText, StoredText
from cardan.service.recordings.slices import Slice


@dataclass(frozen=True, kw_only=True)
class SceneOrder:
    """Read the body of a request about a scene; one that is stored has to come with it."""

    stored: StoredText | None = None


@dataclass(frozen=True)
class TakeOrder(SceneOrder):
    """Read the body of a request that holds a scene; build the engine of a simulation."""

    body: bytes
    kind: Literal["simulation", "session"]


@dataclass(frozen=True)
class BatchOrder(SceneOrder):
    """Read the body of a batch of at most so many runs; with `estimate` also measure its cost."""

    body: bytes
    most_runs: int
    estimate: bool = False


@dataclass(frozen=True)
class StoreOrder:
    """Check a scene that is to be stored: a document, after a merge patch if there is one."""

    document: bytes
    patch: bytes | None = None

    @property
    def body(self) -> bytes:
        """The larger part of what is read."""
        return self.document


@dataclass(frozen=True)
class FingerprintOrder:
    """Name the content of a JSON body, however it is written."""

    body: bytes


@dataclass(frozen=True)
class ReportOrder:
    """Report on the scene of a body: a `ValidationReport`, with the cost of `probe_s` of steps."""

    body: bytes
    probe_s: float
    kind: Literal["simulation", "session"] = "simulation"


@dataclass(frozen=True)
class CheckOrder:
    """Build the engine of a scene; with `probe_s` > 0 also measure some steps that long."""

    document: str
    overrides: Mapping[str, Any]
    probe_s: float


@dataclass(frozen=True)
class DynamicsOrder(SceneOrder):
    """Answer the body of a request to `/v1/dynamics/{operation}`."""

    operation: str
    body: bytes


@dataclass(frozen=True)
class MechanicsOrder(SceneOrder):
    """Answer the body of a request to `/v1/{operation}`: statics, linear models, poses."""

    operation: str
    body: bytes


@dataclass(frozen=True)
class MassesOrder:
    """Tell masses and inertias of the bodies of a scene that was accepted."""

    document: str
    overrides: Mapping[str, Any]


@dataclass(frozen=True)
class SolveOrder:
    """Solve the complementarity problem of a body."""

    body: bytes


@dataclass(frozen=True)
class StudyOrder(SceneOrder):
    """Read the body of a study of at most so many evaluations."""

    body: bytes
    most_evaluations: int


@dataclass(frozen=True)
class SearchOrder:
    """Choose the next runs of a study: its request, and overrides and measures of all its runs."""

    asked: Mapping[str, Any]
    evaluated: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]]


@dataclass(frozen=True)
class VerifyOrder:
    """Compare files of a recording with the sums that were stored with them."""

    folder: str
    names: Sequence[str]


@dataclass(frozen=True)
class EncodeOrder:
    """Write a part of a recording as the file `target`, at most so large.

    What is there after an error is no whole file, and whoever gave the order removes it.
    """

    folder: str
    form: str
    table: str
    part: Slice
    target: str
    most_bytes: int


AboutScene = TakeOrder | BatchOrder | DynamicsOrder | MechanicsOrder | StudyOrder
Order = (
    TakeOrder | BatchOrder | FingerprintOrder | ReportOrder | CheckOrder | DynamicsOrder
    | MassesOrder
    | SolveOrder | MechanicsOrder | StudyOrder | SearchOrder | VerifyOrder | EncodeOrder
    | StoreOrder
)  # fmt: skip


@dataclass(frozen=True)
class WantedScene:
    """The request names a stored scene: the order is to be given again, with it."""

    id: str


@dataclass(frozen=True)
class Storable:
    """A scene that may be stored; `document` is what it is after a patch, and none without one."""

    name: str
    scene_hash: str
    digest: str
    """SHA-256 of the document (hex)."""
    document: bytes | None


@dataclass(frozen=True)
class TakenScene:
    """A scene that was read with its request: `asked` are the request's other fields."""

    asked: Mapping[str, Any]
    name: str
    text: SceneText
    """What is stored; a session needs no hash, and has an empty one."""
    steps: int


@dataclass(frozen=True)
class Taken(TakenScene):
    """The scene of a simulation or a session, overrides included."""

    seconds: float
    """Simulated time [s]."""


@dataclass(frozen=True)
class Extent:
    """How much work is asked for: runs, and their simulated time together [s]."""

    runs: int
    seconds: float


def extent_of(base_s: float, runs: Sequence[Mapping[str, Any]]) -> Extent:
    """What variants ask for of a scene of a duration [s], by their overrides."""
    return Extent(len(runs), sum(_simulated_seconds(base_s, overrides) for overrides in runs))


def _simulated_seconds(base_s: float, overrides: Mapping[str, Any]) -> float:
    """Simulated time of a variant [s]; what is no number will be refused elsewhere."""
    found: Any = base_s
    for pointer, value in overrides.items():
        if pointer == "/simulation/duration":
            found = value
        elif pointer == "/simulation" and isinstance(value, dict):
            found = value.get("duration", SimulationOptions().duration)
    is_time = isinstance(found, int | float) and math.isfinite(found) and found > 0.0
    return float(found) if is_time else base_s


@dataclass(frozen=True)
class BatchCost:
    """Estimated cost of all runs of a batch."""

    steps: int
    processor_seconds: float | None
    bytes: int


@dataclass(frozen=True)
class TakenBatch(TakenScene):
    """The base scene of a batch, and the overrides of each run."""

    parameters: Sequence[str]
    metrics: Sequence[str]
    runs: Sequence[Mapping[str, Any]]
    extent: Extent
    cost: BatchCost | None = None


@dataclass(frozen=True)
class TakenStudy(TakenScene):
    """The base scene of a study, and the overrides of its first runs."""

    method: str
    parameters: Sequence[str]
    runs: Sequence[Mapping[str, Any]]
    extent: Extent
    """Of all evaluations that it may make."""


@dataclass(frozen=True)
class Searched:
    """The next runs of a study (none: it has ended, with a `reason`), and its best run so far."""

    best: Mapping[str, Any] | None  # keys of schemas.study.StudyBest, but `simulation`
    runs: Sequence[Mapping[str, Any]]
    reason: str | None = None


@dataclass(frozen=True)
class Checked:
    """Faults that only the engine finds (none: it can be built), and the measured cost [s]."""

    faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    seconds_per_step: float | None = None
    total_steps: int = 0
    preview: Mapping[str, Any] | None = None  # keys of schemas.api.ScenePreview


@dataclass(frozen=True)
class Written:
    """An answer as JSON."""

    body: bytes


@dataclass(frozen=True)
class Verified:
    """The answer to a verification: the files are what they should be."""


@dataclass(frozen=True)
class Refused:
    """What is wrong with the order: a `ServiceError.problem`."""

    problem: Mapping[str, Any]


Reply = (
    Taken | TakenBatch | TakenStudy | Searched | Checked | Written | Verified | Refused
    | WantedScene | Storable
)  # fmt: skip
