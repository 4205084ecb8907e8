"""Masses and inertias that are told, and the boxes that move as bodies do."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import masses
from cardan.engine.build.rotations import quaternion_of, rotation_matrix
from cardan.schemas import Scene, load_scene

TURNED = [0.5, 0.1, -0.7, 0.5]


def scene_of(*bodies: dict[str, object]) -> Scene:
    return load_scene({"version": 1, "bodies": list(bodies)})


def test_the_box_of_a_box_is_the_box_however_it_is_turned():
    shape: dict[str, Any] = {
        "type": "box",
        "size": [0.3, 0.5, 0.2],
        "position": [1, 2, 3],
        "orientation": TURNED,
    }
    (found,) = masses(scene_of({"name": "a", "mass": 2.5, "shapes": [shape]}))
    assert found["mass"] == 2.5
    assert found["center_of_mass"] == pytest.approx([1, 2, 3])
    assert sorted(found["box"]) == pytest.approx([0.2, 0.3, 0.5])
    # along the axes of the shape: each side of the one along the axis of that side of the other
    R = rotation_matrix(np.array(found["principal_axes"]))
    S = rotation_matrix(np.array(TURNED))
    for side, axis in zip(found["box"], R.T, strict=True):
        along = np.abs(S.T @ axis)
        assert along.max() == pytest.approx(1.0)
        assert side == pytest.approx(shape["size"][int(along.argmax())])


def test_what_is_told_is_the_inertia_of_the_engine():
    given = [0.3, 0.4, 0.5, 0.02, -0.03, 0.01]
    (found,) = masses(scene_of({"name": "a", "mass": 4, "inertia": given}))
    assert found["inertia"] == pytest.approx(given)
    R = rotation_matrix(np.array(found["principal_axes"]))
    xx, yy, zz, xy, xz, yz = given
    whole = R @ np.diag(found["principal_moments"]) @ R.T
    np.testing.assert_allclose(whole, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], atol=1e-15)
    a, b, c = found["box"]
    of_box = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) * found["mass"] / 12
    assert of_box == pytest.approx(found["principal_moments"])


def test_only_dynamic_bodies_are_told():
    ball = {"type": "sphere", "radius": 0.5}
    scene = scene_of(
        {"name": "still", "type": "static", "shapes": [ball]},
        {"name": "moves", "mass": 1, "position": [0, 0, 2], "shapes": [ball]},
    )
    (found,) = masses(scene)
    assert found["body"] == "moves"
    assert found["box"] == pytest.approx([np.sqrt(0.6)] * 3)  # 2/5 m r^2 = m a^2/6


def test_a_rotation_matrix_has_its_quaternion():
    random = np.random.default_rng(4)
    turns = [*random.normal(size=(50, 4)), [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    for turn in turns:
        q = np.array(turn) / np.linalg.norm(turn)
        found = quaternion_of(rotation_matrix(q))
        np.testing.assert_allclose(found, q if found @ q > 0 else -q, atol=1e-15)
        assert found[0] >= 0.0
