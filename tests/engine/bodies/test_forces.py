"""Force elements: conservative ones are minus the gradient of their energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.accounting.energy import force_element_energy
from cardan.engine.bodies.forces import mean_about, value_at, write_forces
from cardan.engine.integrators.advance_poses import advance_poses
from tests.engine.scenes import brick, document, simulate

ELEMENTS: list[dict[str, Any]] = [
    {"type": "spring", "anchor": [0.1, 0.2, 0], "anchor2": [0.9, 0, 0.3]},
    {"type": "spring", "anchor": [0, 0, 0], "anchor2": [1.1, 0, 0], "stiffness": [3.0, 5.0, 7.0]},
    {"type": "torsion", "axis": [0.1, 0.2, 1.0], "rest": 0.3},
    {"type": "point_gravity", "constant": 2.0, "softening": 0.1},
]


def world(element: dict[str, Any]) -> Any:
    """Two bricks, displaced and moving, with one force element between them."""
    full = dict(element)
    if element["type"] != "point_gravity":
        full = {"parent": "a", "child": "b", "stiffness": 20.0} | full
    bodies = [brick("a"), brick("b", position=[1.0, 0.1, 0.2])]
    simulation = {"gyroscopic": "off"}
    sim = simulate(document(bodies, forces=[full], gravity=[0, 0, 0], simulation=simulation))
    sim.state.p_WB[1] += [0.2, -0.1, 0.15]
    rng = np.random.default_rng(2)
    sim.state.v_WB_W[:2], sim.state.w_WB_W[:2] = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    for i in range(2):
        q = rng.normal(size=4)
        sim.state.q_WB[i] = q / np.linalg.norm(q)
    return sim


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e["type"])
def test_power_is_minus_the_rate_of_the_energy(element: dict[str, Any]) -> None:
    sim = world(element)
    motion, state = sim.work.motion, sim.state
    write_forces(sim.model, state, 0.0, 1e-3, motion)
    power = float(
        (motion.wrench[:2, :3] * state.w_WB_W[:2]).sum()
        + (motion.wrench[:2, 3:] * state.v_WB_W[:2]).sum()
    )
    d, energy = 1e-6, []
    p, q = state.p_WB.copy(), state.q_WB.copy()
    for sign in (1.0, -1.0):
        state.p_WB[:], state.q_WB[:] = p, q
        advance_poses(sim.world, sign * d)
        energy.append(float(force_element_energy(sim.model, state)))
    assert power == pytest.approx(-(energy[0] - energy[1]) / (2 * d), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: e["type"])
def test_action_is_reaction(element: dict[str, Any]) -> None:
    sim = world(element)
    motion, p = sim.work.motion, sim.state.p_WB
    write_forces(sim.model, sim.state, 0.0, 1e-3, motion)
    force, torque = motion.wrench[:2, 3:], motion.wrench[:2, :3]
    assert force.sum(0) == pytest.approx(np.zeros(3), abs=1e-12)
    total = torque + np.cross(p[:2], force)
    assert total.sum(0) == pytest.approx(np.zeros(3), abs=1e-11)


def test_series_are_held_outside_and_followed_inside() -> None:
    wrench: dict[str, Any] = {"type": "wrench", "body": "a"}
    wrench["force"] = {"times": [1.0, 2.0, 4.0], "values": [[0, 0, 0], [2, 0, 0], [6, 0, 0]]}
    wrench["torque"] = {**wrench["force"], "interpolation": "step"}
    model = simulate(document([brick("a")], forces=[wrench])).model
    targets, table = model.targets, model.forces.table[0]
    linear = [value_at(targets, table[0], t) for t in (0.0, 1.0, 1.5, 3.0, 4.0, 9.0)]
    stepped = [value_at(targets, table[3], t) for t in (0.0, 1.5, 2.0, 3.9, 4.0)]
    assert linear == [0.0, 0.0, 1.0, 4.0, 6.0, 6.0]
    assert stepped == [0.0, 0.0, 2.0, 2.0, 6.0]


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_the_mean_of_a_series_over_a_step_is_its_integral(interpolation: str) -> None:
    """Where a point lies within the step; by the midpoints of many short intervals."""
    wrench: dict[str, Any] = {"type": "wrench", "body": "a"}
    values = [[0, 0, 0], [2, 0, 0], [-3, 0, 0], [6, 0, 0]]
    wrench["force"] = {"times": [1.0, 2.0, 2.5, 4.0], "values": values}
    wrench["force"]["interpolation"] = interpolation
    model = simulate(document([brick("a")], forces=[wrench])).model
    targets, table = model.targets, int(model.forces.table[0, 0])
    n = 4000
    for middle, h in ((1.0, 0.4), (2.1, 0.8), (2.2, 3.0), (4.0, 0.4)):
        times = middle + h * ((np.arange(n) + 0.5) / n - 0.5)
        mean = np.mean([value_at(targets, table, float(t)) for t in times])
        assert mean_about(targets, table, middle, h) == pytest.approx(mean, abs=2e-3)


def test_commanded_wrench_ends_in_time() -> None:
    sim = simulate(document([brick("a")], gravity=[0, 0, 0], simulation={"dt": 0.01}))
    sim.apply_wrench("a", [4.0, 0, 0], [0, 0, 0], duration=0.1)
    sim.advance(50)
    assert sim.velocities()[0, 0] == pytest.approx(0.2, rel=1e-12)
    sim.apply_wrench("a", [4.0, 0, 0], [0, 0, 0])
    sim.advance(50)
    assert sim.velocities()[0, 0] == pytest.approx(0.22, rel=1e-12)
