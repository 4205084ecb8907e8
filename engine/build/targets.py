"""Tables of time-dependent quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.engine.world.model import Targets


class TargetTable:
    """Collects targets and assigns their indices."""

    def __init__(self) -> None:
        """Start without targets."""
        self.start: list[int] = []
        self.count: list[int] = []
        self.is_step: list[int] = []
        self.times: list[float] = []
        self.values: list[float] = []

    def add(self, target: Any, component: int | None = None) -> int:
        """Add a constant or series (of a vector: one component); returns its index."""
        constant = not hasattr(target, "times")
        times = (0.0,) if constant else target.times
        values = (target,) if constant else target.values
        self.start.append(len(self.times))
        self.count.append(len(times))
        self.is_step.append(0 if constant else int(target.interpolation == "step"))
        self.times.extend(times)
        self.values.extend(values if component is None else (v[component] for v in values))
        return len(self.start) - 1

    def arrays(self) -> Targets:
        """All tables."""
        return Targets(
            start=np.array(self.start, np.int64),
            count=np.array(self.count, np.int64),
            is_step=np.array(self.is_step, np.int64),
            times=np.array(self.times, float),
            values=np.array(self.values, float),
        )
