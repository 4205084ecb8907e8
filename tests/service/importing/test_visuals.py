"""What a model only shows becomes visuals: where the model has them, and in its colours."""

import json
from typing import Any

import numpy as np
import pytest
import trimesh

from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path
from cardan.service.importing.thinning import thinned, vertices_of_each
from tests.service.importing.models import BOB
from tests.service.importing.robots import robot_path

ROBOT = """<robot name="seen">
 <material name="blue"><color rgba="0 0 1 0.5"/></material>
 <link name="base">
  <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
   <geometry><mesh filename="bob.obj" scale="2 2 2"/></geometry><material name="blue"/></visual>
  <visual><geometry><sphere radius="0.1"/></geometry><material name="blue"/></visual>
  <collision><geometry><box size="1 1 1"/></geometry></collision>
 </link>
 <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
 <link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="arm.glb"/></geometry></visual>
  <visual><geometry><mesh filename="bob.obj" scale="2 2 2"/></geometry></visual>
  <collision><geometry><sphere radius="0.3"/></geometry></collision>
 </link>
</robot>
"""


def two_colors() -> bytes:
    """A file with a red and a green box beside each other."""
    boxes = []
    for k, color in enumerate(([255, 0, 0, 255], [0, 255, 0, 255])):
        box = trimesh.creation.box((0.2, 0.2, 0.2))
        box.apply_translation([k, 0, 0])
        box.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        )
        boxes.append(box)
    return bytes(trimesh.Scene(boxes).export(file_type="glb"))


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    (tmp_path / "bob.obj").write_text(BOB)
    (tmp_path / "arm.glb").write_bytes(two_colors())
    return path


def in_body(scene: dict[str, Any], visual: dict[str, Any]) -> np.ndarray:
    """Vertices of a visual mesh in the frame of its body."""
    w, x, y, z = visual.get("orientation", [1, 0, 0, 0])
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    vertices = np.array(scene["meshes"][visual["mesh"]]["vertices"])
    return vertices @ turn.T + visual.get("position", [0, 0, 0])


def test_visuals_stand_where_the_model_has_them(robot):
    scene = import_path(robot).scene
    base = next(body for body in scene["bodies"] if body["name"] == "base")
    mesh, ball = base["visuals"]
    corners = 0.2 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    wanted = corners @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [1, 2, 3]
    found = in_body(scene, mesh)
    assert len(found) == 4
    for point in wanted:
        assert np.linalg.norm(found - point, axis=1).min() < 1e-6
    assert (mesh["color"], mesh["opacity"]) == ([0.0, 0.0, 1.0], 0.5)
    assert (ball["type"], ball["radius"]) == ("sphere", 0.1)
    # shapes to collide with are those of the model alone
    assert [shape["type"] for shape in base["shapes"]] == ["box"]
    load_scene(scene)


def test_a_file_of_two_colors_is_two_visuals(robot):
    scene = import_path(robot).scene
    arm = next(body for body in scene["bodies"] if body["name"] == "arm")
    middles = {tuple(v["color"]): in_body(scene, v).mean(axis=0) for v in arm["visuals"]}
    assert np.allclose(middles[1.0, 0.0, 0.0], [0, 0, 0], atol=1e-6)
    assert np.allclose(middles[0.0, 1.0, 0.0], [1, 0, 0], atol=1e-6)
    # what has no colour has not that of another
    assert np.allclose(middles[0.5, 0.5, 0.5], [0.05, 0.05, 0.05], atol=1e-6)


def test_without_visuals_the_mechanics_are_the_same(robot):
    seen, plain = (import_path(robot, ImportOptions(visuals=v)).scene for v in (True, False))
    assert not plain["meshes"]
    for body, other in zip(seen["bodies"], plain["bodies"], strict=True):
        assert {key: body[key] for key in body if key != "visuals"} == other


def test_a_picture_that_cannot_be_read_does_not_stop_an_import(robot):
    # one face without an area, of which the compiler makes no mesh
    (robot.parent / "bob.obj").write_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")
    answer = import_path(robot)
    assert len(answer.scene["bodies"]) == 2
    assert "visuals" not in answer.scene["bodies"][0]
    assert [note.message for note in answer.report.notes if note.code == "visuals"]


def test_a_model_of_mujoco_shows_what_touches_beside_what_does_not(tmp_path):
    geoms = (
        '<geom name="touches" type="box" size=".1 .1 .1" rgba="1 0 0 1"/>'
        '<geom name="seen" size=".2" contype="0" conaffinity="0"/>'
        '<geom name="hidden" size=".3" contype="0" conaffinity="0" group="3"/>'
        '<geom name="clear" size=".4" contype="0" conaffinity="0" rgba="1 1 1 0"/>'
    )
    path = tmp_path / "m.xml"
    path.write_text(
        f"<mujoco><worldbody><body><freejoint/>{geoms}</body>"
        '<body pos="2 0 0"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    first, second = import_path(path).scene["bodies"]
    assert [visual["type"] for visual in first["visuals"]] == ["box", "sphere"]
    assert [shape["type"] for shape in first["shapes"]] == ["box"]
    assert "visuals" not in second


def test_a_robot_of_many_meshes_is_no_larger_than_is_sent():
    answer = import_path(robot_path("urdf/xarm7"), ImportOptions())
    assert sum(len(mesh["vertices"]) for mesh in answer.scene["meshes"].values()) <= 40_000
    assert len(json.dumps(answer.scene)) < 4e6
    shown = [v["mesh"] for body in answer.scene["bodies"] for v in body.get("visuals", [])]
    assert set(shown) == set(answer.scene["meshes"])


def test_a_thinned_ball_is_still_the_ball():
    ball = trimesh.creation.icosphere(subdivisions=5)
    vertices, faces, moved = thinned(ball.vertices, ball.faces, 1000)
    assert 500 < len(vertices) <= 1000
    # the divergence theorem: faces of one sense without holes enclose nearly 4/3 pi
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volume = np.sum(a * np.cross(b, c)) / 6.0
    assert volume == pytest.approx(4.0 / 3.0 * np.pi, rel=0.02)
    assert 0.0 < moved < 0.2
    same = thinned(ball.vertices, ball.faces, len(ball.vertices))
    assert len(same[0]) == len(ball.vertices)


@pytest.mark.parametrize(
    ("sizes", "total", "room"), [([10, 20], 100, 20), ([10, 80, 90], 100, 45), ([], 100, 0)]
)
def test_the_largest_meshes_give_way(sizes, total, room):
    assert vertices_of_each(sizes, total) == room
    assert sum(min(size, room) for size in sizes) <= total
