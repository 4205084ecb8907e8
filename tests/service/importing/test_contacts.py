"""Who may touch whom, and with what friction: compared with MuJoCo's own rules, pair by pair."""

import itertools
import time
from typing import Any

import numpy as np
import pytest

from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path
from tests.service.importing.robots import compiled_by_mujoco, robot_path


def mujoco_lets_touch(model, g, h):
    """mj_collision's filter, as its documentation tells it."""
    listed = {
        frozenset((int(a), int(b))) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)
    }
    if frozenset((g, h)) in listed:
        return True
    one, other = int(model.geom_bodyid[g]), int(model.geom_bodyid[h])
    weld, weld_other = int(model.body_weldid[one]), int(model.body_weldid[other])
    if weld == weld_other:
        return False
    types, affinities = model.geom_contype, model.geom_conaffinity
    if not (types[g] & affinities[h] or types[h] & affinities[g]):
        return False
    if weld and weld_other:
        above = int(model.body_weldid[model.body_parentid[weld]])
        above_other = int(model.body_weldid[model.body_parentid[weld_other]])
        if weld in (above_other,) or weld_other in (above,):
            return False
    apart = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    return (one, other) not in apart and (other, one) not in apart


def shapes_of(answer, model):
    """Shape and body by geom; geoms keep their order within the body they are merged into."""
    found: dict[int, Any] = {}
    for body in answer.scene["bodies"]:
        if "shapes" not in body:
            continue
        names = {model.body(i).name or f"body{i}": i for i in range(model.nbody)} | {"ground": 0}
        root = names[body["name"]]
        own = [
            g
            for g in range(model.ngeom)
            if model.geom_bodyid[g] == root
            or (root and model.body_weldid[model.geom_bodyid[g]] == root)
        ]
        if len(own) == len(body["shapes"]):
            found |= {
                g: (shape, body["name"]) for g, shape in zip(own, body["shapes"], strict=True)
            }
    return found


@pytest.mark.parametrize(
    "robot",
    [
        "gymnasium/ant",
        "gymnasium/humanoid",
        "gymnasium/walker2d_v5",
        "dm_control/humanoid_CMU",
        "dm_control/quadruped",
        "dm_control/manipulator",
        "dm_control/stacker",
    ],
)
def test_pairs_touch_where_mujoco_lets_them(robot):
    path = robot_path(robot)
    answer = import_path(path)
    model, _ = compiled_by_mujoco(path)
    shapes = shapes_of(answer, model)
    jointed = {frozenset((j["parent"], j["child"])) for j in answer.scene["joints"] if "child" in j}
    moving = {b["name"] for b in answer.scene["bodies"] if b.get("type", "dynamic") == "dynamic"}
    compared = touching = 0
    for g, h in itertools.combinations(shapes, 2):
        (a, body_a), (b, body_b) = shapes[g], shapes[h]
        if body_a == body_b or not {body_a, body_b} & moving:
            continue
        everything = 2**32 - 1
        agree = a.get("collision_group", 1) & b.get("collision_mask", everything) and b.get(
            "collision_group", 1
        ) & a.get("collision_mask", everything)
        found = bool(agree) and frozenset((body_a, body_b)) not in jointed
        compared += 1
        touching += found
        assert found == mujoco_lets_touch(model, g, h), (body_a, body_b)
    assert compared > 20
    assert touching > 0


FRICTIONS = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.9 0.01 0.001" condim="3"/>
  <body name="a"><freejoint/><geom size="0.1" friction="0.4 0.02 0.002" condim="6"/></body>
  <body name="b" pos="1 0 0"><freejoint/>
    <geom size="0.1" friction="0.7 0.03 0.003" condim="1"/></body>
  <body name="c" pos="2 0 0"><freejoint/>
    <geom size="0.1" friction="0.1 0.03 0.003" condim="4" priority="1"/></body>
</worldbody></mujoco>
"""


def test_pairs_have_mujocos_friction(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(FRICTIONS)
    scene = import_path(path).scene
    material = {b["name"]: b["shapes"][0]["material"] for b in scene["bodies"]}
    pairs = {frozenset(p["materials"]): p for p in scene["material_pairs"]}

    def combined(one, other, key):
        a, b = scene["materials"][material[one]], scene["materials"][material[other]]
        usual = (a[key] * b[key]) ** 0.5 if key == "friction" else max(a[key], b[key])
        return pairs.get(frozenset((material[one], material[other])), {}).get(key, usual)

    expected = {
        ("ground", "a"): (0.9, 0.02, 0.002),
        ("ground", "b"): (0.9, 0.0, 0.0),
        ("a", "b"): (0.7, 0.03, 0.003),
        ("ground", "c"): (0.1, 0.03, 0.0),
        ("b", "b"): (0.0, 0.0, 0.0),
    }
    keys = ("friction", "spinning_friction", "rolling_friction")
    for (one, other), wanted in expected.items():
        found = [combined(one, other, key) for key in keys]
        assert np.allclose(found, wanted, rtol=1e-12), (one, other)


def test_more_classes_than_bits_are_said(tmp_path):
    bodies = "".join(
        f'<body name="b{k}" pos="{k} 0 0"><freejoint/><geom size="0.1"/></body>' for k in range(80)
    )
    excluded = "".join(f'<exclude body1="b{k}" body2="b{k + 1}"/>' for k in range(79))
    path = tmp_path / "model.xml"
    path.write_text(
        f"<mujoco><worldbody>{bodies}</worldbody><contact>{excluded}</contact></mujoco>"
    )
    answer = import_path(path, ImportOptions())
    assert "collision_classes" in {note.code for note in answer.report.notes}


def test_the_rules_of_hundreds_of_bodies_are_found_in_seconds(tmp_path):
    """The service gives an import 60 s; this took as long, with the cube of the bodies."""
    link = '<body name="b{}" pos="1 0 0"><joint axis="0 1 0"/><geom size="0.1"/>'
    excluded = "".join(f'<exclude body1="b{k}" body2="b{k + 2}"/>' for k in range(398))
    path = tmp_path / "model.xml"
    path.write_text(
        f"<mujoco><worldbody>{''.join(map(link.format, range(400)))}{'</body>' * 400}</worldbody>"
        f"<contact>{excluded}</contact></mujoco>"
    )
    began = time.thread_time()
    assert import_path(path).report.bodies == 400
    assert time.thread_time() - began < 20.0


def pairs_that_touch(scene):
    """Names of the bodies of every two shapes whose groups and joints let them touch."""
    shapes = [(body["name"], shape) for body in scene["bodies"] for shape in body["shapes"]]
    apart = {
        frozenset((joint["parent"], joint["child"]))
        for joint in scene["joints"]
        if not joint.get("collide_connected", False)
    }
    found = set()
    for (a, one), (b, other) in itertools.combinations(shapes, 2):
        agree = one.get("collision_group", 1) & other.get("collision_mask", 2**32 - 1) and (
            other.get("collision_group", 1) & one.get("collision_mask", 2**32 - 1)
        )
        if a != b and agree and frozenset((a, b)) not in apart:
            found.add((a, b))
    return found


def test_more_listed_pairs_than_bits_are_said_and_touch(tmp_path):
    bodies = "".join(
        f'<body name="b{k}" pos="{k} 0 0"><freejoint/>'
        f'<geom name="g{k}" size="0.1" contype="0" conaffinity="0"/></body>'
        for k in range(40)
    )
    pairs = "".join(f'<pair geom1="g{k}" geom2="g{k + 1}"/>' for k in range(0, 40, 2))
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody><contact>{pairs}</contact></mujoco>")
    answer = import_path(path)
    assert "collision_classes" in {note.code for note in answer.report.notes}
    touching = pairs_that_touch(answer.scene)
    assert {(f"b{k}", f"b{k + 1}") for k in range(0, 40, 2)} <= touching
    # those that share the last bit may touch each other, the first ones only their own
    assert {pair for pair in touching if "b0" in pair} == {("b0", "b1")}


def test_bodies_of_a_link_are_excluded_one_by_one(tmp_path):
    """MuJoCo excludes the hand from b, not the arm that the hand is fixed to."""
    path = tmp_path / "model.xml"
    path.write_text(
        """<mujoco><worldbody>
        <body name="arm"><freejoint/><geom size="0.1"/>
          <body name="hand" pos="0.3 0 0"><geom size="0.05"/></body></body>
        <body name="b" pos="1 0 0"><freejoint/><geom size="0.1"/></body>
        </worldbody><contact><exclude body1="hand" body2="b"/></contact></mujoco>"""
    )
    scene = import_path(path).scene
    arm, b = scene["bodies"]
    of_arm, of_hand = arm["shapes"]
    assert of_arm["collision_mask"] & b["shapes"][0]["collision_group"]
    assert not of_hand["collision_mask"] & b["shapes"][0]["collision_group"]


CHAIN = """
<mujoco>{option}<worldbody>
  <body name="a" {a}>{joint}<geom name="ga" size="0.1"/>
    <body name="b" pos="1 0 0"><joint axis="0 1 0"/><geom name="gb" size="0.1"/>
      <body name="c" pos="1 0 0"><joint axis="0 1 0"/><geom name="gc" size="0.1"/></body></body>
  </body></worldbody>{more}</mujoco>
"""
LISTED = '<contact><pair geom1="gb" geom2="gc"/></contact>'


@pytest.mark.parametrize(
    ("parts", "touching"),
    [
        ({}, {("a", "c")}),
        (
            {"option": '<option><flag filterparent="disable"/></option>'},
            {("a", "b"), ("a", "c"), ("b", "c")},
        ),
        ({"more": LISTED}, {("a", "c"), ("b", "c")}),
        ({"a": 'mocap="true"', "joint": ""}, {("a", "c")}),
    ],
)
def test_parent_and_child_touch_where_mujoco_lets_them(tmp_path, parts, touching):
    path = tmp_path / "model.xml"
    free = {"option": "", "a": "", "joint": "<freejoint/>", "more": ""}
    path.write_text(CHAIN.format(**(free | parts)))
    assert pairs_that_touch(import_path(path).scene) == touching


def test_a_listed_pair_has_its_own_friction(tmp_path):
    balls = "".join(
        f'<body name="{name}" pos="{at} 0 0"><freejoint/>'
        f'<geom name="g{name}" size="0.1" friction="0.3"/></body>'
        for at, name in enumerate("abc")
    )
    pair = '<pair name="p" geom1="ga" geom2="gb" condim="6" friction="2 1 0.03 0.004 0.004"/>'
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco><worldbody>{balls}</worldbody><contact>{pair}</contact></mujoco>")
    answer = import_path(path)
    a, b, c = (body["shapes"][0]["material"] for body in answer.scene["bodies"])
    (listed,) = answer.scene["material_pairs"]
    assert set(listed["materials"]) == {a, b}
    assert c not in (a, b)
    # the larger of MuJoCo's own for all but the pair, whose two directions have one friction here
    assert {answer.scene["materials"][name]["friction"] for name in (a, b, c)} == {0.3}
    assert listed["friction"] == pytest.approx(1.5)
    assert listed["spinning_friction"] == pytest.approx(0.03)
    assert listed["rolling_friction"] == pytest.approx(0.004)
    (note,) = [note for note in answer.report.notes if note.code == "one_way_friction"]
    assert note.where == ["pair 'p'"]


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_a_model_without_contacts_has_none(tmp_path, flag):
    path = tmp_path / "model.xml"
    off = f'<mujoco><option><flag {flag}="disable"/></option>'
    path.write_text(FRICTIONS.replace("<mujoco>", off))
    for body in import_path(path).scene["bodies"]:
        assert [shape["collision_mask"] for shape in body["shapes"]] == [0]
