"""The door for scenes: JSON in, a scene or every fault out."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from cardan.schemas.checks import CHECKS
from cardan.schemas.checks.parts import parts_of_scene, valid_parts
from cardan.schemas.error import Fault, SceneInvalid, found, shown
from cardan.schemas.limits import Limits, count_scene, run_faults, size_faults
from cardan.schemas.parse import read_json
from cardan.schemas.pointer import applied
from cardan.schemas.scene import Scene
from cardan.schemas.translate import translate

GivenScene = Scene | Mapping[str, Any] | str | bytes
"""A scene that was loaded, its document, or the document as JSON text."""


def scene_of(given: GivenScene, limits: Limits | None = None) -> Scene:
    """The scene that is given, loaded if it is not yet. Raises SceneInvalid."""
    if isinstance(given, Scene):
        return given
    return load_scene(dict(given) if isinstance(given, Mapping) else given, limits)


def load_scene(data: dict[str, Any] | str | bytes, limits: Limits | None = None) -> Scene:
    """Return the scene of a document or of JSON text.

    Raises SceneInvalid with every fault at once. Scenes beyond the limits are refused before
    their parts are looked at.
    """
    limits = limits if limits is not None else Limits()
    document, repeated = read_json(data) if isinstance(data, (str, bytes)) else (data, [])
    if not isinstance(document, dict):
        raise SceneInvalid([_not_an_object(document)])
    faults = size_faults(document, limits)
    if faults:
        raise SceneInvalid(faults)
    scene, faults = _validate(document, limits)
    faults = repeated + faults
    if scene is None or faults:
        raise SceneInvalid(faults)
    return scene


def load_changed(
    document: Any, overrides: Mapping[str, Any], limits: Limits | None = None
) -> tuple[Scene, Any]:
    """Return the scene of a document after overrides, and the changed document.

    Raises SceneInvalid with every fault at once: pointers that lead nowhere, and what is wrong in
    the scene that the others make.
    """
    document, faults = applied(document, overrides)
    try:
        scene = load_scene(document, limits)
    except SceneInvalid as error:
        faults += error.errors
    if faults:
        raise SceneInvalid(faults)
    return scene, document


def _validate(document: dict[str, Any], limits: Limits) -> tuple[Scene | None, list[Fault]]:
    """Return the scene, if all its fields are valid, and the faults."""
    scene: Scene | None = None
    faults: list[Fault] = []
    try:
        scene = Scene.model_validate(document)
        parts = parts_of_scene(document, scene)
        faults += run_faults(count_scene(scene), limits)
    except ValidationError as error:
        faults += translate(error, Scene, document)
        parts = valid_parts(document)
    known = {fault.pointer for fault in faults}
    for check in CHECKS:
        faults += [fault for fault in check(parts) if fault.pointer not in known]
    return scene, faults


def _not_an_object(document: Any) -> Fault:
    return Fault(
        pointer="",
        code="not_an_object",
        message=f"A scene is a JSON object; found {found(document)}.",
        got=shown(document),
        hint='The smallest scene is {"version": 1, "bodies": [...]}.',
    )
