"""Which pairs of shapes may touch."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.kernel import kernel
from engine.world.model import ASLEEP, DYNAMIC, KINEMATIC, Shapes


@kernel
def is_listed(keys: NDArray, key: int) -> bool:
    """True if the ascending array `keys` holds `key`."""
    low = 0
    high = len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return bool(low < len(keys) and keys[low] == key)


@kernel
def masks_agree(shapes: Shapes, i: int, j: int) -> bool:
    """True if each of the two shapes has a group that the other's mask lets touch."""
    return bool((shapes.group[i] & shapes.mask[j]) != 0 and (shapes.group[j] & shapes.mask[i]) != 0)


@kernel
def may_touch(shapes: Shapes, body_kind: NDArray, excluded: NDArray, i: int, j: int) -> bool:
    """Different bodies, one of them awake, masks agree both ways, not excluded by a joint.

    Of two bodies one must be dynamic, or kinematic and the other asleep: that wakes it.
    `excluded` holds keys a * n_bodies + b, a < b, of bodies; the world is the body after the last.
    """
    a = shapes.body[i]
    b = shapes.body[j]
    kind_a, kind_b = body_kind[a], body_kind[b]
    if a == b:
        return False
    if kind_a != DYNAMIC and kind_b != DYNAMIC and kind_a + kind_b != KINEMATIC + ASLEEP:
        return False
    if not masks_agree(shapes, i, j):
        return False
    n_bodies = len(body_kind) - 1
    return not is_listed(excluded, min(a, b) * n_bodies + max(a, b))
