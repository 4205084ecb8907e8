"""What a run says of itself reaches those who started it."""

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import ROOT, SCENE

SPINNING = json.loads(json.dumps(SCENE))
SPINNING["bodies"][2] |= {"angular_velocity": [10, 200, 0], "inertia": [0.02, 0.01, 0.03]}
SPINNING["joints"] = []


@pytest.fixture
def careless(tmp_path):
    """A file of a scene with a body that turns 0.4 rad in a step."""
    path = tmp_path / "careless.json"
    path.write_text(json.dumps(SPINNING), encoding="utf-8")
    return path


def test_warnings_are_printed_without_a_terminal(careless):
    command = [sys.executable, "-m", "cardan.service.cli", "run", str(careless)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 1
    for word in ("'bob'", "0.401 rad", "0.15 rad", "0.004 s (step 2)", "simulation.dt"):
        assert word in warnings[0]
    assert "warning" not in done.stdout
    assert ["verdict", "suspect"] in [line.split() for line in done.stdout.splitlines()]


def test_a_summary_on_stdout_keeps_the_warnings_on_stderr(cardan, careless):
    result = cardan("run", careless, "--summary", "-")
    assert json.loads(result.stdout)["verdict"]["status"] == "suspect"
    assert "warning: Body 'bob' turns far" in result.stderr


def test_json_keeps_warnings_in_the_summary(cardan, careless):
    result = cardan("run", careless, "--json")
    summary = json.loads(result.stdout)
    assert "warning" not in result.stderr
    assert len(summary["warnings"]) == 1
    (finding,) = summary["verdict"]["findings"]
    assert (finding["quantity"], finding["body"]) == ("turn_per_step", "bob")
    assert finding["value"] == pytest.approx(0.4, abs=0.005)
    assert finding["limit"] == pytest.approx(0.15)


def test_a_strict_run_ends_with_a_status_of_its_own_unless_it_is_trusted(
    cardan, careless, scene_file
):
    assert cardan("run", careless).exit_code == 0
    assert cardan("run", careless, "--strict").exit_code == 4
    assert cardan("run", scene_file, "--strict").exit_code == 0


def test_a_verified_run_says_how_far_its_answer_goes(cardan, scene_file):
    result = cardan("run", scene_file, "--verify", "--json")
    summary = json.loads(result.stdout)
    assert summary["verification"]["within"]
    assert summary["verification"]["horizon"] == pytest.approx(summary["time"])
    assert "verification" not in json.loads(cardan("run", scene_file, "--json").stdout)


def test_a_good_run_warns_of_nothing(cardan, scene_file):
    result = cardan("run", scene_file)
    assert result.exit_code == 0
    assert "warning" not in result.stderr
    assert ["verdict", "trusted"] in [line.split() for line in result.stdout.splitlines()]


def test_a_reason_is_not_told_twice(cardan, tmp_path):
    scene = json.loads(json.dumps(SCENE))
    scene["bodies"][1] |= {"position": [0, 0, 5], "linear_velocity": [1e49, 0, 0]}
    scene["bodies"][1]["shapes"] = [{"type": "sphere", "radius": 0.1, "collision_mask": 0}]
    path = tmp_path / "wild.json"
    path.write_text(json.dumps(scene), encoding="utf-8")
    result = cardan("run", path)
    assert result.exit_code == 3
    assert result.stderr.count("blew up") == 1
