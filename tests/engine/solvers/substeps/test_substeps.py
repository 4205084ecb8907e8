"""Soft rows and substeps: closed forms, and lanes against one contact after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.faults import SceneError
from cardan.engine.build.options import build_options
from cardan.engine.solvers.substeps.softness import soft_pair, softness_of
from cardan.schemas import load_scene
from tests.engine.scenes import Document


@pytest.mark.parametrize("zeta", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("turns", [0.01, 0.25])
def test_a_soft_row_is_a_damped_spring_by_implicit_euler(zeta, turns):
    """m x'' = -omega^2 m x - 2 zeta omega m x', velocity and place taken at the end of h."""
    h, mass, x, v = 0.004, 3.0, -0.02, 0.7
    omega = 2.0 * math.pi * turns / h
    rate, compliance = soft_pair(omega, zeta, h)
    # one row: J = 1, D = 1/m, w = v+ + rate x + gamma lam = 0, v+ = v + lam/m
    gamma = compliance / mass
    lam = -(v + rate * x) / (1.0 / mass + gamma)
    expected = (v - h * omega**2 * x) / (1.0 + 2.0 * zeta * omega * h + (omega * h) ** 2)
    assert v + lam / mass == pytest.approx(expected, rel=1e-12)


def scene(bodies, joints=(), materials=None, forces=(), **simulation):
    return load_scene(
        {
            "simulation": {"dt": 0.005, "duration": 1.0, **simulation},
            "materials": materials or {},
            "bodies": list(bodies),
            "joints": list(joints),
            "forces": list(forces),
        }
    )


GROUND = {"name": "ground", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}


def balls():
    """Some that slide, some that lie, some that fall, each by itself."""
    return [
        {
            "name": f"b{i}",
            "position": [0.5 * i, 0.0, 0.1 + 0.001 * (i % 3)],
            "linear_velocity": [0.1 * i, 0.2, -0.1 * (i % 2)],
            "mass": 1.0 + i,
            "shapes": [{"type": "sphere", "radius": 0.1}],
        }
        for i in range(11)
    ]


def test_eight_at_a_time_do_what_one_after_the_other_does():
    """Where anything resists rolling all contacts are swept by themselves: the same numbers."""
    rough = {"name": "rough", "position": [0, 9, 0.1], "mass": 1.0}
    rough["shapes"] = [{"type": "sphere", "radius": 0.1, "material": "felt"}]
    felt = {"felt": {"rolling_friction": 0.01}}
    solver = {"method": "small_steps"}
    lanes = Simulation(scene([GROUND, *balls()], solver=solver))
    single = Simulation(scene([GROUND, *balls(), rough], (), felt, solver=solver))
    lanes.advance(30)
    single.advance(30)
    assert lanes.work.dense.lanes.count[0] > 0
    np.testing.assert_allclose(lanes.poses(), single.poses()[:-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(lanes.velocities(), single.velocities()[:-1], rtol=0, atol=1e-12)


def test_rows_with_a_law_for_the_step_are_solved_for_its_end():
    """Drag and a spring, no contact: substeps end where one kick does."""
    bodies = [
        {"name": "a", "position": [0, 0, 1], "mass": 2.0, "linear_velocity": [3, 1, 0]},
        {"name": "b", "position": [2, 0, 1], "mass": 1.0},
    ]
    bodies = [{**body, "inertia": [0.1, 0.1, 0.1]} for body in bodies]
    joint: Document = {"name": "j", "type": "slider", "parent": "world", "child": "b"}
    joint |= {"anchor": [2, 0, 1], "axis": [0, 0, 1], "damping": 0.5}
    joint |= {"motor": {"type": "velocity", "target": 1.0, "max_force": 12.0}}
    force = {"type": "drag", "body": "a", "linear": 0.5, "quadratic": 0.3}
    ends = []
    for method in ("auto", "small_steps"):
        simulation = Simulation(scene(bodies, [joint], None, [force], solver={"method": method}))
        simulation.advance(100)
        ends.append(np.concatenate([simulation.poses()[:, :3], simulation.velocities()[:, :3]]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-10)


def test_what_substeps_cannot_be_combined_with_is_refused_by_name():
    for path, simulation in (
        ("/simulation/contact/impact_time", {"contact": {"impact_time": "exact"}}),
        ("/simulation/stabilisation", {"stabilisation": "baumgarte"}),
        ("/simulation/solver/method", {"formulation": "reduced"}),
    ):
        with pytest.raises(SceneError) as refused:
            Simulation(scene([GROUND, *balls()], solver={"method": "small_steps"}, **simulation))
        assert [fault.pointer for fault in refused.value.errors] == [path]


def test_a_quarter_of_a_turn_per_substep_is_the_stiffest():
    def soft(**solver):
        document = scene([GROUND], solver={"method": "small_steps", **solver})
        uncompiled: Any = softness_of
        return uncompiled.py_func(build_options(document, 1.0), document.simulation.dt)

    assert soft(frequency=200.0) == soft(frequency=1e6)
    assert soft() == soft(frequency=100.0)
    assert soft(frequency=10.0).rate < soft().rate < soft(frequency=200.0).rate
    assert soft(substeps=8).h == soft().h / 2.0
