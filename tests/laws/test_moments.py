"""Velocities that joints forbid, at the start and after a blow, are shared at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.law

BLOW = 3.0  # N s or m/s on the second rod of 1 kg


def rods(formulation: str, dt: float = 1e-3, **more: Any) -> Document:
    """Two rods of 1 m and 1 kg in a row along x, on hinges about -y: the first on the world."""
    bodies = [
        {"name": name, "position": [x, 0, 0], "mass": 1.0, "inertia": [0.01, 0.09, 0.09]}
        for name, x in (("first", 0.5), ("second", 1.5))
    ]
    pin: Document = {"type": "hinge", "axis": [0, -1, 0]}
    joints = [
        pin | {"name": "foot", "parent": "world", "child": "first", "anchor": [0, 0, 0]},
        pin | {"name": "knee", "parent": "first", "child": "second", "anchor": [1, 0, 0]},
    ]
    simulation = {"dt": dt, "duration": 0.6, "formulation": formulation}
    return document(bodies, joints, simulation=simulation | more, gravity=[0, 0, 0])


def thrown(formulation: str, dt: float = 1e-3, **more: Any) -> Document:
    """The rods, with a velocity of the second alone."""
    scene = rods(formulation, dt, **more)
    scene["bodies"][1]["linear_velocity"] = [0, 0, BLOW]
    return scene


def rates_after(blow: float) -> np.ndarray:
    """Rates of both rods [rad/s] after a blow on the middle of the second: H w = J^T p."""
    H = np.array([[0.25 + 0.09 + 1.0, 0.5], [0.5, 0.25 + 0.09]])
    return np.linalg.solve(H, [blow, 0.5 * blow])


def rates(sim: Simulation) -> np.ndarray:
    return -sim.velocities()[:2, 4]


WAYS: list[Document] = [
    {"formulation": "maximal"},
    {"formulation": "reduced"},
    {"formulation": "maximal", "stabilisation": "baumgarte"},
    {"formulation": "maximal", "solver": {"method": "gauss_seidel", "max_iterations": 500}},
    {"formulation": "maximal", "solver": {"method": "small_steps"}},
    {"formulation": "maximal", "contact": {"impact_time": "exact"}},
    {"formulation": "reduced", "integrator": "rk4"},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_initial_velocities_are_joined_before_the_first_step(way: Document) -> None:
    sim = simulate(thrown(**(way | {"dt": 1e-6})))
    sim.advance(1)
    assert rates(sim) == pytest.approx(rates_after(BLOW), rel=1e-5)
    energy = sim.summary()["energy"]
    w = rates_after(BLOW)
    # half the impulse times the speed where it acts
    assert sim.energy()["kinetic"] == pytest.approx(0.5 * BLOW * (w[0] + 0.5 * w[1]), rel=1e-5)
    assert energy["max_relative_drift"] < 1e-9


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_blow_is_joined_at_once_and_is_work_from_outside(way: Document) -> None:
    sim = simulate(rods(**(way | {"dt": 1e-6})))
    sim.advance(1)
    sim.apply_impulse("second", [0, 0, BLOW])
    sim.advance(1)
    assert rates(sim) == pytest.approx(rates_after(BLOW), rel=1e-5)
    assert sim.energy()["work_in"] == pytest.approx(sim.energy()["kinetic"], rel=1e-9)
    assert abs(sim.energy()["correction"]) < 1e-9
    assert sim.summary()["momentum"]["max_linear_drift"] < 1e-6
    assert sim.findings() == []


@pytest.mark.parametrize("way", WAYS[:2], ids=str)
def test_what_follows_is_of_second_order_in_the_step(way: Document) -> None:
    truth = simulate(thrown("reduced", 1e-4))
    truth.advance(6000)
    errors = []
    for dt in (4e-3, 2e-3):
        sim = simulate(thrown(way["formulation"], dt))
        sim.advance(round(0.6 / dt))
        errors.append(np.abs(sim.poses()[:2, :3] - truth.poses()[:2, :3]).max())
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] > 3.3


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_the_run_says_which_joint_the_start_contradicts(formulation: str) -> None:
    sim = simulate(thrown(formulation))
    sim.advance(10)
    (found,) = sim.findings()
    assert found["quantity"] == "initial_velocity"
    assert (found["joint"], found["first_time"]) == ("knee", 0.0)
    assert found["value"] == pytest.approx(BLOW, rel=1e-9)
    assert any("contradict joint 'knee' by 3" in text for text in sim.warnings())


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_velocities_that_fit_are_left_alone(formulation: str) -> None:
    scene = rods(formulation)
    w = np.array([2.0, -1.0])
    for body, speed, rate in zip(scene["bodies"], (0.5 * w[0], w[0] + 0.5 * w[1]), w, strict=True):
        body["linear_velocity"], body["angular_velocity"] = [0, 0, speed], [0, -rate, 0]
    sim = simulate(scene)
    sim.advance(1)
    assert sim.findings() == []
    # rounded velocities of a file are joined, and no finding
    scene["bodies"][1]["linear_velocity"] = [0, 0, 1.5004]
    sim = simulate(scene)
    sim.advance(1)
    assert sim.findings() == []
    assert abs(sim.energy()["correction"]) < 1e-9


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize(("size", "found"), [(1e-6, False), (1e-2, True)])
def test_a_speed_without_its_turning_is_a_contradiction_of_what_has_inertia(
    formulation: str, size: float, found: bool
) -> None:
    """A bob thrown sideways: as a point it keeps its speed, as a ball it starts slower."""
    bob = {"name": "bob", "mass": 1.0, "inertia": [size] * 3, "position": [0, 0, -1]}
    bob["linear_velocity"] = [0, 1.5, 0]
    pin = {"type": "ball", "name": "pin", "parent": "world", "child": "bob", "anchor": [0, 0, 0]}
    step = {"dt": 1e-6, "duration": 1e-5, "formulation": formulation}
    sim = simulate({"simulation": step, "bodies": [bob], "joints": [pin]})
    sim.advance(1)
    # angular momentum about the pin
    assert sim.velocities()[0, 1] == pytest.approx(1.5 / (1.0 + size), rel=1e-5)
    assert [one["quantity"] for one in sim.findings()] == ["initial_velocity"] * found


def test_a_loop_that_is_struck_is_joined_in_both_formulations() -> None:
    ends = []
    for formulation in ("maximal", "reduced"):
        scene = rods(formulation, 1e-3)
        scene["bodies"][1] |= {"position": [1, 0, -0.5], "orientation": [0.5**0.5, 0, 0.5**0.5, 0]}
        close = scene["joints"][1] | {"name": "close", "parent": "world", "anchor": [1, 0, -1]}
        slot = {"type": "slider", "name": "slot", "parent": "world", "child": "block"}
        scene["joints"].append(close | {"parent": "block", "child": "second"})
        scene["joints"].append(slot | {"anchor": [1, 0, -1], "axis": [1, 0, 0]})
        block = {"name": "block", "position": [1, 0, -1], "mass": 1.0, "inertia": [0.1] * 3}
        scene["bodies"].append(block)
        sim = simulate(scene)
        sim.advance(10)
        sim.apply_impulse("second", [1.0, 0, 2.0])
        sim.advance(200)
        assert sim.findings() == []
        assert sim.energy()["work_in"] == pytest.approx(sim.energy()["kinetic"], rel=1e-3)
        ends.append(sim.poses()[:3, :3])
    assert ends[0] == pytest.approx(ends[1], abs=2e-4)
