"""Joints in a heap: sweeps and exact solutions of their equations take turns where a hit is hard.

The scenes are drawn at random; their bounds on residuals are shares of the speeds of the hits.
"""

import pytest

from benchmarks.families.draw import draw
from benchmarks.families.ours import document
from cardan import engine
from cardan.schemas import load_scene


@pytest.mark.parametrize(
    ("family", "seed"), [("pairs", 5), ("pairs", 3), ("ragdolls", 1), ("bridges", 1), ("chains", 1)]
)
def test_hard_hits_leave_no_residual_that_is_felt(family: str, seed: int):
    """A step of gravity changes speeds by 0.04 m/s here; hits are of 1 to 10 m/s."""
    simulation = engine.Simulation(load_scene(document(draw(family, seed))))
    worst = 0.0
    for _ in range(300):
        simulation.advance()
        worst = max(worst, simulation.solver_report()["residual"])
    assert simulation.failure is None
    assert worst <= 0.06
