"""Impacts at the moment when bodies meet: what flies freely in between is exact."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.allocate import contact_cache
from cardan.engine.build.room import first_room
from tests.engine.scenes import document, ground, simulate
from tests.published import data
from tests.references.impact_scenes import LAWS, ball, row_of_balls, steel

pytestmark = pytest.mark.reference


def falling(law: str, time: str, e: float, h: float, **more: Any) -> Simulation:
    """A ball whose lowest point is at height h [m]."""
    contact = {"restitution_law": law, "impact_time": time, **more.pop("contact", {})}
    return simulate(
        document(
            [ground(material="steel"), ball("ball", [0, 0, h + 0.1], [0, 0, 0])],
            materials=steel(e),
            simulation={"dt": more.pop("dt", 1e-3)},
            contact=contact,
            **more,
        )
    )


def bounces(sim: Simulation, seconds: float, g: float = 9.81) -> tuple[np.ndarray, np.ndarray]:
    """Times of impacts and heights of apexes, from the parabola that a ball flies on after each."""
    times, apexes = [], []
    falls = False
    while sim.time < seconds:
        sim.advance(1)
        v = sim.velocities()[1, 2]
        if v > 0.0 and falls:
            z = sim.poses()[1, 2] - 0.1
            times.append(sim.time - (math.sqrt(v * v + 2 * g * z) - v) / g)
            apexes.append(z + v * v / (2 * g))
        falls = v <= 0.0
    return np.array(times), np.array(apexes)


@pytest.mark.parametrize("dt", [1e-3, 7e-3])
@pytest.mark.parametrize("law", LAWS)
def test_a_bouncing_ball_keeps_its_times_and_heights(law: str, dt: float) -> None:
    """sqrt(2 h/g) (1 + 2 e + 2 e^2 + ...) and e^2k h; the last impacts come within a step."""
    case = json.loads(data("closed_form", "checks.json").read_text())["bouncing_ball_times"]
    given, expected = case["params"], case["expect"]
    sim = falling(law, "exact", given["e"], given["h"], dt=dt)
    times, apexes = bounces(sim, 2.95)
    n = len(expected["impact_times"])
    assert times[:n] == pytest.approx(expected["impact_times"], abs=1e-10)
    assert apexes[:5] == pytest.approx(expected["apex"], abs=1e-10)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_stepping_bounces_up_to_a_step_early(law: str) -> None:
    times, _ = bounces(falling(law, "step", 0.8, 1.0), 2.0)
    exact = math.sqrt(2 / 9.81) * np.array([1.0, 1 + 2 * 0.8, 1 + 2 * 0.8 + 2 * 0.64])
    assert np.abs(times[:3] - exact).max() < 3e-3
    assert np.abs(times[:3] - exact).max() > 1e-6


def bouncing_balls(time: str, law: str = "newton") -> float:
    """SimBenchmark's bouncing balls, 1 ms, 20 s: mean of the squared energy error [J^2].

    Its 49 balls fall alike; each stands for itself, so one per column of them is enough of a test
    for all, and the error of 49 is 49 times that of one.
    """
    m, g, height = 10.0, 9.81, 5.0
    bodies = [ground(material="steel")]
    for k in range(7):
        sphere = {"type": "sphere", "radius": 0.1, "material": "steel"}
        at = [2.0 * k, 0, height]
        bodies.append({"name": f"ball-{k}", "position": at, "mass": m, "shapes": [sphere]})
    scene = document(
        bodies,
        materials=steel(),
        simulation={"dt": 1e-3},
        contact={"restitution_law": law, "impact_time": time},
    )
    sim = simulate(scene)
    first = 7 * m * g * height
    total = 0.0
    steps = 20000
    for _ in range(steps // 10):
        sim.advance(10)
        z, v = sim.state.p_WB[1:8, 2], sim.state.v_WB_W[1:8]
        energy = 7 * float(np.sum(m * g * z + 0.5 * m * (v**2).sum(axis=1)))
        total += (energy - 7 * first) ** 2
    return total / (steps // 10)


def test_bouncing_balls_keep_their_energy() -> None:
    """RaiSim publishes 0.0186 J^2 at 1 ms, ODE 185."""
    assert bouncing_balls("exact") <= 1e-10
    assert bouncing_balls("step") <= 0.0186


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9])
def test_an_oblique_impact_of_equal_balls(law: str, share: float) -> None:
    """One leaves along the line of centres with v cos, the other across it with v sin; e = 1."""
    striker = ball("striker", [-0.7131, 0.2 * share, 0], [1.7, 0, 0])
    sim = simulate(
        document(
            [striker, ball("struck", [0, 0, 0], [0, 0, 0])],
            materials=steel(),
            gravity=[0, 0, 0],
            simulation={"dt": 2e-3},
            contact={"restitution_law": law, "impact_time": "exact"},
        )
    )
    sim.advance(400)
    angle = -math.asin(share)
    along = 1.7 * math.cos(angle) * np.array([math.cos(angle), math.sin(angle)])
    assert sim.velocities()[1, :2] == pytest.approx(along, abs=1e-10)
    assert sim.velocities()[0, :2] == pytest.approx([1.7, 0] - along, abs=1e-10)


def test_a_row_with_gaps_passes_the_speed_on_in_one_step() -> None:
    """Five impacts within one step of 0.1 s, and everybody where they would be."""
    sim = row_of_balls([1.0, 0, 0, 0, 0], "newton", "exact", gap=0.01, simulation={"dt": 0.1})
    sim.advance(1)
    assert sim.velocities()[:, 0] == pytest.approx([0, 0, 0, 0, 1.0], abs=1e-12)
    # each has moved by the gap; the last goes on after 4 gaps
    expected = [0.01, 0.22, 0.43, 0.64, 0.84 + 0.1 - 0.04]
    assert sim.poses()[:, 0] == pytest.approx(expected, abs=1e-12)


def struck_together(sim: Simulation) -> list[str]:
    """Bodies that the verdict says bounced off two others at once."""
    sim.advance(1)
    found = sim.summary()["verdict"]["findings"]
    return [one["body"] for one in found if one["quantity"] == "simultaneous_impacts"]


@pytest.mark.parametrize(
    ("law", "gap", "expected"),
    [("newton", 0, ["ball-1"]), ("poisson", 0, ["ball-1"]), ("propagating", 0, [])]
    + [(law, 0.01, []) for law in ("newton", "poisson", "propagating")],
)
def test_impacts_whose_outcome_the_law_decides_are_named(
    law: str, gap: float, expected: list[str]
) -> None:
    """A ball onto two that touch; with gaps between them impacts follow one another in a step."""
    options = {"dt": 0.1}
    sim = row_of_balls([1.0, 0, 0], law, "exact", gap=gap, simulation=options)
    assert struck_together(sim) == expected


def test_a_ball_between_two_walls() -> None:
    """It meets a wall every 0.3 s/v: thirty times in a step, and on."""
    wall = {"type": "box", "size": [0.1, 1, 1], "material": "steel"}
    walls = [
        {"name": f"wall-{k}", "type": "static", "position": [x, 0, 0], "shapes": [wall]}
        for k, x in enumerate((-0.3, 0.3))
    ]
    sim = simulate(
        document(
            [*walls, ball("ball", [0, 0, 0], [30.0, 0, 0])],
            materials=steel(),
            gravity=[0, 0, 0],
            simulation={"dt": 0.1},
            contact={"impact_time": "exact"},
        )
    )
    for k in range(1, 4):
        sim.advance(1)
        # unfolded: the free way between the walls is 0.3 m
        way = (30.0 * 0.1 * k + 0.15) % 0.6
        assert sim.poses()[2, 0] == pytest.approx(min(way, 0.6 - way) - 0.15, abs=1e-10)
    assert sim.energy()["kinetic"] == pytest.approx(0.5 * 0.5 * 900, rel=1e-12)


def test_balls_that_meet_in_parts_of_steps_are_not_pushed_apart() -> None:
    """What is corrected after a step knows how long its last part was."""
    rng = np.random.default_rng(0)
    bodies = [ground(material="steel")]
    for k in range(8):
        at = 0.21 * np.array([k % 2, k // 2 % 2, 1 + k // 4]) + rng.uniform(-0.004, 0.004, 3)
        bodies.append(ball(f"ball-{k}", at.tolist(), [0, 0, 0]))
    contact = {"impact_time": "exact", "restitution_threshold": 1e-6}
    scene = document(bodies, materials=steel(), simulation={"dt": 1e-3}, contact=contact)
    sim = simulate(scene)
    first = sim.energy()["total"]
    sim.advance(220)
    assert sim.energy()["total"] == pytest.approx(first, rel=1e-10)
    assert np.abs(sim.velocities()[1:, :2]).max() > 0.01


def test_bouncing_without_end_falls_back_to_stepping() -> None:
    """Without a threshold a ball bounces infinitely often in 4.06 s; then it lies."""
    sim = falling("newton", "exact", 0.8, 1.0, contact={"restitution_threshold": 0.0})
    sim.advance(4500)
    assert sim.failure is None
    assert abs(sim.velocities()[1, 2]) < 0.02
    assert sim.poses()[1, 2] == pytest.approx(0.1, abs=1e-4)
    assert sim.summary()["energy"]["balance_error"] < 1e-9


def test_resting_bodies_and_joints_do_not_notice_the_impacts_of_others() -> None:
    """Parts of a step correct as much as a whole one: a box and a pendulum beside a ball."""
    box = {"name": "box", "position": [2, 0, 0.2], "mass": 1.0}
    box["shapes"] = [{"type": "box", "size": [0.4, 0.4, 0.4], "material": "rough"}]
    bob = {"name": "bob", "position": [-2, 0, 1.0], "mass": 1.0, "linear_velocity": [1.5, 0, 0]}
    bob["angular_velocity"] = [0, -1.5, 0]
    bob["shapes"] = [{"type": "sphere", "radius": 0.05}]
    pivot = {"name": "pivot", "type": "ball", "parent": "world", "child": "bob"}
    materials = {**steel(), "rough": {"friction": 0.6}}
    results = []
    for time in ("step", "exact"):
        sim = simulate(
            document(
                [ground(material="steel"), box, bob, ball("ball", [0, 0, 0.6], [0, 0, 0])],
                [{**pivot, "anchor": [-2, 0, 2.0]}],
                materials=materials,
                simulation={"dt": 1e-3},
                contact={"impact_time": time},
            )
        )
        sim.advance(1500)
        results.append(sim.poses()[1:3])
        assert sim.summary()["joints"]["max_position_error"] < 1e-5
        assert sim.poses()[1, :3] == pytest.approx([2, 0, 0.2], abs=1e-6)
    assert results[0] == pytest.approx(results[1], abs=1e-4)


def test_contacts_that_need_more_room_go_back_to_before_the_step() -> None:
    """Fewer contacts to begin with, the same bits in the end."""
    rng = np.random.default_rng(5)
    bodies = [ground(material="steel")]
    for k in range(12):
        at = [float(0.19 * (k % 3) + rng.normal(0, 0.01)), 0.0, 0.3 + 0.23 * (k // 3)]
        bodies.append(ball(f"ball-{k}", at, [0, 0, -1.0]))
    scene = document(
        bodies,
        materials=steel(0.5, 0.2),
        simulation={"dt": 2e-3},
        contact={"impact_time": "exact"},
    )
    roomy, tight = simulate(scene), simulate(scene)
    tight.state = tight.state._replace(contacts=contact_cache(4), resting=contact_cache(4))
    tight._allocate(first_room(4))
    roomy.advance(300)
    tight.advance(300)
    assert len(tight.work.contacts.gap) > 4
    assert np.array_equal(tight.poses(), roomy.poses())
    assert np.array_equal(tight.velocities(), roomy.velocities())
