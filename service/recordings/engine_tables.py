"""Conversion of the engine's records to the stored tables."""

import math
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from cardan.schemas import Scene
from cardan.service.recordings.tables import Tables, from_columns, recording_metadata


def finite_values(value: Any) -> Any:
    """The plain value with `None` for values that JSON cannot represent: NaN and infinities."""
    kind = type(value)
    if kind is float:
        # most of a summary; what follows asks abstract classes, which answer slowly
        return value if math.isfinite(value) else None
    if kind is str or kind is int:
        return value
    if isinstance(value, Mapping):
        return {key: finite_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_values(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def recording_of(
    scene: Scene,
    scene_hash: str,
    columns: Mapping[str, Mapping[str, npt.NDArray[Any]]],
    summary: Mapping[str, Any],
) -> Tables:
    """The recording of a run with its scene, its summary and the metadata of its files."""
    metadata = recording_metadata(
        scene_hash=scene_hash,
        name=scene.name,
        seed=scene.simulation.seed,
        dt=scene.simulation.dt,
        versions=summary.get("versions", {}),
    )
    recording = from_columns(columns, metadata)
    return Tables(
        recording.tables,
        recording.metadata,
        scene=scene.model_dump(mode="json", exclude_unset=True),
        summary=summary,
    )
