"""Room that has to grow in the middle of a run changes nothing but memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import Simulation
from engine.build.capacity import contact_cache
from engine.collision.scratch import collision_scratch
from schemas import load_scene
from tests.engine.scenes import document, ground

pytestmark = pytest.mark.law


def dropped(n: int, **options: Any) -> dict[str, Any]:
    """Tumbling bricks, capsules and balls that fall together onto a floor between walls."""
    rng = np.random.default_rng(11)
    walls = {"name": "walls", "type": "static", "shapes": []}
    for k, normal in enumerate(([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0])):
        walls["shapes"].append({"type": "plane", "normal": normal, "offset": -0.35 - 0.01 * k})
    shapes = (
        {"type": "box", "size": [0.2, 0.16, 0.12]},
        {"type": "capsule", "radius": 0.06, "length": 0.15},
        {"type": "sphere", "radius": 0.08},
    )
    bodies = [
        {
            "name": f"thing-{i}",
            "position": [*rng.uniform(-0.25, 0.25, 2).tolist(), 0.15 + 0.12 * i],
            "linear_velocity": [0, 0, -2.0],
            "angular_velocity": rng.normal(0, 3, 3).tolist(),
            "density": 500.0,
            "shapes": [shapes[i % 3]],
        }
        for i in range(n)
    ]
    simulation = {"dt": 0.004, **options}
    return document([ground(), walls, *bodies], simulation=simulation)


def with_room_for(scene: dict[str, Any], contacts: int, pairs: int) -> Simulation:
    """The scene with this much room at first."""
    sim = Simulation(load_scene(scene))
    sim._allocate(contacts)
    small = {name: contact_cache(contacts) for name in ("contacts", "resting")}
    sim.state = sim.state._replace(**small)
    sim.collision = collision_scratch(sim.model.shapes, pairs, contacts)
    return sim


@pytest.mark.parametrize("method", ["auto", "pgs"])
def test_a_heap_that_outgrows_its_room_moves_by_the_same_bits(method: str) -> None:
    scene = dropped(24, solver={"method": method})
    ample = with_room_for(scene, 2000, 4000)
    # one contact and one pair at first: both grow many times, most often in the air
    tight = with_room_for(scene, 1, 1)
    grown = set()
    for _ in range(25):
        ample.advance(10)
        tight.advance(10)
        grown.add(len(tight.work.contacts.gap))
        assert tight.state_hash() == ample.state_hash()
    assert len(ample.work.contacts.gap) == 2000, "or it was not ample"
    assert len(grown) >= 3
    assert ample.solver_report()["contacts"] > 40


def test_events_are_neither_lost_nor_doubled_while_room_grows() -> None:
    scene = dropped(12)
    tables = []
    for contacts, pairs in ((2000, 4000), (1, 1)):
        sim = with_room_for(scene, contacts, pairs)
        sim.watch_events()
        sim.advance(150)
        tables.append(sim.events())
    assert len(tables[0]) > 12
    assert tables[0].tobytes() == tables[1].tobytes()


def test_room_that_runs_out_while_sleepers_wake_is_found() -> None:
    """A ball strikes a sleeping row: the step that wakes it needs more room than all before."""
    bodies: list[Any] = [ground()]
    shape = {"type": "box", "size": [0.2, 0.2, 0.2]}
    for k in range(6):
        place = [0.2 * k, 0.0, 0.1]
        bodies.append({"name": f"box-{k}", "position": place, "mass": 1.0, "shapes": [shape]})
    thrown = {"name": "ball", "position": [-1.5, 0, 0.1], "mass": 1.0, "linear_velocity": [5, 0, 0]}
    bodies.append(thrown | {"shapes": [{"type": "sphere", "radius": 0.1}]})
    sleeping = {"enabled": True, "time": 0.05}
    scene = document(bodies, simulation={"dt": 0.002, "sleeping": sleeping})
    ample = with_room_for(scene, 500, 500)
    tight = with_room_for(scene, 1, 1)
    hashes = []
    for sim in (ample, tight):
        sim.advance(100)
        assert sim.asleep()[1:7].all()
        if sim is tight:
            # no more room than the sleepers take: waking must find it
            used = int(sim.state.resting.count[0] + sim.state.contacts.count[0])
            sim.restore(sim.snapshot())
            state = sim.state
            kept = [
                type(cache)(*(array[: max(used, 1)].copy() for array in cache))
                for cache in (state.contacts, state.resting)
            ]
            sim.state = state._replace(contacts=kept[0], resting=kept[1])
            sim._allocate(used)
        sim.advance(100)
        assert not sim.asleep().any()
        hashes.append(sim.state_hash())
    assert len(tight.work.contacts.gap) > used
    assert hashes[0] == hashes[1]


def struck(contacts: int, pairs: int, **options: Any) -> Simulation:
    """A hammer strikes a paddle, which is then looked at again: a wall of cubes is in its way.

    The kick knows one contact; what it makes of the paddle's flight needs room for many.
    """
    plate = {"type": "box", "size": [0.02, 1.0, 1.0]}
    cube = {"type": "box", "size": [0.1, 0.1, 0.1]}
    bodies = [
        {"name": "hammer", "mass": 50.0, "position": [-0.5, 0.01, 0.02],
         "linear_velocity": [300, 0, 0], "shapes": [{"type": "sphere", "radius": 0.05}]},
        {"name": "paddle", "mass": 0.5, "shapes": [plate]},
    ]  # fmt: skip
    for i in range(4):
        for k in range(4):
            place = [0.15, 0.2 * (i - 1.5), 0.2 * (k - 1.5)]
            bodies.append(
                {"name": f"cube-{i}{k}", "mass": 2.0, "position": place, "shapes": [cube]}
            )
    scene = document(bodies, gravity=[0, 0, 0], simulation={"dt": 2e-3, **options})
    return with_room_for(scene, contacts, pairs)


@pytest.mark.parametrize("room", [(4, 16), (4, 4000), (2000, 16)])
@pytest.mark.parametrize("stabilisation", ["baumgarte", "projection"])
def test_an_impact_behind_the_kick_that_finds_no_room_is_not_skipped(
    room: tuple[int, int], stabilisation: str
) -> None:
    ample = struck(2000, 4000, stabilisation=stabilisation)
    tight = struck(*room, stabilisation=stabilisation)
    for sim in (ample, tight):
        sim.watch_events()
    for _ in range(6):
        ample.advance()
        tight.advance()
        assert tight.state_hash() == ample.state_hash()
    assert tight.events().tobytes() == ample.events().tobytes()
    assert ample.state.unguarded[0] == 0
    # the paddle has met the cubes
    assert ample.velocities()[2:, 0].min() > 1.0
    assert len(tight.work.contacts.gap) > room[0] or len(tight.collision.sweep.pair_a) > room[1]
