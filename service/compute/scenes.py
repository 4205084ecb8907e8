"""In a worker process: bodies of requests as scenes, their faults, and what a step costs."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

from cardan.schemas import (
    Fault,
    Limits,
    Scene,
    SceneInvalid,
    load_changed,
    scene_warnings,
)
from cardan.schemas.api import ScenePreview, ValidationReport
from cardan.schemas.merge_patch import merge_patch
from cardan.service.compute import messages as m
from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.intake import (
    Intake,
    SceneText,
    invalid,
    located,
    read_document,
    read_session,
    read_simulation,
    read_with_repeats,
    sourced,
    take_scene,
)

UNLIMITED = 2**63


def take(order: m.TakeOrder, limits: Limits) -> m.Taken:
    """Read the scene of a request, and build its engine if it shall run. Raises ServiceError."""
    document = read_document(order.body)
    read = read_simulation if order.kind == "simulation" else read_session
    asked, place = read(document)
    limits = _limits_of(order.kind, limits)
    intake = take_scene(sourced(asked.scene, order.stored), limits, asked.overrides, place)
    if order.kind == "simulation":
        faults = _built(intake.scene, 0.0).faults
        refuse(faults, asked.overrides, place)
        text = intake.text
    else:
        text = SceneText("", intake.scene.model_dump_json())
    return m.Taken(
        asked=asked.model_dump(exclude={"scene"}),
        name=intake.scene.name if asked.name is None else asked.name,
        text=text,
        steps=intake.counts.steps,
        seconds=intake.scene.simulation.duration,
    )


def store(order: m.StoreOrder, limits: Limits) -> m.Storable:
    """Check a scene as `:validate` does. Raises ServiceError with every fault."""
    document, text = read_document(order.document), order.document
    if order.patch is not None:
        document = merge_patch(document, read_document(order.patch))
    intake = take_scene(document, limits)
    if order.patch is not None:
        # a scene that was taken has no texts that UTF-8 cannot hold
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    refuse(check(m.CheckOrder(intake.text.document, {}, 0.0), limits).faults, {}, "")
    return m.Storable(
        name=intake.scene.name,
        scene_hash=intake.text.hash,
        digest=hashlib.sha256(text).hexdigest(),
        document=None if order.patch is None else text,
    )


def _limits_of(kind: str, limits: Limits) -> Limits:
    if kind == "simulation":
        return limits
    # nothing of a session is recorded
    return limits.model_copy(update={"max_recorded_values": UNLIMITED})


def fingerprint(order: m.FingerprintOrder) -> m.Written:
    """SHA-256 (hex) of the document, without spaces and with sorted keys. Raises ServiceError."""
    document = read_document(order.body)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return m.Written(hashlib.sha256(text.encode()).hexdigest().encode())


def report(order: m.ReportOrder, limits: Limits) -> m.Written:
    """Return a `ValidationReport`. Raises ServiceError for a body that is no document."""
    document, repeated = read_with_repeats(order.body)
    try:
        intake = take_scene(document, _limits_of(order.kind, limits))
    except ServiceError as error:
        if error.code != ErrorCode.SCENE_INVALID:
            raise
        faults = [Fault.model_validate(fault) for fault in error.errors]
        return _written(ValidationReport(valid=False, errors=repeated + faults))
    if repeated:
        faults = [Fault.model_validate(fault) for fault in _built(intake.scene, 0.0).faults]
        return _written(ValidationReport(valid=False, errors=repeated + faults))
    checked = _built(intake.scene, order.probe_s)
    return _written(_report_on(intake, checked))


def check(order: m.CheckOrder, limits: Limits) -> m.Checked:
    """Build the engine of a scene and report what it refuses."""
    try:
        scene, _ = load_changed(json.loads(order.document), order.overrides, limits)
    except SceneInvalid as error:
        return m.Checked([fault.model_dump() for fault in error.errors])
    return _built(scene, order.probe_s)


def _built(scene: Scene, probe_s: float) -> m.Checked:
    """What the engine says of a scene, and with `probe_s` > 0 what its steps cost."""
    from cardan import engine

    try:
        simulation = engine.Simulation(engine.with_options(scene))
        preview = engine.preview(scene, simulation) if probe_s > 0.0 else None
    except engine.SceneError as error:
        return m.Checked([fault.model_dump() for fault in error.errors])
    except MemoryError:
        fault = {
            "pointer": "",
            "code": "too_large",
            "message": "The scene needs more memory than a worker may use.",
            "got": None,
            "hint": "Use fewer bodies or coarser shapes.",
        }
        return m.Checked([fault])
    return m.Checked(
        seconds_per_step=_seconds_per_step(simulation, probe_s),
        total_steps=simulation.total_steps,
        preview=preview,
    )


def _seconds_per_step(simulation: Any, probe_s: float) -> float | None:
    """Cost of the first steps, measured for about `probe_s`; a pile costs more when it touches."""
    if probe_s <= 0.0:
        return None
    begin = time.perf_counter()
    steps, chunk = 0, 1
    while True:
        done = simulation.advance(min(chunk, simulation.total_steps - steps))
        steps += done
        elapsed = time.perf_counter() - begin
        if done == 0 or elapsed > probe_s or steps >= simulation.total_steps:
            return float(elapsed / max(steps, 1))
        chunk *= 2


def _report_on(intake: Intake, checked: m.Checked) -> ValidationReport:
    cost = checked.seconds_per_step
    return ValidationReport(
        valid=not checked.faults,
        errors=[Fault.model_validate(fault) for fault in checked.faults],
        warnings=scene_warnings(intake.scene),
        counts=intake.counts,
        estimate=None if cost is None else {"seconds": cost * intake.counts.steps},
        scene_hash=intake.text.hash,
        preview=None if checked.preview is None else ScenePreview.model_validate(checked.preview),
    )


def _written(report: ValidationReport) -> m.Written:
    return m.Written(report.model_dump_json().encode())


def refuse(faults: Any, changes: Mapping[str, Any], place: str) -> None:
    """Raise ServiceError for faults that the engine found."""
    if faults:
        listed = [Fault.model_validate(fault) for fault in faults]
        raise invalid(located(listed, changes, place))
