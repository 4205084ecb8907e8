"""From what the engine recorded to the tables that are kept."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from schemas import Scene
from service.recordings.tables import Tables, from_columns, recording_metadata


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
