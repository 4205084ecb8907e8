"""A run that is interrupted goes on from its checkpoint, to the bits of a run that was not."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.runs.whole import recorded
from cardan.schemas import load_scene
from cardan.service.simulations.checkpoints import BEGAN, STATE, CheckpointFolder, Checkpoints, Mark
from cardan.service.simulations.resumable import ResumableRun
from tests.service.real_server import DROP

CHANNELS = ["pose", "velocity", "joints", "contacts", "energy", "momentum", "solver", "events"]


def scene_of(every: int, steps: int = 30_000) -> Any:
    """Balls that bounce on a plane, and one on a hinge, with every table recorded."""
    document = copy.deepcopy(DROP)
    document["simulation"] = {"dt": 0.0005, "duration": 0.0005 * steps}
    for ball in document["bodies"][1:]:
        ball["position"][2] = 3.0
        ball["shapes"][0]["material"] = "rubber"
    document["materials"] = {"rubber": {"restitution": 0.8, "friction": 0.3}}
    document["joints"] = [
        {
            "name": "pivot",
            "type": "hinge",
            "parent": "world",
            "child": "ball 2",
            "anchor": [2.0, 0, 3.0],
            "axis": [0, 1, 0],
        }
    ]
    document["record"] = {"every": every, "channels": CHANNELS}
    return load_scene(document)


def physics(tables: Any) -> dict[str, Any]:
    """All columns but measured times."""
    return {
        f"{table}.{name}": values
        for table, columns in tables.items()
        for name, values in columns.items()
        if not name.endswith("_us")
    }


class KilledError(Exception):
    """What is computed after the last checkpoint is lost."""


def compute(run: ResumableRun, calls: int = 0) -> dict[str, Any]:
    """The summary at the end; raises KilledError after so many pieces of work."""
    left = calls

    def progress(_step: int, _total: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KilledError

    return run.finish(progress, lambda: False)


def lasting(summary: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if name != "timing"}


@pytest.mark.parametrize(("every", "stops"), [(100, (2, 2)), (7, (3, 2)), (40_000, (3,))])
def test_an_interrupted_run_has_the_bits_of_one_that_was_not(
    tmp_path: Path, every: int, stops: tuple[int, ...]
):
    scene = scene_of(every)
    recording, summary = recorded(Simulation(scene), keep=True)
    assert recording is not None
    expected = physics(recording.tables())
    assert len(expected["events.time"]) > 20
    assert len(expected["contacts.gap"]) > 0
    checkpoints = Checkpoints(tmp_path)
    steps = []
    for attempt, calls in enumerate((*stops, 0), 1):
        simulation = Simulation(scene)
        run = ResumableRun(simulation, checkpoints.of("sim_a", attempt), 0.0, keep=True)
        steps.append(run.resumed_step)
        if calls:
            with pytest.raises(KilledError):
                compute(run, calls)
            assert checkpoints.of("sim_a", attempt).progressed
        else:
            found = compute(run)
    assert steps[0] == 0
    assert steps == sorted(set(steps))
    assert lasting(found) == lasting(summary)
    assert run.recording is not None
    again = physics(run.recording.tables())
    assert again.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(again[name], values, err_msg=name, strict=True)


def test_a_run_without_recording_goes_on_too(tmp_path: Path):
    scene = scene_of(1)
    _, summary = recorded(Simulation(scene), keep=False)
    first = ResumableRun(Simulation(scene), CheckpointFolder(tmp_path / "r-1"), 0.0, keep=False)
    with pytest.raises(KilledError):
        compute(first, 2)
    second = ResumableRun(Simulation(scene), CheckpointFolder(tmp_path / "r-2"), 1e9, keep=False)
    assert second.resumed_step > 0
    assert lasting(compute(second)) == lasting(summary)
    assert not CheckpointFolder(tmp_path / "r-2").progressed


def test_a_short_run_writes_nothing(tmp_path: Path):
    scene = scene_of(10, steps=1000)
    run = ResumableRun(Simulation(scene), CheckpointFolder(tmp_path / "r-1"), 5.0, keep=True)
    compute(run)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file", ["state.npz", "part-0.npz"])
def test_a_damaged_checkpoint_is_not_used(tmp_path: Path, file: str):
    scene = scene_of(100)
    run = ResumableRun(Simulation(scene), CheckpointFolder(tmp_path / "r-1"), 0.0, keep=True)
    with pytest.raises(KilledError):
        compute(run, 2)
    path = tmp_path / "r-1" / file
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 2, len(data) // 2 + 300):
        data[at] ^= 0x55
    path.write_bytes(data)
    second = CheckpointFolder(tmp_path / "r-2")
    again = ResumableRun(Simulation(scene), second, 0.0, keep=True)
    assert again.resumed_step == 0
    # it is no progress of an attempt that began anew
    assert not second.progressed


def test_a_checkpoint_of_another_scene_is_not_used(tmp_path: Path):
    run = ResumableRun(Simulation(scene_of(7)), CheckpointFolder(tmp_path / "r-1"), 0.0, keep=True)
    with pytest.raises(KilledError):
        compute(run, 2)
    other = Simulation(scene_of(7, steps=20_000))
    again = ResumableRun(other, CheckpointFolder(tmp_path / "r-2"), 0.0, keep=True)
    assert again.resumed_step == 0
    assert other.step_count == 0
    assert not CheckpointFolder(tmp_path / "r-2").progressed


def test_a_run_that_cannot_note_its_begin_begins_anew(tmp_path: Path):
    scene = scene_of(100)
    run = ResumableRun(Simulation(scene), CheckpointFolder(tmp_path / "r-1"), 0.0, keep=True)
    with pytest.raises(KilledError):
        compute(run, 2)
    # a folder cannot be replaced by a file
    (tmp_path / "r-1" / BEGAN).mkdir()
    simulation = Simulation(scene)
    again = ResumableRun(simulation, CheckpointFolder(tmp_path / "r-2"), 0.0, keep=True)
    assert (again.resumed_step, simulation.step_count) == (0, 0)


def test_whoever_asks_for_progress_never_meets_half_a_file(tmp_path: Path):
    folder = CheckpointFolder(tmp_path / "r-1")
    folder.write(Mark(500, 0, 0, 0, 0), b"state", None)
    begun = threading.Event()

    def begin() -> None:
        for step in range(2000):
            folder.begin(step)
            begun.set()

    with ThreadPoolExecutor(2) as threads:
        writers = [threads.submit(begin) for _ in range(2)]
        assert begun.wait(30)
        answers = set()
        while not all(one.done() for one in writers):
            answers.add(folder.progressed)
        for one in writers:
            one.result()
    assert answers
    assert not folder.progressed
    assert sorted(path.name for path in folder.path.iterdir()) == [BEGAN, STATE]


def test_checkpoints_of_ended_runs_are_swept(tmp_path: Path):
    for name in ("sim_a-1", "sim_b-2", "sim_c-1"):
        (tmp_path / name).mkdir()
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.sweep(lambda: {"sim_b"}) == ["sim_a-1", "sim_c-1"]

    def begun_meanwhile():
        (tmp_path / "sim_d-1").mkdir()
        return set()

    assert checkpoints.sweep(begun_meanwhile) == ["sim_b-2"]
    assert [path.name for path in tmp_path.iterdir()] == ["sim_d-1"]


@pytest.mark.parametrize("left", [b"", b"\0\0\0"])
def test_a_begin_that_a_power_cut_left_empty_is_no_progress(tmp_path: Path, left: bytes):
    folder = CheckpointFolder(tmp_path / "r-1")
    folder.write(Mark(500, 0, 0, 0, 0), b"state", None)
    assert folder.progressed
    (folder.path / BEGAN).write_bytes(left)
    assert not folder.progressed
