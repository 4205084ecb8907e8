"""Bodies that overlap at the start part calmly, or never collide where the scene says so."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import preview, rollout
from cardan.engine.simulation import CALM
from cardan.schemas import load_scene
from tests.engine.scenes import Document, cube, document, ground, simulate

pytestmark = pytest.mark.law


def overlapping(simulation: Document, *more: Document, gravity: float = 0.0) -> Document:
    """Two boxes that are 5 cm deep in one another."""
    bodies = [cube("a", [0, 0, 0]), cube("b", [0.15, 0, 0]), *more]
    return document(bodies, gravity=[0, 0, -gravity], simulation=simulation)


WAYS: list[Document] = [
    {},
    {"stabilisation": "baumgarte"},
    {"stabilisation": "split_impulse"},
    {"formulation": "reduced"},
    {"solver": {"method": "pgs"}},
    {"solver": {"method": "small_steps"}},
    {"dt": 0.0002, "stabilisation": "baumgarte"},
]


@pytest.mark.parametrize("way", WAYS)
def test_overlapping_bodies_part_calmly(way: Document) -> None:
    sim = simulate(overlapping(way))
    fastest, steps = 0.0, round(1.0 / sim.time_step)
    for _ in range(50):
        sim.advance(steps // 50)
        v = sim.velocities()
        fastest = max(fastest, float(np.linalg.norm(v[1, :3] - v[0, :3])))
    assert fastest <= CALM * (1.0 + 1e-6)
    # by the margin of contacts at most they are still in one another
    assert sim.poses()[1, 0] - sim.poses()[0, 0] > 0.2 - 1e-3


def test_pairs_that_overlap_may_be_ignored() -> None:
    scene = overlapping({"ignore_initial_overlaps": True}, cube("c", [0.6, 0, 0]))
    scene["bodies"][2]["linear_velocity"] = [-1.0, 0.0, 0.0]
    sim = simulate(scene)
    summary = sim.summary()
    assert summary["verdict"]["status"] == "trusted"
    (pair,) = summary["contacts"]["ignored_overlaps"]
    assert {pair["body"], pair["other_body"]} == {"a", "b"}
    assert pair["depth"] == pytest.approx(0.05)
    sim.advance(200)
    assert np.abs(sim.velocities()[:2]).max() == 0.0
    # others still collide with both
    sim.advance(300)
    assert sim.velocities()[1, 0] < -0.1


def test_what_floats_does_not_fall_through_its_floor() -> None:
    sunk = cube("a", [0, 0, 0.08])
    options = {"ignore_initial_overlaps": True}
    sim = simulate(document([ground(), sunk], gravity=[0, 0, -9.81], simulation=options))
    sim.advance(1000)
    assert sim.poses()[1, 2] == pytest.approx(0.1, abs=1e-3)
    assert sim.findings()[0]["quantity"] == "initial_overlap"


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_what_joints_hold_does_not_collide_with_its_wall(formulation: str) -> None:
    wall = {"name": "wall", "type": "static", "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2]}]}
    arm = cube("arm", [0.05, 0, 0])
    joint = {"name": "j", "type": "fixed", "parent": "world", "child": "arm"}
    options = {"formulation": formulation, "ignore_initial_overlaps": True}
    sim = simulate(document([wall, arm], [joint], gravity=[0, 0, 0], simulation=options))
    sim.advance(100)
    force = sim.joint_table()
    assert abs(force["fx"][0]) + abs(force["fy"][0]) + abs(force["fz"][0]) < 1e-9
    # without it they press, but not with meganewtons
    options.pop("ignore_initial_overlaps")
    sim = simulate(document([wall, arm], [joint], gravity=[0, 0, 0], simulation=options))
    sim.advance(100)
    assert np.abs(sim.velocities()).max() < CALM


def test_the_remedy_is_named_before_the_run() -> None:
    (pair,) = preview(load_scene(overlapping({})))["overlaps"]
    assert pair["remedy"] == "ignore_initial_overlaps"
    sunk = document([ground(), cube("a", [0, 0, 0])])
    (pair,) = preview(load_scene(sunk))["overlaps"]
    assert pair["remedy"] is None


def test_variants_may_differ_in_it() -> None:
    pointer = "/simulation/ignore_initial_overlaps"
    scene = overlapping({"duration": 0.05})
    mixed = rollout(scene, [{pointer: False}, {pointer: True}, {pointer: False}])
    assert mixed.metrics["state_hash"][0] == mixed.metrics["state_hash"][2]
    assert mixed.metrics["state_hash"][0] != mixed.metrics["state_hash"][1]


@pytest.mark.parametrize("spin", [0.0, 300.0, 600.0])
@pytest.mark.parametrize("depth", [5e-4, 5e-3])
def test_a_ball_that_spins_is_not_thrown_off(depth: float, spin: float) -> None:
    """Without friction its spin changes nothing; half of h w^2 times the depth was its speed."""
    smooth = {"friction": 0.0}
    ball = {"type": "sphere", "radius": 0.05, "material": "m"}
    bodies: list[Document] = [
        {"name": "floor", "type": "static",
         "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "m"}]},
        {"name": "ball", "mass": 1.0, "position": [0, 0, 0.05 - depth], "shapes": [ball],
         "linear_velocity": [0, 0, -0.3], "angular_velocity": [0, spin, 0]},
    ]  # fmt: skip
    sim = simulate(document(bodies, [], materials={"m": smooth}, simulation={"dt": 1e-3}))
    fastest = 0.0
    for _ in range(50):
        sim.advance(1)
        fastest = max(fastest, float(sim.velocities()[1, 2]))
    assert fastest < 1e-6
