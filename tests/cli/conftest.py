import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cardan.service.cli.app import app

ROOT = Path(__file__).resolve().parents[2]

# two balls: one rests on the floor, one hangs on a hinge
SCENE: dict[str, Any] = {
    "version": 1,
    "name": "two",
    "simulation": {"dt": 0.002, "duration": 0.1},
    "bodies": [
        {
            "name": "floor",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0}],
        },
        {
            "name": "ball",
            "position": [0, 0, 0.1],
            "mass": 1.0,
            "shapes": [{"type": "sphere", "radius": 0.1}],
        },
        {
            "name": "bob",
            "position": [2, 0, 1],
            "mass": 1.0,
            "shapes": [{"type": "sphere", "radius": 0.1}],
        },
    ],
    "joints": [
        {
            "name": "pin",
            "type": "hinge",
            "parent": "world",
            "child": "bob",
            "anchor": [1.5, 0, 1],
            "axis": [0, 1, 0],
        }
    ],
    "record": {"every": 5},
}


@pytest.fixture
def cardan():
    """Call the command line in this process: exit code, stdout, stderr."""

    def call(*arguments, text=None):
        result = CliRunner().invoke(app, [str(one) for one in arguments], input=text)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def program():
    """Call the command line as a program of its own."""

    def call(*arguments, text=None):
        return subprocess.run(
            [sys.executable, "-m", "cardan.service.cli", *map(str, arguments)],
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=300,
        )

    return call


@pytest.fixture
def scene_file(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps(SCENE))
    return path
