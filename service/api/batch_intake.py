"""A batch before it is queued: its admission and its estimated cost."""

from collections.abc import Mapping
from typing import Any

from cardan.schemas.base import Base
from cardan.service.api.simulations import refuse_when_full, timeout_of
from cardan.service.compute.messages import BatchOrder, TakenBatch
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations.admission import NewBatch, NewRun


class BatchEstimate(Base):
    """Estimated cost of a batch, measured on the first steps of three of its runs."""

    runs: int
    """Runs."""
    steps: int
    """Steps of all runs together."""
    seconds: float | None
    """Wall clock with the workers of this service [s]."""
    bytes: int
    """Size of all recordings before compression."""


def batch_order(body: bytes, settings: Settings, *, estimate: bool = False) -> BatchOrder:
    """Return the question to the compute pool."""
    return BatchOrder(body, settings.max_batch_runs, estimate)


def admit_batch(
    taken: TakenBatch,
    services: Services,
    key: str | None,
    owner: str | None = None,
    stored: Mapping[str, Any] | None = None,
) -> str:
    """Queue the runs of a batch of a key; return its id. Raises ServiceError or ProblemError."""
    refuse_when_full(services)
    asked = taken.asked
    batch = NewBatch(
        name=taken.name,
        parameters=taken.parameters,
        metrics=taken.metrics,
        max_parallel=asked["max_parallel"],
        on_failure=asked["on_failure"],
        record=str(asked["record"]),
        created_by=owner,
    )
    timeout = timeout_of(asked, services.settings)
    new = [NewRun(overrides, taken.steps, timeout, owner, stored) for overrides in taken.runs]
    return services.admission.batch(taken.text, batch, new, key=key)


def batch_estimate(taken: TakenBatch, workers: int) -> BatchEstimate:
    """Return what a batch costs with so many workers."""
    cost = taken.cost
    assert cost is not None
    count = len(taken.runs)
    parallel = min(max(workers, 1), taken.asked["max_parallel"] or count, count)
    spent = cost.processor_seconds
    return BatchEstimate(
        runs=count,
        steps=cost.steps,
        seconds=None if spent is None else spent / parallel,
        bytes=cost.bytes,
    )
