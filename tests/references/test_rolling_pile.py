"""Many bodies that resist turning: the swept and the exact way, and what both keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import document, ground, simulate

pytestmark = pytest.mark.reference


def heap(count: int, **more: Any) -> Simulation:
    """Balls of felt dropped on one spot, in layers of four."""
    rng = np.random.default_rng(3)
    balls = []
    for i in range(count):
        x, y = 0.11 * (i % 2), 0.11 * (i // 2 % 2)
        place = np.array([x, y, 0.06 + 0.11 * (i // 4)]) + rng.uniform(-0.01, 0.01, 3)
        shape = {"type": "sphere", "radius": 0.05, "material": "felt"}
        balls.append({"name": f"b{i}", "position": place.tolist(), "mass": 0.5, "shapes": [shape]})
    felt = {"friction": 0.5, "rolling_friction": 5e-3, "spinning_friction": 2e-3}
    return simulate(
        document([ground(), *balls], materials={"felt": felt}, simulation={"dt": 2e-3}, **more)
    )


@pytest.mark.parametrize(
    ("solver", "residual"),
    [({"method": "auto"}, 1e-7), ({"method": "pgs", "max_iterations": 50}, 5e-2)],
)
def test_heap_of_felt_balls_comes_to_rest(solver: dict[str, Any], residual: float) -> None:
    sim = heap(12, solver=solver)
    sim.advance(1500)
    assert np.abs(sim.velocities()[1:]).max() < 1e-2
    summary = sim.summary()
    assert summary["solver"]["max_residual"] < residual
    assert summary["energy"]["balance_error"] < 1e-10
    assert sim.energy()["dissipated_friction"] > 0.0
    assert summary["contacts"]["max_penetration"] < 1e-2
