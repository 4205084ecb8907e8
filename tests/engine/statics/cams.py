"""A cam and its follower: joints tied by a function."""

from __future__ import annotations

import math

import numpy as np

from tests.engine.scenes import Document, document

# m  lift
CAM = 0.3


def cam() -> Document:
    """A hinge lifts a follower of 2 kg by 0.3 sin(angle)."""
    points = [[x, CAM * math.sin(x)] for x in np.linspace(-4, 4, 401)]
    bodies = [
        {"name": "shaft", "mass": 1.0, "inertia": [0.2] * 3},
        {"name": "follower", "mass": 2.0, "inertia": [0.1] * 3, "position": [2, 0, 0]},
    ]
    joints: list[Document] = [
        {"name": "turn", "type": "hinge", "child": "shaft", "anchor": [0, 0, 0]},
        {"name": "lift", "type": "slider", "child": "follower"},
    ]
    joints = [{"parent": "world", "axis": [0, 0, 1], **joint} for joint in joints]
    terms: list[Document] = [{"joint": "turn", "factor": 1.0, "curve": {"points": points}}]
    terms.append({"joint": "lift", "factor": -1.0})
    return document(bodies, [*joints, {"name": "cam", "type": "coupling", "terms": terms}])
