"""Triggers: conditions that are checked after every step; each has commands that it fires."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import NDArray

from cardan.engine.compiler.structs import struct

# values of Triggers.kind
(
    TRIGGER_TIME,
    TRIGGER_COORDINATE,
    TRIGGER_VELOCITY,
    TRIGGER_FORCE,
    TRIGGER_CONTACT,
    TRIGGER_CONTACT_FORCE,
) = range(6)

# columns of state.triggers: the side of its value on which the quantity was last, 1 or -1, nan: not
# checked yet; how often the trigger fired; the end of the step in which it last did [s]; of
# coordinates the largest distance from the value, ever and when the trigger fired [m or rad]
FIRED_SIDE, FIRED_COUNT, FIRED_TIME, FIRED_RANGE, FIRED_LATE, N_FIRED = range(6)


@struct
class Triggers(NamedTuple):
    """Conditions of triggers: the quantity that each one watches, and when it fires."""

    kind: NDArray  # (t,) int64      TRIGGER_...
    what: NDArray  # (t,) int64      joint or body, -1: none
    part: NDArray  # (t,) int64      coordinate of the joint; the other body, -1: any
    value: NDArray  # (t,) s, m, rad, per s or N  fires where this is crossed
    way: NDArray  # (t,) int64       1: upwards, -1: downwards, 0: either way
    repeat: NDArray  # (t,) int64    1: each time, 0: once
