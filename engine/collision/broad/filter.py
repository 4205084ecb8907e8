"""Which pairs of shapes may touch."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.model import ABSENT, ASLEEP, DYNAMIC, KINEMATIC, Shapes


@kernel
def place_of(keys: NDArray, n: int, key: int) -> int:
    """The first of n ascending keys that is at least `key`; n if there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def is_listed(keys: NDArray, key: int) -> bool:
    """True if the ascending array `keys` holds `key`."""
    k = place_of(keys, len(keys), key)
    return bool(k < len(keys) and keys[k] == key)


@kernel
def masks_agree(shapes: Shapes, i: int, j: int) -> bool:
    """True if the mask of each shape admits a group of the other."""
    return bool((shapes.group[i] & shapes.mask[j]) != 0 and (shapes.group[j] & shapes.mask[i]) != 0)


@kernel
def is_live(kind_a: int, kind_b: int) -> bool:
    """True if a contact has an effect: one body is dynamic, or kinematic and the other asleep; and
    none is absent."""
    some = (kind_a == DYNAMIC) | (kind_b == DYNAMIC) | (kind_a + kind_b == KINEMATIC + ASLEEP)
    return some & (kind_a != ABSENT) & (kind_b != ABSENT)


@kernel
def is_excluded(excluded: NDArray, n_bodies: int, a: int, b: int) -> bool:
    """True if a joint excludes contacts between bodies a and b."""
    return len(excluded) > 0 and is_listed(excluded, min(a, b) * n_bodies + max(a, b))


@kernel
def may_touch(shapes: Shapes, body_kind: NDArray, excluded: NDArray, i: int, j: int) -> bool:
    """Different bodies, one of them awake, masks agree both ways, not excluded by a joint.

    Of two bodies, both present, one must be dynamic, or kinematic and the other asleep: that wakes
    it.
    `excluded` holds keys a * n_bodies + b, a < b, of bodies; the world is the body after the last.
    """
    a = shapes.body[i]
    b = shapes.body[j]
    if a == b or not is_live(body_kind[a], body_kind[b]) or not masks_agree(shapes, i, j):
        return False
    return not is_excluded(excluded, len(body_kind) - 1, a, b)
