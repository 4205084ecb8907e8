"""Shapes stand where MuJoCo's geoms do, and are as large."""

import mujoco
import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path
from cardan.service.importing.shapes import MAX_HULL_POINTS, hull_corners, outermost

GEOMS = """
<mujoco>
  <asset>
    <hfield name="hill" nrow="3" ncol="4" size="2 1.5 0.6 0.1"
      elevation="0 5 2 3  7 1 6 2  3 9 0 4"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1  1 1 0" scale="0.2 0.3 0.4"/>
    <material name="red" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <geom name="hill" type="hfield" hfield="hill" pos="5 0 0"/>
    <geom name="floor" type="plane" size="1 1 1" euler="10 0 0"/>
    <body name="b" pos="1 2 3" euler="10 20 30"><freejoint/>
      <geom type="sphere" size="0.1" pos="0.1 0.2 0.3" material="red"/>
      <geom type="capsule" size="0.1" fromto="0 0 0 0.3 0.4 0"/>
      <geom type="cylinder" size="0.1 0.3" euler="0 90 0"/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/>
      <geom type="mesh" mesh="wedge" pos="0 0 -1" euler="0 0 45"/>
      <geom type="sphere" size="0.05" contype="0" conaffinity="0" rgba="0 1 0 1"/>
      <body name="c" pos="0.5 0 0" euler="0 45 0"><geom type="box" size="0.1 0.2 0.3"/></body>
    </body>
    <body name="hand" mocap="true" pos="0 0 9"><geom size="0.2"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def both(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(GEOMS)
    model = mujoco.MjModel.from_xml_string(GEOMS)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return import_path(path), model, data


def rotation(q):
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, np.array(q))
    return matrix.reshape(3, 3)


def test_shapes_stand_where_geoms_do(both):
    answer, model, data = both
    body = next(b for b in answer.scene["bodies"] if b["name"] == "b")
    R, p = rotation(body["orientation"]), np.array(body["position"])
    geoms = [g for g in range(model.ngeom) if model.body(model.geom_bodyid[g]).name in "bc"]
    touching = [geom for geom in geoms if model.geom_contype[geom]]
    assert (len(body["shapes"]), len(body["visuals"])) == (len(touching), len(geoms)) == (7, 8)
    parts = [*zip(touching, body["shapes"], strict=True), *zip(geoms, body["visuals"], strict=True)]
    for geom, shape in parts:
        center = p + R @ np.array(shape.get("position", [0, 0, 0]))
        turn = R @ rotation(shape.get("orientation", [1, 0, 0, 0]))
        assert np.allclose(center, data.geom_xpos[geom], rtol=0, atol=1e-12)
        assert np.allclose(turn, data.geom_xmat[geom].reshape(3, 3), rtol=0, atol=1e-12)


def test_shapes_have_their_sizes(both):
    answer, _, _ = both
    shapes = next(b for b in answer.scene["bodies"] if b["name"] == "b")["shapes"]
    sphere, capsule, cylinder, box, ellipsoid, hull, _ = shapes
    assert (sphere["type"], sphere["radius"], sphere["color"]) == ("sphere", 0.1, [1.0, 0.0, 0.0])
    assert (capsule["type"], capsule["radius"]) == ("capsule", 0.1)
    assert capsule["length"] == pytest.approx(0.5)
    assert (cylinder["type"], cylinder["length"]) == ("cylinder", 0.6)
    assert (box["type"], box["size"]) == ("box", [0.2, 0.4, 0.6])
    assert (ellipsoid["type"], ellipsoid["radii"]) == ("ellipsoid", [0.1, 0.2, 0.3])
    assert hull["type"] == "convex"
    assert len(hull["points"]) == 5


def test_hull_corners_are_the_vertices_of_the_file(both):
    answer, _, _ = both
    body = next(b for b in answer.scene["bodies"] if b["name"] == "b")
    hull = body["shapes"][5]
    found = np.array(hull["points"]) @ rotation(hull["orientation"]).T + hull["position"]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]) * [0.2, 0.3, 0.4]
    half = np.sqrt(0.5)
    wanted = corners @ np.array([[half, -half, 0], [half, half, 0], [0, 0, 1]]).T + [0, 0, -1]
    for point in wanted:
        assert np.linalg.norm(found - point, axis=1).min() < 1e-6


def test_heights_are_those_a_ray_finds(both):
    """Also within the cells of the grid, which are saddles: both split them along one diagonal."""
    answer, model, data = both
    simulation = Simulation(load_scene(answer.scene))
    # where y < 0 the tilted floor is below
    x, y = np.random.default_rng(7).uniform([-2.0, -1.5], [2.0, 0.0], (60, 2)).T
    above = np.stack([5.0 + x, y, np.full(60, 10.0)], axis=1)
    down, geom = np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32)
    found = simulation.raycast(above, down)["distance"]
    wanted = [mujoco.mj_ray(model, data, start, down, None, 1, -1, geom) for start in above]
    assert model.geom(int(geom[0])).name == "hill"
    assert found == pytest.approx(wanted, abs=1e-6)


def test_what_a_person_moves_is_kinematic(both):
    answer, _, _ = both
    hand = next(b for b in answer.scene["bodies"] if b["name"] == "hand")
    assert (hand["type"], hand["position"]) == ("kinematic", [0.0, 0.0, 9.0])


def test_ground_lies_below_everything(tmp_path):
    text = GEOMS.replace('<geom name="floor" type="plane" size="1 1 1" euler="10 0 0"/>', "")
    path = tmp_path / "model.xml"
    path.write_text(text.replace('<geom name="hill" type="hfield" hfield="hill" pos="5 0 0"/>', ""))
    answer = import_path(path, ImportOptions(ground=True))
    ground = answer.scene["bodies"][0]
    assert ground["type"] == "static"
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    body = next(b for b in answer.scene["bodies"] if b["name"] == "b")
    hull = body["shapes"][5]
    R = rotation(body["orientation"])
    points = np.array(hull["points"]) @ rotation(hull["orientation"]).T + hull["position"]
    lowest = (points @ R.T + body["position"])[:, 2].min()
    assert ground["position"][2] <= lowest + 1e-9
    assert ground["position"][2] > lowest - 0.3


def test_reduced_hulls_say_what_they_lost():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(4000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    corners = hull_corners(points, 1e-6)
    assert corners is not None
    assert len(corners) == 4000
    kept, lost = outermost(corners, MAX_HULL_POINTS)
    assert len(kept) == MAX_HULL_POINTS
    # a ball of radius 1 with 100 corners: caps of height about 2 / 100
    assert 0.01 < lost < 0.1
    assert {tuple(point) for point in kept} <= {tuple(point) for point in points}
    assert hull_corners(points * [1, 1, 0], 1e-6) is None
    box = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).T.reshape(-1, 3)
    corners = hull_corners(np.vstack([box, [[0.5, 0.5, 0.5]]]), 1e-6)
    assert corners is not None
    assert len(corners) == 8
