"""Append to the events of a step."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3
from cardan.engine.world.events import (
    EVENT_BODY_A,
    EVENT_BODY_B,
    EVENT_JOINT,
    EVENT_KIND,
    EVENT_NORMAL,
    EVENT_POINT,
    EVENT_SHAPE_A,
    EVENT_SHAPE_B,
    EVENT_SPEED,
    EVENT_STEP,
    EVENT_TIME,
    Events,
)


@kernel
def append_event(events: Events, kind: int, step: int, time: float, a: int, b: int) -> int:
    """Append an event of bodies a and b, without a location; its row, or -1 beyond the capacity."""
    k = events.count[0]
    if k >= len(events.who):
        return -1
    events.count[0] = k + 1
    events.who[k, EVENT_KIND] = kind
    events.who[k, EVENT_STEP] = step
    events.who[k, EVENT_BODY_A] = a
    events.who[k, EVENT_BODY_B] = b
    events.who[k, EVENT_SHAPE_A] = -1
    events.who[k, EVENT_SHAPE_B] = -1
    events.who[k, EVENT_JOINT] = -1
    events.where[k, EVENT_TIME] = time
    events.where[k, EVENT_SPEED] = 0.0
    return k


@kernel
def put_place(events: Events, k: int, p: Vec3, n: Vec3) -> None:
    """Write point and normal of event k."""
    for i in range(3):
        events.where[k, EVENT_POINT + i] = p[i]
        events.where[k, EVENT_NORMAL + i] = n[i]
