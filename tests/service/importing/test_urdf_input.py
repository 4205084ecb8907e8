"""URDF as it is found: drives asked for, prefixes, inertials without inertia, thin meshes."""

import math
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardan.schemas import load_scene
from cardan.schemas.imported import ImportAnswer, ImportOptions
from cardan.service.importing import import_path
from cardan.service.importing.refusal import ImportRefusedError

INERTIA = '<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
ARM = """<?xml version="1.0"?>
<!-- an arm: two joints -->
<robot name="arm">
  <drake:acceleration value="1"/>
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.3 0 0"/><mass value="2"/>{inertia}</inertial>
    {shape}
  </link>
  <link name="lower">
    <inertial><origin xyz="0.2 0 0"/><mass value="1"/>INERTIA</inertial>
  </link>
  <link name="finger">
    <inertial><origin xyz="0.02 0 0"/><mass value="0.1"/>INERTIA</inertial>
  </link>
  <joint name="shoulder" type="revolute" drake:kind="geared">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="40" velocity="1.5"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="0.6 0 0"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="lower"/><child link="finger"/><origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.1" effort="5" velocity="0.2"/>
    <mimic joint="elbow" multiplier="0.01"/>
  </joint>
</robot>
""".replace("INERTIA", INERTIA)


def imported(folder: Path, text: str, **options: Any) -> ImportAnswer:
    path = folder / "arm.urdf"
    path.write_text(text)
    return import_path(path, ImportOptions.model_validate(options))


def joints_of(answer: ImportAnswer) -> dict[str, dict[str, Any]]:
    return {joint["name"]: joint for joint in answer.scene["joints"]}


def codes(answer: ImportAnswer) -> set[str]:
    return {note.code for note in answer.report.notes}


@pytest.mark.parametrize(
    ("written", "changed", "code", "said"),
    [
        ('<link name="finger">', '<link name="lower">', "duplicate_name", "2 links of the name"),
        ('<joint name="grip"', '<joint name="elbow"', "duplicate_name", "2 joints of the name"),
        (
            '<child link="finger"/>',
            '<child link="fingre"/>',
            "unknown_link",
            "The child of joint 'grip' of 'arm.urdf' is link 'fingre', which the file does not",
        ),
        ('<parent link="lower"/>', '<parent link="low"/>', "unknown_link", "is link 'low', which"),
        ('<parent link="lower"/>', "", "link_missing", "joint 'grip' of 'arm.urdf' has no <parent"),
        ('<child link="finger"/>', '<child link="lower"/>', "two_parents", "as joint 'elbow' has"),
        (
            '<mass value="0.1"/>',
            '<mass value="NaN"/>',
            "not_finite",
            "The mass of link 'finger' of 'arm.urdf' is 'NaN'; a finite number [kg] is needed.",
        ),
    ],
)
def test_what_makes_no_tree_is_refused_by_its_name(
    tmp_path: Path, written: str, changed: str, code: str, said: str
) -> None:
    text = ARM.format(inertia=INERTIA, shape="")
    assert written in text
    with pytest.raises(ImportRefusedError, match=re.escape(said)) as caught:
        imported(tmp_path, text.replace(written, changed))
    assert caught.value.code == code


def test_fixed_joints_may_share_a_name(tmp_path: Path) -> None:
    fixed = '<link name="{0}"/><joint name="f" type="fixed"><parent link="base"/>{1}</joint>'
    more = "".join(fixed.format(name, f'<child link="{name}"/>') for name in ("tip", "tap"))
    text = ARM.format(inertia=INERTIA, shape="")
    assert imported(tmp_path, text.replace("</robot>", more + "</robot>")).report.joints > 0


def test_joints_get_the_drives_that_are_asked_for(tmp_path: Path) -> None:
    text = ARM.format(inertia=INERTIA, shape="")
    plain = joints_of(imported(tmp_path, text))
    assert "motor" not in plain["shoulder"]
    answer = imported(tmp_path, text, drives="position")
    joints = joints_of(answer)
    assert joints["shoulder"]["motor"] == {
        "type": "position",
        "target": 0.0,
        "max_force": 40.0,
        "max_speed": 1.5,
    }
    assert joints["elbow"]["motor"] == {"type": "position", "target": 0.0}
    assert "motor" not in joints.get("grip", {})
    note = next(one for one in answer.report.notes if one.code == "position_drive")
    assert note.where == ["joint 'shoulder': 40 N m, 1.5 rad/s", "joint 'elbow': unlimited"]
    load_scene(answer.scene)


def test_prefixes_that_nobody_declared_are_left_out(tmp_path: Path) -> None:
    answer = imported(tmp_path, ARM.format(inertia=INERTIA, shape=""))
    assert "extensions" in codes(answer)
    assert {"shoulder", "elbow"} <= joints_of(answer).keys()


def test_an_inertial_without_inertia_is_that_of_a_small_ball(tmp_path: Path) -> None:
    answer = imported(tmp_path, ARM.format(inertia="", shape=""))
    body = next(body for body in answer.scene["bodies"] if body["name"] == "upper")
    assert body["mass"] == pytest.approx(2.0)
    assert body["inertia"][:3] == pytest.approx([0.4 * 2.0 * 1e-4] * 3)
    assert any("'upper'" in " ".join(note.where) for note in answer.report.notes)


TRIANGLES = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
TINY = "v 0 0 0\nv 1e-6 0 0\nv 0 1e-6 0\nv 0 0 1e-6\n" + TRIANGLES


@pytest.mark.parametrize(("mass", "code"), [("0", "light_link"), ("-2", "negative_mass")])
def test_masses_that_are_not_possible_are_guessed(tmp_path: Path, mass: str, code: str) -> None:
    text = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="MASS"/>
      <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    answer = imported(tmp_path, text.replace("MASS", mass))
    (note,) = [one for one in answer.report.notes if one.code == code]
    assert (mass in note.message) == (code == "negative_mass")


def test_a_mesh_without_volume_is_loaded_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "thin.obj").write_text(TINY)
    shape = '<collision><geometry><mesh filename="thin.obj"/></geometry></collision>'
    answer = imported(tmp_path, ARM.format(inertia=INERTIA, shape=shape))
    note = next(one for one in answer.report.notes if one.code == "mesh_without_volume")
    assert note.where == ["mesh '0_thin'"]


SRDF = """<robot name="arm">
  <group_state name="reach" group="arm">
    <joint name="shoulder" value="0.5"/><joint name="elbow" value="2.0"/>
    <joint name="wrist" value="0.1"/>
  </group_state>
  <group_state name="far" group="arm"><joint name="shoulder" value="9"/></group_state>
</robot>"""


def turned_about_y(angle: float, point: tuple[float, float, float]) -> list[float]:
    c, s = math.cos(angle), math.sin(angle)
    return [c * point[0] + s * point[2], point[1], -s * point[0] + c * point[2]]


@pytest.mark.parametrize("place", [".", "srdf", "../srdf"])
def test_a_state_of_the_srdf_beside_it_is_the_start(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "urdf"
    (folder / place).resolve().mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    (folder / place / "of-another-name.srdf").write_text(SRDF)
    (folder / place / "another.srdf").write_text('<robot name="leg"/>')
    text = ARM.format(inertia=INERTIA, shape="")
    answer = imported(folder, text, keyframe="reach")
    assert answer.report.keyframe == "reach"
    bodies = {body["name"]: body["position"] for body in answer.scene["bodies"]}
    elbow = turned_about_y(0.5, (0.6, 0.0, 0.0))
    assert bodies["lower"] == pytest.approx(elbow, abs=1e-12)
    # the finger mimics the elbow, a hundredth of it
    finger = turned_about_y(2.5, (0.4 + 0.02, 0.0, 0.0))
    assert bodies["finger"] == pytest.approx(np.add(elbow, finger), abs=1e-12)
    # joints count from the start: what is left to the stop
    assert joints_of(answer)["shoulder"]["limits"]["upper"] == pytest.approx(1.5)
    assert [note.where for note in answer.report.notes if note.code == "state_joint"] == [
        ["joint 'wrist'"]
    ]


def test_states_are_found_and_beyond_a_stop_they_end_there(tmp_path: Path) -> None:
    text = ARM.format(inertia=INERTIA, shape="")
    (tmp_path / "arm.srdf").write_text(SRDF)
    plain = imported(tmp_path, text)
    assert plain.report.keyframe is None
    (note,) = [one for one in plain.report.notes if one.code == "keyframe"]
    assert note.where == ["states: reach, far"]
    far = imported(tmp_path, text, keyframe="far")
    assert joints_of(far)["shoulder"]["limits"]["upper"] == pytest.approx(0.0)
    assert "start_at_limit" in codes(far)
    (tmp_path / "arm.srdf").write_text(SRDF.replace("reach", "home"))
    assert imported(tmp_path, text).report.keyframe == "home"
    with pytest.raises(ImportRefusedError, match="no state 'sit'; there are: home, far"):
        imported(tmp_path, text, keyframe="sit")
    (tmp_path / "arm.srdf").write_text(SRDF.replace('"0.5"', '"half"'))
    with pytest.raises(ImportRefusedError, match="'shoulder' the value 'half'"):
        imported(tmp_path, text)
    (tmp_path / "arm.srdf").unlink()
    with pytest.raises(ImportRefusedError, match="no SRDF beside the model with a state 'sit'"):
        imported(tmp_path, text, keyframe="sit")


def test_a_free_root_stands_where_the_state_says(tmp_path: Path) -> None:
    pose = '<joint name="root_joint" value="1 2 0.5 0 0 0.6 0.8"/>'
    (tmp_path / "arm.srdf").write_text(SRDF.replace('<joint name="wrist" value="0.1"/>', pose))
    text = ARM.format(inertia=INERTIA, shape="").replace(
        '<link name="base"/>',
        f'<link name="base"><inertial><mass value="3"/>{INERTIA}</inertial></link>',
    )
    answer = imported(tmp_path, text, keyframe="reach", root="free")
    base = next(body for body in answer.scene["bodies"] if body["name"] == "base")
    assert base["position"] == pytest.approx([1, 2, 0.5])
    assert base["orientation"] == pytest.approx([0.8, 0, 0, 0.6])


def text_stl(points: list[list[float]], faces: list[list[int]]) -> str:
    lines = ["solid made by hand"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex {} {} {}".format(*points[k]) for k in face]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"])


def test_an_stl_in_text_is_read(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed (extra `import`)")
    points = [[0.0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    (tmp_path / "wedge.stl").write_text(text_stl(points, faces))
    shape = '<collision><geometry><mesh filename="wedge.stl"/></geometry></collision>'
    answer = imported(tmp_path, ARM.format(inertia=INERTIA, shape=shape))
    upper = next(body for body in answer.scene["bodies"] if body["name"] == "upper")
    (found,) = upper["shapes"]
    assert found["type"] == "convex"
    assert not {"mesh_format", "mesh_missing"} & codes(answer)
    assert len(found["points"]) == 4
    found_edges = sorted(math.dist(a, b) for a in found["points"] for b in found["points"])
    # binary STL, which it is rewritten as, has single precision
    assert found_edges == pytest.approx(
        sorted(math.dist(a, b) for a in points for b in points), abs=1e-7
    )


TETRAHEDRON = [[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]


def binary_stl(points: list[list[float]], faces: list[list[int]]) -> bytes:
    rows = b"".join(
        struct.pack("<12fH", 0, 0, 0, *(x for i in face for x in points[i]), 0) for face in faces
    )
    return bytes(80) + struct.pack("<I", len(faces)) + rows


FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
FLAWED = {
    "has no triangles": binary_stl(TETRAHEDRON, []),
    "is flat": binary_stl(TETRAHEDRON, FACES[:1]),
    "has another size": binary_stl(TETRAHEDRON, FACES)[:-7],
    "not finite": binary_stl([[math.nan, 0, 0], *TETRAHEDRON[1:]], FACES),
}


@pytest.mark.parametrize("why", FLAWED)
def test_a_flawed_stl_is_left_out_with_a_note(tmp_path: Path, why: str) -> None:
    (tmp_path / "part.stl").write_bytes(FLAWED[why])
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><mesh filename="part.stl"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    answer = import_path(path)
    (note,) = [one for one in answer.report.notes if one.code == "mesh_format"]
    assert why in note.message
    assert note.where == ["link 'arm': part.stl"]
    assert answer.scene["bodies"][0]["shapes"] == []


def test_capsules_with_a_prefix_are_capsules_and_empty_shapes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    shape = "<collision><geometry>{}</geometry></collision>"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/></inertial>'
        + shape.format('<drake:capsule radius="0.1" length="0.3"/>')
        + shape.format('<drake:ellipsoid a="1" b="1" c="1"/>')
        + '</link><joint name="j" type="continuous"><parent link="base"/><child link="arm"/>'
        "</joint></robot>"
    )
    answer = import_path(path)
    (capsule,) = answer.scene["bodies"][0]["shapes"]
    assert (capsule["type"], capsule["radius"]) == ("capsule", 0.1)
    assert capsule["length"] == pytest.approx(0.3)
    assert "no_shape" in {one.code for one in answer.report.notes}


def test_the_home_pose_moves_what_mimics_a_mimic(tmp_path: Path) -> None:
    """The last follower is written first: 2 (-0.5 * 0.4) + 0.1."""
    links = "".join(
        f'<link name="l{k}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for k in (1, 2, 3)
    )
    rest = '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/>'
    joint = '<joint name="{}" type="prismatic"><parent link="base"/><child link="{}"/>{}{}</joint>'
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"><link name="base"/>{links}'
        + joint.format("c", "l3", rest, '<mimic joint="b" multiplier="2" offset="0.1"/>')
        + joint.format("b", "l2", rest, '<mimic joint="a" multiplier="-0.5"/>')
        + joint.format("a", "l1", rest, "")
        + "</robot>"
    )
    (tmp_path / "robot.srdf").write_text(
        '<robot name="r"><group_state name="home" group="g"><joint name="a" value="0.4"/>'
        "</group_state></robot>"
    )
    answer = import_path(tmp_path / "robot.urdf")
    at = {body["name"]: body["position"][0] for body in answer.scene["bodies"]}
    assert at == pytest.approx({"l1": 0.4, "l2": -0.2, "l3": -0.3})
    assert "open_coupling" not in {one.code for one in answer.report.notes}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "axis_missing"),
        ('<origin xyz="0.6 0 0"/>', '<origin xyz="0.6, 0, 0"/>', "commas"),
        ('<mimic joint="elbow" multiplier="0.01"/>', '<mimic joint="grip"/>', "mimics_itself"),
        ('<mimic joint="elbow" multiplier="0.01"/>', '<mimic joint="zz"/>', "mimics_nothing"),
        ('lower="-2" upper="2"', 'lower="2" upper="-2"', "limits_inverted"),
        ('lower="-2" upper="2"', 'lower="-inf" upper="inf"', "limits_not_finite"),
        ('lower="-2" upper="2"', "", "limits_missing"),
        ('<limit lower="-2" upper="2" effort="40" velocity="1.5"/>', "", "limits_missing"),
        (
            '<limit lower="-2"',
            '<dynamics damping="-1" friction="-2"/><limit lower="-2"',
            "negative_dynamics",
        ),
    ],
)
def test_what_others_overlook_is_mended_with_a_note(
    tmp_path: Path, old: str, new: str, code: str
) -> None:
    text = ARM.format(inertia=INERTIA, shape="")
    assert old in text
    answer = imported(tmp_path, text.replace(old, new))
    load_scene(answer.scene)
    assert code in codes(answer)
    joints = joints_of(answer)
    assert {"shoulder", "elbow", "grip"} <= joints.keys()
    assert ("limits" in joints["shoulder"]) == (not code.startswith("limits"))
    assert joints["grip"]["axis"] == pytest.approx([1.0, 0.0, 0.0])
    assert joints["elbow"]["anchor"] == pytest.approx([0.6, 0.0, 0.0])
    assert joints["shoulder"].get("friction", 0.0) == 0.0


@pytest.mark.parametrize(
    ("given", "limits"),
    [('lower="-2"', {"lower": -2.0, "upper": 0.0}), ('upper="2"', {"lower": 0.0, "upper": 2.0})],
)
def test_one_limit_that_is_not_given_is_0(
    tmp_path: Path, given: str, limits: dict[str, float]
) -> None:
    text = ARM.format(inertia=INERTIA, shape="").replace('lower="-2" upper="2"', given)
    answer = imported(tmp_path, text)
    assert joints_of(answer)["shoulder"]["limits"] == limits
    (note,) = [one for one in answer.report.notes if one.code == "limit_missing"]
    assert note.where == ["joint 'shoulder'"]


@pytest.mark.parametrize("drives", ["none", "position"])
@pytest.mark.parametrize("at", [0.3, -0.3])
def test_a_joint_whose_limits_are_equal_is_held(tmp_path: Path, at: float, drives: str) -> None:
    """The compiler ignores such limits, with a warning: the joint would swing freely."""
    text = ARM.format(inertia=INERTIA, shape="")
    text = text.replace('lower="-2" upper="2"', f'lower="{at}" upper="{at}"')
    answer = imported(tmp_path, text, drives=drives)
    assert joints_of(answer)["shoulder"]["limits"] == {"lower": 0.0, "upper": 0.0}
    (note,) = [one for one in answer.report.notes if one.code == "limits_equal"]
    assert note.where == ["joint 'shoulder'"]
    assert "starts_beyond_limit" not in codes(answer)
    assert "start_at_limit" in codes(answer)


def test_limits_of_0_both_are_none(tmp_path: Path) -> None:
    """Exporters of drawings write them where nobody has entered any."""
    text = ARM.format(inertia=INERTIA, shape="")
    text = text.replace('lower="-2" upper="2"', 'lower="0" upper="0"')
    answer = imported(tmp_path, text)
    assert joints_of(answer)["shoulder"].get("limits") is None
    (note,) = [one for one in answer.report.notes if one.code == "limits_zero"]
    assert (note.kind, note.where) == ("guessed", ["joint 'shoulder'"])


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_joints_of_one_name_are_refused(tmp_path, root):
    text = ARM.format(inertia=INERTIA, shape="").replace('"grip"', '"elbow"')
    with pytest.raises(ImportRefusedError, match="2 joints of the name 'elbow'") as caught:
        imported(tmp_path, text, root=root)
    assert caught.value.code == "duplicate_name"


@pytest.mark.parametrize(("effort", "velocity"), [("inf", "inf"), ("-1", "nan"), ("0", "0")])
def test_bounds_that_bound_nothing_leave_a_drive_unlimited(tmp_path, effort, velocity):
    text = ARM.format(inertia=INERTIA, shape="").replace(
        'effort="40" velocity="1.5"', f'effort="{effort}" velocity="{velocity}"'
    )
    answer = imported(tmp_path, text, drives="position")
    assert joints_of(answer)["shoulder"]["motor"] == {"type": "position", "target": 0.0}
    (note,) = [one for one in answer.report.notes if one.code == "position_drive"]
    assert "joint 'shoulder': unlimited" in note.where


@pytest.mark.parametrize(
    ("offset", "limits", "start", "said"),
    [
        # 0.05 + 0.01 q at the elbow's 0
        ("0.05", 'lower="-0.1" upper="0.1"', 0.05, set()),
        ("0.05", 'lower="0.02" upper="0.1"', 0.05, set()),
        ("0.05", 'lower="-0.1" upper="0.03"', 0.03, {"start_at_limit", "open_coupling"}),
    ],
)
def test_a_joint_that_mimics_starts_where_it_belongs(tmp_path, offset, limits, start, said):
    text = ARM.format(inertia=INERTIA, shape="")
    text = text.replace('multiplier="0.01"', f'multiplier="0.01" offset="{offset}"')
    answer = imported(tmp_path, text.replace('lower="-0.1" upper="0.1"', limits))
    finger = next(body for body in answer.scene["bodies"] if body["name"] == "finger")
    # the shoulder is at 0, the elbow 0.6 m from it, and the finger slides 0.4 m from that
    assert finger["position"] == pytest.approx([1.0 + start, 0, 0])
    assert {"start_at_limit", "open_coupling"} & codes(answer) == said
