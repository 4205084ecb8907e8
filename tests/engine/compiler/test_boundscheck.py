"""Checked kernels report every index out of range; scenes that once wrote out of bounds run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cardan.engine import Simulation
from cardan.engine.compiler.mode import INTERPRETED
from tests.engine.random_scenes import random_scene
from tests.engine.scenes import document, simulate

compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

KERNELS = """
import json, sys
import numpy as np
from cardan.engine.compiler.inline import inlined_kernel
from cardan.engine.compiler.cache import USER_CACHE
from cardan.engine.compiler.kernel import fast_kernel, kernel

@kernel
def put(a, i, x):
    a[i, 2] = x

@inlined_kernel
def get(a, i):
    return a[i, 1]

@kernel
def put_and_get(a, i, j):
    put(a, i, 1.0)
    return get(a, j)

@kernel
def first_behind(a, i):
    return a[i:][0, 0]

@kernel
def first_of(a, i):
    return a[:i][0, 0]

@fast_kernel
def total(a, n):
    sum = 0.0
    for i in range(n):
        sum += a[i, 0]
    return sum

@kernel
def column(a, i):
    return a[:, i][0]

room = np.zeros((8, 3))
a = room[2:5]  # an index that is wrong by one or two stays in the memory of the test
calls = {
    "inside": (put_and_get, 2, 0), "write behind": (put_and_get, 3, 0),
    "write before": (put_and_get, -1, 0), "read behind": (put_and_get, 0, 3),
    "read before": (put_and_get, 0, -1), "empty slice": (first_behind, 3),
    "negative bound": (first_of, -1), "sum": (total, 4),
    "sum inside": (total, 3), "column": (column, 3),
}
found = {"folder": str(USER_CACHE.base)}
for name, (function, *arguments) in calls.items():
    try:
        function(a, *arguments)
        found[name] = ""
    except IndexError as error:
        found[name] = str(error)
found["written"] = int((room != 0.0).sum())
print(json.dumps(found))
"""


def run(compiler: str, cache: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Call kernels in a fresh process."""
    script = tmp_path / "calls.py"
    script.write_text(KERNELS)
    chosen = {"CARDAN_COMPILER": compiler, "CARDAN_KERNEL_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | chosen,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with a cache that checked kernels filled, and what they found."""
    folder = tmp_path_factory.mktemp("checked")
    done = run("boundscheck", folder / "cache", folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


@compiled
@pytest.mark.slow
def test_an_index_out_of_range_is_an_error_that_names_kernel_and_axis(
    checked: tuple[Path, dict[str, Any]],
) -> None:
    _, found = checked
    assert found["inside"] == found["sum inside"] == ""
    assert found["write behind"] == found["write before"] == "put: index outside axis 0"
    assert found["read behind"] == found["read before"] == "get: index outside axis 0"
    assert found["empty slice"] == "first_behind: index outside axis 0"
    assert found["negative bound"] == "first_of: slice with a negative bound"
    assert found["sum"] == "total: index outside axis 0"
    assert found["column"] == "column: index outside axis 1"
    # what was out of range was not written
    assert found["written"] == 2


@compiled
@pytest.mark.slow
def test_checked_and_ordinary_kernels_never_meet(checked: tuple[Path, dict[str, Any]]) -> None:
    folder, found = checked
    cache = folder / "cache"
    ordinary = json.loads(run("ordinary", cache, folder).stdout)
    assert ordinary["write behind"] == ordinary["sum"] == ""
    assert Path(found["folder"]) == cache / "boundscheck"
    assert Path(ordinary["folder"]) == cache
    again = json.loads(run("boundscheck", cache, folder).stdout)
    assert again == found


def test_another_compiler_is_refused(tmp_path: Path) -> None:
    done = run("fast", tmp_path, tmp_path)
    assert done.returncode != 0
    assert "CARDAN_COMPILER is 'fast'; allowed: ordinary, boundscheck, plain" in done.stderr


# ------------------------------------------------------------ trees that cannot move


def box_on_the_world(formulation: str, joint: str = "fixed") -> Simulation:
    """A box fixed to the world, and a ball that falls on it."""
    box = {"name": "box", "mass": 1.0, "shapes": [{"type": "box", "size": [1, 1, 1]}]}
    ball = {"name": "ball", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
    ball["position"] = [0.0, 0.0, 0.7]
    weld = {"name": "weld", "type": joint, "parent": "world", "child": "box"}
    options = {"dt": 1e-3, "formulation": formulation}
    return simulate(document([box, ball], [weld], simulation=options))


def test_rows_on_a_tree_without_rates_have_room() -> None:
    dense = box_on_the_world("reduced").work.dense
    # a row per place, of no length
    assert dense.path.shape[0] == dense.path_tree.shape[0] == dense.factor.shape[0] > 0
    assert dense.path.shape[2] == 0
    assert len(dense.owner) > 0


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_ball_rests_on_a_body_that_is_fixed_to_the_world(formulation: str) -> None:
    sim = box_on_the_world(formulation)
    sim.advance(500)
    assert sim.failure is None
    assert sim.poses()[1, :3] == pytest.approx([0.0, 0.0, 0.6], abs=1e-6)
    force = sim.contact_table()["normal_force"]

    assert force.sum() == pytest.approx(9.81, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_random_scenes_are_deterministic(seed: int) -> None:
    """What is read out of bounds is whatever was there."""
    paths = []
    for _ in range(2):
        sim = simulate(random_scene(seed))
        sim.advance(40)
        paths.append(sim.poses())
    assert paths[0].tobytes() == paths[1].tobytes()
