"""Where bodies are held by friction, Lemke's method ends on a ray or far from a solution."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.families.draw import draw
from benchmarks.families.ours import document
from cardan import load_scene
from cardan.engine import Simulation
from cardan.engine.world.options import SolverMethod
from cardan.engine.world.state import EXTREME_RESIDUAL


def held(formulation: str, method: str, seed: int) -> Simulation:
    """Grippers after half a second, with square friction."""
    scene = document(draw("grippers", seed))
    scene["simulation"] |= {"formulation": formulation, "solver": {"method": method}}
    scene["simulation"]["contact"] = {"friction_cone": "box"}
    simulation = Simulation(load_scene(scene))
    simulation.advance(120)
    return simulation


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize("seed", [3, 5])
def test_what_the_method_leaves_is_solved(formulation: str, seed: int) -> None:
    """Before, one step of 120 left 9 or 1.2 m/s, and what was held flew away."""
    lemke, other = held(formulation, "lemke", seed), held(formulation, "auto", seed)
    assert int(lemke.report.method[0]) == SolverMethod.LEMKE
    assert lemke.state.extremes[EXTREME_RESIDUAL] < 1e-3
    assert np.abs(lemke.state.p_WB - other.state.p_WB).max() < 2e-3
