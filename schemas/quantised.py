"""Poses in 12 bytes: positions as steps of a box around all bodies, rotations by their three
smallest components.

A position is the lower corner of the box plus a whole number of its steps, of which an edge has
65535. Of a unit quaternion the largest component follows from the others, which are at most
1 / sqrt(2): three whole numbers of 15 bits, and two bits for which one is left out. 0 is exact.
"""

import math

import numpy as np
import numpy.typing as npt

from cardan.schemas.frame import POSE_DTYPE, QUANTISED_BOX_DTYPE, QUANTISED_DTYPE, Table

STEPS = 65535
LARGEST_STEP = 1e-3
"""Of a box [m]: poses of bodies farther apart than 65 m are not quantised."""
HALF = 16383
"""Steps from 0 to the largest value of a component that is sent."""
QUATERNION_STEP = math.sqrt(0.5) / HALF
POSITION_ERROR = 0.5
"""Largest error of a position, in steps of the box, along each axis."""
ANGLE_ERROR = 2.0 * math.sqrt(3.0) * QUATERNION_STEP
"""Largest angle between a rotation and what is sent of it [rad]: 1.5e-4.

With errors of half a step h in three components that are 1/2 each, the fourth is wrong by 3 h, and
the quaternion by sqrt(12) h; its angle is twice that.
"""

_OTHERS = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
_LOW = 0x7FFF

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


def poses_of(table: Table, box: Table) -> Table:
    """Return the table of poses of quantised ones and their box."""
    values = np.empty((len(table), 7), "<f4")
    values[:, :3] = box["low"][0] + box["step"][0] * table["p"]
    words = table["q"].astype(np.int64)
    largest = (words[:, 0] >> 15) | (words[:, 1] >> 15) << 1
    three = ((words & _LOW) - HALF) * QUATERNION_STEP
    rows = np.arange(len(table))
    q = np.empty((len(table), 4))
    q[rows[:, None], _OTHERS[largest]] = three
    q[rows, largest] = np.sqrt(np.maximum(0.0, 1.0 - (three * three).sum(axis=1)))
    values[:, 3:] = q
    return values.view(POSE_DTYPE).reshape(len(values))


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
