"""Convex hulls of points as files have them."""

import numpy as np
import pytest

from cardan.engine.build.hull import convex_hull
from cardan.engine.build.rotations import rotation_matrix


@pytest.mark.parametrize("away", [0.0, 0.3, 1.0, 10.0])
def test_faces_of_a_box_in_single_precision_have_all_their_corners(away: float) -> None:
    corners = np.array(
        [[x, y, z] for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)]
    )
    random = np.random.default_rng(4)
    for _ in range(50):
        q = random.normal(size=4)
        turned = corners @ rotation_matrix(q / np.linalg.norm(q)).T + away
        hull = convex_hull(turned.astype(np.float32).astype(float))
        assert [len(loop) for loop in hull.loops] == 6 * [4]
        for n, offset, loop in zip(hull.normals, hull.offsets, hull.loops, strict=True):
            p = hull.points[loop]
            assert np.abs(p @ n - offset).max() < 1e-5 * (0.3 + away)
            around = np.cross(p - p.mean(axis=0), np.roll(p, -1, axis=0) - p.mean(axis=0)) @ n
            assert (around > 0.0).all()
