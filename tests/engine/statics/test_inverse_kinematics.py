"""Inverse kinematics against closed forms, limits and loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan import Dynamics, inverse_kinematics
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document
from tests.engine.statics.cams import CAM, cam
from tests.engine.trees.trees import random_scene, unit


def planar_arm(**elbow: Any) -> Document:
    """Two links of 1 m along x, turning about z."""
    link = {"mass": 1.0, "inertia": [0.1] * 3}
    bodies = [{"name": "upper", **link}, {"name": "lower", "position": [1, 0, 0], **link}]
    joints = [
        {"name": "shoulder", "parent": "world", "child": "upper", "anchor": [0, 0, 0]},
        {"name": "elbow", "parent": "upper", "child": "lower", "anchor": [1, 0, 0], **elbow},
    ]
    joints = [{"type": "hinge", "axis": [0, 0, 1], **joint} for joint in joints]
    return document(bodies, joints)


def hand(x: float, y: float) -> list[Document]:
    return [{"body": "lower", "point": [1, 0, 0], "position": [x, y, 0]}]


@pytest.mark.reference
@pytest.mark.parametrize(("lower", "upper", "sign"), [(0.0, 3.0, 1.0), (-3.0, 0.0, -1.0)])
def test_two_links_reach_with_the_elbow_on_the_side_that_limits_allow(
    lower: float, upper: float, sign: float
) -> None:
    x, y = 0.9, 0.7
    scene = planar_arm(limits={"lower": lower, "upper": upper})
    found = inverse_kinematics(load_scene(scene), hand(x, y))
    bend = sign * math.acos((x * x + y * y - 2.0) / 2.0)
    assert found.found
    assert found.coordinates["elbow"][0] == pytest.approx(bend, abs=1e-7)
    turned = math.atan2(y, x) - 0.5 * bend
    assert math.remainder(found.coordinates["shoulder"][0] - turned, math.tau) == pytest.approx(
        0.0, abs=1e-7
    )


def test_a_target_out_of_reach_is_missed_by_the_least() -> None:
    found = inverse_kinematics(load_scene(planar_arm()), hand(3.0, 0.0), q={"elbow": 0.5})
    assert not found.found
    assert found.errors[0][0] == pytest.approx(1.0, abs=1e-4)


def test_limits_are_kept_and_named() -> None:
    scene = planar_arm(limits={"lower": -0.5, "upper": 0.5})
    found = inverse_kinematics(load_scene(scene), hand(0.5, 0.5))
    assert not found.found
    assert abs(found.coordinates["elbow"][0]) == pytest.approx(0.5)
    assert found.at_limits == ["elbow"]
    # the nearest place of the hand is that with the elbow bent as far as it goes
    reach = 2.0 * math.cos(0.25)
    assert found.errors[0][0] == pytest.approx(reach - math.hypot(0.5, 0.5), abs=1e-6)


def test_a_frame_of_a_random_arm_is_reached() -> None:
    kinds = ("hinge", "universal", "ball", "slider")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scene = random_scene(rng, 7, kinds=kinds)
        # a chain: every body hangs on the one before it
        tree = Dynamics(load_scene(scene))
        q = tree.start + rng.uniform(-0.8, 0.8, tree.nq)
        for motion in tree.coordinates:
            if motion.motion == "ball":
                q[motion.q[0] : motion.q[1]] = unit(q[motion.q[0] : motion.q[1]])
        body = tree.body_names.index("b6")
        places = tree.kinematics(q)
        target = {
            "body": "b6",
            "position": places["position"][body].tolist(),
            "orientation": places["orientation"][body].tolist(),
        }
        freedoms = np.linalg.matrix_rank(tree.jacobian(q, "b6"), tol=1e-6)
        found = inverse_kinematics(load_scene(scene), [target])
        assert found.found, (seed, freedoms, found.errors)
        assert max(found.errors[0]) <= 1e-8


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"body": "hand", "position": [0, 0, 0]}, "no body 'hand'"),
        ({"body": "lower"}, "no position or orientation"),
        ({"body": "lower", "position": [0, 0]}, "must be 3 finite numbers"),
        ({"body": "lower", "orientation": [2, 0, 0, 0]}, "has length 2"),
    ],
)
def test_targets_that_make_no_sense_are_refused(target: Document, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        inverse_kinematics(load_scene(planar_arm()), [target])


def test_a_pose_beyond_what_a_cord_allows_is_not_found() -> None:
    """Both ways to (0, 1.9) turn the hand by 72 degrees or more; the cord allows 57."""
    scene = planar_arm()
    assert inverse_kinematics(load_scene(scene), hand(0.0, 1.9)).found
    terms = [{"joint": joint["name"], "factor": 1.0} for joint in scene["joints"]]
    cord = {"name": "cord", "type": "coupling", "slack": True, "terms": terms, "offset": 1.0}
    scene["joints"].append(cord)
    found = inverse_kinematics(load_scene(scene), hand(0.0, 1.9))
    assert not found.found
    assert "cord" in found.at_limits
    assert inverse_kinematics(load_scene(scene), hand(1.8, 0.3)).found


def test_a_pose_beyond_the_cone_of_a_ball_is_not_found() -> None:
    rod = {"name": "rod", "position": [0, 0, -0.5], "mass": 1.0, "inertia": [0.1] * 3}
    ball = {"name": "ball", "type": "ball", "parent": "world", "child": "rod", "anchor": [0, 0, 0]}
    scene = document([rod], [ball | {"axis": [0, 0, 1], "limits": {"swing": 0.3, "twist": 0.1}}])
    for swing in (0.2, 0.4):
        place = [math.sin(swing), 0, -math.cos(swing)]
        target = {"body": "rod", "point": [0, 0, -0.5], "position": place}
        found = inverse_kinematics(load_scene(scene), [target])
        assert found.found is (swing < 0.3)
        assert found.at_limits == ([] if found.found else ["ball"])


def test_a_cylinder_that_is_driven_gives_way_to_the_hand() -> None:
    """A rigid drive of a distance is left out; the distance is then free."""
    scene = planar_arm()
    cylinder: Document = {
        "name": "cylinder",
        "type": "distance",
        "parent": "world",
        "child": "lower",
    }
    cylinder |= {"anchor": [0, 1, 0], "anchor2": [1.5, 0, 0]}
    scene["joints"].append(cylinder | {"motor": {"type": "position", "target": 1.8}})
    found = inverse_kinematics(load_scene(scene), hand(1.2, 0.9))
    assert found.found
    assert found.coordinates["cylinder"][0] < 1.7


def test_couplings_hold_at_the_pose_that_is_found() -> None:
    target = {"body": "follower", "position": [2, 0, 0.2]}
    found = inverse_kinematics(load_scene(cam()), [target])
    assert found.found
    assert CAM * math.sin(found.coordinates["turn"][0]) == pytest.approx(0.2, abs=1e-7)
