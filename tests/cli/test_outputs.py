"""Where commands write: checked before anything is computed, and nothing else is replaced."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardan.service.cli import console
from cardan.service.recordings.folder import load
from tests.cli.conftest import SCENE

URDF = '<robot name="r"><link name="base"/>{}</robot>'.format(
    '<link name="a"><inertial><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>'
)
BATCH = {"scene": SCENE, "variations": {"/bodies/1/mass": [1.0]}}


def _program_into(output, arguments):
    return subprocess.run(
        [sys.executable, "-m", "cardan.service.cli", *arguments],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full device is Linux's")
@pytest.mark.parametrize("arguments", [["examples"], ["examples", "--json"], ["--version"]])
def test_results_that_standard_output_does_not_take_are_said(arguments):
    with Path("/dev/full").open("w") as full:
        result = _program_into(full, arguments)
    assert result.returncode == console.FAILED
    assert result.stderr == "error: standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("arguments", [["examples"], ["examples", "--json"], ["--version"]])
def test_a_reader_that_has_left_is_no_fault(arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        result = _program_into(theirs, arguments)
    finally:
        os.close(theirs)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "scene.json").write_text(json.dumps(SCENE))
    (tmp_path / "batch.json").write_text(json.dumps(BATCH))
    (tmp_path / "robot.urdf").write_text(URDF)
    (tmp_path / "lcp.json").write_text('{"type": "lcp", "A": [[1.0]], "b": [-1.0]}')
    return tmp_path


@pytest.mark.parametrize("name", ["thesis.txt", "scene.json", "data.parquet", ".git"])
def test_a_folder_of_other_things_is_never_replaced(cardan, files, name):
    folder = files / "mine"
    folder.mkdir()
    (folder / name).write_text("years of work")
    result = cardan("run", files / "scene.json", "-o", folder)
    assert result.exit_code == 2
    assert f"holds what is no recording: {name}." in result.stderr
    assert [entry.name for entry in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "years of work"


def test_a_recording_replaces_a_recording_and_an_empty_folder(cardan, files):
    folder = files / "recording"
    folder.mkdir()
    for duration in (0.1, 0.02):
        change = f"/simulation/duration={duration}"
        assert cardan("run", files / "scene.json", "-o", folder, "--set", change).exit_code == 0
        summary = load(folder).summary
        assert summary is not None
        assert summary["time"] == pytest.approx(duration)


def test_the_current_folder_is_not_replaced(cardan, files, monkeypatch):
    (files / "here").mkdir()
    monkeypatch.chdir(files / "here")
    result = cardan("run", files / "scene.json", "-o", ".")
    assert result.exit_code == 2
    assert ". is the current folder." in result.stderr


@pytest.mark.parametrize(
    ("call", "source"),
    [
        (("run", "--summary"), "scene.json"),
        (("run", "-o"), "scene.json"),
        (("batch", "-o"), "batch.json"),
        (("import", "-o"), "robot.urdf"),
        (("solve", "-o"), "lcp.json"),
    ],
)
def test_folders_of_outputs_are_made(cardan, files, call, source):
    command, option = call
    output = files / "new" / "folder" / "out.json"
    result = cardan(command, files / source, option, output)
    assert result.exit_code == 0, result.stderr
    assert json.loads(output.read_text())
    # what is a folder or is below a file takes no file, and is refused before anything is computed
    result = cardan(command, files / "no such input", option, files / source / "out.json")
    assert result.exit_code == 3
    assert "out.json cannot be written: " in result.stderr
    (files / "folder.json").mkdir()
    result = cardan(command, files / "no such input", option, files / "folder.json")
    assert result.exit_code == 2


def test_standard_output_is_no_file(cardan, files, monkeypatch):
    monkeypatch.chdir(files)
    result = cardan("run", "scene.json", "-o", "-")
    assert result.exit_code == 2
    assert "found '-'" in result.stderr
    result = cardan("import", "robot.urdf", "-o", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["name"] == "r"
    assert not (files / "-").exists()


def test_a_recording_without_an_ending_is_no_file(cardan, files):
    (files / "out").write_text("mine")
    result = cardan("run", files / "scene.json", "-o", files / "out")
    assert result.exit_code == 2
    assert "without an ending a recording is a folder" in result.stderr
    assert (files / "out").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_said_first(cardan, files):
    (files / "locked").mkdir(mode=0o500)
    result = cardan("batch", files / "no such batch", "-o", files / "locked" / "out.csv")
    assert result.exit_code == 3
    assert "cannot be written: Permission denied" in result.stderr


def test_packages_are_folders(cardan, files):
    result = cardan("import", files / "robot.urdf", "--packages", files / "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


@pytest.mark.parametrize("command", ["run", "validate", "statics"])
def test_a_model_is_not_a_scene(cardan, files, command):
    result = cardan(command, files / "robot.urdf")
    assert result.exit_code == 2
    assert "robot.urdf is XML" in result.stderr
    assert "cardan import" in result.stderr


@pytest.mark.parametrize("option", ["-o", "--summary"])
def test_a_name_too_long_is_said_before_anything_is_computed(cardan, files, option):
    result = cardan("run", files / "scene.json", option, files / ("x" * 300 + ".npz"))
    assert result.exit_code == 3
    assert "cannot be written: File name too long" in result.stderr
    assert "succeeded" not in result.stdout


def test_a_model_whose_name_is_too_long_is_not_there(cardan):
    result = cardan("import", "x" * 300)
    assert result.exit_code == 2
    assert "There is no file" in result.stderr
