"""Islands: independent subproblems of a Problem."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct
from cardan.engine.world.problem import Problem


@struct
class Islands(NamedTuple):
    """Partition of a Problem by the bodies that impulses move; invalid between solves."""

    count: NDArray  # (1,) int64          islands of the last solve
    parent: NDArray  # (n,) int64         disjoint sets of bodies, see bodies/union_find.py
    number: NDArray  # (n,) int64         island of the set whose first body this is, -1: none yet
    start: NDArray  # (n + 1,) int64      first place of each island in `order`, then the end
    boxes: NDArray  # (n,) int64          box rows of each island
    order: NDArray  # (max,) int64        rows by island, in their original order
    place: NDArray  # (max,) int64        number of a row in its island
    part: Problem  # one island at a time, of those that are gathered (build/room.py)
