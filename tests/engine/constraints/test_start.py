"""Where bodies stand at the start is where a joint is content, whatever their orientations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.scenes import brick, document, simulate

JOINTS: list[dict[str, Any]] = [
    {"type": "ball", "anchor": [0.3, 0, 0.1]},
    {"type": "hinge", "anchor": [0.3, 0, 0.1], "axis": [1, 2, 3]},
    {"type": "slider", "axis": [1, 2, 3]},
    {"type": "hinge2", "anchor": [0.3, 0, 0.1], "axis": [0, 0, 1], "axis2": [0.3, 1, 0.2]},
    {"type": "universal", "anchor": [0.3, 0, 0.1], "axis": [0, 0, 1], "axis2": [1, 1, 0]},
    {"type": "fixed"},
    {"type": "cylindrical", "anchor": [0.3, 0, 0.1], "axis": [1, 2, 3]},
    {"type": "planar", "axis": [1, 2, 3]},
    {"type": "distance", "anchor": [0.1, 0, 0.1], "anchor2": [0.5, 0.2, 0]},
]


@pytest.mark.parametrize("parent", ["world", "a"])
@pytest.mark.parametrize("joint", JOINTS, ids=lambda j: j["type"])
def test_bodies_at_rest_stay_where_they_are(joint: dict[str, Any], parent: str) -> None:
    turned = {"a": [0.8, 0.0, 0.6, 0.0], "b": [0.5, 0.5, -0.5, 0.5]}
    bodies = [
        brick("a", orientation=turned["a"]),
        brick("b", position=[0.6, 0.1, 0.2], orientation=turned["b"]),
    ]
    full = {"name": "j", "parent": parent, "child": "b", **joint}
    sim = simulate(document(bodies, [full], gravity=[0, 0, 0]))
    start = sim.poses()
    sim.advance(20)
    assert np.abs(sim.poses() - start).max() < 1e-12
