"""Convex hulls of points as files have them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine.build.hull import Hull, convex_hull
from cardan.engine.build.rotations import rotation_matrix
from cardan.schemas import load_scene
from cardan.schemas.error import SceneInvalid
from tests.engine.scenes import document, ground, simulate

HALF = np.array([0.1, 0.15, 0.05])


def grid(n: int) -> NDArray[np.float64]:
    """Points (n^3, 3) of a box, on its corners, edges and faces, and within it."""
    steps = np.linspace(-1.0, 1.0, n)
    return np.array([[x, y, z] for x in steps for y in steps for z in steps]) * HALF


def rounded(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return points.astype(np.float32).astype(float)


def some_rotation(random: np.random.Generator) -> NDArray[np.float64]:
    q = random.normal(size=4)
    return q / np.linalg.norm(q)


def is_closed(hull: Hull) -> bool:
    """Whether each edge of a face is that of one other face, the other way round."""
    edges = [edge for loop in hull.loops for edge in zip(loop, np.roll(loop, -1), strict=True)]
    return sorted(edges) == sorted((b, a) for a, b in edges) and len(set(edges)) == len(edges)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("away", [0.0, 0.3, 1.0, 3.0])
def test_box_in_single_precision_has_six_faces(away: float, n: int) -> None:
    random = np.random.default_rng(4)
    for _ in range(30):
        turned = grid(n) @ rotation_matrix(some_rotation(random)).T + away
        hull = convex_hull(rounded(turned))
        assert len(hull.loops) == 6
        assert is_closed(hull)
        for normal, offset, loop in zip(hull.normals, hull.offsets, hull.loops, strict=True):
            p = hull.points[loop]
            assert np.abs(p @ normal - offset).max() < 2e-6 * (0.3 + away)
            arms = p - p.mean(axis=0)
            assert (np.cross(arms, np.roll(arms, -1, axis=0)) @ normal > 0.0).all()


@pytest.mark.parametrize("n", [6, 40, 150])
def test_faces_are_what_each_triangle_says_of_its_plane(n: int) -> None:
    """Vertices of triangles with the normal of a face, each once, around it."""
    random = np.random.default_rng(n)
    for cloud in (random.normal(size=(n, 3)), rounded(grid(3) + 0.3), grid(2) * [1, 1, 1e-3]):
        hull = convex_hull(cloud)
        p = hull.points[hull.triangles]
        normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        assert is_closed(hull)
        for normal, loop in zip(hull.normals, hull.loops, strict=True):
            same = np.linalg.norm(normals - normal, axis=1) < 2e-4
            assert sorted(loop) == np.unique(hull.triangles[same]).tolist()
            sides = np.roll(hull.points[loop], -1, axis=0) - hull.points[loop]
            turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ normal
            assert (turns > 0.0).all()


def test_the_hull_of_a_shape_is_made_once() -> None:
    """Variants of a robot have the same hulls, and masses are those of hulls, too."""
    clouds = [np.random.default_rng(seed).normal(size=(20, 3)) for seed in range(30)]
    hulls = [convex_hull(cloud) for cloud in clouds]
    assert all(convex_hull(cloud.copy()) is hull for cloud, hull in zip(clouds, hulls, strict=True))


def test_hull_of_exact_points_is_not_approximated() -> None:
    hull = convex_hull(grid(5))
    assert sorted(map(len, hull.loops)) == 6 * [4]
    assert np.abs(np.sort(hull.points, axis=0) - np.sort(grid(2), axis=0)).max() == 0.0


def test_boxes_of_a_file_in_single_precision_stand_on_one_another() -> None:
    away = np.array([1.0, 0.7, 0.4])
    q = np.array([0.5, -0.1, 0.7, 0.3]) / np.sqrt(0.84)
    points = rounded(grid(5) @ rotation_matrix(q).T + away)
    back = q * [1, -1, -1, -1]
    base = -rotation_matrix(back) @ away + np.array([0, 0, 0.05])

    def box(k: int) -> dict[str, Any]:
        place = {
            "position": (base + np.array([0, 0, 0.1 * k])).tolist(),
            "orientation": back.tolist(),
        }
        shape = {"type": "convex", "points": points.tolist()}
        return {"name": f"box {k}", "density": 1000, "shapes": [shape], **place}

    sim = simulate(
        document([ground(), *map(box, range(4))], gravity=[1, 2, -9], simulation={"dt": 2e-3})
    )
    start = sim.poses()[1:]
    sim.advance(1000)
    # the slope is 0.25, and friction 0.5
    assert np.abs(sim.poses()[1:] - start).max() < 1e-5
    assert sim.summary()["contacts"]["max_penetration"] < 1e-6


@pytest.mark.parametrize("thickness", [0.0, 1e-8, 5e-6])
def test_points_that_rounding_may_have_moved_out_of_a_plane_are_no_hull(thickness: float) -> None:
    points = grid(2) / HALF * [0.5, 0.5, 0.5 * thickness]
    shape = {"type": "convex", "points": points.tolist()}
    with pytest.raises(SceneInvalid, match="lie in one plane"):
        load_scene(document([{"name": "plate", "density": 1000, "shapes": [shape]}]))


def test_a_thin_plate_is_a_hull() -> None:
    hull = convex_hull(grid(2) / HALF * [0.5, 0.5, 0.5 * 2e-5])
    assert sorted(map(len, hull.loops)) == 6 * [4]
