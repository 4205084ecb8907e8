"""What is known before the run: motions, redundant equations, loose bodies, allowed steps."""

import pytest

from cardan.engine import preview, run
from cardan.schemas import load_scene
from cardan.schemas.api import ScenePreview
from cardan.schemas.summary import Summary
from tests.engine.scenes import Document, document, ground


def bar(name, x, z, **more):
    """A body with inertia and no shape."""
    return {"name": name, "position": [x, 0, z], "mass": 1.0, "inertia": [0.1] * 3, **more}


def hinge(name, parent, child, x, z, **more):
    """A hinge about y."""
    ends = {"name": name, "type": "hinge", "parent": parent, "child": child}
    return {**ends, "anchor": [x, 0, z], "axis": [0, 1, 0], **more}


def four_bar():
    """A planar loop of hinges."""
    bodies = [bar("left", 0, 0.5), bar("right", 1, 0.5), bar("top", 0.5, 1)]
    joints = [
        hinge("a", "world", "left", 0, 0),
        hinge("b", "world", "right", 1, 0),
        hinge("c", "left", "top", 0, 1),
        hinge("d", "right", "top", 1, 1),
    ]
    return document(bodies, joints)


def ahead(scene):
    """The preview of a document, checked against its schema."""
    found = preview(load_scene(scene))
    ScenePreview.model_validate(found)
    return found


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_planar_four_bar_has_one_motion_and_three_redundant_equations(formulation):
    found = ahead(four_bar() | {"simulation": {"formulation": formulation}})
    assert found["degrees_of_freedom"] == 1
    assert found["redundant"] == [{"joint": "d", "equations": 3}]


def test_rotors_of_a_mechanism_change_nothing_of_what_is_known_before():
    scene = four_bar() | {"simulation": {"formulation": "reduced", "duration": 0.01}}
    scene["joints"][0]["armature"] = 0.1
    found = ahead(scene)
    assert (found["degrees_of_freedom"], found["redundant"][0]["joint"]) == (1, "d")
    # nor is a run lost at its end, where it asks which reactions are unique
    _, summary = run(load_scene(scene))
    assert {one["joint"] for one in summary["joints"]["not_unique"]} == {"a", "b", "c", "d"}


def test_a_chain_has_a_motion_for_each_hinge_and_nothing_redundant():
    bodies = [bar(f"b{k}", k + 0.5, 0) for k in range(4)]
    names = ["world", *(body["name"] for body in bodies)]
    joints = [hinge(f"j{k}", names[k], names[k + 1], k, 0) for k in range(4)]
    found = ahead(document(bodies, joints))
    assert (found["degrees_of_freedom"], found["redundant"]) == (4, [])
    assert found["loose"] == []


def test_bodies_that_nothing_holds_are_named_and_those_that_can_touch_the_floor_are_not():
    box = {"shapes": [{"type": "box", "size": [1, 1, 1]}]}
    bodies = [ground(), bar("loose", 0, 5), {**bar("crate", 3, 5), **box}]
    assert ahead(document(bodies))["loose"] == ["loose"]
    assert ahead(document(bodies, gravity=[0, 0, 0]))["loose"] == []


def test_the_largest_step_follows_stiffness_speed_and_rotation():
    spring: Document = {"type": "spring", "parent": "world", "child": "bob", "anchor": [0, 0, 0]}
    spring |= {"anchor2": [1, 0, 0], "stiffness": 400.0}
    shape = {"shapes": [{"type": "sphere", "radius": 0.1}]}
    bodies = [
        bar("bob", 1, 0),
        bar("spun", 3, 0, angular_velocity=[0, 0, 50.0]),
        {**bar("fast", 5, 0, linear_velocity=[20.0, 0, 0]), **shape},
    ]
    steps = ahead(document(bodies, forces=[spring], gravity=[0, 0, 0]))["steps"]
    assert steps["stiffness"] == pytest.approx(0.2 / 20.0)
    assert steps["speed"] == pytest.approx(0.2 / 20.0)
    assert steps["rotation"] == pytest.approx(0.2 / 50.0)
    assert set(ahead(document([bar("a", 0, 0)]))["steps"].values()) == {None}


@pytest.mark.parametrize(
    ("joint", "moved"),
    [
        ({"type": "hinge2", "axis": [0, 0, 1], "axis2": [0, 1, 0], "motor": ()}, 0.1),
        ({"type": "planar", "axis": [0, 0, 1], "motor": ()}, 1.0),
        ({"type": "planar", "axis": [0, 0, 1], "motor3": ()}, 0.1),
        ({"type": "cylindrical", "axis": [0, 0, 1], "motor": ()}, 1.0),
        ({"type": "cylindrical", "axis": [0, 0, 1], "motor2": ()}, 0.1),
    ],
)
def test_the_largest_step_goes_by_the_mass_or_the_moment_that_a_drive_moves(joint, moved):
    drive = {"type": "position", "target": 0.0, "stiffness": 400.0}
    joint = {key: drive if key.startswith("motor") else value for key, value in joint.items()}
    joint |= {"name": "j", "parent": "world", "child": "wheel", "anchor": [0, 0, 0]}
    steps = ahead(document([bar("wheel", 0, 0)], [joint], gravity=[0, 0, 0]))["steps"]
    assert steps["stiffness"] == pytest.approx(0.2 / (400.0 / moved) ** 0.5)


def test_overlaps_at_the_start_are_listed():
    box = {"shapes": [{"type": "box", "size": [1, 1, 1]}]}
    bodies = [{**bar("a", 0, 0), **box}, {**bar("b", 0.9, 0), **box}]
    (found,) = ahead(document(bodies, gravity=[0, 0, 0]))["overlaps"]
    assert {found["body"], found["other_body"]} == {"a", "b"}
    assert found["depth"] == pytest.approx(0.1)


def door(hinges):
    """A leaf of 1 m by 2 m on hinges at these heights [m]."""
    leaf = {"name": "leaf", "position": [0.5, 0, 1.0], "mass": 20.0, "inertia": [7.0, 8.0, 1.7]}
    joints = [
        {"name": f"h{k}", "type": "hinge", "parent": "world", "child": "leaf"}
        | {"anchor": [0, 0, z], "axis": [0, 0, 1]}
        for k, z in enumerate(hinges)
    ]
    return document([leaf], joints, simulation={"duration": 0.01})


def beam(supports):
    """A beam along x on balls that slide along x, but for the first: planar joints carry it."""
    body = {"name": "beam", "mass": 1.0, "inertia": [0.1, 1.0, 1.0]}
    joints = [
        {"name": f"s{k}", "type": "planar", "parent": "world", "child": "beam"}
        | {"anchor": [x, 0, 0], "axis": [0, 0, 1]}
        for k, x in enumerate(supports)
    ]
    return document([body], joints, simulation={"duration": 0.01})


def spatial_four_bar(passive):
    """A parallelogram in a plane; `passive`: the type of the joint that closes it."""
    places = {"a": (0.0, 0.5), "b": (0.5, 1.0), "c": (1.0, 0.5)}
    bodies = [
        {"name": name, "position": [x, 0, z], "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
        for name, (x, z) in places.items()
    ]
    ends = [("world", "a", 0, 0), ("a", "b", 0, 1), ("b", "c", 1, 1), ("world", "c", 1, 0)]
    joints = []
    for parent, child, x, z in ends:
        joint = {"name": f"{parent}-{child}", "parent": parent, "child": child}
        kind = passive if parent == "b" else "hinge"
        axis = {} if kind == "ball" else {"axis": [0, 1, 0]}
        joints.append(joint | {"type": kind, "anchor": [x, 0, z]} | axis)
    return document(bodies, joints, simulation={"duration": 0.01})


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        # the second hinge repeats all of the first but nothing that it holds is free
        (door([0.2, 1.8]), {"h0": 0, "h1": 5}),
        (door([1.0]), {}),
        # each support holds height and both tilts: the second repeats all of it
        (beam([-1.0, 0.0, 1.0]), {"s0": 0, "s1": 3, "s2": 3}),
        # a plane mechanism in space: out of the plane three equations too many
        (spatial_four_bar("hinge"), {"world-a": 0, "a-b": 0, "b-c": 0, "world-c": 3}),
        # with a ball one is left: turning about the line between the hinges' ends
        (spatial_four_bar("ball"), {"world-a": 0, "a-b": 0, "b-c": 0, "world-c": 1}),
    ],
)
def test_joints_whose_reactions_are_not_unique_are_in_the_summary(scene, expected, formulation):
    scene["simulation"]["formulation"] = formulation
    _, summary = run(load_scene(scene))
    found = Summary.model_validate(summary).joints.not_unique
    assert {one.joint: one.equations for one in found} == expected
