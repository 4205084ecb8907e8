"""Data models of the project: scenes, requests, frames, errors. Independent of engine and HTTP."""

if __name__ != "cardan.schemas":
    raise ImportError("import cardan.schemas: `schemas` would be a second copy of it")

from cardan.schemas.error import Fault, Problem, SceneInvalid, gathered
from cardan.schemas.limits import Limits, SceneCounts, count_scene
from cardan.schemas.load import GivenScene, load_changed, load_scene, scene_of
from cardan.schemas.parse import parse_json
from cardan.schemas.pointer import apply_overrides
from cardan.schemas.scene import Scene
from cardan.schemas.scene_hash import scene_hash
from cardan.schemas.scene_warnings import scene_warnings

__all__ = [
    "Fault",
    "GivenScene",
    "Limits",
    "Problem",
    "Scene",
    "SceneCounts",
    "SceneInvalid",
    "apply_overrides",
    "count_scene",
    "gathered",
    "load_changed",
    "load_scene",
    "parse_json",
    "scene_hash",
    "scene_of",
    "scene_warnings",
]
