"""Frames of worlds side by side are those of the world alone, in every table and bit."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.compiler.lanes import HAS_LANES, W
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.side_by_side import SideBySide, may_be_side_by_side
from cardan.engine.runs.whole import recorded
from cardan.schemas import apply_overrides, load_scene
from cardan.schemas.record import CHANNELS
from tests.engine.lanes.test_lanes import (
    Document,
    arm,
    double_pendulum,
    free_chain,
    pushed_arm,
    varied,
)

pytestmark = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")


def sensing_arm(steps: int) -> Document:
    """The arm over a floor out of reach, with a sensor of each type."""
    floor = {"type": "plane", "normal": [0, 0, 1], "offset": -30.0}
    document = pushed_arm(steps)
    document["bodies"].append({"name": "floor", "type": "static", "shapes": [floor]})
    document["bodies"][3]["shapes"] = [{"type": "sphere", "radius": 0.1}]
    document["sensors"] = [
        {"name": "imu", "type": "imu", "body": "b3", "position": [0.1, 0.0, 0.2]},
        {"name": "wrist", "type": "force_torque", "joint": "to b2", "axes": "body"},
        {"name": "tip", "type": "contact_force", "body": "b3"},
        {"name": "height", "type": "ray", "body": "b3", "direction": [0, 0, -1]},
    ]
    return document


def group(document: Document) -> list[Simulation]:
    """Two variants more than half of the lanes, at their start, judged by estimates."""
    found = [Simulation(load_scene(apply_overrides(document, one))) for one in varied(W // 2 + 2)]
    for one in found:
        one.leave_scene()
    return found


def recordings_of(simulations: list[Simulation]) -> list[Recording]:
    """One of each, with all frames that its scene asks for."""
    return [Recording.of_run(one) for one in simulations]


def without_clock(summary: Document) -> Document:
    """A summary without what depends on the clock."""
    return {name: value for name, value in summary.items() if name != "timing"}


def assert_same(found: Recording, own: Recording) -> None:
    """Every column has the bits of the other, but for times of phases."""
    tables, others = found.tables(), own.tables()
    assert tables.keys() == others.keys()
    for name, table in tables.items():
        for column, values in table.items():
            if not column.endswith("_us"):
                np.testing.assert_array_equal(values, others[name][column], f"{name}/{column}")


@pytest.mark.parametrize(
    "channels",
    [CHANNELS, ("pose", "energy"), (*CHANNELS, "constraints", "events")],
    ids=["usual", "of the state", "all"],
)
@pytest.mark.parametrize("make", [double_pendulum, free_chain, arm, sensing_arm])
def test_frames_have_the_bits_of_the_run_alone(make: Any, channels: tuple[str, ...]) -> None:
    document = make(75)
    document["record"] = {"every": 10, "channels": list(channels)}
    simulations = group(document)
    recordings = recordings_of(simulations)
    assert may_be_side_by_side(simulations[0], recordings[0])
    assert SideBySide().advance(simulations, recordings) == [74] * len(simulations)
    for recording, simulation, own in zip(recordings, simulations, group(document), strict=True):
        alone, summary = recorded(own, keep=True)
        assert alone is not None
        assert recording.size == alone.size == (9, 0)
        assert_same(recording, alone)
        assert simulation.snapshot() == own.snapshot()
        assert without_clock(simulation.summary()) == without_clock(summary)


def test_frames_that_are_close_are_made_alone() -> None:
    """Every frame with forces takes a step beside the lanes; those of the state alone do not."""
    for every, channels, may in ((1, CHANNELS, False), (4, CHANNELS, True), (1, ["pose"], True)):
        document = double_pendulum(60)
        document["record"] = {"every": every, "channels": list(channels)}
        (simulation, *_) = group(document)
        assert may_be_side_by_side(simulation, *recordings_of([simulation])) is may
