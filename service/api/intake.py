"""From a request's body to a validated scene: all faults at once, with pointers into the body."""

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from fastapi import Request
from pydantic import BaseModel, ValidationError

from cardan.schemas import (
    Fault,
    Limits,
    Scene,
    SceneCounts,
    SceneInvalid,
    apply_overrides,
    count_scene,
    load_scene,
    scene_hash,
)
from cardan.schemas.error import printable, shown
from cardan.schemas.examples import example_document, example_names
from cardan.schemas.parse import parse_json
from cardan.schemas.spelling import did_you_mean
from cardan.schemas.translate import translate
from cardan.service.api.problems import ProblemError
from cardan.service.compute.messages import Checked
from cardan.service.services import Services
from cardan.service.simulations.admission import SceneText

Model = TypeVar("Model", bound=BaseModel)

# faults of the text, found before it is a document
SYNTAX = frozenset({"syntax", "not_utf8", "too_deep"})

# scenes in validation at one time; others wait outside of the thread pool
_checks = anyio.CapacityLimiter(4)


@dataclass(frozen=True)
class Intake:
    """A scene that the schemas accept."""

    scene: Scene
    counts: SceneCounts
    text: SceneText


async def read_body(request: Request) -> Any:
    """Return the JSON document of the body. Raises ProblemError: 400, 415 or 422."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise ProblemError(
            415,
            "unsupported_media_type",
            f"The body must be application/json, not {kind or 'without a Content-Type'}.",
            headers={"Accept-Post": "application/json"},
        )
    data = await request.body()
    return await anyio.to_thread.run_sync(_parse, data)


def _parse(data: bytes) -> Any:
    try:
        return parse_json(data)
    except SceneInvalid as error:
        raise invalid(error.errors) from error


def read_request(model: type[Model], document: Any) -> Model:
    """Read a request object; its faults become one 422."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise invalid(translate(error, model, document), "request") from error


def take_scene(
    source: dict[str, Any] | str,
    limits: Limits,
    overrides: Mapping[str, Any] | None = None,
    place: str = "",
) -> Intake:
    """Validate a scene given as a document or an example's name, after applying overrides.

    `place` is the path of the scene in the body. Raises ProblemError 422 with every fault.
    """
    changes = dict(overrides or {})
    try:
        document = apply_overrides(_document(source), changes)
        scene = load_scene(document, limits)
    except SceneInvalid as error:
        raise invalid(located(error.errors, changes, place)) from error
    text = SceneText(scene_hash(scene), json.dumps(document, separators=(",", ":")))
    return Intake(scene, count_scene(scene), text)


async def ask_engine(services: Services, document: str, *, probe_s: float = 0.0) -> Checked:
    """Return the engine's report on a scene. Raises ServiceError without a free worker."""
    check = functools.partial(services.compute.check, document, probe_s=probe_s)
    return await anyio.to_thread.run_sync(check, limiter=_checks)


async def refuse_physics_faults(
    services: Services, text: SceneText, changes: Mapping[str, Any], place: str
) -> None:
    """Raise ProblemError 422 when the engine cannot be built from the scene."""
    checked = await ask_engine(services, text.document)
    if checked.faults:
        faults = [Fault.model_validate(fault) for fault in checked.faults]
        raise invalid(located(faults, changes, place))


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


def invalid(faults: Iterable[Fault], what: str = "scene") -> ProblemError:
    """Return the problem of an input with faults."""
    listed = list(faults)
    first = listed[0]
    if first.code in SYNTAX:
        return ProblemError(400, "malformed_json", first.message, errors=_plain(listed))
    count = "1 fault" if len(listed) == 1 else f"{len(listed)} faults"
    detail = f"The {what} has {count}. {first.pointer or 'The document'}: {first.message}"
    code = "scene_invalid" if what == "scene" else "invalid_request"
    return ProblemError(422, code, detail, errors=_plain(listed))


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
