"""In a worker process: statics, linear models and inverse kinematics of a scene."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
import orjson

from cardan.schemas import Fault, Limits, Scene, SceneInvalid, load_scene, parse_json
from cardan.schemas import statics as s
from cardan.schemas.checks.names import Path, unknown_name
from cardan.schemas.error import shown
from cardan.schemas.given import GivenInvalid
from cardan.schemas.pointer import value_at
from cardan.service.compute import messages as m
from cardan.service.intake import (
    invalid,
    located,
    read_document,
    read_request,
    sourced,
    take_scene,
)

Answer = dict[str, Any]
Kind = Literal["joint", "body"]
Named = tuple[Kind, Path, str]

REQUESTS: Mapping[str, type[s.MechanicsRequest]] = {
    "statics": s.StaticsRequest,
    "linearization": s.LinearizationRequest,
    "inverse-kinematics": s.InverseKinematicsRequest,
}


def answer(order: m.MechanicsOrder, limits: Limits) -> m.Written:
    """Answer the body of a request with JSON. Raises ServiceError."""
    document = read_document(order.body)
    asked = read_request(REQUESTS[order.operation], document)
    intake = take_scene(sourced(asked.scene, order.stored), limits, asked.overrides, place="/scene")
    scene = load_scene(parse_json(intake.text.document.encode()), limits)
    if faults := list(unknown_names(scene, asked)):
        raise invalid(faults, "request")
    try:
        found = compute(scene, asked)
    except SceneInvalid as error:
        raise invalid(located(error.errors, asked.overrides, "/scene")) from error
    except ValueError as error:
        raise invalid([fault_of(error, document)], "request") from error
    return m.Written(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY))


def fault_of(error: ValueError, document: Any) -> Fault:
    """The fault of what a document gives beside a scene, at its place where the error says it."""
    message = str(error)
    message = message[:1].upper() + message[1:]
    pointer, got = "", None
    if isinstance(error, GivenInvalid):
        pointer = error.pointer
        found = value_at(document, pointer)
        got = shown(error.got if found is None else found)
    return Fault(pointer=pointer, code="unsuitable", message=f"{message.rstrip('.')}.", got=got)


def unknown_names(scene: Scene, asked: s.MechanicsRequest) -> Iterator[Fault]:
    """A fault for each name in a request that no joint or body of the scene has."""
    known = {
        "joint": [joint.name for joint in scene.joints],
        "body": [body.name for body in scene.bodies],
    }
    for kind, path, name in named(asked):
        if name not in known[kind]:
            yield unknown_name(kind, path, name, known[kind])


def named(asked: s.MechanicsRequest) -> Iterator[Named]:
    """Joints and bodies that a request names: `joint` or `body`, the place, the name."""
    match asked:
        case s.StaticsRequest(load=s.Load() as load):
            for i, force in enumerate(load.forces):
                yield "body", ["load", "forces", i, "body"], force.body
        case s.LinearizationRequest():
            for values in ("q", "qd"):
                for joint in getattr(asked, values):
                    yield "joint", [values, joint], joint
            for channels in ("inputs", "outputs"):
                for i, channel in enumerate(getattr(asked, channels) or ()):
                    kind: Kind = "joint" if getattr(channel, "body", None) is None else "body"
                    if (name := getattr(channel, kind)) is not None:
                        yield kind, [channels, i, kind], name
        case s.InverseKinematicsRequest():
            for joint in asked.q:
                yield "joint", ["q", joint], joint
            for i, target in enumerate(asked.targets):
                yield "body", ["targets", i, "body"], target.body


def compute(scene: Scene, asked: s.MechanicsRequest) -> Answer:
    """The answer to a request about a scene. Raises SceneInvalid and ValueError."""
    match asked:
        case s.StaticsRequest():
            return statics_of(scene, asked)
        case s.LinearizationRequest():
            return linearization_of(scene, asked)
        case s.InverseKinematicsRequest():
            return pose_of(scene, asked)
    raise ValueError(f"there is no request of the kind {type(asked).__name__}")


def statics_of(scene: Scene, asked: s.StaticsRequest) -> Answer:
    """A `StaticsAnswer`."""
    from cardan.engine.statics.statics import statics

    load = None if asked.load is None else asked.load.model_dump()
    found = statics(scene, search=asked.search, load=load)
    stability = None
    if found.stability is not None:
        own = found.stability
        stability = own._asdict() | {"frequencies": own.frequencies}
    return {
        "status": found.status,
        "reason": found.reason,
        "moved": found.moved,
        "steps": found.steps,
        "unbalanced": found.unbalanced if math.isfinite(found.unbalanced) else None,
        "coordinates": found.coordinates,
        "poses": [
            {"body": body.name, "position": pose[:3].tolist(), "orientation": pose[3:].tolist()}
            for body, pose in zip(scene.bodies, found.poses, strict=True)
        ],
        "joints": found.joints,
        "contacts": found.contacts,
        "indeterminate": found.indeterminate,
        "stability": stability,
        "margin": None if found.margin is None else vars(found.margin),
        "left_out": found.left_out,
    }


def linearization_of(scene: Scene, asked: s.LinearizationRequest) -> Answer:
    """A `LinearizationAnswer`."""
    from cardan.engine.statics.linearization import linearize

    channels = [
        None if given is None else [one.model_dump(exclude_none=True) for one in given]
        for given in (asked.inputs, asked.outputs)
    ]
    found = linearize(scene, asked.q, asked.qd, *channels)
    names = [body.name for body in scene.bodies]
    matrices = ("A", "B", "C", "D", "x0", "u0", "y0", "f0", "mass")
    return {
        "coordinates": found.coordinates,
        "inputs": found.inputs,
        "outputs": found.outputs,
        **{name: np.ascontiguousarray(getattr(found, name)) for name in matrices},
        "modes": [_mode(mode, names, shapes=asked.shapes) for mode in found.modes],
        "left_out": found.left_out,
    }


def _mode(mode: Any, names: list[str], *, shapes: bool) -> dict[str, Any]:
    """A `ModeInfo`."""
    shape = None
    if shapes:
        shape = {
            "coordinates": [[float(c.real), float(c.imag)] for c in mode.shape],
            "bodies": [
                {
                    "body": name,
                    "rotation": [moved[:3].real.tolist(), moved[:3].imag.tolist()],
                    "displacement": [moved[3:].real.tolist(), moved[3:].imag.tolist()],
                }
                for name, moved in zip(names, mode.bodies, strict=True)
            ],
        }
    return {
        "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
        "frequency": mode.frequency,
        "damping_ratio": mode.damping_ratio,
        "shape": shape,
    }


def pose_of(scene: Scene, asked: s.InverseKinematicsRequest) -> Answer:
    """An `InverseKinematicsAnswer`."""
    from cardan.engine.statics.inverse_kinematics import inverse_kinematics

    found = inverse_kinematics(
        scene,
        [target.model_dump() for target in asked.targets],
        q=asked.q,
        tolerance=asked.tolerance,
        starts=asked.starts,
    )
    errors = [{"position": p, "orientation": r} for p, r in found.errors]
    return vars(found) | {"errors": errors}
