"""In a worker process: check the body of a study, report all faults, choose the next designs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cardan.schemas import Fault, Limits, Scene
from cardan.schemas.joint import Joint
from cardan.schemas.limits import JOINT_COORDINATES
from cardan.schemas.record import MOMENTUM, POSE, VELOCITY
from cardan.schemas.study import (
    ENERGY,
    JOINTS,
    MeasuredData,
    MeasuredSeries,
    MetricQuantity,
    Signal,
    StudyRequest,
    StudyVariable,
)
from cardan.schemas.summary import is_no_number
from cardan.service.compute import messages as m
from cardan.service.compute.designs import (
    Design,
    Measures,
    best_of,
    deviations_of,
    method_of,
    objective_of,
    slacks_of,
    start_of,
    violation_of,
)
from cardan.service.compute.measurements import fault_at, with_values
from cardan.service.compute.metric_names import faults_of_metrics
from cardan.service.compute.scenes import check, refuse
from cardan.service.compute.searching import Ended, Search, SearchError
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

# faults of a pointer itself, whatever value it gets
NOWHERE = frozenset({"pointer_not_found", "pointer_invalid", "unknown_field"})
CHANNELS: Mapping[str, Sequence[str]] = {
    "pose": POSE,
    "velocity": VELOCITY,
    "joints": JOINTS,
    "energy": ENERGY,
    "momentum": MOMENTUM,
}


def answer(order: m.StudyOrder | m.SearchOrder, limits: Limits) -> m.TakenStudy | m.Searched:
    """Begin a study, or continue one. Raises ServiceError."""
    return take(order, limits) if isinstance(order, m.StudyOrder) else go_on(order)


def take(order: m.StudyOrder, limits: Limits) -> m.TakenStudy:
    """Read the body of a study, check it, and choose its first designs. Raises ServiceError."""
    ask = read_request(StudyRequest, read_document(order.body))
    faults = [*_faults_of_request(ask, order.most_evaluations)]
    if isinstance(ask.objective, MeasuredData) and not faults:
        ask, faults = with_values(ask)
    if faults:
        raise invalid(faults, "request")
    intake = take_scene(sourced(ask.scene, order.stored), limits, ask.overrides, "/scene")
    faults = [*_faults_of_signals(ask, intake.scene), *_faults_of_range(ask, intake, limits)]
    if faults:
        raise invalid(faults, "request")
    start = overrides_of(ask, [start_of(variable) for variable in ask.variables])
    refuse(check(m.CheckOrder(intake.text.document, start, 0.0), limits).faults, {}, "/scene")
    designs = _search(ask, {})
    assert isinstance(designs, list)
    return m.TakenStudy(
        asked=ask.model_dump(mode="json", exclude={"scene", "overrides"}),
        name=intake.scene.name if ask.name is None else ask.name,
        method=method_of(ask),
        text=intake.text,
        steps=intake.counts.steps,
        parameters=[pointer for variable in ask.variables for pointer in variable.pointers],
        runs=[overrides_of(ask, design) for design in designs],
        extent=m.Extent(
            ask.max_evaluations, ask.max_evaluations * intake.scene.simulation.duration
        ),
    )


def go_on(order: m.SearchOrder) -> m.Searched:
    """The next runs of a study, or why it ends, and its best run so far. Raises ServiceError."""
    ask = StudyRequest.model_validate({**order.asked, "scene": "stored"})
    first = [variable.pointers[0] for variable in ask.variables]
    known: dict[Design, Measures | None] = {}
    runs: dict[Design, int] = {}
    for number, (overrides, measures) in enumerate(order.evaluated):
        design = tuple(float(overrides[pointer]) for pointer in first)
        known[design] = _measures_of(measures)
        runs.setdefault(design, number)
    found = _search(ask, known)
    chosen = best_of(ask, known)
    best = None
    if chosen is not None:
        best = {"run": runs[chosen], **_best(ask, known, chosen, found)}
    if isinstance(found, Ended):
        return m.Searched(best=best, runs=(), reason=found.reason)
    return m.Searched(best=best, runs=[overrides_of(ask, design) for design in found])


def overrides_of(ask: StudyRequest, design: Sequence[float]) -> dict[str, float]:
    """The values of a design by the pointers they are written to."""
    return {
        pointer: value
        for variable, value in zip(ask.variables, design, strict=True)
        for pointer in variable.pointers
    }


def _search(ask: StudyRequest, known: Mapping[Design, Measures | None]) -> list[Design] | Ended:
    try:
        return Search(ask, known).next()
    except SearchError as error:
        raise ServiceError(ErrorCode.SEARCH_FAILED, str(error)) from error


def _measures_of(stored: Mapping[str, Any] | None) -> Measures | None:
    """What a run measured; `None` where it failed, or where a number is missing."""
    if stored is None:
        return None
    numbers = [*stored["objective"], *stored["constraints"]]
    if any(number is None or not math.isfinite(number) for number in numbers):
        return None
    return Measures(stored["objective"], stored["constraints"])


def _best(
    ask: StudyRequest,
    known: Mapping[Design, Measures | None],
    design: Design,
    found: list[Design] | Ended,
) -> dict[str, Any]:
    measures = known[design]
    assert measures is not None
    best = {
        "values": overrides_of(ask, design),
        "objective": objective_of(ask, measures),
        "constraints": list(measures.constraints),
        "feasible": violation_of(ask, measures, slacks_of(ask, known)) == 0.0,
        "deviations": None,
    }
    if isinstance(found, Ended) and found.covariance is not None:
        deviations = overrides_of(ask, deviations_of(ask, design, found.covariance))
        best["deviations"] = {at: one for at, one in deviations.items() if not math.isnan(one)}
    return best


def _faults_of_request(ask: StudyRequest, most_evaluations: int) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, variable in enumerate(ask.variables):
        yield from _faults_of_variable(variable, f"/variables/{number}")
        for place, pointer in enumerate(variable.pointers):
            if pointer in seen:
                where = f"/variables/{number}/pointers/{place}"
                yield fault_at(where, "Two variables write to this place.", pointer, "Remove one.")
            seen.add(pointer)
    for number, constraint in enumerate(ask.constraints):
        low, high = constraint.at_least, constraint.at_most
        if low is None and high is None:
            yield fault_at(
                f"/constraints/{number}", "A constraint needs a bound.", None,
                "Set at_least or at_most.",
            )  # fmt: skip
        elif low is not None and high is not None and low > high:
            yield fault_at(
                f"/constraints/{number}/at_least", f"It is above at_most = {high}.", low,
                "Exchange them.",
            )  # fmt: skip
    metrics = list(_metrics(ask))
    strays = faults_of_metrics(metrics)
    yield from strays
    for pointer, name in [] if strays else metrics:
        if is_no_number(name):
            yield fault_at(pointer, "It is no number.", name, "For example energy.final.")
    if ask.max_evaluations > most_evaluations:
        yield fault_at(
            "/max_evaluations", f"A study may do {most_evaluations} evaluations here.",
            ask.max_evaluations, "Ask for fewer, or set CARDAN_MAX_STUDY_EVALUATIONS.",
        )  # fmt: skip
    yield from _faults_of_method(ask)


def _metrics(ask: StudyRequest) -> Iterator[tuple[str, str]]:
    """Pointers and names of the keys of the summary that a study asks for."""
    if isinstance(ask.objective, MetricQuantity):
        yield "/objective/metric", ask.objective.metric
    for number, constraint in enumerate(ask.constraints):
        if isinstance(constraint.quantity, MetricQuantity):
            yield f"/constraints/{number}/quantity/metric", constraint.quantity.metric


def _faults_of_method(ask: StudyRequest) -> Iterator[Fault]:
    method = method_of(ask)
    if ask.constraints and method != "cobyqa":
        hint = "Use cobyqa, or leave method out."
        yield fault_at("/method", f"{method} takes no constraints.", method, hint)
    if method == "least_squares" and not isinstance(ask.objective, MeasuredData):
        hint = "Use nelder_mead, cobyqa or cma_es, or leave method out."
        yield fault_at("/method", "least_squares needs measured data.", method, hint)
    if method == "cma_es" and len(ask.variables) == 1:
        hint = "Use nelder_mead, or leave method out."
        yield fault_at("/method", "cma_es needs two variables or more.", method, hint)


def _faults_of_variable(variable: StudyVariable, place: str) -> Iterator[Fault]:
    low, high, start = variable.lower, variable.upper, variable.start
    if low >= high:
        yield fault_at(f"{place}/lower", f"It must be below upper = {high}.", low, "Exchange them.")
    elif variable.scale == "log" and low <= 0.0:
        yield fault_at(
            f"{place}/lower", "The range of a log scale is above zero.", low, "Raise it."
        )
    elif start is not None and not low <= start <= high:
        yield fault_at(f"{place}/start", f"It must be within [{low}, {high}].", start, "Move it.")


def _signals(ask: StudyRequest) -> Iterator[tuple[str, Signal]]:
    if isinstance(ask.objective, MeasuredData):
        for number, series in enumerate(ask.objective.series):
            yield f"/objective/series/{number}", series
    elif isinstance(ask.objective, Signal):
        yield "/objective", ask.objective
    for number, constraint in enumerate(ask.constraints):
        if isinstance(constraint.quantity, Signal):
            yield f"/constraints/{number}/quantity", constraint.quantity


def _faults_of_signals(ask: StudyRequest, scene: Scene) -> Iterator[Fault]:
    recorded = scene.record.bodies
    bodies = [body.name for body in scene.bodies if recorded is None or body.name in recorded]
    joints = [joint.name for joint in scene.joints]
    for place, signal in _signals(ask):
        channel = next(name for name, columns in CHANNELS.items() if signal.column in columns)
        kind = {"pose": "body", "velocity": "body", "joints": "joint"}.get(channel)
        for name, value, there in (("body", signal.body, bodies), ("joint", signal.joint, joints)):
            if name != kind and value is not None:
                message = f"Column {signal.column} is not of a {name}."
                yield fault_at(f"{place}/{name}", message, value, "Leave it out.")
            elif name == kind and value not in there:
                hint = f"There are: {', '.join(there[:20]) or 'none'}."
                yield fault_at(f"{place}/{name}", f"No such {name} is recorded.", value, hint)
        if kind == "joint" and signal.joint in joints:
            joint = scene.joints[joints.index(signal.joint)]
            yield from _faults_of_coordinate(place, signal, joint)
        if channel not in scene.record.channels:
            message = f"The scene does not record the channel {channel}."
            yield fault_at(f"{place}/column", message, signal.column, "Add it to record.channels.")
        if isinstance(signal, MeasuredSeries) and signal.times:
            end = scene.simulation.duration
            if signal.times[0] < 0.0 or signal.times[-1] > end * (1.0 + 1e-9):
                message = f"The run is from 0 to {end:g} s; the measurements go beyond it."
                got = signal.times[-1] if signal.times[0] >= 0.0 else signal.times[0]
                yield fault_at(f"{place}/times", message, got, "Raise simulation.duration.")


def _faults_of_coordinate(place: str, signal: Signal, joint: Joint) -> Iterator[Fault]:
    count = JOINT_COORDINATES.get(joint.type, 1)
    if signal.coordinate >= count:
        hint = f"Ask for a number from 0 to {count - 1}." if count > 1 else "Leave it out."
        message = f"Joint '{joint.name}' has no coordinate {signal.coordinate}."
        yield fault_at(f"{place}/coordinate", message, signal.coordinate, hint)


def _faults_of_range(ask: StudyRequest, intake: Intake, limits: Limits) -> Iterator[Fault]:
    """Faults of the scene at the ends of every variable."""
    base = read_document(intake.text.document.encode())
    middle = [start_of(variable) for variable in ask.variables]
    seen: set[tuple[str, str]] = set()
    for number, variable in enumerate(ask.variables):
        for name, value in (("lower", variable.lower), ("upper", variable.upper)):
            overrides = overrides_of(ask, [*middle[:number], value, *middle[number + 1 :]])
            try:
                take_scene(base, limits, overrides, "/scene")
            except ServiceError as error:
                for fault in error.errors:
                    at = _place(ask.variables, number, name, fault)
                    if (at, fault["code"]) not in seen:
                        seen.add((at, fault["code"]))
                        yield Fault.model_validate(fault | {"pointer": at})
                break


def _place(
    variables: Sequence[StudyVariable], number: int, bound: str, fault: Mapping[str, Any]
) -> str:
    """Pointer into the request for the fault of a variant: to a wrong pointer, or to a value.

    In the variant, the variable of this number is at a bound, all others are at their start.
    """
    found = f"/variables/{number}/{bound}"
    for other, variable in enumerate(variables):
        for place, target in enumerate(variable.pointers):
            if not f"{fault['pointer']}/".startswith(f"/overrides/{escaped(target)}/"):
                continue
            if fault["code"] in NOWHERE:
                return f"/variables/{other}/pointers/{place}"
            found = found if other == number else f"/variables/{other}/start"
    return found
