"""Area and length of the patch of a contact, shared evenly by its points.

Stiffness per area multiplies them (`constraints/foundation.py`).
"""

from __future__ import annotations

import math

from cardan.engine.collision.manifold.clip import SIDE, Frame, corner
from cardan.engine.collision.manifold.feature import Feature, is_cap
from cardan.engine.collision.narrow.solid import kind_of
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import Pair, Patch
from cardan.engine.world.model import CONE, CYLINDER

# contacts that a patch keeps
MOST_POINTS = 4
# a circle over the octagon that represents it
CIRCLE = math.pi / (2.0 * math.sqrt(2.0))


@kernel
def clear_share(patch: Patch) -> None:
    """The patch is a point."""
    patch.share[0] = 0.0
    patch.share[1] = 0.0


@kernel
def set_share(patch: Patch, count: int, extent: float) -> None:
    """Share of each contact in the area (count > 2) or length of a patch of `count` corners."""
    clear_share(patch)
    if count >= 2:
        patch.share[0 if count > 2 else 1] = extent / min(count, MOST_POINTS)


@kernel
def extent_of_flat(patch: Patch, row: int, count: int) -> float:
    """Area of the polygon in row `row` of patch.flat, or the length of its line, along n."""
    flat = patch.flat
    if count == 2:
        return math.hypot(flat[row, 1, 0] - flat[row, 0, 0], flat[row, 1, 1] - flat[row, 0, 1])
    twice = 0.0
    for k in range(1, count - 1):
        ux, uy = flat[row, k, 0] - flat[row, 0, 0], flat[row, k, 1] - flat[row, 0, 1]
        vx, vy = flat[row, k + 1, 0] - flat[row, 0, 0], flat[row, k + 1, 1] - flat[row, 0, 1]
        twice += ux * vy - uy * vx
    return 0.5 * abs(twice)


@kernel
def is_disc(pair: Pair, s: int, count: int) -> bool:
    """Whether a feature of `count` corners of side s is a round cap that is full."""
    return is_cap(pair, s, count) and kind_of(pair, s) in (CYLINDER, CONE)


@kernel
def whole_cap(pair: Pair, patch: Patch, row: int, count: int) -> int:
    """The side whose whole round cap is the outline in row `row` of patch.flat; -1: neither's."""
    s = patch.edge[row, 0] // SIDE
    if not is_cap(pair, s, count):
        return -1
    for k in range(1, count):
        if patch.edge[row, k] // SIDE != s:
            return -1
    return int(s)


@kernel
def extent_of_feature(pair: Pair, patch: Patch, s: int, f: Feature, frame: Frame) -> float:
    """Area of the feature of side s as seen along the normal, or the length of its line.

    Writes  row 0 of patch.flat
    """
    for k in range(f[0]):
        x, y, _ = corner(patch, s, f[0], k, frame)
        patch.flat[0, k, 0] = x
        patch.flat[0, k, 1] = y
    extent = extent_of_flat(patch, 0, f[0]) if f[0] >= 2 else 0.0
    return CIRCLE * extent if is_disc(pair, s, f[0]) else extent


@kernel
def set_share_of_flat(pair: Pair, patch: Patch, cap: int, row: int, count: int) -> None:
    """The outline in row `row` of patch.flat is the patch; cap: the side whose round cap it is."""
    extent = extent_of_flat(patch, row, count) if count >= 2 else 0.0
    if cap >= 0 and is_disc(pair, cap, count):
        extent *= CIRCLE
    set_share(patch, count, extent)
