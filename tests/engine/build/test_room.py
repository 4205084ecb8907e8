"""Room of a step: what a heap takes, and what grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contacts.scaling import bytes_of
from cardan.engine import Simulation
from cardan.engine.build.allocate import contact_cache, with_caches
from cardan.engine.build.room import Room
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground

SHAPES: tuple[dict[str, Any], ...] = (
    {"type": "sphere", "radius": 0.1},
    {"type": "box", "size": [0.2, 0.16, 0.12]},
    {"type": "capsule", "radius": 0.06, "length": 0.16},
)


def heap(n: int, side: int, **options: Any) -> Simulation:
    """Balls, boxes and capsules in turn above the ground."""
    bodies: list[dict[str, Any]] = [ground()]
    for i in range(n):
        k, ij = divmod(i, side * side)
        place = [0.25 * (ij // side), 0.25 * (ij % side), 0.2 + 0.25 * k]
        one = {"name": f"thing-{i}", "position": place, "density": 1000.0}
        bodies.append(one | {"shapes": [SHAPES[i % 3]]})
    return Simulation(load_scene(document(bodies, simulation={"dt": 0.004, **options})))


def test_a_thousand_bodies_that_fall_take_15_kilobytes_each() -> None:
    sim = heap(1000, 10)
    sim.advance(60)
    assert sim.solver_report()["contacts"] > 500
    assert bytes_of(sim.world, set()) < 15_000 * 1000


def test_contacts_of_sleepers_take_room_where_bodies_may_sleep() -> None:
    awake, sleepy = heap(10, 2), heap(10, 2, sleeping={"enabled": True})
    assert len(awake.state.resting.key) == 0
    assert len(sleepy.state.resting.key) == len(sleepy.state.contacts.key)
    # one that may not sleep does not become one that may; the other way it does
    assert not awake.restart(sleepy.scene)
    assert sleepy.restart(awake.scene)


def test_the_step_ahead_finds_room_of_its_own() -> None:
    ample, tight = heap(27, 3), heap(27, 3)
    for sim in (ample, tight):
        sim.restart(sim.scene)
        sim.state.p_WB[1:28, 2] -= 0.11
    tight.state = tight.state._replace(contacts=contact_cache(1))
    tight._allocate(Room(1, 1, 1))
    lam = tight.problem().lam
    assert len(lam) > 9
    assert np.array_equal(lam, ample.problem().lam)


def test_caches_grow_with_what_they_hold() -> None:
    sim = heap(27, 3)
    sim.advance(100)
    grown = with_caches(sim.state, 1000)
    count = int(sim.state.contacts.count[0])
    assert len(grown.contacts.key) == 1000
    assert np.array_equal(grown.contacts.key[:count], sim.state.contacts.key[:count])
