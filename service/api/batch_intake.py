"""A batch before it is queued: all faults at once, its estimated cost, its admission."""

import functools
import re
import statistics
from typing import Any

from anyio.to_thread import run_sync

from cardan.schemas import Fault
from cardan.schemas.api import BatchRequest
from cardan.schemas.base import Base
from cardan.schemas.error import shown
from cardan.service.api.intake import Intake, ask_engine, escaped, invalid, take_scene
from cardan.service.api.simulations import refuse_when_full
from cardan.service.errors import ServiceError
from cardan.service.services import Services
from cardan.service.settings import Settings
from cardan.service.simulations import variations
from cardan.service.simulations.admission import NewBatch, NewRun

# variants validated before a batch is admitted; the others are validated when they start
MOST_CHECKED = 500
PROBE_SECONDS = 0.2
METRICS = (
    "verdict.status",
    "energy.max_relative_drift",
    "energy.final",
    "momentum.max_linear_drift",
    "momentum.max_angular_drift",
    "joints.max_position_error",
    "contacts.max_penetration",
    "solver.max_residual",
    "timing.total_s",
    "state_hash",
)
METRIC_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


class BatchEstimate(Base):
    """Estimated cost of a batch, measured on the first steps of its first run."""

    runs: int
    """Runs."""
    steps: int
    """Steps of all runs together."""
    seconds: float | None
    """Wall clock with the workers of this service [s]."""
    bytes: int
    """Size of all recordings before compression."""


def check_batch(ask: BatchRequest, settings: Settings) -> Intake:
    """Validate the base scene and a sample of the variants. Raises ProblemError 422."""
    _check_count(ask, settings)
    _check_metrics(ask)
    limits = settings.limits
    intake = take_scene(ask.scene, limits, None, "/scene")
    source: Any = ask.scene
    faults: list[dict[str, Any]] = []
    for number, overrides in variations.samples(ask, MOST_CHECKED):
        try:
            take_scene(source, limits, overrides, "/scene")
        except ServiceError as error:
            faults += [_at_variation(fault, ask, number, overrides) for fault in error.errors]
    if faults:
        unique = {(fault["pointer"], fault["code"]): fault for fault in faults}
        raise invalid([Fault.model_validate(fault) for fault in unique.values()])
    return intake


def admit_batch(ask: BatchRequest, intake: Intake, services: Services, key: str | None) -> str:
    """Queue the runs of a validated batch; return its id. Raises ServiceError or ProblemError."""
    refuse_when_full(services)
    batch = NewBatch(
        name=ask.name or intake.scene.name,
        parameters=variations.parameters(ask),
        metrics=list(dict.fromkeys(METRICS if ask.metrics is None else ask.metrics)),
        max_parallel=ask.max_parallel,
        on_failure=ask.on_failure,
        record=ask.record,
    )
    timeout = ask.timeout_s or services.settings.default_timeout_s
    new = [
        NewRun(overrides=overrides, total_steps=intake.counts.steps, timeout_s=timeout)
        for overrides in variations.runs(ask)
    ]
    return services.admission.batch(intake.text, batch, new, key=key)


async def estimate_batch(ask: BatchRequest, intake: Intake, services: Services) -> BatchEstimate:
    """Count the runs and measure a sample of them, spread over the batch."""
    count = variations.count_runs(ask)
    picked = {0, count // 2, count - 1}
    chosen = [run for number, run in enumerate(variations.runs(ask)) if number in picked]
    steps, seconds, values = [], [], []
    for overrides in chosen:
        take = functools.partial(
            take_scene, ask.scene, services.settings.limits, overrides, "/scene"
        )
        variant = await run_sync(take)
        checked = await ask_engine(services, variant.text.document, probe_s=PROBE_SECONDS)
        steps.append(variant.counts.steps)
        values.append(variant.counts.recorded_values)
        if checked.seconds_per_step is not None:
            seconds.append(checked.seconds_per_step * variant.counts.steps)
    parallel = min(services.settings.workers, ask.max_parallel or count, count)
    return BatchEstimate(
        runs=count,
        steps=round(statistics.fmean(steps) * count),
        seconds=statistics.fmean(seconds) * count / parallel if seconds else None,
        bytes=round(8 * statistics.fmean(values) * count),
    )


def _check_count(ask: BatchRequest, settings: Settings) -> None:
    most = settings.max_batch_runs
    try:
        count = variations.count_runs(ask)
        if count > most:
            raise variations.VariationError(
                "/variations" if ask.mode != "list" else "/runs",
                f"The batch has {count} runs; the limit is {most}.",
                count,
                "Use fewer values, or several batches.",
            )
    except variations.VariationError as error:
        fault = Fault(
            pointer=error.pointer,
            code="invalid_variations",
            message=str(error),
            got=error.got,
            hint=error.hint,
        )
        raise invalid([fault], "request") from error


def _check_metrics(ask: BatchRequest) -> None:
    faults = [
        Fault(
            pointer=f"/metrics/{number}",
            code="not_a_metric",
            message="A metric is a key of the summary, as energy.max_relative_drift.",
            got=shown(name),
            hint=f"For example {METRICS[1]} or {METRICS[-1]}.",
        )
        for number, name in enumerate(ask.metrics or ())
        if not METRIC_NAME.fullmatch(name)
    ]
    if faults:
        raise invalid(faults, "request")


def _at_variation(
    fault: dict[str, Any], ask: BatchRequest, number: int | None, overrides: variations.Overrides
) -> dict[str, Any]:
    """Return the fault of a variant with its pointer to the value in the request."""
    pointer = str(fault["pointer"])
    for place, variation in enumerate(overrides):
        prefix = f"/overrides/{escaped(variation)}"
        if pointer != prefix and not pointer.startswith(prefix + "/"):
            continue
        rest = pointer.removeprefix(prefix)
        if ask.mode == "list":
            return fault | {"pointer": f"/runs/{number}/{escaped(variation)}{rest}"}
        values = ask.variation_list()[place].values
        index = values.index(overrides[variation])
        if isinstance(ask.variations, dict):
            return fault | {"pointer": f"/variations/{escaped(variation)}/{index}{rest}"}
        return fault | {"pointer": f"/variations/{place}/values/{index}{rest}"}
    return fault
