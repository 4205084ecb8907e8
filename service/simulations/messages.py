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
class RunOrder:
    """Simulate a scene and leave the recording in `folder`."""

    document: str
    overrides: Mapping[str, Any]
    folder: str


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
    """Stop the run: `why` comes back as the outcome (cancelled, timed_out, released)."""

    why: str


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
    """The engine is built and steps."""

    total_steps: int


@dataclass(frozen=True)
class Progress:
    """Sign of life: steps done, and simulated seconds per second so far."""

    step: int
    real_time_factor: float


@dataclass(frozen=True)
class Done:
    """How the run ended (a `RunEvent`), and what it left."""

    event: str
    step: int
    summary: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    stored: bool = False
    real_time_factor: float | None = None


@dataclass(frozen=True)
class Checked:
    """Faults that only the engine finds (none: it can be built), and the measured cost [s]."""

    faults: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    seconds_per_step: float | None = None
    total_steps: int = 0
    preview: Mapping[str, Any] | None = None
    """What is known before the run: the keys of schemas.api.ScenePreview."""


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
