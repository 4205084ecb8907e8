"""Examples that were run to their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.engine import run
from cardan.schemas import apply_overrides, load_scene
from cardan.schemas.examples import example_document


class Run:
    """A scene that was run to its end: its tables and summary."""

    def __init__(self, name: str, overrides: dict[str, Any] | None = None) -> None:
        """Run an example, perhaps with overrides by JSON Pointer."""
        document = example_document(name)
        if overrides:
            document = apply_overrides(document, overrides)
        recording, self.summary = run(load_scene(document))
        self.tables = recording.tables()

    def body(self, name: str, *columns: str) -> np.ndarray:
        """Columns (frames, k) of one body."""
        table = self.tables["bodies"]
        rows = table["body"] == name
        return np.stack([table[column][rows] for column in columns], axis=1)

    def joint(self, name: str, column: str, coordinate: int = 0) -> np.ndarray:
        """One column (frames,) of one joint coordinate."""
        table = self.tables["joints"]
        rows = (table["joint"] == name) & (table["coordinate"] == coordinate)
        return table[column][rows]

    @property
    def time(self) -> np.ndarray:
        """Times of the frames."""
        return np.unique(self.tables["bodies"]["time"])
