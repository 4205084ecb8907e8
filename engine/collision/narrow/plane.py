"""Any solid above a plane. The plane is side 1 and fills z <= 0 of its frame."""

from __future__ import annotations

from cardan.engine.collision.narrow.closest_feature import Hit
from cardan.engine.collision.narrow.solid import axis_of, position_of, radius_of
from cardan.engine.collision.narrow.support import support
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import add_scaled, dot, negate, sub
from cardan.engine.world.collision import Pair


@kernel
def solid_plane(pair: Pair) -> Hit:
    """The lowest point of the solid: gap = up . (x - p) - radius."""
    up = axis_of(pair, 1, 2)
    down = negate(up)
    x = support(pair, 0, down)
    r = radius_of(pair, 0)
    height = dot(up, sub(x, position_of(pair, 1)))
    gap = height - r
    # midpoint: from the core point down by the radius and half the gap
    return (gap, down, add_scaled(x, -(r + 0.5 * gap), up))
