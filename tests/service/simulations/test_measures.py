"""What a study measures in a run, against what is known of it."""

from typing import Any

import pytest

import cardan
from cardan.service.simulations.measures import measured

# a weight on the wall, and one that a force pushes which grows by 100 N/s
SCENE = {
    "version": 1,
    "gravity": [0, 0, -10],
    "simulation": {"dt": 0.01, "duration": 1.0},
    "bodies": [
        {"name": "shelf", "mass": 2.0, "inertia": [1, 1, 1]},
        {"name": "cart", "mass": 1.0, "inertia": [1, 1, 1], "position": [0, 3, 0]},
    ],
    "joints": [
        {"name": "wall", "type": "fixed", "parent": "world", "child": "shelf"},
        {"name": "rail", "type": "slider", "parent": "world", "child": "cart", "axis": [1, 0, 0]}
        | {"motor": {"type": "force", "target": {"times": [0, 1], "values": [0, 100]}}},
    ],
    "record": {"every": 1, "channels": ["pose", "joints"]},
}


MOTOR: dict[str, Any] = {
    "body": None,
    "joint": "rail",
    "coordinate": 0,
    "column": "motor_force",
}


@pytest.fixture(scope="module")
def run():
    recording, summary = cardan.run(SCENE)
    return summary, recording.tables()


def value(run, **signal):
    whole = {"type": "signal", "body": None, "joint": None, "coordinate": 0, "target": 0.0}
    return measured({"objective": whole | signal, "constraints": []}, *run)["objective"][0]


@pytest.mark.parametrize("reduce", ["min", "max", "mean", "rms", "peak", "final"])
def test_the_reaction_of_a_joint_without_coordinates_is_a_signal(run, reduce):
    """Of rest before the first step nothing is known: it is no force of 0."""
    assert value(run, joint="wall", column="fz", reduce=reduce) == pytest.approx(20.0)


def test_a_signal_of_a_coordinate_begins_at_the_start(run):
    assert value(run, joint="rail", column="q", reduce="min") == 0.0
    assert value(run, body="cart", column="py", reduce="min") == 3.0


def test_measured_forces_are_compared_at_the_times_that_forces_belong_to(run):
    series = MOTOR | {"times": [0.25, 0.5, 0.9], "values": [25.0, 50.0, 90.0], "deviation": 1.0}
    wanted = {"objective": {"type": "data", "series": [series]}, "constraints": []}
    assert measured(wanted, *run)["objective"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_the_end_of_a_run_can_be_measured(run):
    series = MOTOR | {"times": [1.0], "values": [99.5], "deviation": 1.0}
    wanted = {"objective": {"type": "data", "series": [series]}, "constraints": []}
    assert measured(wanted, *run)["objective"] == pytest.approx([0.0], abs=1e-9)
