"""Contacts on their way between the two caches."""

from __future__ import annotations

import numpy as np

from cardan.engine.build.allocate import contact_cache
from cardan.engine.build.threads import contact_arrays
from cardan.engine.collision.manifold.persistence import match_contacts, move_cached
from cardan.engine.world.state import ContactCache
from tests.engine.collision.worlds import Solid, World


def filled(keys: list[int], room: int) -> ContactCache:
    cache = contact_cache(room)
    cache.count[0] = len(keys)
    for array in cache[1:]:
        array[...] = -1
    cache.key[: len(keys)] = keys
    cache.feature[: len(keys)] = 10 * np.arange(len(keys))
    cache.impulse_W[: len(keys)] = np.array(keys)[:, None] + [0.1, 0.2, 0.3]
    return cache


def entries(cache) -> list[tuple]:
    n = int(cache.count[0])
    return [
        tuple(np.ravel(row).tolist() for row in rows)
        for rows in zip(*(array[:n] for array in cache[1:]), strict=True)
    ]


def test_entries_move_back_and_forth_and_stay_ordered() -> None:
    n = 7
    shapes = World([Solid(0) for _ in range(n)]).model.shapes
    rng = np.random.default_rng(3)
    for _ in range(30):
        pairs = [a * n + b for a in range(n) for b in range(a + 1, n)]
        chosen = np.sort(rng.choice(pairs, rng.integers(0, 20), replace=False))
        keys = np.repeat(chosen, rng.integers(1, 5, len(chosen))).tolist()
        asleep_with = np.where(rng.random(n + 1) < 0.3, 0, -1)
        asleep_with[n] = -1
        room = len(keys)
        contacts, resting = filled(keys, room), filled([], room)
        whole = entries(contacts)
        sleeps = [asleep_with[k // n] >= 0 or asleep_with[k % n] >= 0 for k in keys]
        move_cached(contacts, shapes, asleep_with, True, resting)
        assert entries(contacts) == [e for e, s in zip(whole, sleeps, strict=True) if not s]
        assert entries(resting) == [e for e, s in zip(whole, sleeps, strict=True) if s]
        # some wake
        asleep_with[rng.integers(0, n)] = -1
        sleeps = [asleep_with[k // n] >= 0 or asleep_with[k % n] >= 0 for k in keys]
        move_cached(resting, shapes, asleep_with, False, contacts)
        assert entries(contacts) == [e for e, s in zip(whole, sleeps, strict=True) if not s]
        asleep_with[:] = -1
        move_cached(resting, shapes, asleep_with, False, contacts)
        assert entries(contacts) == whole
        assert entries(resting) == []


def on_the_ground() -> tuple:
    """Contacts of one pair at the corners of a square, and what they bore: 1, 2, 3, 4 N s."""
    cache, contacts = contact_cache(8), contact_arrays(8)
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    cache.count[0] = contacts.count[0] = 4
    cache.key[:4] = 1
    cache.feature[:4] = contacts.feature[:4] = [10, 20, 30, 40]
    cache.point_W[:4] = contacts.point_W[:4] = corners
    cache.impulse_W[:4, 2] = [1.0, 2.0, 3.0, 4.0]
    contacts.shape_a[:4], contacts.shape_b[:4] = 0, 1
    contacts.impulse_W[...] = np.nan
    return contacts, cache


def test_a_contact_of_the_same_feature_gets_what_it_bore() -> None:
    contacts, cache = on_the_ground()
    contacts.point_W[:4] += 100.0
    match_contacts(contacts, 3, cache)
    assert contacts.impulse_W[:4, 2].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_corners_that_change_their_features_keep_their_loads() -> None:
    """Whether an edge or its end is cut at a corner is a matter of rounding; its load is not."""
    contacts, cache = on_the_ground()
    contacts.feature[[1, 3]] = [35, 45]
    contacts.point_W[:4, :2] += 1e-6
    match_contacts(contacts, 3, cache)
    assert contacts.impulse_W[:4, 2].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_what_a_contact_bore_is_given_away_once() -> None:
    contacts, cache = on_the_ground()
    contacts.count[0] = 6
    contacts.shape_b[4:6] = 1
    contacts.feature[:6] = [11, 12, 13, 14, 15, 16]
    contacts.point_W[:6, 0] = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    match_contacts(contacts, 3, cache)
    assert sorted(contacts.impulse_W[:6, 2].tolist()) == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_other_pairs_get_nothing() -> None:
    contacts, cache = on_the_ground()
    contacts.shape_b[:4] = 2
    match_contacts(contacts, 3, cache)
    assert (contacts.impulse_W[:4] == 0.0).all()
