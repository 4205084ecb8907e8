"""Contact events: pairs of shapes that begin or cease to touch."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.events import append_event, put_place
from cardan.engine.bodies.point import velocity_at
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import dot, load3, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.events import (
    EVENT_BEGIN,
    EVENT_END,
    EVENT_SHAPE_A,
    EVENT_SHAPE_B,
    EVENT_SPEED,
    Events,
)
from cardan.engine.world.model import Shapes
from cardan.engine.world.state import State


@kernel
def is_touching(contacts: Contacts, c: int) -> bool:
    """True if contact c was active in this step: no gap, a normal impulse, or an impact."""
    push = dot(load3(contacts.normal_W, c), load3(contacts.impulse_W, c))
    return bool(contacts.gap[c] <= 0.0 or push > 0.0 or contacts.struck[c] == 1)


@kernel
def put_touch(events: Events, kind: int, step: int, time: float, shapes: Shapes, key: int) -> int:
    """Append an event of a pair of shapes, without location; its row, or -1 beyond the capacity."""
    n = len(shapes.kind)
    i, j = key // n, key % n
    k = append_event(events, kind, step, time, shapes.body[i], shapes.body[j])
    if k >= 0:
        events.who[k, EVENT_SHAPE_A] = i
        events.who[k, EVENT_SHAPE_B] = j
    return k


@kernel
def put_begin(
    events: Events, contacts: Contacts, c: int, state: State, velocity: NDArray, k: int
) -> None:
    """Write location and approach speed of event k: those of contact c before the kick."""
    p, n = load3(contacts.point_W, c), load3(contacts.normal_W, c)
    put_place(events, k, p, n)
    v_a = velocity_at(state, velocity, contacts.body_a[c], p)
    v_b = velocity_at(state, velocity, contacts.body_b[c], p)
    events.where[k, EVENT_SPEED] = max(0.0, dot(n, sub(v_a, v_b)))


@kernel
def find_events(
    shapes: Shapes, contacts: Contacts, state: State, velocity: NDArray, time: float, events: Events
) -> None:
    """Append the begin and end events of the present kick, ascending by pair.

    A pair touches in a step when one of its contacts has no gap or carries an impulse. The location
    of a begin event is its deepest contact, that of an end event the last contact of the pair.

    Reads   contacts with their impulses; state.contacts: those of the step before;
            velocity (n, 6) before the kick, angular first, W; time [s] of the kick
    Check   tests/engine/collision/test_events.py
    """
    cache = state.contacts
    n = len(shapes.kind)
    step = state.step[0] + 1
    i = 0
    j = 0
    while i < contacts.count[0] or j < cache.count[0]:
        key = n * n
        if i < contacts.count[0]:
            key = contacts.shape_a[i] * n + contacts.shape_b[i]
        if j < cache.count[0]:
            key = min(key, cache.key[j])
        now = -1
        while i < contacts.count[0] and contacts.shape_a[i] * n + contacts.shape_b[i] == key:
            if is_touching(contacts, i) and (now < 0 or contacts.gap[i] < contacts.gap[now]):
                now = i
            i += 1
        before = -1
        while j < cache.count[0] and cache.key[j] == key:
            if cache.touching[j] != 0 and before < 0:
                before = j
            j += 1
        if now >= 0 and before < 0:
            k = put_touch(events, EVENT_BEGIN, step, time, shapes, key)
            if k >= 0:
                put_begin(events, contacts, now, state, velocity, k)
        elif now < 0 and before >= 0:
            k = put_touch(events, EVENT_END, step, time, shapes, key)
            if k >= 0:
                put_place(events, k, load3(cache.point_W, before), load3(cache.normal_W, before))
