"""Room that has to grow in the middle of a run changes nothing but memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.allocate import contact_cache, problem_of, row_arrays, with_caches
from cardan.engine.build.events import event_arrays
from cardan.engine.build.room import Room, first_room
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground

pytestmark = pytest.mark.law


def dropped(n: int, **options: Any) -> dict[str, Any]:
    """Tumbling bricks, capsules and balls that fall together onto a floor between walls."""
    rng = np.random.default_rng(11)
    walls: dict[str, Any] = {"name": "walls", "type": "static", "shapes": []}
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
    sim._allocate(Room(contacts, pairs, contacts))
    sim.state = sim.state._replace(
        contacts=contact_cache(contacts), resting=contact_cache(contacts)
    )
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
            sim._allocate(first_room(used))
        sim.advance(100)
        assert not sim.asleep().any()
        hashes.append(sim.state_hash())
    assert len(tight.work.contacts.gap) > used
    assert hashes[0] == hashes[1]


def struck(contacts: int, pairs: int, linked: bool = False, **options: Any) -> Simulation:
    """A hammer strikes a paddle, which is then looked at again: a wall of cubes is in its way.

    The kick knows one contact; what it makes of the paddle's flight needs room for many. Cubes may
    hang together in pairs, by hinges with a torsion spring.
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
    hinges, springs = [], []
    if linked:
        for i in range(4):
            ends = {"parent": f"cube-{i}0", "child": f"cube-{i}1", "axis": [1, 0, 0]}
            anchor = [0.15, 0.2 * (i - 1.5), -0.2]
            hinges.append({"name": f"pin-{i}", "type": "hinge", "anchor": anchor, **ends})
            springs.append({"type": "torsion", "stiffness": 2.0, **ends})
    more = {"gravity": [0, 0, 0], "simulation": {"dt": 2e-3, **options}, "forces": springs}
    return with_room_for(document(bodies, hinges, **more), contacts, pairs)


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
    # the paddle has met the cubes
    assert ample.velocities()[2:, 0].min() > 1.0
    assert len(tight.work.contacts.gap) > room[0] or len(tight.collision.sweep.pair_a) > room[1]


def falling_figures() -> dict[str, Any]:
    """Three jointed figures in reduced coordinates that fall onto each other and the ground."""
    bodies, joints = [ground()], []
    for k in range(3):
        for i in range(3):
            shape = {"type": "capsule", "radius": 0.05, "length": 0.2}
            place = [0.3 * i, 0.03 * k, 0.15 + 0.2 * k + 0.02 * i]
            lying = [0.7071067811865476, 0.0, 0.7071067811865475, 0.0]
            body = {"name": f"limb-{k}{i}", "mass": 1.0 + 0.1 * k, "position": place}
            bodies.append(body | {"orientation": lying, "shapes": [shape]})
        for i in range(2):
            anchor = [0.15 + 0.3 * i, 0.03 * k, 0.15 + 0.2 * k]
            ends = {"parent": f"limb-{k}{i}", "child": f"limb-{k}{i + 1}", "anchor": anchor}
            joints.append({"name": f"joint-{k}{i}", "type": "hinge", "axis": [0, 1, 0.1], **ends})
    return document(bodies, joints, simulation={"dt": 0.004, "formulation": "reduced"})


def test_trees_move_by_the_same_bits_while_room_grows() -> None:
    """A drift of trees changes books and guesses as well as coordinates: all of it goes back."""
    ample = with_room_for(falling_figures(), 2000, 4000)
    tight = with_room_for(falling_figures(), 1, 1)
    for _ in range(20):
        ample.advance(5)
        tight.advance(5)
        assert tight.state_hash() == ample.state_hash()
    assert len(tight.work.contacts.gap) > 1, "or nothing was short"


def short_steps(sim: Simulation, steps: int) -> int:
    """Advance step by step; how many found no room, each of which leaves every bit as it was."""
    found = 0
    while sim.step_count < steps:
        before, events = sim.snapshot(), int(sim._events.count[0])
        if sim._run(1)[0] == 0:
            found += 1
            assert sim.snapshot() == before
            assert sim._events.count[0] == events
            sim._make_room(int(sim.report.status[0]))
    return found


LAWS = {
    "kick": {},
    "law": {"contact": {"restitution_law": "poisson"}},
    "exact": {"contact": {"restitution_law": "propagating", "impact_time": "exact"}},
}


@pytest.mark.parametrize("law", sorted(LAWS))
def test_a_step_without_room_leaves_every_bit_as_it_was(law: str) -> None:
    sim = with_room_for(dropped(10, **LAWS[law]), 1, 1)
    sim.watch_events()
    assert short_steps(sim, 100) > 3


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_kick_that_is_taken_back_leaves_every_bit_as_it_was(formulation: str) -> None:
    """Room runs out behind the kick, when all that a step writes is written."""
    sim = struck(4, 16, linked=True, formulation=formulation)
    sim.watch_events()
    assert short_steps(sim, 6) > 0


def swung(ahead: int) -> Simulation:
    """A heavy bob on a chain of light links swings into a wall of cubes; `ahead`: room."""
    cube = {"type": "box", "size": [0.2, 0.2, 0.2]}
    bodies, joints = [ground()], []
    for k in range(4):
        link = {"name": f"link-{k}", "mass": 0.05, "inertia": [1e-4] * 3}
        bodies.append(link | {"position": [0, 0, 2.0 - 0.2 * k]})
        ends = {"parent": f"link-{k - 1}" if k else "world", "child": f"link-{k}"}
        joints.append(
            {"name": f"joint-{k}", "type": "ball", "anchor": [0, 0, 2.1 - 0.2 * k], **ends}
        )
    bob = {"name": "bob", "mass": 50.0, "position": [0, 0, 1.2], "linear_velocity": [0, 4, 0]}
    bodies.append(bob | {"shapes": [{"type": "sphere", "radius": 0.15}]})
    last = {"name": "last", "type": "ball", "parent": "link-3", "child": "bob"}
    joints.append(last | {"anchor": [0, 0, 1.3]})
    for i in range(3):
        for k in range(8):
            stone = {"name": f"cube-{i}-{k}", "mass": 2.0, "shapes": [cube]}
            bodies.append(stone | {"position": [0.2 * i - 0.2, 0.4, 0.1 + 0.2 * k]})
    sim = Simulation(load_scene(document(bodies, joints, simulation={"dt": 4e-3})))
    sim._allocate(Room(2000, 8000, ahead))
    sim.state = with_caches(sim.state, 2000)
    return sim


def test_a_kick_of_light_links_that_is_taken_back_leaves_every_bit_as_it_was() -> None:
    ample, tight = swung(2000), swung(1)
    assert short_steps(tight, 60) > 0
    light = 0
    for _ in range(60):
        ample.advance()
        light += bool(ample.state.link_inertia.any())
    assert light > 10, "or its links are not light"
    assert tight.state_hash() == ample.state_hash()
    assert len(tight.work.contacts.gap) == 2000


def test_a_body_grabbed_in_a_large_heap_finds_room() -> None:
    """Islands of contacts alone are solved in place; with a grabbed body they are gathered."""
    grabbed = [dropped(100), dropped(100)]
    hashes = []
    for k, scene in enumerate(grabbed):
        apart = {"name": "apart", "position": [3, 0, 0.05], "density": 500.0}
        scene["bodies"].append(apart | {"shapes": [{"type": "sphere", "radius": 0.05}]})
        sim = Simulation(load_scene(scene))
        sim.advance(100)
        small = len(sim.work.islands.part.b)
        assert small < len(sim.work.problem.b)
        if k == 1:
            part = row_arrays(4000, 0)
            islands, motion = sim.work.islands, sim.work.motion
            ample = problem_of(part, (1, 0), sim.model.bodies, motion, islands.part.mobility)
            ample.number[0] = islands.part.number[0]
            sim.work = sim.work._replace(islands=islands._replace(part=ample))
        sim.grab("thing-5", [0, 0, 0])
        sim.grab_move([0.1, 0.0, 2.0])
        sim.advance(100)
        assert sim.work.problem.count[0] - 3 > small, "or the heap is not large"
        assert int(sim.report.islands[0]) > 1
        assert len(sim.work.islands.part.b) >= len(sim.work.problem.b)
        hashes.append(sim.state_hash())
    assert hashes[0] == hashes[1]


def test_a_step_with_more_events_than_room_makes_room() -> None:
    """One step with exact impacts may begin and end contacts many times."""
    scene = dropped(10, **LAWS["exact"])
    tables = []
    for room in (100000, 1):
        sim = with_room_for(scene, 2000, 4000)
        sim.watch_events()
        sim._events = event_arrays(room)
        sim.advance(100)
        tables.append(sim.events())
    assert len(tables[0]) > 10
    assert tables[0].tobytes() == tables[1].tobytes()
