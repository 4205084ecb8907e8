"""Every solver finds the motion of a robot that lies on the ground, in joint coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine import Simulation
from tests.engine.scenes import Document, brick, document, ground

pytestmark = pytest.mark.law

HINGE: Document = {"type": "hinge", "axis": [0, 1, 0]}
UNIVERSAL: Document = {"type": "universal", "axis": [0, 1, 0], "axis2": [1, 0, 0]}


def fallen(method: str) -> np.ndarray:
    """Positions [m] of four jointed bricks and a lone one at times while they land and slide."""
    box = [{"type": "box", "size": [0.3, 0.2, 0.2]}]
    bodies = [brick(f"b{i}", position=[0.5 * i, 0.0, 0.15], shapes=box) for i in range(5)]
    for body in bodies:
        body["linear_velocity"] = [0.8, 0.3, 0.0]
    joints: list[Document] = []
    for i, joint in enumerate((HINGE, {"type": "ball"}, UNIVERSAL)):
        place = {"name": f"j{i}", "parent": f"b{i}", "child": f"b{i + 1}", "damping": 0.1}
        joints.append(joint | place | {"anchor": [0.5 * i + 0.25, 0.0, 0.15]})
    solver = {"method": method, "tolerance": 1e-11}
    solver |= {} if method in ("auto", "proximal") else {"max_iterations": 3000}
    simulation = {"formulation": "reduced", "solver": solver}
    sim = Simulation(document([*bodies, ground()], joints, simulation=simulation))
    track = []
    for _ in range(6):
        sim.advance(10)
        track.append(sim.state.p_WB[:5].copy())
    return np.array(track)


@pytest.mark.parametrize(
    "method", ["gauss_seidel", "pgs", "sor", "nncg", "pgs_sm", "apgd", "proximal"]
)
def test_every_method_finds_the_motion_of_bodies_in_trees(method: str) -> None:
    exact = fallen("auto")
    assert np.linalg.norm(exact[-1] - exact[0], axis=1).min() > 0.03
    assert np.abs(fallen(method) - exact).max() < 1e-7
