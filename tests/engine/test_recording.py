"""Frames written inside the compiled loop are those that the simulation itself reports."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Recording, Simulation, run
from cardan.engine.outputs.sampler import LEAST_FRAMES
from cardan.engine.runs.recording import recording_steps
from cardan.schemas import count_scene, load_scene
from cardan.schemas.examples import example_document, example_names
from cardan.schemas.record import POSE, VELOCITY

CHANNELS = ["pose", "velocity", "joints", "contacts", "energy", "momentum", "solver", "events"]


def short(name: str, steps: int, every: int) -> dict[str, Any]:
    """The first steps of an example, with every channel."""
    document = example_document(name)
    document["simulation"]["duration"] = steps * document["simulation"]["dt"]
    document["record"] = {"every": every, "channels": CHANNELS}
    return document


# columns that say when a row is of, and of what
TIMES = {"time", "step", "force_time"}
NAMES = {"body", "body_a", "body_b", "joint", "coordinate", "sensor", "row", "kind", "trigger"}


def bits(values: Any) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def assert_frame(tables: dict[str, Any], simulation: Simulation, step: int) -> None:
    """Rows of this step are what the simulation says of itself now, bit for bit."""
    chosen = {name: table["step"] == step for name, table in tables.items() if name != "events"}
    bodies = tables["bodies"]
    pose, velocity = simulation.poses(), simulation.velocities()
    for k, name in enumerate(POSE):
        assert bits(bodies[name][chosen["bodies"]]) == bits(pose[:, k]), (step, name)
    for k, name in enumerate(VELOCITY):
        assert bits(bodies[name][chosen["bodies"]]) == bits(velocity[:, k]), (step, name)
    for table, rows in (
        ("joints", simulation.joint_table()),
        ("contacts", simulation.contact_table()),
    ):
        for name in rows.dtype.names or ():
            if rows[name].dtype.kind == "f":
                assert bits(tables[table][name][chosen[table]]) == bits(rows[name]), (step, name)
        assert chosen[table].sum() == len(rows)
    for name, value in simulation.energy().items():
        assert bits(tables["energy"][name][chosen["energy"]]) == bits(value), (step, name)
    momentum = [tables["momentum"][name][chosen["momentum"]][0] for name in tables["momentum"]][2:]
    assert bits(np.array(momentum)) == bits(simulation.momentum())
    report = simulation.solver_report()
    for name in ("method", "rows", "contacts", "iterations", "residual", "stop_reason"):
        assert tables["solver"][name][chosen["solver"]][0] == report[name], (step, name)


@pytest.mark.parametrize("name", example_names())
def test_recorded_frames_are_what_the_simulation_reports(name: str) -> None:
    scene = load_scene(short(name, steps=60, every=7))
    tables = run(scene)[0].tables()
    simulation = Simulation(scene)
    simulation.watch_events()
    for step in (0, *recording_steps(scene)[1:].tolist()):
        simulation.advance(step - simulation.step_count)
        assert_frame(tables, simulation, step)
    assert len(tables["events"]["step"]) == len(simulation.events())


def test_smooth_integrators_record_the_same_frames_one_by_one() -> None:
    document = short("heavy-top", steps=20, every=3)
    document["simulation"] |= {"formulation": "reduced", "integrator": "rk4"}
    scene = load_scene(document)
    tables = run(scene)[0].tables()
    simulation = Simulation(scene)
    for step in (0, 3, 6, 9, 12, 15, 18, 20):
        simulation.advance(step - simulation.step_count)
        assert_frame(tables, simulation, step)


def test_frames_beyond_the_first_room_are_kept() -> None:
    simulation = Simulation(load_scene(short("incline", steps=100, every=1)))
    recording = Recording(simulation)
    seen = []
    for _ in range(3 * LEAST_FRAMES):
        recording.observe()
        seen.append(len(simulation.contact_table()))
        simulation.advance()
    tables = recording.tables()
    assert tables["energy"]["step"].tolist() == list(range(3 * LEAST_FRAMES))
    counted = np.bincount(tables["contacts"]["step"], minlength=3 * LEAST_FRAMES)
    assert counted.tolist() == seen
    assert max(seen) > 1


def test_only_what_is_asked_for_is_kept() -> None:
    document = short("double-pendulum", steps=10, every=5)
    document["record"] = {"every": 5, "channels": ["velocity", "momentum"], "bodies": ["lower"]}
    tables = run(load_scene(document))[0].tables()
    assert set(tables) == {"bodies", "momentum"}
    assert set(tables["bodies"]) == {"time", "step", "body", *VELOCITY}
    assert tables["bodies"]["body"].tolist() == ["lower"] * 3


def test_phases_are_those_of_the_last_timed_step() -> None:
    tables = run(load_scene(short("double-pendulum", steps=50, every=1)))[0].tables()
    assert (tables["solver"]["solve_us"][1:] > 0.0).all()
    assert tables["solver"]["solve_us"][0] == 0.0


# rows that are counted for a frame of two bodies on a hinge with a sensor, by table
ROWS = {"joints": 1, "contacts": 4, "energy": 1, "momentum": 1, "solver": 1, "sensors": 1}
ROWS |= {"constraints": 30, "events": 2}


@pytest.mark.parametrize("channel", ["pose", "velocity", *ROWS])
def test_the_numbers_that_are_counted_before_a_run_are_those_of_the_recording(channel: str) -> None:
    """Of every table a row is counted with as many numbers as it has."""
    plane = {"type": "plane", "normal": [0, 0, 1]}
    ball = {"type": "sphere", "radius": 0.1}
    hinge = {"type": "hinge", "name": "h", "parent": "world", "child": "ball", "axis": [0, 1, 0]}
    scene = load_scene(
        {
            "simulation": {"dt": 0.01, "duration": 0.1},
            "bodies": [
                {"name": "floor", "type": "static", "shapes": [plane]},
                {"name": "ball", "mass": 1, "position": [0, 0, 0.0999], "shapes": [ball]},
            ],
            "joints": [hinge | {"anchor": [-1, 0, 0.1]}],
            "sensors": [{"type": "imu", "name": "s", "body": "ball"}],
            "record": {"every": 1, "channels": [channel]},
        }
    )
    tables, counts = run(scene)[0].tables(), count_scene(scene)
    name = "bodies" if channel in ("pose", "velocity") else channel
    columns = set(tables[name]) - TIMES - NAMES
    if channel in ("pose", "velocity"):
        columns &= set(POSE if channel == "pose" else VELOCITY)
    assert len(tables[name]["time"]) > 0
    assert counts.recorded_values == counts.frames * ROWS.get(channel, 2) * len(columns)


@pytest.mark.parametrize("rate", [1e-9, 13.0, 333.0, 999.0, 1000.0, 1999.0, 1e9, 1e40])
def test_a_rate_records_at_most_every_step_and_is_counted_as_it_is(rate: float) -> None:
    document = short("incline", steps=100, every=1)
    document["record"] = {"rate": rate}
    scene = load_scene(document)
    steps = recording_steps(scene)
    assert (steps[0], steps[-1]) == (0, 100)
    assert len(steps) == count_scene(scene).frames
    if rate >= 1 / scene.simulation.dt:
        assert steps.tolist() == list(range(101))
