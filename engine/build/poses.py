"""Poses of all bodies at one time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.rotations import inverse, turn

Array = NDArray[np.float64]


class Poses(NamedTuple):
    """Centres of mass and orientations of all bodies in W; the last one is the world."""

    p: Array  # (n, 3) m
    q: Array  # (n, 4)

    def point(self, body: int, point_W: Array) -> Array:
        """A point of W relative to the body's centre of mass, in body axes [m]."""
        return turn(inverse(self.q[body]), point_W - self.p[body])

    def direction(self, body: int, direction_W: Array) -> Array:
        """A direction of W in body axes."""
        return turn(inverse(self.q[body]), direction_W)
