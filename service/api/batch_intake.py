"""A batch before it is queued: its admission and its estimated cost."""

from collections.abc import Mapping
from typing import Any

import orjson

from cardan.schemas.base import Base
from cardan.schemas.options import SimulationOptions
from cardan.service.api.simulations import refuse_when_full, timeout_of
from cardan.service.compute.messages import BatchOrder, Extent, TakenBatch, extent_of
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations.admission import NewBatch, NewRun
from cardan.service.simulations.catalog import Row


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


def extent_to_retry(services: Services, batch: Row) -> Extent:
    """How much work the runs of a batch are that a retry queues again."""
    document = orjson.loads(services.catalog.scene_document(batch["scene_hash"]))
    simulation = document.get("simulation") or {}
    duration = simulation.get("duration", SimulationOptions().duration)
    return extent_of(float(duration), services.catalog.overrides_to_retry(batch["id"]))


def retry(services: Services, batch_id: str) -> None:
    """Queue those runs again. Raises ServiceError or ProblemError."""
    refuse_when_full(services)
    reserve = services.admission.reserve_capacity
    for result in services.queue.retry_failed(batch_id, reserve) or ():
        services.discard_result(result)


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
