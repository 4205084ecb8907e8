"""Messages between the dispatcher and its worker processes, as frozen dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RunItem:
    """One run of an order: what differs from the base scene, and where its recording goes.

    `record` says when it leaves one: `full` always, `failed` if it fails, `metrics` never.
    `checkpoint` is the folder of its checkpoints; empty: it leaves none.
    """

    overrides: Mapping[str, Any]
    folder: str
    record: str = "full"
    checkpoint: str = ""


@dataclass(frozen=True)
class RunOrder:
    """Simulate variants of a scene one after another.

    With `until_failure` the first run that does not succeed is the last. A run leaves a checkpoint
    every `checkpoint_s` seconds. `measure` is what a study asks of every run (`measures.py`). Runs
    `of_batch` are judged by estimates, whichever of them are computed together.
    """

    document: str
    runs: Sequence[RunItem]
    until_failure: bool = False
    checkpoint_s: float = 5.0
    measure: Mapping[str, Any] | None = None
    of_batch: bool = False


@dataclass(frozen=True)
class StopRun:
    """Stop a run of the order, or all: `why` is the outcome (cancelled, timed_out, released)."""

    why: str
    number: int | None = None


@dataclass(frozen=True)
class Apart:
    """Compute the runs that share the time of the worker one by one, from where they are."""


@dataclass(frozen=True)
class Started:
    """The engine of a run of the order is built and steps, from `step` on."""

    number: int
    total_steps: int
    step: int = 0


@dataclass(frozen=True)
class Progress:
    """Sign of life: steps done of a run, and simulated seconds per second so far.

    So many runs, the first is this one, share the time of the worker.
    """

    number: int
    step: int
    real_time_factor: float
    together: int = 1


@dataclass(frozen=True)
class Storing:
    """A run of the order has stopped, and its recording is being written."""

    number: int


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
    """The order is over; runs of it that are not done were not begun.

    It took `processor_s` of the worker.
    """

    processor_s: float
