import json
import os
import threading

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from cardan.schemas import SceneInvalid, load_scene
from cardan.service.recordings.folder import load
from cardan.service.recordings.tables import to_numpy
from tests.cli.conftest import SCENE

TABLES = {"bodies", "joints", "contacts", "energy", "solver"}


@pytest.mark.parametrize("ending", [".parquet", ".npz", ".csv", ".json", ""])
def test_run_writes_what_the_ending_says(cardan, scene_file, tmp_path, ending):
    out = tmp_path / f"result{ending}"
    result = cardan("run", scene_file, "-o", out)
    assert result.exit_code == 0, result.stderr
    recording = load(out)
    steps = to_numpy(recording.tables["bodies"]["step"])
    assert sorted(set(steps.tolist())) == list(range(0, 51, 5))
    if ending in (".npz", ".json", ""):
        assert set(recording.tables) >= TABLES
    if ending == "":
        assert json.loads((out / "summary.json").read_text())["status"] == "succeeded"
        assert json.loads((out / "scene.json").read_text())["name"] == "two"


def test_the_columns_are_those_of_the_interface(cardan, scene_file, tmp_path):
    cardan("run", scene_file, "-o", tmp_path / "r")

    def columns(table):
        return " ".join(pq.read_schema(tmp_path / "r" / f"{table}.parquet").names)

    assert columns("bodies") == "time step body px py pz qw qx qy qz vx vy vz wx wy wz"
    assert columns("joints") == (
        "time step joint coordinate q qd motor_force limit_force fx fy fz tx ty tz force_time"
    )
    assert columns("contacts") == (
        "time step body_a body_b px py pz nx ny nz gap normal_force friction_force"
        " friction_x friction_y friction_z friction_coefficient force_time"
    )
    assert columns("energy") == (
        "time step kinetic potential total work_in dissipated_friction dissipated_impact"
        " dissipated_damping correction"
    )
    for table in TABLES:
        for field in pq.read_schema(tmp_path / "r" / f"{table}.parquet"):
            assert field.metadata[b"unit"], (table, field.name)
            assert field.metadata[b"meaning"], (table, field.name)


def test_the_recording_is_physics(cardan, scene_file, tmp_path):
    cardan("run", scene_file, "-o", tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as data:
        ball = data["bodies/body"] == "ball"
        assert np.abs(data["bodies/pz"][ball] - 0.1).max() < 1e-3
        weight = data["contacts/normal_force"][-1]
        assert weight == pytest.approx(9.81, rel=1e-3)
        assert (data["joints/joint"] == "pin").all()


def test_the_summary_goes_where_it_is_told(cardan, scene_file, tmp_path):
    result = cardan("run", scene_file, "--summary", "-")
    assert json.loads(result.stdout)["steps"] == 50
    assert cardan("run", scene_file, "--summary", tmp_path / "s.json").exit_code == 0
    assert json.loads((tmp_path / "s.json").read_text())["status"] == "succeeded"
    machine = json.loads(cardan("run", scene_file, "--json").stdout)
    assert (machine["status"], machine["output"]) == ("succeeded", None)


def test_values_are_set_by_pointer(cardan, scene_file):
    result = cardan(
        "run", scene_file, "--set", "/simulation/duration=0.02", "--set", "/name=short", "--json"
    )
    assert json.loads(result.stdout)["steps"] == 10
    result = cardan("run", scene_file, "--set", "/bodies/9/mass=1")
    assert result.exit_code == 2
    assert "/bodies/9" in result.stderr
    assert cardan("run", scene_file, "--set", "nonsense").exit_code == 2


def test_scenes_come_from_stdin_yaml_and_examples(cardan, tmp_path):
    short = ["--set", "/simulation/duration=0.01", "--json"]
    assert cardan("run", "-", *short, text=json.dumps(SCENE)).exit_code == 0
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SCENE).replace("0.002", "2e-3"))
    assert cardan("run", tmp_path / "s.yaml", *short).exit_code == 0
    assert cardan("run", "-", *short, text=yaml.safe_dump(SCENE)).exit_code == 0
    assert cardan("run", "double-pendulum", *short).exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"bodies": [}', "not JSON"),
        ("bodies: [a, b", "neither JSON nor YAML"),
        ("bodies: []\nbodies: []\n", "more than once"),
        ("", "line 1"),
        ("[]", "object"),
    ],
)
def test_text_that_is_no_scene_ends_with_2(cardan, text, words):
    result = cardan("run", "-", text=text)
    assert result.exit_code == 2
    assert words in result.stderr


def test_all_faults_are_printed_with_pointers(cardan):
    scene = json.loads(json.dumps(SCENE))
    scene["bodies"][1]["mass"] = -1
    scene["bodies"][2]["mas"] = 1
    scene["joints"][0]["child"] = "bop"
    result = cardan("run", "-", text=json.dumps(scene))
    assert result.exit_code == 2
    for pointer in ("/bodies/1/mass", "/bodies/2/mas", "/joints/0/child"):
        assert pointer in result.stderr
    listed = json.loads(cardan("run", "-", "--json", text=json.dumps(scene)).stdout)
    assert len(listed["errors"]) == 3


def test_a_fault_of_every_body_is_said_once(cardan):
    bodies = [{"name": f"b{i}", "mass": 1.0, "velocity": [1, 0, 0]} for i in range(200)]
    text = json.dumps({"bodies": [*bodies, {"name": "last", "mass": -1.0}]})
    result = cardan("run", "-", text=text)
    assert result.stderr.count("Unknown field `velocity`") == 1
    assert "/bodies/0/velocity and 199 more, the last /bodies/199/velocity" in result.stderr
    assert "/bodies/200/mass" in result.stderr
    assert "201 faults" in result.stderr
    listed = json.loads(cardan("run", "-", "--json", text=text).stdout)
    assert len(listed["errors"]) == 201
    with pytest.raises(SceneInvalid) as refused:
        load_scene(text)
    assert len(str(refused.value).splitlines()) == 2


def test_what_only_the_engine_finds_ends_with_2(cardan):
    scene = {"bodies": [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}]}
    for command in ("run", "validate"):
        result = cardan(command, "-", text=json.dumps(scene))
        assert result.exit_code == 2
        assert "/bodies/0/inertia" in result.stderr


def test_a_run_that_blows_up_ends_with_3_and_keeps_its_frames(cardan, tmp_path):
    scene = {
        "simulation": {"dt": 0.001, "duration": 1.0},
        "bodies": [{"name": "b", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}],
        "forces": [
            {
                "type": "wrench",
                "body": "b",
                "force": {"times": [0, 0.5, 0.501], "values": [[0, 0, 0], [0, 0, 0], [1e40, 0, 0]]},
            },
        ],
        "record": {"every": 100},
    }
    out = tmp_path / "kept.npz"
    result = cardan("run", "-", "-o", out, text=json.dumps(scene))
    assert result.exit_code == 3
    assert "step 501" in result.stderr
    steps = to_numpy(load(out).tables["bodies"]["step"])
    assert sorted(set(steps.tolist())) == [0, 100, 200, 300, 400, 500]


@pytest.mark.parametrize("name", ["out.xlsx", "out.mat", "out.usd"])
def test_an_ending_that_cannot_be_written_is_refused_first(cardan, scene_file, tmp_path, name):
    result = cardan("run", scene_file, "-o", tmp_path / name)
    assert result.exit_code == 2
    assert ".csv (bodies)" in result.stderr
    assert not (tmp_path / name).exists()


def test_a_name_that_is_neither_file_nor_example_gets_a_hint(cardan):
    result = cardan("run", "double-pendulm")
    assert result.exit_code == 2
    assert "double-pendulum" in result.stderr


def test_the_program_itself_ends_with_the_same_codes(program, scene_file):
    done = program("run", scene_file, "--summary", "-")
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "succeeded")
    assert program("run", "-", text='{"bodies": []}').returncode == 2


def test_a_name_too_long_for_a_file_is_no_traceback(cardan):
    scene = json.dumps({"version": 1, "description": "x" * 300})
    for name in ("x" * 300, scene):
        result = cardan("run", name)
        assert result.exit_code == 2
        assert "There is no file and no example" in result.stderr
    assert "standard input" in result.stderr, "a scene in place of its name"


def test_no_name_is_not_the_folder_here(cardan):
    result = cardan("run", "")
    assert result.exit_code == 2
    assert "folder" not in result.stderr


def test_a_scene_comes_through_a_pipe_with_a_name(cardan, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # it waits for a reader, for ever if there is none
    threading.Thread(target=lambda: pipe.write_text(json.dumps(SCENE)), daemon=True).start()
    result = cardan("validate", pipe)
    assert result.exit_code == 0, result.stderr
