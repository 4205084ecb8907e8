"""Events: pairs that begin or cease to touch, and joints that break."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# columns of Events.who
(
    EVENT_KIND,
    EVENT_STEP,
    EVENT_BODY_A,
    EVENT_BODY_B,
    EVENT_SHAPE_A,
    EVENT_SHAPE_B,
    EVENT_JOINT,
    N_WHO,
) = range(8)

# values of EVENT_KIND
EVENT_BEGIN, EVENT_END, EVENT_BREAK = 0, 1, 2

# columns of Events.where
EVENT_TIME, EVENT_POINT, EVENT_NORMAL, EVENT_SPEED = 0, 1, 4, 7
N_WHERE = 8


@struct
class Events(NamedTuple):
    """Events in the order of occurrence; with max = 0 they are not recorded."""

    count: NDArray  # (1,) int64        events not read yet
    who: NDArray  # (max, 7) int64      EVENT_KIND ... EVENT_JOINT; -1: none
    where: (
        NDArray  # (max, 8)          s, m, -, m/s  EVENT_TIME ... EVENT_SPEED: point and normal in W
    )
