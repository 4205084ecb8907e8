"""Messages between the dispatcher and its worker processes, as frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RunOrder:
    """Simulate a scene and leave the recording in `folder`."""

    document: str
    overrides: Mapping[str, Any]
    folder: str


@dataclass(frozen=True)
class StopRun:
    """Stop the run: `why` comes back as the outcome (cancelled, timed_out, released)."""

    why: str


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
