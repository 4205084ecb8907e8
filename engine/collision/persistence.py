"""Contacts that last: hand the impulse of the last step to the same contact of this step."""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.touching import find_events, is_touching
from engine.kernel import kernel
from engine.spatial.vec3 import load3, store3
from engine.world.contacts import Contacts
from engine.world.events import Events
from engine.world.model import Shapes
from engine.world.state import ContactCache, State
from engine.world.workspace import Motion


@kernel
def match_contacts(contacts: Contacts, n_shapes: int, cache: ContactCache) -> None:
    """contacts.impulse_W = the impulse of the cached contact with equal pair and feature, or 0.

    Both lists ascend by pair: one walk through each. A cached contact is given away once.
    """
    start = 0
    taken = -1
    for i in range(contacts.count[0]):
        key = contacts.shape_a[i] * n_shapes + contacts.shape_b[i]
        if i > 0 and (
            contacts.shape_a[i] != contacts.shape_a[i - 1]
            or contacts.shape_b[i] != contacts.shape_b[i - 1]
        ):
            taken = -1
        for k in range(3):
            contacts.impulse_W[i, k] = 0.0
            contacts.moment_W[i, k] = 0.0
        while start < cache.count[0] and cache.key[start] < key:
            start += 1
        j = max(start, taken + 1)
        while j < cache.count[0] and cache.key[j] == key:
            if cache.feature[j] == contacts.feature[i]:
                for k in range(3):
                    contacts.impulse_W[i, k] = cache.impulse_W[j, k]
                    contacts.moment_W[i, k] = cache.moment_W[j, k]
                taken = j
                break
            j += 1


@kernel
def store_contacts(contacts: Contacts, n_shapes: int, cache: ContactCache) -> None:
    """Keep what the next step wants of every contact, in order, as far as the cache goes."""
    n = min(contacts.count[0], len(cache.key))
    for i in range(n):
        cache.key[i] = contacts.shape_a[i] * n_shapes + contacts.shape_b[i]
        cache.feature[i] = contacts.feature[i]
        cache.touching[i] = 1 if is_touching(contacts, i) else 0
        store3(cache.impulse_W, i, load3(contacts.impulse_W, i))
        store3(cache.moment_W, i, load3(contacts.moment_W, i))
        store3(cache.point_W, i, load3(contacts.point_W, i))
        store3(cache.normal_W, i, load3(contacts.normal_W, i))
    cache.count[0] = n


@kernel
def copy_entry(source: ContactCache, i: int, target: ContactCache, j: int) -> None:
    """target[j] <- source[i]."""
    target.key[j] = source.key[i]
    target.feature[j] = source.feature[i]
    target.touching[j] = source.touching[i]
    store3(target.impulse_W, j, load3(source.impulse_W, i))
    store3(target.moment_W, j, load3(source.moment_W, i))
    store3(target.point_W, j, load3(source.point_W, i))
    store3(target.normal_W, j, load3(source.normal_W, i))


@kernel
def is_resting(cache: ContactCache, i: int, shapes: Shapes, asleep_with: NDArray) -> bool:
    """Whether a body of entry i sleeps."""
    n_shapes = len(shapes.kind)
    a = shapes.body[cache.key[i] // n_shapes]
    b = shapes.body[cache.key[i] % n_shapes]
    return bool(asleep_with[a] >= 0 or asleep_with[b] >= 0)


@kernel
def move_cached(
    source: ContactCache, shapes: Shapes, asleep_with: NDArray, resting: bool, target: ContactCache
) -> None:
    """Move the entries whose bodies rest (or do not) from one cache to another; both stay ordered.

    A pair stands in one of the caches only. The caller knows that all fits.

    Check   tests/engine/collision/test_persistence.py
    """
    moved = 0
    for i in range(source.count[0]):
        if is_resting(source, i, shapes, asleep_with) == resting:
            moved += 1
    # merge from the back, so that nothing is overwritten before it is read
    last = target.count[0] - 1
    free = last + moved
    target.count[0] += moved
    for i in range(source.count[0] - 1, -1, -1):
        if is_resting(source, i, shapes, asleep_with) == resting:
            while last >= 0 and target.key[last] > source.key[i]:
                copy_entry(target, last, target, free)
                last -= 1
                free -= 1
            copy_entry(source, i, target, free)
            free -= 1
    kept = 0
    for i in range(source.count[0]):
        if is_resting(source, i, shapes, asleep_with) != resting:
            copy_entry(source, i, source, kept)
            kept += 1
    source.count[0] = kept


@kernel
def settle_contacts(
    shapes: Shapes, contacts: Contacts, state: State, motion: Motion, time: float, events: Events
) -> None:
    """After a kick at `time` [s]: tell what began and ended to touch, and keep the contacts."""
    if len(events.who) > 0:
        find_events(shapes, contacts, state, motion.velocity_old, time, events)
    store_contacts(contacts, len(shapes.kind), state.contacts)
