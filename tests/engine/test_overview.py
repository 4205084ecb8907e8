"""What is known before the run: motions, redundant equations, loose bodies, allowed steps."""

import pytest

from cardan.engine import preview
from cardan.schemas import load_scene
from cardan.schemas.api import ScenePreview
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


def test_overlaps_at_the_start_are_listed():
    box = {"shapes": [{"type": "box", "size": [1, 1, 1]}]}
    bodies = [{**bar("a", 0, 0), **box}, {**bar("b", 0.9, 0), **box}]
    (found,) = ahead(document(bodies, gravity=[0, 0, 0]))["overlaps"]
    assert {found["body"], found["other_body"]} == {"a", "b"}
    assert found["depth"] == pytest.approx(0.1)
