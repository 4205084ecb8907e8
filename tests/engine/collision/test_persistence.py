"""Contacts on their way between the two caches."""

from __future__ import annotations

import numpy as np

from engine.build.capacity import contact_cache
from engine.collision.persistence import move_cached
from tests.engine.collision.worlds import Solid, World


def filled(keys: list[int], room: int) -> tuple:
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
