"""Boxes face to face: where they touch, how deep, and that contacts are known again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from engine.world.model import BOX
from tests.engine.collision.worlds import Solid, World, about

LOWER, UPPER = (0.5, 0.7, 0.3), (0.4, 0.3, 0.2)


def pose(rng, tilt):
    """Upon the lower box: turned at will about z, tilted a little, 2 mm deep, partly beside it."""
    yaw = np.array(about((0, 0, 1), rng.uniform(-np.pi, np.pi)))
    angle = rng.uniform(0, 2 * np.pi)
    lean = np.array(about((np.cos(angle), np.sin(angle), 0), tilt))
    w, v = lean[0], lean[1:]
    q = np.r_[w * yaw[0] - v @ yaw[1:], w * yaw[1:] + yaw[0] * v + np.cross(v, yaw[1:])]
    return (*rng.uniform(-0.5, 0.5, 2), LOWER[2] + UPPER[2] - 2e-3), tuple(q)


def contacts(p, q, swapped):
    solids = [Solid(BOX, LOWER, dynamic=False), Solid(BOX, UPPER, p=p, q=q)]
    return World(solids[::-1] if swapped else solids).find()


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("tilt", [0.0, 1e-3, 0.03])
@pytest.mark.parametrize("seed", range(5))
def test_boxes_touch_in_corners_of_their_overlap(seed, tilt, swapped):
    """Inside both faces, on two edges, as deep as the faces are there."""
    p, q = pose(np.random.default_rng(seed), tilt)
    found = contacts(p, q, swapped)
    assert len(found["gap"]) > (0 if tilt > 0.0 else 2)
    R = Rotation.from_quat(q, scalar_first=True).as_matrix()
    slack = 3e-5 + 0.02 * tilt
    for point, gap in zip(found["point_W"], found["gap"], strict=True):
        above = R.T @ (point - p)
        room = np.r_[LOWER[:2] - np.abs(point[:2]), UPPER[:2] - np.abs(above[:2])]
        assert room.min() >= -slack
        assert np.sum(np.abs(room) <= slack) >= 2
        depth = (LOWER[2] - point[2]) + (above[2] + UPPER[2])
        assert gap == pytest.approx(-depth, abs=1e-6 + tilt * 1e-4)


@pytest.mark.parametrize("swapped", [False, True])
def test_labels_follow_edges(swapped):
    """Turned a little further every contact keeps its feature, until corners pass edges."""
    first = contacts((0.2, 0.1, 0.498), about((0, 0, 1), 0.2), swapped)
    second = contacts((0.2, 0.1, 0.498), about((0, 0, 1), 0.201), swapped)
    assert list(first["feature"]) == list(second["feature"])
    assert len(set(first["feature"])) == len(first["feature"])
    assert np.abs(first["point_W"] - second["point_W"]).max() <= 1e-3
