"""The words of the project as data: scenes, requests, frames, errors. Knows no engine, no HTTP."""

from schemas.error import Fault, Problem, SceneInvalid
from schemas.limits import Limits, SceneCounts, count_scene
from schemas.load import load_scene
from schemas.parse import parse_json
from schemas.pointer import apply_overrides
from schemas.scene import Scene
from schemas.scene_hash import scene_hash
from schemas.scene_warnings import scene_warnings

__all__ = [
    "Fault",
    "Limits",
    "Problem",
    "Scene",
    "SceneCounts",
    "SceneInvalid",
    "apply_overrides",
    "count_scene",
    "load_scene",
    "parse_json",
    "scene_hash",
    "scene_warnings",
]
