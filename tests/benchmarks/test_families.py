"""Every family of the benchmark draws scenes that are valid, and that the engine can step."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from benchmarks.contacts.ours import in_longer_steps, states_of
from benchmarks.contacts.report import OURS
from benchmarks.families import report
from benchmarks.families.draw import FAMILIES, draw
from benchmarks.families.flat import plain
from benchmarks.families.ours import document, run
from benchmarks.families.peers import ALL, MUJOCO, ODE, PLAIN, lacks
from benchmarks.families.quality import Quality
from cardan.engine import Simulation
from cardan.schemas import load_scene

SEEDS = (1, 2, 7)
STEPS = 4


@pytest.mark.parametrize("name", FAMILIES)
def test_scenes_are_valid_and_step(name: str) -> None:
    """Drawn scenes load without overlaps; some steps leave finite numbers and whole joints."""
    for seed in SEEDS:
        scene = draw(name, seed)
        simulation = Simulation(load_scene(document(scene)))
        assert simulation.summary()["verdict"]["findings"] == [], seed
        quality = Quality(scene)
        assert quality.apart(states_of(simulation, scene)) < 1e-12
        assert simulation.advance(STEPS) == STEPS
        states = states_of(simulation, scene)
        assert np.isfinite(states).all(), seed
        assert quality.apart(states) < 1e-3, seed
        assert quality.depth(states) < 2e-2, seed


def test_a_seed_draws_the_same_scene() -> None:
    """The same seed gives the same numbers, another seed other ones."""
    assert draw("mixed", 3) == draw("mixed", 3)
    assert draw("mixed", 3) != draw("mixed", 4)


def test_quality_measures_joints_and_depth_of_states() -> None:
    """A body moved by hand leaves its joint by as much, and enters the ground by as much."""
    scene = draw("wrecking_ball", 1)
    quality = Quality(scene)
    state = quality.start.copy()
    state[-1, :3] += [0.0, 0.0, 0.02]
    assert quality.apart(state) == pytest.approx(0.02)
    state[0, 2] -= 0.01
    assert quality.depth(state) == pytest.approx(0.01, abs=1e-9)


def test_peers_say_what_they_cannot_express() -> None:
    """Shapes, joints and closed loops that a driver does not know are named."""
    assert lacks(ALL, draw("pairs", 1)) is None
    assert lacks(ODE, draw("cylinders", 1)) == "cylinder"
    assert lacks(MUJOCO, draw("shafts", 1)) == "loops closed by cylindrical joints"
    assert lacks(MUJOCO, draw("four_bars", 1)) is None
    assert lacks(PLAIN, draw("chains", 1)) == "joints"
    assert lacks(PLAIN, draw("compounds", 1)) == "bodies of several or shifted shapes"
    spheres = plain(draw("spheres", 1))
    assert spheres is not None
    assert all(one["kind"] in ("box", "sphere") for one in spheres["bodies"])


def test_a_peer_that_blew_up_is_not_the_fastest() -> None:
    """Few bodies are left to touch where most flew away: that time is of another scene."""
    rows: dict[str, dict[str, Any]] = {
        OURS: {"us": 300.0, "finite": True, "floats": 64, "gain": 0.0},
        "exploded": {"us": 20.0, "finite": True, "floats": 64, "gain": 580.0},
        "whole": {"us": 150.0, "finite": True, "floats": 64, "gain": 0.01},
    }
    assert report.ratio(rows, (64,)) == 2.0
    assert report.summary({"rods": rows})[0][2] == "whole"
    assert "rods of exploded (5.8e+02 times)" in report.remarks({"rods": rows})[0]
    rows[OURS]["gain"] = 0.5
    assert report.ratio(rows, (64,)) is None
    assert f"{OURS} failed: rods" in report.remarks({"rods": rows})


def test_longer_steps_count_where_they_are_as_good_as_the_fastest_peer() -> None:
    """Neither a run that is less good than the peer counts, nor what nobody sees against one."""
    peer = {"us": 100.0, "finite": True, "floats": 64, "depth_mm": 2.0, "apart_mm": 1e-9}
    ours = peer | {"us": 300.0, "depth_mm": 0.1, "apart_mm": 1e-5}
    rows: dict[str, dict[str, Any]] = {"peer": peer, OURS: ours}
    assert report.ratio_as_good(rows) == 3.0
    rows[f"{OURS}, 10 steps in 5"] = ours | {"us": 150.0, "depth_mm": 1.9}
    rows[f"{OURS}, 10 steps in 2"] = ours | {"us": 60.0, "depth_mm": 2.1}
    rows[f"{OURS}, 10 steps in 1"] = {"us": 30.0, "finite": False, "floats": 64}
    assert report.ratio_as_good(rows) == 1.5
    assert report.ratio(rows, (64,)) == 3.0
    rows[f"{OURS}, 10 steps in 2"] |= {"depth_mm": 2.0, "apart_mm": 0.9e-3}
    assert report.ratio_as_good(rows) == 0.6
    # where none is as good, the scene's own steps count
    assert report.ratio_as_good({"peer": peer | {"depth_mm": 1e-4}, OURS: ours}) == 3.0


@pytest.mark.parametrize("n", [5, 3])
def test_longer_steps_end_at_the_same_time(n: int) -> None:
    """A pendulum of balls in n steps in place of ten is where it is at that time."""
    scene = draw("heavy_end", 1)
    own, longer = run(scene), run(scene, f"10/{n}")
    assert len(own["states"]) == len(longer["states"]) == scene["steps"] // scene["every"]
    assert in_longer_steps(scene, Fraction(10, n))["dt"] == 10.0 / n * scene["dt"]
    moved = np.abs(own["states"][-1, :, :3] - own["states"][0, :, :3]).max()
    assert np.abs(own["states"][-1, :, :3] - longer["states"][-1, :, :3]).max() < 0.02 * moved


@pytest.mark.parametrize("family", FAMILIES)
def test_states_are_looked_at_every_so_many_tens(family: str) -> None:
    """So that any number of steps in place of ten ends at the same times."""
    scene = draw(family, 1)
    numbers = (scene["steps"], scene["every"], *scene["window"])
    assert [x % 10 for x in numbers] == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", [1, 2])
def test_discs_that_lie_nearly_flat_gain_no_energy(seed: int) -> None:
    """Contacts that run round the rims of discs faster than these are large throw nothing up."""
    scene = draw("cylinders", seed)
    simulation = Simulation(load_scene(document(scene)))
    quality = Quality(scene)
    before = sum(quality.energy(states_of(simulation, scene)))
    simulation.advance(90)
    after = sum(quality.energy(states_of(simulation, scene)))
    assert after < before
    findings = simulation.summary()["verdict"]["findings"]
    assert "energy_growth" not in [one["quantity"] for one in findings]
