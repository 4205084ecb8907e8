"""Damped springs in scenes at rest: every integrator, linearisation and equilibria see them."""

import math
from typing import Any

import numpy as np
import pytest

from cardan import linearize, statics
from cardan.engine import Simulation, run

INTEGRATORS = ("semi_implicit_euler", "implicit_midpoint", "rk4", "dop853", "radau")


def weight(damping: float, **more: Any) -> dict[str, Any]:
    """1 kg on a slider and a spring of 40 N/m that is stretched by 0.2 m, released at rest."""
    body = {"name": "m", "position": [0, 0, -0.6], "mass": 1.0, "inertia": [0.01, 0.01, 0.01]}
    slide = {"name": "j", "type": "slider", "parent": "world", "child": "m", "axis": [0, 0, 1]}
    ends = {"parent": "world", "child": "m", "anchor": [0, 0, 0], "anchor2": [0, 0, -0.6]}
    spring = {"name": "s", "type": "spring", **ends, "stiffness": 40.0, "rest": 0.4}
    return {
        "gravity": [0, 0, more.pop("gravity", 0.0)],
        "simulation": {"dt": 1e-3, "duration": 1.0, "formulation": "reduced", **more},
        "bodies": [body],
        "joints": [slide],
        "forces": [spring | {"damping": damping}],
    }


def twisted(damping: float, **more: Any) -> dict[str, Any]:
    """A wheel of 0.1 kg m^2 on a torsion spring of 4 N m/rad that is turned by 0.5 rad."""
    wheel = {"name": "m", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    axis = {"axis": [0, 0, 1]}
    hinge = {"name": "j", "type": "hinge", "parent": "world", "child": "m", "anchor": [0, 0, 0]}
    spring = {"name": "s", "type": "torsion", "parent": "world", "child": "m", "stiffness": 4.0}
    return {
        "gravity": [0, 0, 0],
        "simulation": {"dt": 1e-3, "duration": 1.0, "formulation": "reduced", **more},
        "bodies": [wheel],
        "joints": [hinge | axis],
        "forces": [spring | axis | {"damping": damping, "rest": 0.5}],
    }


def swing(mass: float, stiffness: float, damping: float) -> float:
    """x(1 s)/x(0) of a damped oscillator let go at rest."""
    decay = 0.5 * damping / mass
    w = math.sqrt(stiffness / mass - decay * decay)
    return math.exp(-decay) * (math.cos(w) + decay / w * math.sin(w))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("damping", [0.0, 1e-9, 1.0])
def test_a_spring_that_is_let_go_at_rest_moves(integrator: str, damping: float) -> None:
    """The spring of a force element with a damper acts at speed 0 too."""
    simulation = Simulation(weight(damping, integrator=integrator))
    simulation.advance(1000)
    stretched = -simulation.poses()[0, 2] - 0.4
    assert stretched == pytest.approx(0.2 * swing(1.0, 40.0, damping), abs=2e-6)
    simulation = Simulation(twisted(0.1 * damping, integrator=integrator))
    simulation.advance(1000)
    turned = simulation.joint_state().q[0] - 0.5
    assert turned == pytest.approx(-0.5 * swing(0.1, 4.0, 0.1 * damping), abs=2e-5)


@pytest.mark.parametrize("damping", [0.0, 1e-9, 1.0])
def test_linearisation_has_the_stiffness_of_a_damped_spring(damping: float) -> None:
    found = linearize(weight(damping))
    at = abs(np.linalg.eigvals(found.A)).max() / (2.0 * math.pi)
    assert at == pytest.approx(math.sqrt(40.0) / (2.0 * math.pi), rel=1e-6)


@pytest.mark.parametrize("stiffness", [10.0, 100.0, 4000.0])
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_a_weight_on_a_vertical_spring_has_an_equilibrium(stiffness: float, damping: float) -> None:
    """The residual is judged against the weight, not against itself."""
    document = weight(damping, gravity=-9.81)
    document["forces"][0]["stiffness"] = stiffness
    found = statics(document, search=True)
    assert found.status == "equilibrium"
    assert found.stability is not None
    assert found.stability.stable is True
    assert found.coordinates["j"] == pytest.approx([0.2 - 9.81 / stiffness], abs=1e-9)


def test_springs_that_pull_at_each_other_are_in_balance() -> None:
    """Without gravity only the springs give the forces a scale."""
    document = weight(0.0)
    other = document["forces"][0] | {"name": "t", "anchor": [0, 0, -1.2]}
    document["forces"].append(other)
    found = statics(document)
    assert found.status == "equilibrium"


def test_accuracy_does_not_choose_an_integrator_that_stands_still() -> None:
    """An integrator without the spring's force would report a tiny error, and not move."""
    document = weight(1.0)
    document["simulation"] |= {"accuracy": {"position": 1e-5}, "formulation": "auto"}
    recording, summary = run(document)
    bodies = recording.tables()["bodies"]
    assert -bodies["pz"][-1] - 0.4 == pytest.approx(0.2 * swing(1.0, 40.0, 1.0), abs=1e-5)
    assert summary["verdict"]["status"] == "trusted"
