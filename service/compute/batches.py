"""In a worker process: the body of a batch as its runs, all faults at once, and what it costs."""

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from cardan.schemas import Fault, Limits
from cardan.schemas.api import BatchRequest
from cardan.service.compute import messages as m
from cardan.service.compute import variations
from cardan.service.compute.metric_names import faults_of_metrics
from cardan.service.compute.scenes import check, refuse
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.intake import (
    Intake,
    escaped,
    invalid,
    read_document,
    read_request,
    sourced,
    take_scene,
)

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


def take(order: m.BatchOrder, limits: Limits) -> m.TakenBatch:
    """Read the body of a batch, check it, and write out its runs. Raises ServiceError."""
    ask = read_request(BatchRequest, read_document(order.body))
    _check_count(ask, order.most_runs)
    _check_metrics(ask)
    base = sourced(ask.scene, order.stored)
    try:
        intake = take_scene(base, limits, ask.overrides, "/scene")
    except ServiceError as error:
        if error.code == ErrorCode.SCENE_INVALID:
            _check_variants(ask, base, limits, ask.overrides, error.errors)
        raise
    runs = list(variations.runs(ask))
    _check_variants(ask, json.loads(intake.text.document), limits)
    refuse(
        check(m.CheckOrder(intake.text.document, {}, 0.0), limits).faults, ask.overrides, "/scene"
    )
    return m.TakenBatch(
        asked=ask.model_dump(exclude={"scene", "variations", "runs"}),
        name=intake.scene.name if ask.name is None else ask.name,
        text=intake.text,
        steps=intake.counts.steps,
        parameters=variations.parameters(ask),
        metrics=list(dict.fromkeys(METRICS if ask.metrics is None else ask.metrics)),
        runs=runs,
        extent=m.extent_of(intake.scene.simulation.duration, runs),
        cost=_cost(intake, runs, limits) if order.estimate else None,
    )


def _cost(intake: Intake, runs: list[dict[str, Any]], limits: Limits) -> m.BatchCost:
    """Measure three runs, spread over the batch."""
    steps, seconds, values = [], [], []
    base = json.loads(intake.text.document)
    for number in sorted({0, len(runs) // 2, len(runs) - 1}):
        variant = take_scene(base, limits, runs[number], "/scene")
        checked = check(m.CheckOrder(variant.text.document, {}, PROBE_SECONDS), limits)
        steps.append(variant.counts.steps)
        values.append(variant.counts.recorded_values)
        if checked.seconds_per_step is not None:
            seconds.append(checked.seconds_per_step * variant.counts.steps)
    return m.BatchCost(
        steps=round(statistics.fmean(steps) * len(runs)),
        processor_seconds=statistics.fmean(seconds) * len(runs) if seconds else None,
        bytes=round(8 * statistics.fmean(values) * len(runs)),
    )


def _check_variants(
    ask: BatchRequest,
    base: Any,
    limits: Limits,
    shared: Mapping[str, Any] | None = None,
    known: Sequence[dict[str, Any]] = (),
) -> None:
    """Validate a sample of the variants of a base, with overrides that all of them share.

    Raises ServiceError with all faults; those that are known come first.
    """
    faults = [*known]
    for number, overrides in variations.samples(ask, MOST_CHECKED):
        try:
            take_scene(base, limits, {**(shared or {}), **overrides}, "/scene")
        except ServiceError as error:
            faults += [_at_variation(fault, ask, number, overrides) for fault in error.errors]
    if faults:
        unique = {(fault["pointer"], fault["code"]): fault for fault in faults}
        raise invalid([Fault.model_validate(fault) for fault in unique.values()])


def _check_count(ask: BatchRequest, most: int) -> None:
    try:
        count = variations.count_runs(ask)
        if count > most:
            raise variations.VariationError(
                _place_of_count(ask),
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


def _place_of_count(ask: BatchRequest) -> str:
    if ask.mode in variations.SAMPLED:
        return "/samples"
    return "/runs" if ask.mode == "list" else "/variations"


def _check_metrics(ask: BatchRequest) -> None:
    places = [(f"/metrics/{number}", name) for number, name in enumerate(ask.metrics or ())]
    faults = faults_of_metrics(places)
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
        where = variations.place_of_values(ask, place)
        if isinstance(values, list):
            where += f"/{values.index(overrides[variation])}{rest}"
        return fault | {"pointer": where}
    return fault
