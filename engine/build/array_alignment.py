"""Alignment of arrays: large arrays that are traversed together must not share cache sets.

By default large arrays begin at the start of a page. The same row of forty arrays then has
forty addresses that are equal modulo 4096, and an eight-way associative cache evicts them before
they are used.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

PAGE, LINE = 4096, 64
# cache lines between the offsets of successive arrays in their pages; a page has 64
STRIDE = 5


Bundle = TypeVar("Bundle")


def placed(array: Any, offset: int) -> Any:
    """A copy of an array that begins `offset` bytes after the start of a page."""
    room = np.empty(array.nbytes + 2 * PAGE, np.uint8)
    first = (offset - room.ctypes.data) % PAGE
    copy = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def spread_over_cache_sets(arrays: Bundle, kept: Any) -> Bundle:
    """Nested structs whose large arrays are copied to different cache sets.

    Arrays that are also in `kept` are not moved; arrays shared by several structs remain shared.
    """
    moved: dict[int, Any] = {}
    hold(kept, moved)
    places = [0]

    def lay(one: Any) -> Any:
        if isinstance(one, tuple):
            return type(one)(*(lay(part) for part in one))
        if id(one) not in moved:
            moved[id(one)] = one
            if one.nbytes >= PAGE:
                places[0] += STRIDE * LINE
                moved[id(one)] = placed(one, places[0] % PAGE)
        return moved[id(one)]

    laid: Bundle = lay(arrays)
    return laid


def hold(arrays: Any, moved: dict[int, Any]) -> None:
    """Record that the arrays of nested structs are not moved."""
    if isinstance(arrays, tuple):
        for one in arrays:
            hold(one, moved)
    else:
        moved[id(arrays)] = arrays
