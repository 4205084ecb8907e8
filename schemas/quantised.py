"""Poses in 12 bytes: positions as steps of a box around all bodies, rotations by their three
smallest components.

A position is the lower corner of the box plus a whole number of its steps, of which an edge has
65535. Of a unit quaternion the largest component follows from the others, which are at most
1 / sqrt(2): three whole numbers of 15 bits, and two bits for which one is left out. 0 is exact.
"""

import math

import numpy as np
import numpy.typing as npt

from cardan.schemas.frame import QUANTISED_BOX_DTYPE, QUANTISED_DTYPE, Table

STEPS = 65535
LARGEST_STEP = 1e-3
"""Of a box [m]: poses of bodies farther apart than 65 m are not quantised."""
HALF = 16383
"""Steps from 0 to the largest value of a component that is sent."""
QUATERNION_STEP = math.sqrt(0.5) / HALF

_OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])

Floats = npt.NDArray[np.float64]


def quantise(poses: Table) -> tuple[Table, Table] | None:
    """Return the tables of quantised poses and of their box, from a table of poses.

    `None` where they would be too coarse, or a pose is not finite.
    """
    if not len(poses):
        return None
    values = poses.view("<f4").reshape(len(poses), 7).astype(np.float64)
    low, high = values[:, :3].min(axis=0), values[:, :3].max(axis=0)
    step = (high - low) / STEPS
    # comparisons with what is not finite are false
    if not (step <= LARGEST_STEP).all() or not np.isfinite(values[:, 3:]).all():
        return None
    box = np.zeros(1, QUANTISED_BOX_DTYPE)
    box["low"], box["step"] = low, step
    table = np.zeros(len(values), QUANTISED_DTYPE)
    table["p"] = np.rint((values[:, :3] - low) / np.where(step > 0.0, step, 1.0))
    table["q"] = _smallest_three(values[:, 3:])
    return table, box


def _smallest_three(q: Floats) -> npt.NDArray[np.int64]:
    """Three words of each unit quaternion, from an array of shape (bodies, 4)."""
    rows = np.arange(len(q))
    largest = np.abs(q).argmax(axis=1)
    # q and -q are the same rotation
    sign = np.where(q[rows, largest] < 0.0, -1.0, 1.0)
    three = q[rows[:, None], _OTHERS[largest]] * sign[:, None]
    steps = np.rint(three / QUATERNION_STEP).clip(-HALF, HALF)
    words: npt.NDArray[np.int64] = steps.astype(np.int64) + HALF
    words[:, 0] |= (largest & 1) << 15
    words[:, 1] |= (largest >> 1) << 15
    return words
