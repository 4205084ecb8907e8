"""Messages between the dispatcher and its worker processes, as frozen dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cardan.schemas import Limits


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker process may use, in bytes, and how large its scenes may be."""

    memory: int
    file: int
    scene: Limits


@dataclass(frozen=True)
class RunItem:
    """One run of an order: what differs from the base scene, and where its recording goes."""

    overrides: Mapping[str, Any]
    folder: str


@dataclass(frozen=True)
class RunOrder:
    """Simulate variants of a scene one after another.

    `record` says which runs leave a recording: `full` all, `failed` those that fail, `metrics`
    none. With `until_failure` the first run that does not succeed is the last.
    """

    document: str
    runs: Sequence[RunItem]
    record: str = "full"
    until_failure: bool = False


@dataclass(frozen=True)
class CheckOrder:
    """Build the engine of a scene; with `probe_s` > 0 also measure some steps that long."""

    document: str
    overrides: Mapping[str, Any]
    probe_s: float


@dataclass(frozen=True)
class ComputeOrder:
    """Compute something in joint coordinates: an operation of `/v1/dynamics` with its arrays."""

    document: str
    operation: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class SolveOrder:
    """Solve a complementarity problem: the document of a `ComplementarityRequest` as JSON."""

    document: str


@dataclass(frozen=True)
class StopRun:
    """Stop a run of the order, or all: `why` is the outcome (cancelled, timed_out, released)."""

    why: str
    number: int | None = None


@dataclass(frozen=True)
class Quit:
    """Leave."""


@dataclass(frozen=True)
class Ready:
    """The kernels are loaded; that took `seconds`. `parent` is the process it was forked from."""

    seconds: float
    parent: int


@dataclass(frozen=True)
class Started:
    """The engine of a run of the order is built and steps."""

    number: int
    total_steps: int


@dataclass(frozen=True)
class Progress:
    """Sign of life: steps done of a run, and simulated seconds per second so far."""

    number: int
    step: int
    real_time_factor: float


@dataclass(frozen=True)
class Done:
    """How a run of the order ended (a `RunEvent`), and what it left."""

    number: int
    event: str
    step: int
    summary: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    stored: bool = False
    real_time_factor: float | None = None


@dataclass(frozen=True)
class Finished:
    """The order is over; runs of it that are not done were not begun."""


@dataclass(frozen=True)
class Checked:
    """Faults that only the engine finds (none: it can be built), and the measured cost [s]."""

    faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    seconds_per_step: float | None = None
    total_steps: int = 0


@dataclass(frozen=True)
class Computed:
    """The answer to a ComputeOrder, or what is wrong with its scene or with its other parts."""

    answer: Mapping[str, Any] | None = None
    scene_faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


@dataclass(frozen=True)
class Solved:
    """A `ComplementarityAnswer`, or the faults for which there is none."""

    answer: Mapping[str, Any] | None = None
    faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
