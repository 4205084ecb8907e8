"""Who may touch whom, and with what friction: compared with MuJoCo's own rules, pair by pair."""

import itertools
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


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_a_model_without_contacts_has_none(tmp_path, flag):
    path = tmp_path / "model.xml"
    off = f'<mujoco><option><flag {flag}="disable"/></option>'
    path.write_text(FRICTIONS.replace("<mujoco>", off))
    for body in import_path(path).scene["bodies"]:
        assert [shape["collision_mask"] for shape in body["shapes"]] == [0]
