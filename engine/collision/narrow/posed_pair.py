"""Two posed shapes as input of the narrow phase."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.world.collision import N_FIXED, POSITION, CollisionScratch


@kernel
def write_pair(scratch: CollisionScratch, i: int, j: int, first: int, origin: Vec3) -> None:
    """Write shapes i, j as the sides of the pair, `first` as side 0, relative to `origin`.

    The velocity columns of the pair are not written.
    """
    for side in range(2):
        shape = first if side == 0 else i + j - first
        for k in range(N_FIXED):
            scratch.pair[side, k] = scratch.solids[shape, k]
        for k in range(3):
            scratch.pair[side, POSITION + k] -= origin[k]
