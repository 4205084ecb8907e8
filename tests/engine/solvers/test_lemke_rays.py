"""Lemke's method ends on a ray where bodies are held by friction; the step must not use that."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.families.draw import draw
from benchmarks.families.ours import document
from cardan import load_scene
from cardan.engine import Simulation
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.state import EXTREME_RESIDUAL


def held(formulation: str, method: str) -> Simulation:
    """Grippers after half a second, with square friction."""
    scene = document(draw("grippers", 3))
    scene["simulation"] |= {"formulation": formulation, "solver": {"method": method}}
    scene["simulation"]["contact"] = {"friction_cone": "box"}
    simulation = Simulation(load_scene(scene))
    simulation.advance(120)
    return simulation


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_what_a_ray_leaves_is_solved(formulation: str) -> None:
    """Before, one step of 120 left 9 or 1.2 m/s, and what was held flew away.

    What friction holds so has many solutions, and Newton steps do not always find one: what is left
    is reported, and does not move what is held.
    """
    lemke, other = held(formulation, "lemke"), held(formulation, "auto")
    assert int(lemke.report.method[0]) == SolverMethod.LEMKE
    assert lemke.state.extremes[EXTREME_RESIDUAL] < 0.1
    assert np.abs(lemke.state.p_WB - other.state.p_WB).max() < 2e-3
