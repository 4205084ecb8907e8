"""Hints for those who come from other formats: their names, their limits, their degrees."""

import math
from copy import deepcopy
from typing import Any

import pytest

from cardan.schemas import SceneInvalid, load_scene, scene_warnings
from tests.schemas.broken import GOOD


def faults_of(document):
    with pytest.raises(SceneInvalid) as caught:
        load_scene(document)
    return caught.value.errors


def with_joint(**changes):
    document = deepcopy(GOOD)
    document["joints"][0] |= changes
    return document


def with_shape(shape):
    document = deepcopy(GOOD)
    document["bodies"][1]["shapes"] = [shape]
    return document


@pytest.mark.parametrize(
    ("foreign", "ours"),
    [("revolute", "hinge"), ("prismatic", "slider"), ("spherical", "ball"), ("Revolute", "hinge")],
)
def test_joints_of_other_formats_are_suggested(foreign, ours):
    (fault,) = faults_of(with_joint(type=foreign))
    assert (fault.pointer, fault.code) == ("/joints/0/type", "unknown_type")
    assert fault.hint == f"Did you mean '{ours}'?"


def test_a_number_as_a_text_is_no_misspelt_number():
    (fault,) = faults_of({**GOOD, "version": "1"})
    assert fault.pointer == "/version"
    assert fault.hint == "A number is needed, without quotation marks: 1."


def test_large_limits_are_said_in_full():
    document = deepcopy(GOOD)
    document["record"] = {"every": 2**60}
    (fault,) = faults_of(document)
    assert fault.message == f"`every` must be at most {2**53}; found {2.0**60:g}."


@pytest.mark.parametrize("kind", ["cylinder", "capsule", "cone"])
def test_a_height_is_a_length(kind):
    faults = faults_of(with_shape({"type": kind, "radius": 0.1, "height": 1.0}))
    hints = {fault.pointer: fault.hint for fault in faults}
    assert hints["/bodies/1/shapes/0/height"] == "Did you mean 'length'?"


def test_a_height_of_what_has_none_leads_to_its_own_fields():
    box = {"type": "box", "size": [1, 1, 1], "height": 1.0}
    assert [fault.hint for fault in faults_of(with_shape(box))] == ["Did you mean 'size'?"]
    ball = {"type": "ball", "radius": 1.0}
    assert [fault.hint for fault in faults_of(with_shape(ball))] == ["Did you mean 'sphere'?"]
    field = {"type": "heightfield", "size": [1, 1], "height": [[0, 0], [0, 0]]}
    hints = {fault.code: fault.hint for fault in faults_of(with_shape(field))}
    assert hints["unknown_field"] == "Did you mean 'heights'?"


@pytest.mark.parametrize(
    ("limits", "hint"),
    [
        ([-1, 1], 'Write {"lower": -1, "upper": 1}.'),
        ([2.5, 0.5], 'Write {"lower": 0.5, "upper": 2.5}.'),
        ([1, 2, 3], "Its fields are lower, upper, restitution, stiffness, damping."),
        (3, "Its fields are lower, upper, restitution, stiffness, damping."),
    ],
)
def test_limits_that_are_a_list_are_told_their_fields(limits, hint):
    (fault,) = faults_of(with_joint(limits=limits))
    assert (fault.pointer, fault.code) == ("/joints/0/limits", "not_an_object")
    assert fault.hint == hint


def codes(document):
    found = scene_warnings(load_scene(document))
    return {fault.pointer: fault for fault in found if fault.code == "looks_like_degrees"}


@pytest.mark.parametrize("degrees", [90, -90, 45.0, 180])
def test_angles_that_look_like_degrees_are_warned_of(degrees):
    limits = {"lower": min(degrees, 0), "upper": max(degrees, 0)}
    motor = {"type": "position", "target": degrees}
    found = codes(with_joint(type="hinge", limits=limits, motor=motor))
    side = "lower" if degrees < 0 else "upper"
    assert set(found) == {f"/joints/0/limits/{side}", "/joints/0/motor/target"}
    assert f"{math.radians(degrees):.6g}" in found["/joints/0/motor/target"].hint


def test_a_series_of_degrees_is_warned_of_once():
    target = {"times": [0, 1, 2], "values": [0, 45, 90]}
    found = codes(with_joint(motor={"type": "position", "target": target}))
    assert set(found) == {"/joints/0/motor/target/values"}


def test_radians_speeds_and_lengths_are_not_taken_for_degrees():
    half_pi = {"lower": -math.pi / 2, "upper": 2 * math.pi}
    assert codes(with_joint(limits=half_pi)) == {}
    assert codes(with_joint(motor={"type": "velocity", "target": 90})) == {}
    slider = {"type": "slider", "limits": {"lower": 0, "upper": 90}}
    assert codes(with_joint(**slider)) == {}
    cylindrical = {"type": "cylindrical", "limits": {"upper": 90}, "limits2": {"upper": 90}}
    assert set(codes(with_joint(**cylindrical))) == {"/joints/0/limits2/upper"}


def test_a_cone_beyond_half_a_turn_is_told_of_radians():
    document = deepcopy(GOOD)
    document["joints"][0] = {
        "name": "socket", "type": "ball", "parent": "world", "child": "rod",
        "anchor": [0, 0, 1], "axis": [0, 0, 1], "limits": {"swing": 45},
    }  # fmt: skip
    (fault,) = faults_of(document)
    assert fault.pointer == "/joints/0/limits/swing"
    assert fault.hint == "Angles are in radians: 45 degrees are 0.785398."


def centre_warnings(**body):
    document = deepcopy(GOOD)
    shape = {"type": "box", "size": [1, 1, 1], "position": [0.3, 0, 0]}
    document["bodies"][1] |= {"mass": 1.0, "inertia": [1, 1, 1], "shapes": [shape]} | body
    document["bodies"][1].pop("density", None)
    return [w for w in scene_warnings(load_scene(document)) if w.code == "centre_at_origin"]


def test_shapes_beside_a_centre_that_is_not_given_are_warned_of():
    (fault,) = centre_warnings()
    assert fault.pointer == "/bodies/1/center_of_mass"
    assert centre_warnings(center_of_mass=[0, 0, 0]) == []
    picture = {"type": "sphere", "radius": 1, "position": [1, 0, 0], "collision_mask": 0}
    assert centre_warnings(shapes=[picture]) == []
    pair = [{"type": "sphere", "radius": 1, "position": [x, 0, 0]} for x in (-1, 1)]
    assert centre_warnings(shapes=pair) == []


def test_an_anchor_far_away_is_accepted_as_its_hint_says():
    """A pendulum of 150 m: nothing else tells how large the scene is."""
    pin: dict[str, Any] = {"name": "pin", "type": "hinge", "parent": "world", "child": "load"}
    pin |= {"anchor": [0, 0, 150], "axis": [0, 1, 0]}
    load = {"name": "load", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    (fault,) = faults_of({"version": 1, "bodies": [load], "joints": [pin]})
    assert (fault.pointer, fault.code) == ("/joints/0/anchor", "anchor_far")
    assert "measure 1 m (counted as 1 m at least)" in fault.message
    assert fault.hint.endswith("place a static body there.")
    crane = {"name": "crane", "type": "static", "position": [0, 0, 150]}
    load_scene({"version": 1, "bodies": [load, crane], "joints": [pin]})
