"""Where arrays lie: large ones that are walked side by side must not share the sets of a cache.

Large arrays begin at the start of a page, all of them. Then the same row of forty arrays has forty
places of the same number modulo 4096, and a cache that keeps eight of a kind throws them out again
before they are used.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

PAGE, LINE = 4096, 64
# lines from one array to the next within their pages; 64 lines are a page
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
    """Nested bundles with their large arrays laid apart.

    What `kept` holds as well stays where it is; what several bundles share is shared afterwards.
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
    """Note that the arrays of nested bundles stay where they are."""
    if isinstance(arrays, tuple):
        for one in arrays:
            hold(one, moved)
    else:
        moved[id(arrays)] = arrays
