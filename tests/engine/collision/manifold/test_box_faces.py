"""Boxes face to face: where they touch, how deep, and that contacts are known again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cardan.engine.collision.find_contacts import pose_all
from cardan.engine.collision.manifold.box_faces import box_faces
from cardan.engine.collision.manifold.contact_points import face_candidates, frame_of, snap_to_face
from cardan.engine.collision.manifold.feature import write_feature
from cardan.engine.collision.narrow.dispatch import nearest
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.spatial.vec3 import load3_from
from cardan.engine.world.collision import POSITION, Pair
from cardan.engine.world.model import BOX
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


def both_ways(world):
    """Hit and candidates by feature, in the axes of a face and by the general way, or None."""
    scratch, shapes = world.scratch, world.model.shapes
    pose_all(shapes, world.state, scratch, 0.0, 0.0)
    write_pair(scratch, 0, 1, 0, load3_from(scratch.solids, 0, POSITION))
    pair, patch = Pair(scratch.pair, scratch.points, scratch.cosine), scratch.patch
    faces = world.faces()
    first = nearest(pair, faces, 1.0, scratch)
    found, count = box_faces(pair, first, 1.0, patch)
    if count < 0:
        return None
    straight = {int(patch.feature[k]): patch.candidate[k].copy() for k in range(count)}
    n = first[1]
    f0 = write_feature(pair, 0, n, faces, patch)
    f1 = write_feature(pair, 1, tuple(-np.array(n)), faces, patch)
    hit = snap_to_face(pair, first, f0, f1)
    count = face_candidates(pair, patch, frame_of(hit[1]), f0, f1, (hit[0], 1.0))
    general = {int(patch.feature[k]): patch.candidate[k].copy() for k in range(count)}
    return (found, straight), (hit, general)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("tilt", [0.0, 1e-3, 0.03])
def test_the_general_way_finds_the_same(swapped, tilt):
    """Labels, places and gaps, also where the face that cuts is not the one that gives the normal.

    Outlines reach out by 1e-5 of the size across the one face or across the other.
    """
    cases, leaning = 0, 0
    for seed in range(30):
        p, q = pose(np.random.default_rng(seed), tilt)
        solids = [Solid(BOX, LOWER, dynamic=False), Solid(BOX, UPPER, p=p, q=q)]
        ways = both_ways(World(solids[::-1] if swapped else solids))
        if ways is None:
            continue
        cases += 1
        (hit, found), (expected_hit, expected) = ways
        assert hit[0] == pytest.approx(expected_hit[0], abs=1e-12)
        assert np.allclose(hit[1], expected_hit[1], atol=1e-15)
        assert found.keys() == expected.keys()
        for feature, point in found.items():
            assert np.allclose(point, expected[feature], atol=1e-12 + 1e-5 * tilt)
        R = Rotation.from_quat(q, scalar_first=True).as_matrix()
        giver = R[:, 2] if swapped else np.array([0.0, 0.0, 1.0])
        leaning += abs(giver @ np.array(hit[1])) < 1.0 - 1e-12
    assert cases > 10
    assert leaning > 0 or tilt == 0.0
