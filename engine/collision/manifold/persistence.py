"""Persistent contacts: warm-start impulses of the last step for matching contacts of this step."""

from __future__ import annotations

from math import inf

from numpy.typing import NDArray

from cardan.engine.collision.broad.filter import place_of
from cardan.engine.collision.contact_events import find_events, is_touching
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import Vec3, dot, load3, store3, sub
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.events import Events
from cardan.engine.world.model import Shapes
from cardan.engine.world.state import ContactCache, State
from cardan.engine.world.workspace import Motion

# contacts of a pair that can be matched when their features change
BITS = 62


@kernel
def hand_over(cache: ContactCache, j: int, contacts: Contacts, i: int) -> None:
    """Copy the impulse of cached contact j to contact i."""
    for k in range(3):
        contacts.impulse_W[i, k] = cache.impulse_W[j, k]
        contacts.moment_W[i, k] = cache.moment_W[j, k]


@kernel
def nearest_left(cache: ContactCache, start: int, end: int, given: int, p: Vec3) -> int:
    """The cached contact of [start, end) nearest to p whose bit is not in `given`; -1: none."""
    best, nearest = -1, inf
    for j in range(start, min(end, start + BITS)):
        d = sub(load3(cache.point_W, j), p)
        if given >> (j - start) & 1 == 0 and dot(d, d) < nearest:
            best, nearest = j, dot(d, d)
    return best


@kernel
def match_pair(
    contacts: Contacts, first: int, last: int, cache: ContactCache, start: int, end: int
) -> None:
    """Match the contacts [first, last) of one pair with the cached ones [start, end).

    Contacts of equal feature are matched first, in order. An unmatched contact takes the impulse of
    the nearest cached one that is left: when a face tilts slightly, another edge clips its corner
    and the feature changes, but the load remains. Each cached contact is used once.
    """
    at, given, without = start, 0, 0
    for i in range(first, last):
        j = at
        while j < end and cache.feature[j] != contacts.feature[i]:
            j += 1
        if j < end:
            hand_over(cache, j, contacts, i)
            at = j + 1
            given |= 1 << min(j - start, BITS)
        else:
            without |= 1 << min(i - first, BITS)
    for i in range(first, min(last, first + BITS)):
        if without >> (i - first) & 1 == 1:
            j = nearest_left(cache, start, end, given, load3(contacts.point_W, i))
            if j < 0:
                return
            hand_over(cache, j, contacts, i)
            given |= 1 << (j - start)


@kernel
def match_contacts(contacts: Contacts, n_shapes: int, cache: ContactCache) -> None:
    """Write contacts.impulse_W: the impulse of the same contact in the last step, 0 if it is new.

    Both lists are sorted by pair and merged in one pass.

    Check   tests/engine/collision/manifold/test_persistence.py
    """
    i, j = 0, 0
    while i < contacts.count[0]:
        key = contacts.shape_a[i] * n_shapes + contacts.shape_b[i]
        first = i
        while i < contacts.count[0] and contacts.shape_a[i] * n_shapes + contacts.shape_b[i] == key:
            for k in range(3):
                contacts.impulse_W[i, k] = 0.0
                contacts.moment_W[i, k] = 0.0
            i += 1
        while j < cache.count[0] and cache.key[j] < key:
            j += 1
        start = j
        while j < cache.count[0] and cache.key[j] == key:
            j += 1
        if j > start:
            match_pair(contacts, first, i, cache, start, j)


@kernel
def was_loaded(cache: ContactCache, key: int) -> bool:
    """Whether any contact of a pair carried load in the last step."""
    k = place_of(cache.key, cache.count[0], key)
    while k < cache.count[0] and cache.key[k] == key:
        impulse = load3(cache.impulse_W, k)
        if dot(impulse, impulse) > 0.0:
            return True
        k += 1
    return False


@kernel
def store_contacts(contacts: Contacts, n_shapes: int, cache: ContactCache) -> None:
    """Store every contact for the next step, in order, up to the capacity of the cache."""
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
    """Move the entries of sleeping (or awake) bodies from one cache to another; both stay sorted.

    A pair is in one of the caches only. The caller guarantees that the capacity suffices.

    Check   tests/engine/collision/manifold/test_persistence.py
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
    """Record the contact events of a kick at `time` [s], and store the contacts in the cache."""
    if len(events.who) > 0:
        find_events(shapes, contacts, state, motion.velocity_old, time, events)
    store_contacts(contacts, len(shapes.kind), state.contacts)
