"""Worlds that leave their lanes and enter them again have the bits of the run alone."""

from typing import Any

import pytest

from cardan.engine import Simulation
from cardan.engine.accounting.body_records import MOST_AIM
from cardan.engine.compiler.lanes import HAS_LANES
from cardan.engine.runs import lane_group
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.side_by_side import STRETCH, SideBySide
from cardan.engine.runs.whole import advance_to_end, recorded
from cardan.engine.verdict.estimates import variations
from cardan.schemas import apply_overrides, load_scene
from cardan.schemas.record import CHANNELS
from tests.engine.lanes.test_lanes import Document, body, joint
from tests.engine.lanes.test_recordings import assert_same, without_clock

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")

EVERYTHING = [*CHANNELS, "constraints", "events"]


def hammer(restitution: float, stretches: int = 8) -> Document:
    """A hammer on a hinge falls on the ground; its head swings on a second hinge."""
    box = {"type": "box", "size": [0.3, 0.1, 0.1], "material": "all"}
    plane = {"type": "plane", "normal": [0, 0, 1], "offset": -0.5, "material": "all"}
    bodies = [body("arm", [0.2, 0, 0]), body("head", [0.6, 0, 0], shapes=[box])]
    bodies.append({"name": "ground", "type": "static", "shapes": [plane]})
    joints = [joint("hinge", "world", "arm", 0.0, axis=[0, 1, 0])]
    joints.append(joint("hinge", "arm", "head", 0.4, axis=[0, 1, 0]))
    simulation = {"dt": 1e-3, "duration": stretches * STRETCH * 1e-3, "formulation": "reduced"}
    return {
        "simulation": simulation,
        "materials": {"all": {"friction": 0.3, "restitution": restitution}},
        "record": {"every": 50, "channels": EVERYTHING},
        "bodies": bodies,
        "joints": joints,
    }


def at_stops(stretches: int = 6) -> Document:
    """A servo drives a hinge to its stop and away from it."""
    moves = {"times": [0.0, 0.4, 0.8], "values": [0.0, 0.5, -0.1]}
    servo = {"type": "position", "stiffness": 60.0, "damping": 2.0, "target": moves}
    joints = [
        joint("hinge", "world", "b0", 0.0, axis=[0, 0, 1], damping=0.2),
        joint("hinge", "b0", "b1", 0.4, axis=[0, 0, 1], motor=servo),
    ]
    joints[1]["limits"] = {"lower": -0.3, "upper": 0.3}
    simulation = {"dt": 2e-3, "duration": stretches * STRETCH * 2e-3, "formulation": "reduced"}
    return {
        "simulation": simulation,
        "record": {"every": 7, "channels": EVERYTHING},
        "bodies": [body("b0", [0.2, 0, 0]), body("b1", [0.6, 0, 0])],
        "joints": joints,
    }


def worlds(document: Document) -> list[Simulation]:
    """Three of other gravity, which strike at other steps, judged by estimates."""
    changes = [{"/gravity": [0.0, 0.0, -9.81 + 3.0 * k]} for k in range(3)]
    found = [Simulation(load_scene(apply_overrides(document, one))) for one in changes]
    for one in found:
        one.leave_scene()
    return found


def assert_ends_alike(simulations: list[Simulation], recordings: list[Recording], own: Any) -> None:
    """After the rest of their steps, which are done alone, all is as of runs alone."""
    for recording, simulation, other in zip(recordings, simulations, own, strict=True):
        advance_to_end(simulation)
        alone, summary = recorded(other, keep=True)
        assert alone is not None
        assert_same(recording, alone)
        assert simulation.snapshot() == other.snapshot()
        assert without_clock(simulation.summary()) == without_clock(summary)


@pytest.mark.parametrize(
    "document",
    [hammer(0.0), hammer(0.8), at_stops(), hammer(0.8) | {"record": {"channels": ["pose"]}}],
    ids=["comes to rest", "rebounds", "stops", "of the state"],
)
def test_worlds_leave_and_enter_their_lanes_without_a_trace(document: Document) -> None:
    simulations = worlds(document)
    recordings = [Recording.of_run(one) for one in simulations]
    steps = SideBySide().advance(simulations, recordings)
    assert all(one.step_count == one.total_steps for one in simulations)
    # the ground or the stop was reached, and other stretches were done in lanes
    assert all(
        STRETCH <= n < one.total_steps - 1 for n, one in zip(steps, simulations, strict=True)
    )
    assert_ends_alike(simulations, recordings, worlds(document))


def test_errors_of_impacts_are_carried_in_lanes() -> None:
    """A rebound leaves an error that grows on the way, which the verdict needs."""
    (simulation, *others) = worlds(hammer(0.8))
    steps = SideBySide().advance([simulation, *others])
    before_the_hit = Simulation(simulation.scene)
    while before_the_hit.find_contacts() == 0:
        before_the_hit.advance(1)
    # lanes went on after it
    assert steps[0] > before_the_hit.step_count
    assert variations(simulation.model, simulation.state)[1, MOST_AIM] > 0.0


def test_a_world_that_is_alone_for_long_goes_on_where_it_left(monkeypatch: Any) -> None:
    monkeypatch.setattr(lane_group, "MOST_ALONE_S", 0.0)
    simulations = worlds(hammer(0.0))
    recordings = [Recording.of_run(one) for one in simulations]
    steps = SideBySide().advance(simulations, recordings)
    assert all(0 < n <= one.step_count for n, one in zip(steps, simulations, strict=True))
    assert all(one.step_count < one.total_steps for one in simulations)
    assert_ends_alike(simulations, recordings, worlds(hammer(0.0)))


@pytest.mark.parametrize("document", [hammer(0.8), at_stops()], ids=["hammer", "stops"])
@pytest.mark.parametrize("asked", range(1, 60, 7))
def test_worlds_that_are_stopped_go_on_alone(document: Document, asked: int) -> None:
    """However often the request was asked for before it came: in lanes, alone, at frames."""
    simulations, calls = worlds(document), [0]

    def should_stop(_step: int) -> bool:
        calls[0] += 1
        return calls[0] >= asked

    recordings = [Recording.of_run(one) for one in simulations]
    SideBySide().advance(simulations, recordings, should_stop)
    assert any(one.step_count < one.total_steps for one in simulations)
    assert_ends_alike(simulations, recordings, worlds(document))


def test_a_world_that_fails_does_so_as_alone() -> None:
    """A force grows beyond all numbers in the middle of the run, and the world is nowhere."""
    document = at_stops(3)
    force = {"times": [0.0, 0.4, 0.45], "values": [0.0, 0.0, 1e50]}
    document["joints"][0] |= {"type": "slider", "motor": {"type": "force", "target": force}}
    simulations = worlds(document)
    SideBySide().advance(simulations, [Recording.of_run(one) for one in simulations])
    assert all(one.failure is not None for one in simulations)
    for one, own in zip(simulations, worlds(document), strict=True):
        _, summary = recorded(own, keep=True)
        assert own.failure == one.failure
        # some numbers are none
        assert repr(without_clock(one.summary())) == repr(without_clock(summary))
