"""The text of a USD layer, read by its rules and, where it is installed, by Pixar's library."""

import math
import re

import numpy as np
import pytest

import cardan
from cardan.service.recordings.engine_tables import recording_of
from cardan.service.recordings.formats import FORMATS, encode
from cardan.service.recordings.triangles import triangles
from cardan.service.recordings.usda import prim_names, time_codes
from tests.service.recordings.test_motion_formats import SCENE, SOLIDS

SAMPLES = re.compile(r"(double3|quatd) xformOp:(\w+)\.timeSamples = \{\n(.*?)\n\s*\}", re.S)
SAMPLE = re.compile(r"(\S+): \(([^)]*)\),")


@pytest.fixture(scope="module")
def run():
    scene = cardan.load_scene(SCENE)
    recording, summary = cardan.run(scene)
    tables = recording_of(scene, summary["scene_hash"], recording.tables(), summary)
    return recording, encode(tables, FORMATS["usda"]).decode()


def bodies(text):
    """The text of the prim of each body, by its displayName."""
    parts = re.split(r'^    def Xform "\w+" \(\n', text, flags=re.M)[1:]
    names = [re.match(r'\s*displayName = "(.*)"\n', part) for part in parts]
    return {name[1]: part for name, part in zip(names, parts, strict=True) if name}


def samples(part):
    """Arrays of codes and values of each operation on a body."""
    found = {}
    for _, name, text in SAMPLES.findall(part):
        pairs = SAMPLE.findall(text)
        values = np.array([[float(one) for one in value.split(",")] for _, value in pairs])
        found[name] = (np.array([float(code) for code, _ in pairs]), values)
    return found


def test_the_header_says_scale_axis_and_rate(run):
    _, text = run
    assert text.startswith("#usda 1.0\n(\n")
    header = text[: text.index("\n)\n")]
    # every 25 steps of 2 ms, for a second
    for line in (
        'defaultPrim = "World"',
        'upAxis = "Z"',
        "metersPerUnit = 1",
        "timeCodesPerSecond = 20",
        "startTimeCode = 0",
        "endTimeCode = 20",
    ):
        assert f"    {line}" in header.split("\n")
    for opened, closed in ("()", "[]", "{}"):
        assert text.count(opened) == text.count(closed)


def test_the_poses_are_those_of_the_run(run):
    recording, text = run
    found, poses = bodies(text), recording.poses()
    assert list(found) == list(recording.body_names)
    for number, part in enumerate(found.values()):
        operations = samples(part)
        codes, p = operations["translate"]
        assert np.array_equal(codes, np.arange(21))
        assert np.array_equal(p, poses[:, number, :3])
        _, q = operations["orient"]
        assert np.array_equal(np.abs(q), np.abs(poses[:, number, 3:]))
        assert (np.sum(q[1:] * q[:-1], axis=1) > 0.0).all()


def test_solids_are_primitives_and_all_else_is_meshes(run):
    _, text = run
    kinds = [
        match[1]
        for part in bodies(text).values()
        for match in re.finditer(r'def (\w+) "shape', part)
    ]
    assert kinds == ["Mesh", "Sphere", "Cube", "Capsule", "Cylinder", "Cone", "Sphere", "Mesh"]
    box = bodies(text)["box 1"]
    assert "double3 xformOp:scale = (1, 2, 3)" in box
    assert '"xformOp:translate", "xformOp:orient", "xformOp:scale"' in box
    assert "double radius = 0.2" in bodies(text)["capsule 2"]
    assert "double height = 0.6" in bodies(text)["capsule 2"]
    # an orange sphere
    orange = re.search(r"displayColor = \[\((.*)\)\]", bodies(text)["sphere 0"])
    assert orange is not None
    assert [float(one) for one in orange[1].split(",")] == pytest.approx([1, 0.2158605, 0])
    _, faces = triangles(SOLIDS[-1])
    corners = re.search(r"faceVertexIndices = \[(.*)\]", bodies(text)["convex 6"])
    assert corners is not None
    assert [int(one) for one in corners[1].split(",")] == faces.reshape(-1).tolist()


def test_names_become_identifiers_that_differ():
    assert prim_names(["a b", "a_b", "1", "é", "a_b"]) == ["a_b", "a_b_2", "_1", "_", "a_b_3"]
    assert prim_names(["a_2", "a", "a b", "a.b", "a_b_2"]) == [
        "a_2",
        "a",
        "a_b",
        "a_b_2",
        "a_b_2_2",
    ]


def test_time_codes_count_frames_of_any_rate():
    assert time_codes(np.arange(4) / 3.0) == ["0", "1", "2", "3"]
    assert time_codes(np.array([0.5])) == ["12"]
    assert time_codes(np.array([0.2, 0.3, 0.4, 0.45])) == ["2", "3", "4", "4.5"]


def test_the_library_of_the_format_reads_what_was_written(run, tmp_path):
    Usd = pytest.importorskip("pxr.Usd", reason="usd-core is not installed: pip install usd-core")
    UsdGeom = pytest.importorskip("pxr.UsdGeom")
    recording, text = run
    file = tmp_path / "run.usda"
    file.write_text(text)
    stage = Usd.Stage.Open(str(file))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 20.0
    assert stage.GetDefaultPrim().GetName() == "World"
    poses = recording.poses()
    for number, prim in enumerate(stage.GetDefaultPrim().GetChildren()):
        assert prim.GetDisplayName() == recording.body_names[number]
        for frame in (0, 7, 20):
            matrix = UsdGeom.Xformable(prim).GetLocalTransformation(Usd.TimeCode(frame))
            assert list(matrix.ExtractTranslation()) == pytest.approx(poses[frame, number, :3])
            q = matrix.ExtractRotationQuat()
            found = np.array([q.GetReal(), *q.GetImaginary()])
            assert abs(found @ poses[frame, number, 3:]) == pytest.approx(1.0)
    bounds = UsdGeom.BBoxCache(Usd.TimeCode(0), ["default"])
    turned = math.cos(0.8), math.sin(0.8)
    box = stage.GetPrimAtPath("/World/box_1/shape_0")
    size = bounds.ComputeRelativeBound(box, box.GetParent()).ComputeAlignedRange().GetSize()
    # edges 1 and 3, turned by 0.8 rad about y
    assert size[0] == pytest.approx(turned[0] + 3.0 * turned[1])
    assert size[1] == pytest.approx(2.0)
    assert all(UsdGeom.Imageable(prim) for prim in stage.Traverse())
