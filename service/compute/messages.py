"""Questions to the compute pool and their answers, as frozen dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


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
