"""Verdicts of integrators with fixed steps, other than the default: too long steps are seen."""

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation, run


def oscillator(integrator: str, dt: float, duration: float = 5.0) -> dict[str, Any]:
    """1 kg on a joint spring of 20 rad/s, let go 0.1 m from rest: x(t) = 0.3 - 0.1 cos 20 t."""
    body = {"name": "b", "position": [0.2, 0, 0], "mass": 1.0, "inertia": [0.001] * 3}
    slide = {"name": "j", "type": "slider", "parent": "world", "child": "b", "axis": [1, 0, 0]}
    options = {"dt": dt, "duration": duration, "formulation": "reduced", "integrator": integrator}
    return {
        "gravity": [0, 0, 0],
        "simulation": options,
        "bodies": [body],
        "joints": [slide | {"spring": {"stiffness": 400.0, "damping": 0.0, "rest": 0.1}}],
    }


def error_and_verdict(document: dict[str, Any]) -> tuple[float, str, list[str]]:
    """Largest error of a run over the reach, its verdict, quantities of its findings."""
    recording, summary = run(document | {"record": {"every": 1}})
    bodies = recording.tables()["bodies"]
    off = bodies["px"] - 0.3 + 0.1 * np.cos(20.0 * bodies["time"])
    verdict = summary["verdict"]
    found = [one["quantity"] for one in verdict["findings"]]
    return float(np.abs(off).max() / 0.1), verdict["status"], found


@pytest.mark.parametrize(
    ("integrator", "dt"),
    [("rk4", 0.1), ("rk4", 0.05), *(("implicit_midpoint", dt) for dt in (0.02, 0.05, 0.1))],
)
def test_an_oscillation_in_long_steps_is_not_trusted(integrator: str, dt: float) -> None:
    """30 to 100 % of the way off, energy lost or phase, and trusted."""
    error, status, found = error_and_verdict(oscillator(integrator, dt))
    assert error > 0.3
    assert status != "trusted"
    assert set(found) <= {"step_error", "energy_drift"}


@pytest.mark.parametrize(("integrator", "dt"), [("rk4", 0.01), ("implicit_midpoint", 0.002)])
def test_one_in_steps_that_follow_it_is(integrator: str, dt: float) -> None:
    error, status, _ = error_and_verdict(oscillator(integrator, dt))
    assert error < 0.02
    assert status == "trusted"


def test_energy_that_is_lost_is_found_in_runs_that_are_not_done_again() -> None:
    """1e5 steps and more of one body: too many for a second run."""
    document = oscillator("rk4", 0.05, 5500.0)
    simulation = Simulation(document)
    simulation.advance(200)
    simulation.leave_scene()
    found = simulation.summary()["verdict"]["findings"]
    assert [one["quantity"] for one in found] == ["energy_drift"]


def spun_up() -> dict[str, Any]:
    """A light body on a rod, spun by a torque: more than a turn in 16 ms at the end."""
    at = [-0.143, 0.292, 0.438]
    body = {"name": "b", "position": at, "mass": 0.54, "inertia": [0.009, 0.0009, 0.009]}
    rod = {"name": "j", "type": "distance", "parent": "world", "child": "b"}
    torque = {"type": "wrench", "body": "b", "force": [0, 0, 0], "torque": [0.1, 0.9, 0.65]}
    options = {"dt": 16e-3, "duration": 0.992, "formulation": "reduced"}
    return {
        "simulation": options | {"integrator": "implicit_midpoint"},
        "bodies": [body],
        "joints": [rod | {"anchor": [0, 0, 0], "anchor2": at}],
        "forces": [torque | {"axes": "body"}],
    }


def test_a_midpoint_that_is_not_found_ends_the_run() -> None:
    """Its Newton's method met a singular matrix and raised LinAlgError, or used what it had."""
    simulation = Simulation(spun_up())
    simulation.advance(62)
    assert simulation.failure is not None
    assert simulation.failure.quantity == "work"
    assert "implicit_midpoint" in simulation.failure.message
    assert 0 < simulation.step_count < 62
    assert math.isfinite(simulation.energy()["total"])


def test_too_long_steps_of_it_are_suspect() -> None:
    """The coarser run that contradicts the estimate may fail."""
    document = spun_up()
    document["simulation"] |= {"dt": 2e-3, "duration": 1.0}
    verdict = run(document)[1]["verdict"]
    assert verdict["status"] == "suspect"
    assert [one["quantity"] for one in verdict["findings"]] == ["step_error"]
