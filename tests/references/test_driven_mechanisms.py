"""Drives without a bound on their force: what they move is where geometry says, from the start."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.engine.scenes import document, simulate

pytestmark = pytest.mark.reference

CRANK, ROD, SPEED = 0.1, 0.3, 30.0


def slider_crank(formulation: str, dt: float) -> Any:
    """A crank of 0.1 m that is driven from rest, a rod of 0.3 m and a piston along x."""
    box = {"shapes": [{"type": "box", "size": [0.1, 0.1, 0.1], "collision_mask": 0}]}
    bodies = [
        {"name": "crank", "position": [0.5 * CRANK, 0, 0], "mass": 0.5, **box},
        {"name": "rod", "position": [CRANK + 0.5 * ROD, 0, 0], "mass": 0.5, **box},
        {"name": "piston", "position": [CRANK + ROD, 0, 0], "mass": 1.0, **box},
    ]
    joints: list[dict[str, Any]] = []
    for parent, child, x in (("world", "crank", 0.0), ("crank", "rod", CRANK)):
        pin = {"name": child, "type": "hinge", "parent": parent, "child": child}
        joints.append({**pin, "anchor": [x, 0, 0], "axis": [0, 0, 1]})
    wrist = {"name": "wrist", "type": "hinge", "parent": "rod", "child": "piston"}
    joints.append({**wrist, "anchor": [CRANK + ROD, 0, 0], "axis": [0, 0, 1]})
    bore = {"name": "bore", "type": "slider", "parent": "world", "child": "piston"}
    joints.append({**bore, "axis": [1, 0, 0]})
    joints[0]["motor"] = {"type": "velocity", "target": SPEED}
    options = {"dt": dt, "duration": 0.25, "formulation": formulation}
    return simulate(document(bodies, joints, gravity=[0, 0, 0], simulation=options))


def piston_at(time: float) -> float:
    """Position of the piston of a crank that turns evenly from time 0 on [m]."""
    angle = SPEED * time
    return CRANK * math.cos(angle) + math.sqrt(ROD**2 - (CRANK * math.sin(angle)) ** 2)


def largest_error(formulation: str, dt: float) -> float:
    """Largest error of the piston over the run [m]."""
    sim, worst = slider_crank(formulation, dt), 0.0
    for _ in range(sim.total_steps):
        sim.advance(1)
        worst = max(worst, abs(float(sim.poses()[2, 0]) - piston_at(sim.time)))
    assert sim.summary()["verdict"]["status"] == "trusted"
    assert sim.summary()["energy"]["balance_error"] < 1e-12
    return worst


@pytest.mark.parametrize(("formulation", "allowed"), [("maximal", 1e-5), ("reduced", 1.5e-4)])
def test_a_speed_that_is_commanded_later_is_in_time(formulation: str, allowed: float) -> None:
    sim = slider_crank(formulation, 1e-3)
    sim.advance(50)
    sim.set_motor("crank", -0.5 * SPEED)
    for _ in range(60):
        sim.advance(1)
        # the angle of a crank that has turned back with half the speed since 50 ms
        angle = SPEED * (0.05 - 0.5 * (sim.time - 0.05))
        assert float(sim.poses()[2, 0]) == pytest.approx(piston_at(angle / SPEED), abs=allowed)
    assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_start_from_rest_is_no_growth_of_energy(formulation: str) -> None:
    """What a drift gains is compared with the motion of now: before, nothing has moved."""
    sim = slider_crank(formulation, 1e-3)
    sim.set_motor("crank", 0.0)
    sim.advance(50)
    assert sim.summary()["energy"]["max_kinetic"] < 1e-20
    sim.set_motor("crank", SPEED)
    sim.advance(sim.total_steps - 50)
    assert sim.summary()["verdict"]["findings"] == []


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_a_target_that_jumps_within_a_step_moves_what_its_steps_say(
    formulation: str, share: float
) -> None:
    """A cart is where the integral of the step function is, wherever in a step the jumps are."""
    dt, first = 0.002, 0.02 + 0.002 * share
    times, speeds = [0.0, first, 0.0402], [0.2, -0.5, 0.3]
    cart = {"name": "cart", "mass": 1.5, "inertia": [1, 1, 1]}
    target = {"times": times, "values": speeds, "interpolation": "step"}
    rail: dict[str, Any] = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail |= {"axis": [1, 0, 0], "motor": {"type": "velocity", "target": target}}
    options = {"dt": dt, "duration": 0.1, "formulation": formulation}
    sim = simulate(document([cart], [rail], simulation=options))
    for _ in range(30):
        sim.advance(1)
        ends = [min(sim.time, end) for end in (*times[1:], sim.time)]
        way = sum(v * max(end - t, 0.0) for v, t, end in zip(speeds, times, ends, strict=True))
        assert sim.poses()[0, 0] == pytest.approx(way, abs=1e-15)
    assert sim.summary()["energy"]["balance_error"] < 1e-14


@pytest.mark.parametrize(("formulation", "allowed"), [("maximal", 1e-5), ("reduced", 1.5e-4)])
def test_a_slider_crank_is_in_time_to_second_order(formulation: str, allowed: float) -> None:
    coarse, fine = largest_error(formulation, 2e-3), largest_error(formulation, 1e-3)
    assert fine < allowed
    assert math.log2(coarse / fine) > 1.9


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("force", [None, 3.0])
def test_a_drive_starts_at_once_only_without_a_bound(formulation: str, force: float | None) -> None:
    """With a bound it accelerates evenly, up to its speed: F t^2/(2 m), then v (t - v m/(2 F))."""
    drive: dict[str, Any] = {"type": "velocity", "target": 0.2}
    if force is not None:
        drive["max_force"] = force
    cart = {"name": "cart", "mass": 1.5, "inertia": [1, 1, 1]}
    rail: dict[str, Any] = {"name": "rail", "type": "slider", "parent": "world", "child": "cart"}
    rail |= {"axis": [1, 0, 0], "motor": drive}
    options = {"dt": 0.002, "duration": 0.2, "formulation": formulation}
    sim = simulate(document([cart], [rail], simulation=options))
    late = 0.0 if force is None else 0.2 * 1.5 / (2.0 * force)
    for _ in range(100):
        sim.advance(1)
        if sim.time > 2.0 * late:
            assert sim.poses()[0, 0] == pytest.approx(0.2 * (sim.time - late), abs=1e-9)
    assert sim.energy()["work_in"] == pytest.approx(0.5 * 1.5 * 0.2**2, rel=1e-12)
