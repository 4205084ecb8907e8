"""Energy is kept where nothing takes it, and every joule that goes is booked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_names, example_text
from tests.engine.scenes import brick, document, rod, simulate

pytestmark = pytest.mark.law


def chain(n: int, joint: str, **more: Any) -> dict[str, Any]:
    """n rods of 0.2 m on joints, released from the horizontal."""
    bodies = [rod(f"rod-{k}", [0.2 * k, 0, 0], 0.2) for k in range(n)]
    joints = [
        {
            "name": f"joint-{k}",
            "type": joint,
            "parent": "world" if k == 0 else f"rod-{k - 1}",
            "child": f"rod-{k}",
            "anchor": [0.2 * k, 0, 0],
            **({"axis": [0, 1, 0]} if joint == "hinge" else {}),
            **more,
        }
        for k in range(n)
    ]
    return document(bodies, joints, simulation={"dt": 0.001, "duration": 5.0})


@pytest.mark.parametrize("joint", ["ball", "hinge"])
def test_chain_of_three_keeps_its_energy(joint: str) -> None:
    sim = simulate(chain(3, joint))
    sim.advance(5000)
    summary = sim.summary()
    assert summary["energy"]["max_relative_drift"] <= 2e-3
    assert summary["energy"]["balance_error"] <= 1e-12
    assert summary["joints"]["max_position_error"] <= 2e-5


def test_pendulum_energy_error_is_of_second_order() -> None:
    drift = []
    for dt in (2e-3, 1e-3, 5e-4):
        scene = chain(1, "hinge")
        # the other ways give the energy back that joints take
        scene["simulation"] |= {"dt": dt, "stabilisation": "baumgarte"}
        sim = simulate(scene)
        sim.advance(round(3.0 / dt))
        drift.append(sim.summary()["energy"]["max_relative_drift"])
    assert drift[1] < 1e-4
    assert drift[0] / drift[1] > 3.5
    assert drift[1] / drift[2] > 3.5


@pytest.mark.parametrize("name", example_names())
def test_the_examples_lose_no_joule_that_is_not_booked(name: str) -> None:
    sim = Simulation(load_scene(example_text(name)))
    sim.advance(1200)
    energy = sim.summary()["energy"]
    # springs are straight lines in a step: those of the cart err by 1e-10
    scale = max(abs(energy["initial"]), energy["max_kinetic"])
    assert energy["balance_error"] * energy["max_kinetic"] <= 1e-9 * scale


def test_motor_work_is_booked() -> None:
    scene = chain(1, "hinge", motor={"type": "force", "target": 0.05})
    scene["gravity"] = [0, 0, 0]
    sim = simulate(scene)
    sim.advance(500)
    angle = sim.joint_table()["q"][0]
    energy = sim.energy()
    assert energy["work_in"] == pytest.approx(0.05 * angle, rel=1e-6)
    assert energy["kinetic"] == pytest.approx(energy["work_in"], rel=1e-4)


def test_joint_friction_and_damping_are_booked() -> None:
    for channel, settings in (
        ("dissipated_friction", {"friction": 0.02}),
        ("dissipated_damping", {"damping": 0.02}),
    ):
        sim = simulate(chain(2, "hinge", **settings))
        sim.advance(3000)
        energy = sim.energy()
        lost = sim.summary()["energy"]["initial"] - energy["total"]
        assert lost > 0.05
        assert energy[channel] == pytest.approx(lost, rel=2e-3)
        assert sim.summary()["energy"]["balance_error"] <= 1e-12


def test_work_of_a_wrench_is_force_times_way() -> None:
    wrench = {"type": "wrench", "body": "stone", "force": [3.0, 0, 0], "torque": [0, 0, 0.2]}
    body = brick("stone", inertia=[0.1, 0.1, 0.1])
    sim = simulate(document([body], forces=[wrench], gravity=[0, 0, 0], simulation={"dt": 0.01}))
    sim.advance(100)
    assert sim.poses()[0, 0] == pytest.approx(0.5 * 1.5 * 1.0**2, abs=1e-12)
    work = 3.0 * 0.75 + 0.2 * 0.5 * (0.2 / 0.1)
    assert sim.energy()["work_in"] == pytest.approx(work, rel=1e-12)
    assert sim.energy()["kinetic"] == pytest.approx(work, rel=1e-12)


def test_steering_is_booked_as_work_from_outside() -> None:
    sim = simulate(chain(2, "ball"))
    sim.advance(10)
    sim.apply_impulse("rod-1", [0.0, 0.5, 0.0])
    sim.set_gravity([0, 0, -1.6])
    sim.apply_wrench("rod-0", [0, 1.0, 0], [0, 0, 0], duration=0.05)
    sim.advance(200)
    assert np.isfinite(sim.poses()).all()
    assert sim.summary()["energy"]["balance_error"] <= 1e-12
    assert sim.summary()["momentum"]["max_linear_drift"] <= 1e-11
