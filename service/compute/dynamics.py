"""In a worker process: joint-space algorithms on a scene, from plain values to arrays."""

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from cardan.schemas import Fault, Limits, SceneInvalid, load_changed, load_scene, parse_json
from cardan.schemas import dynamics as d
from cardan.schemas.dynamics import MAX_NUMBERS
from cardan.service.compute import messages as m
from cardan.service.intake import (
    invalid,
    located,
    read_document,
    read_request,
    sourced,
    take_scene,
)

if TYPE_CHECKING:
    from cardan.engine import Dynamics

Arguments = Mapping[str, Any]
KEPT_SCENES = 4


# the request of each operation
REQUESTS: Mapping[str, type[d.DynamicsModelRequest]] = {
    "model": d.DynamicsModelRequest,
    "inverse": d.InverseDynamicsRequest,
    "forward": d.ForwardDynamicsRequest,
    "mass-matrix": d.ConfigurationRequest,
    "bias": d.MotionRequest,
    "jacobian": d.JacobianRequest,
    "kinematics": d.MotionRequest,
    "energy": d.MotionRequest,
    "momentum": d.MotionRequest,
}


def answer(order: m.DynamicsOrder | m.MassesOrder, limits: Limits) -> m.Written:
    """Answer the body of a request with JSON. Raises ServiceError."""
    if isinstance(order, m.MassesOrder):
        return masses(order, limits)
    asked = read_request(REQUESTS[order.operation], read_document(order.body))
    intake = take_scene(sourced(asked.scene, order.stored), limits, place="/scene")
    arguments = asked.model_dump(exclude={"scene"}, exclude_none=True)
    found = compute(order.operation, intake.text.document, arguments, limits)
    return m.Written(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY))


def masses(order: m.MassesOrder, limits: Limits) -> m.Written:
    """A `MassesAnswer`. Raises ServiceError."""
    from cardan import engine

    # nothing is recorded
    limits = limits.model_copy(update={"max_recorded_values": 2**63})
    try:
        document = parse_json(order.document.encode())
        found = engine.masses(load_changed(document, order.overrides, limits)[0])
    except (SceneInvalid, engine.SceneError) as error:
        raise invalid(error.errors) from error
    return m.Written(orjson.dumps({"bodies": found}))


def compute(operation: str, document: str, arguments: Arguments, limits: Limits) -> dict[str, Any]:
    """The arrays of an operation on a scene. Raises ServiceError."""
    from cardan.engine import StatesInvalid

    try:
        tree = _tree(document, limits)
        given = dict(arguments)
        if operation != "model":
            given.setdefault("q", [tree.start.tolist()])
            _refuse_size(tree, operation, given)
        return COMPUTING[operation](tree, given)
    except StatesInvalid as error:
        raise invalid(error.errors, "request") from error
    except SceneInvalid as error:
        raise invalid(located(error.errors, {}, "/scene")) from error
    except MemoryError as error:
        message = "The request needs more memory than a worker may use."
        raise invalid([_too_many("/q", message, None)], "request") from error


@functools.lru_cache(maxsize=KEPT_SCENES)
def _tree(document: str, limits: Limits) -> "Dynamics":
    """The tree of a scene; the last KEPT_SCENES are kept."""
    from cardan.engine import Dynamics

    return Dynamics(load_scene(parse_json(document.encode()), limits))


def _refuse_size(tree: "Dynamics", operation: str, arguments: Arguments) -> None:
    """Raise StatesInvalid for more numbers than one answer may have."""
    from cardan.engine import StatesInvalid

    per_state = {
        "mass-matrix": tree.nv**2,
        "jacobian": 6 * tree.nv * (2 if "qd" in arguments else 1),
        "kinematics": 13 * len(tree.body_names),
    }
    states = len(arguments["q"])
    numbers = states * max(tree.nq, per_state.get(operation, 0))
    if numbers > MAX_NUMBERS:
        message = (
            f"{states} states make {numbers} numbers; the limit of one answer is {MAX_NUMBERS}."
        )
        raise StatesInvalid([_too_many("/q", message, states)])


def _too_many(pointer: str, message: str, got: int | None) -> Fault:
    hint = "Ask for fewer states at once."
    return Fault(pointer=pointer, code="limit_exceeded", message=message, got=got, hint=hint)


def _model(tree: "Dynamics", _: Arguments) -> dict[str, Any]:
    return {
        "nq": tree.nq,
        "nv": tree.nv,
        "coordinates": [coordinate._asdict() for coordinate in tree.coordinates],
        "bodies": list(tree.body_names),
        "outside": list(tree.outside),
        "start": tree.start,
    }


def _jacobian(tree: "Dynamics", a: Arguments) -> dict[str, Any]:
    place = a["body"], a["point"]
    found = {"jacobian": tree.jacobian(a["q"], *place)}
    if "qd" in a:
        found["rate"] = tree.jacobian_rate(a["q"], a["qd"], *place)
    return found


def _contiguous(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


COMPUTING: dict[str, Callable[["Dynamics", Arguments], dict[str, Any]]] = {
    "model": _model,
    "inverse": lambda tree, a: {"tau": tree.inverse_dynamics(a["q"], a.get("qd"), a.get("qdd"))},
    "forward": lambda tree, a: {"qdd": tree.forward_dynamics(a["q"], a.get("qd"), a.get("tau"))},
    "mass-matrix": lambda tree, a: {"mass_matrix": tree.mass_matrix(a["q"])},
    "bias": lambda tree, a: {"bias": tree.bias_forces(a["q"], a.get("qd"))},
    "jacobian": _jacobian,
    "kinematics": lambda tree, a: _contiguous(tree.kinematics(a["q"], a.get("qd"))),
    "energy": lambda tree, a: _contiguous(tree.energy(a["q"], a.get("qd"))),
    "momentum": lambda tree, a: _contiguous(tree.momentum(a["q"], a.get("qd"))),
}
