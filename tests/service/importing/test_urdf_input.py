"""URDF as it is found: drives asked for, prefixes, inertials without inertia, thin meshes."""

from pathlib import Path
from typing import Any

import pytest

from cardan.schemas import load_scene
from cardan.schemas.imported import ImportAnswer, ImportOptions
from cardan.service.importing import import_path

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


def test_a_mesh_without_volume_is_loaded_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "thin.obj").write_text(TINY)
    shape = '<collision><geometry><mesh filename="thin.obj"/></geometry></collision>'
    answer = imported(tmp_path, ARM.format(inertia=INERTIA, shape=shape))
    note = next(one for one in answer.report.notes if one.code == "mesh_without_volume")
    assert note.where == ["mesh '0_thin'"]
