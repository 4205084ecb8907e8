"""Kinds of shapes, joints and motors in arrays."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def is_one_of(kind: NDArray[np.int64], kinds: Iterable[int]) -> NDArray[np.bool_]:
    """Which of an array of kinds are among a few; `np.isin` sorts, which costs ten times as much.

    Of the shape of `kind`.
    """
    found = np.zeros(kind.shape, bool)
    for one in kinds:
        found |= kind == one
    return found
