"""From the bytes of a request to a checked scene: all faults at once, with pointers into the body.

It takes seconds for large scenes: the processes of the pool do it. It knows no HTTP.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cardan.schemas import (
    Fault,
    Limits,
    Scene,
    SceneCounts,
    SceneInvalid,
    count_scene,
    load_changed,
    scene_hash,
)
from cardan.schemas.api import SessionRequest, SimulationRequest
from cardan.schemas.error import in_short, printable, shown
from cardan.schemas.examples import example_document, example_names
from cardan.schemas.parse import parse_json, read_json
from cardan.schemas.spelling import did_you_mean
from cardan.schemas.translate import translate
from cardan.service.errors import ErrorCode, ServiceError

Model = TypeVar("Model", bound=BaseModel)

# faults of the text, found before it is a document
SYNTAX = frozenset({"syntax", "not_utf8", "too_deep"})
# ids of stored scenes begin so
STORED = "scene_"
# a request body with one of these and without `scene` is itself a scene
SCENE_FIELDS = set(Scene.model_fields) - set(SimulationRequest.model_fields)


@dataclass(frozen=True)
class SceneText:
    """A scene as it is stored: canonical JSON and its hash."""

    hash: str
    document: str


@dataclass(frozen=True)
class StoredText:
    """A stored scene that comes with a request that names it."""

    id: str
    document: bytes


class WantedSceneError(Exception):
    """A request names a stored scene, which did not come with it."""

    def __init__(self, scene_id: str) -> None:
        """Say which."""
        super().__init__(scene_id)
        self.scene_id = scene_id


@dataclass(frozen=True)
class Intake:
    """A scene that the schemas accept, and the document it was read from."""

    scene: Scene
    counts: SceneCounts
    document: Any

    @cached_property
    def text(self) -> SceneText:
        """How it is stored; to make it costs as much as to read the scene."""
        document = json.dumps(self.document, separators=(",", ":"))
        return SceneText(scene_hash(self.scene), document)


def read_document(data: bytes, what: str = "scene") -> Any:
    """Return the JSON document of a body; `what` names it in the error. Raises ServiceError."""
    try:
        return parse_json(data)
    except SceneInvalid as error:
        raise invalid(error.errors, what) from error


def read_with_repeats(data: bytes) -> tuple[Any, list[Fault]]:
    """Return the document of a scene and the faults of its duplicate keys. Raises ServiceError."""
    try:
        return read_json(data)
    except SceneInvalid as error:
        raise invalid(error.errors) from error


def read_request(model: type[Model], document: Any) -> Model:
    """Read a request object; its faults become one 422."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(translate(error, model, document), "request") from error


def read_simulation(document: Any) -> tuple[SimulationRequest, str]:
    """Return the request and the path of its scene in the body. Raises ServiceError."""
    if isinstance(document, dict) and "scene" not in document and SCENE_FIELDS & set(document):
        return SimulationRequest(scene=document), ""
    return read_request(SimulationRequest, document), "/scene"


def read_session(document: Any) -> tuple[SessionRequest, str]:
    """Return the request and the path of its scene in the body. Raises ServiceError."""
    return read_request(SessionRequest, document), "/scene"


def sourced(source: dict[str, Any] | str, stored: StoredText | None) -> dict[str, Any] | str:
    """Return the scene of a request, the document of a stored one. Raises WantedSceneError."""
    if not isinstance(source, str) or not source.startswith(STORED):
        return source
    if stored is None or stored.id != source:
        raise WantedSceneError(source)
    found: dict[str, Any] = read_document(stored.document)
    return found


def take_scene(
    source: dict[str, Any] | str,
    limits: Limits,
    overrides: Mapping[str, Any] | None = None,
    place: str = "",
) -> Intake:
    """Validate a scene given as a document or an example's name, after applying overrides.

    `place` is the path of the scene in the body. Raises ServiceError with every fault.
    """
    changes = dict(overrides or {})
    try:
        scene, document = load_changed(_document(source), changes, limits)
    except SceneInvalid as error:
        raise invalid(located(error.errors, changes, place)) from error
    return Intake(scene, count_scene(scene), document)


def located(faults: Iterable[Fault], changes: Mapping[str, Any], place: str) -> list[Fault]:
    """Return faults of a scene with pointers into the body, to the override that set the value."""
    moved = []
    for fault in faults:
        pointer = place + fault.pointer
        for change in changes:
            if fault.pointer == change or fault.pointer.startswith(change + "/"):
                rest = fault.pointer.removeprefix(change)
                pointer = f"/overrides/{escaped(change)}{rest}"
        moved.append(fault.model_copy(update={"pointer": pointer}))
    return moved


def escaped(text: str) -> str:
    """Return a key escaped as one part of a JSON Pointer."""
    return text.replace("~", "~0").replace("/", "~1")


def invalid(faults: Iterable[Fault], what: str = "scene") -> ServiceError:
    """Return the error of an input with faults."""
    listed = list(faults)
    first = listed[0]
    if first.code in SYNTAX:
        return ServiceError(ErrorCode.MALFORMED_JSON, first.message, errors=_plain(listed))
    code = ErrorCode.SCENE_INVALID if what == "scene" else ErrorCode.INVALID_REQUEST
    return ServiceError(code, in_short(what, listed), errors=_plain(listed))


def _plain(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    return [fault.model_dump() for fault in faults]


def _document(source: Any) -> Any:
    if not isinstance(source, str):
        return source
    try:
        return example_document(source)
    except KeyError:
        fault = Fault(
            pointer="",
            code="unknown_example",
            message=f"There is no example of the name '{shown(source)}'.",
            got=shown(source),
            hint=did_you_mean(printable(source), example_names()),
        )
        raise SceneInvalid([fault]) from None
