"""`cardan statics` and `cardan linearize`."""

import json

import pytest

from tests.cli.conftest import SCENE


def test_statics_find_where_a_scene_comes_to_rest(cardan, tmp_path):
    path = tmp_path / "arm.json"
    path.write_text(json.dumps({**SCENE, "bodies": SCENE["bodies"][2:]}))
    result = cardan("statics", path)
    assert result.exit_code == 0
    assert "stable" in result.stdout
    found = json.loads(cardan("statics", path, "--json").stdout)
    assert found["coordinates"]["pin"] == [pytest.approx(1.5707963, abs=1e-6)]
    assert cardan("statics", path, "--as-it-stands").exit_code == 3


def test_statics_say_how_far_a_block_may_tilt(cardan, tmp_path):
    box = {"type": "box", "size": [0.4, 0.4, 1.0]}
    block = {"name": "block", "mass": 1, "position": [0, 0, 0.5], "shapes": [box]}
    path = tmp_path / "block.json"
    path.write_text(json.dumps({"version": 1, "bodies": [SCENE["bodies"][0], block]}))
    result = cardan("statics", path, "--tilt", "1", "0", "0")
    assert result.exit_code == 0
    # it tips at atan(0.4/1.0)
    assert "21.8014" in result.stdout
    assert "tipping" in result.stdout
    for tilt in (("0", "0", "0"), ("0", "inf", "0"), ("nan", "0", "1")):
        refused = cardan("statics", path, "--tilt", *tilt)
        assert refused.exit_code == 2
        assert f"not all zero; found {' '.join(tilt)}." in refused.stderr
    floats = cardan("statics", path, "--tilt", "1", "0", "0", "--set", "/gravity=[0, 0, 0]")
    assert floats.exit_code == 2
    assert "the scene has none" in floats.output


def test_linearize_shows_the_modes(cardan):
    result = cardan("linearize", "double-pendulum", "--set", "/gravity=[0, 0, -9.81]")
    assert result.exit_code == 0
    assert "frequency [Hz]" in result.stdout
    # it is let go from the horizontal
    assert "the start is no equilibrium" in result.stderr
    floating = cardan("linearize", "double-pendulum", "--set", "/gravity=[0, 0, 0]")
    assert "no equilibrium" not in floating.stderr
    # its drives are rigid and hold every joint
    held = cardan("linearize", "robot-arm")
    assert held.exit_code == 0
    assert "none: nothing is free to move" in held.stdout
    found = json.loads(cardan("linearize", "double-pendulum", "--json").stdout)
    assert len(found["A"]) == 2 * len(found["coordinates"])
