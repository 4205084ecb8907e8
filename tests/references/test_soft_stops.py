"""Stops that yield: rebound, loss and energy of a damped oscillator that is only pushed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference

MASS, OMEGA, AWAY, END = 2.0, 50.0, 0.1037, 0.25


def cart(ratio: float, formulation: str, dt: float, at: float = 0.0) -> Any:
    """A mass at 1 m/s before a stop with the given damping ratio, the stop at x = AWAY."""
    one = {"name": "cart", "position": [at, 0, 0], "mass": MASS, "inertia": [1, 1, 1]}
    limits = {"lower": -9.0, "upper": AWAY - at, "stiffness": MASS * OMEGA**2}
    limits["damping"] = 2.0 * ratio * OMEGA * MASS
    rail: dict[str, Any] = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail |= {"axis": [1, 0, 0], "limits": limits}
    options = {"dt": dt, "duration": END, "formulation": formulation}
    one["linear_velocity"] = [1.0, 0, 0]
    return simulate(document([one], [rail], gravity=[0, 0, 0], simulation=options))


def rebound(ratio: float) -> tuple[float, float, float]:
    """When the stop lets go [s after it was met], the speed [m/s] and the depth [m] then.

    x'' + 2 r w x' + w^2 x = 0 from x = 0, x' = 1, until w^2 x + 2 r w x' = 0: it cannot pull.
    """
    damped = OMEGA * math.sqrt(1.0 - ratio**2)

    def depth(t: float) -> float:
        return math.exp(-ratio * OMEGA * t) * math.sin(damped * t) / damped

    def speed(t: float) -> float:
        decayed = math.exp(-ratio * OMEGA * t)
        return decayed * (math.cos(damped * t) - ratio * OMEGA / damped * math.sin(damped * t))

    def force(t: float) -> float:
        return OMEGA**2 * depth(t) + 2.0 * ratio * OMEGA * speed(t)

    end = math.pi / OMEGA if ratio == 0.0 else brentq(force, 0.3 / OMEGA, math.pi / damped)
    return end, speed(end), depth(end)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.4])
def test_rebound_and_loss_are_those_of_a_damped_oscillator(ratio: float, formulation: str) -> None:
    sim = cart(ratio, formulation, 2e-4)
    sim.advance(sim.total_steps)
    time, speed, depth = rebound(ratio)
    row, summary = sim.joint_table()[0], sim.summary()
    assert row["qd"] == pytest.approx(speed, abs=1e-4)
    assert row["q"] - AWAY == pytest.approx(depth + speed * (END - AWAY - time), abs=3e-5)
    energy = summary["energy"]
    assert energy["dissipated_damping"] == pytest.approx(0.5 * MASS * (1.0 - speed**2), abs=2e-4)
    assert energy["dissipated_impact"] == 0.0
    assert energy["max_relative_drift"] < 2e-4
    assert energy["balance_error"] < 1e-12
    assert summary["verdict"] == {"status": "trusted", "findings": []}


def test_the_rebound_is_of_second_order() -> None:
    errors = []
    for dt in (2e-3, 1e-3, 5e-4, 2.5e-4):
        sim = cart(0.4, "reduced", dt)
        sim.advance(sim.total_steps)
        errors.append(abs(float(sim.joint_table()["qd"][0]) - rebound(0.4)[1]))
    # where in a step the stop is met changes the factor: the trend counts
    order = np.polyfit(np.log([8.0, 4.0, 2.0, 1.0]), np.log(errors), 1)[0]
    assert order > 1.6


def test_energy_of_a_stop_that_is_pressed_at_the_start_is_in_the_account() -> None:
    """Pressed by 2 cm it gives back k x^2/2, and v^2 = 1 + w^2 x^2 afterwards."""
    sim = cart(0.0, "maximal", 2e-4, at=AWAY + 0.02)
    sim.advance(sim.total_steps)
    assert -float(sim.joint_table()["qd"][0]) == pytest.approx(math.sqrt(2.0), rel=3e-4)
    assert sim.summary()["energy"]["max_relative_drift"] < 3e-4
    assert sim.summary()["verdict"]["status"] == "trusted"


@pytest.mark.parametrize("stiffness", [1e5, 1e9])
def test_a_stop_that_is_too_stiff_for_the_step_gains_nothing(stiffness: float) -> None:
    """The rebound is never faster than the arrival, and the verdict tells of what is lost."""
    one = {"name": "cart", "mass": 1.0, "inertia": [1, 1, 1], "linear_velocity": [1.0, 0, 0]}
    rail = {"name": "rail", "type": "slider", "parent": "world", "child": "cart", "axis": [1, 0, 0]}
    for k in range(4):
        limits = {"lower": -0.05, "upper": 0.05 + 3e-4 * k, "stiffness": stiffness}
        sim = simulate(document([one], [rail | {"limits": limits}], gravity=[0, 0, 0]))
        fastest = 0.0
        for _ in range(300):
            sim.advance(1)
            fastest = max(fastest, abs(float(sim.joint_table()["qd"][0])))
        summary = sim.summary()
        assert fastest <= 1.0 + 1e-9
        assert summary["energy"]["balance_error"] < 1e-12
        if 2.0 * sim.energy()["kinetic"] < 0.9:
            assert summary["verdict"]["status"] == "suspect"
