"""MCAP and glTF, read by the libraries of others and compared with what the engine computed."""

import base64
import gzip
import io
import json
import math
from typing import Any

import jsonschema
import numpy as np
import pygltflib
import pytest
import trimesh
from mcap.reader import make_reader

import cardan
from cardan.service.recordings.engine_tables import recording_of
from cardan.service.recordings.formats import FORMATS, encode
from cardan.service.recordings.motion import NoMotionError
from cardan.service.recordings.slices import Slice, cut
from cardan.service.recordings.triangles import reach, rotation, triangles

TURNED = [math.cos(0.4), 0.0, math.sin(0.4), 0.0]
SOLIDS: list[dict[str, Any]] = [
    {"type": "sphere", "radius": 0.5, "color": "#ff8000"},
    {"type": "box", "size": [1.0, 2.0, 3.0], "position": [1, 0, 0], "orientation": TURNED},
    {"type": "capsule", "radius": 0.2, "length": 0.6, "color": [0.1, 0.2, 0.3]},
    {"type": "cylinder", "radius": 0.3, "length": 0.5},
    {"type": "cone", "radius": 0.3, "length": 0.5},
    {"type": "ellipsoid", "radii": [0.2, 0.3, 0.4]},
    {"type": "convex", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]},
]
SCENE = {
    "version": 1,
    "name": "motion",
    "gravity": [0, 0, -1],
    "simulation": {"dt": 0.002, "duration": 1.0, "contact": {}},
    "bodies": [
        {
            "name": "floor",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 1, 1], "offset": -9.0}],
        },
        *(
            {
                "name": f"{shape['type']} {number}",
                "position": [4.0 * number, 0.0, 0.0],
                "mass": 1.0,
                "inertia": [0.1, 0.2, 0.3],
                # more than one turn: the sign of the quaternion changes
                "angular_velocity": [3.0, 5.0, 8.0],
                "shapes": [shape],
            }
            for number, shape in enumerate(SOLIDS)
        ),
    ],
    "record": {"every": 25, "channels": ["pose", "energy"]},
}


@pytest.fixture(scope="module")
def run():
    scene = cardan.load_scene(SCENE)
    recording, summary = cardan.run(scene)
    tables = recording_of(scene, summary["scene_hash"], recording.tables(), summary)
    return recording, tables


def accessor(document, number):
    """An accessor as an array, by the rules of the specification."""
    found = document.accessors[number]
    view = document.bufferViews[found.bufferView]
    kind = {5126: np.float32, 5125: np.uint32}[found.componentType]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[found.type]
    assert view.byteOffset % 4 == 0
    values = np.frombuffer(
        document.binary_blob(), kind, count=found.count * width, offset=view.byteOffset
    ).reshape(found.count, width)
    assert values.nbytes == view.byteLength
    if found.min:
        assert values.min(0).tolist() == found.min
        assert values.max(0).tolist() == found.max
    return values


def test_the_poses_of_the_animation_are_those_of_the_run(run):
    recording, tables = run
    document = pygltflib.GLTF2.load_from_bytes(encode(tables, FORMATS["gltf"]))
    animation = document.animations[0]
    poses = recording.poses()
    seen = set()
    for channel in animation.channels:
        sampler = animation.samplers[channel.sampler]
        assert np.array_equal(
            accessor(document, sampler.input)[:, 0], recording.times().astype(np.float32)
        )
        name = document.nodes[channel.target.node].name
        body = recording.body_names.index(name)
        values = accessor(document, sampler.output)
        seen.add((name, channel.target.path))
        if channel.target.path == "translation":
            assert np.array_equal(values, poses[:, body, :3].astype(np.float32))
            continue
        q = values[:, [3, 0, 1, 2]]
        assert np.abs(np.sum(q * poses[:, body, 3:], axis=1)) == pytest.approx(1.0, abs=1e-6)
        # players interpolate between neighbours
        assert (np.sum(q[1:] * q[:-1], axis=1) > 0.0).all()
    assert len(seen) == 2 * len(recording.body_names)
    assert (poses[1:, 1, 3:] * poses[:-1, 1, 3:]).sum(1).min() < 1.0
    assert document.accessors[animation.samplers[0].input].min == [0.0]


def test_the_shapes_of_the_animation_are_those_of_the_scene(run):
    recording, tables = run
    loaded: Any = trimesh.load(io.BytesIO(encode(tables, FORMATS["gltf"])), file_type="glb")
    volumes = {
        "sphere": 4 / 3 * math.pi * 0.5**3, "box": 6.0, "convex": 1 / 6,
        "capsule": math.pi * 0.2**2 * (0.6 + 4 / 3 * 0.2), "cylinder": math.pi * 0.3**2 * 0.5,
        "cone": math.pi * 0.3**2 * 0.5 / 3, "ellipsoid": 4 / 3 * math.pi * 0.2 * 0.3 * 0.4,
    }  # fmt: skip
    up = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    for number, (name, pose) in enumerate(
        zip(recording.body_names, recording.poses()[0], strict=True)
    ):
        if number == 0:
            continue
        matrix, geometry = loaded.graph[name]
        expected = trimesh.transformations.quaternion_matrix(pose[3:])
        expected[:3, 3] = pose[:3]
        assert matrix == pytest.approx(up @ expected, abs=1e-6)
        mesh = loaded.geometry[geometry]
        # a pole is a vertex of every triangle there
        mesh.merge_vertices()
        # vertices on the surface, flat triangles between them: a few percent less; never inside out
        assert mesh.is_watertight
        assert mesh.volume == pytest.approx(volumes[name.split()[0]], rel=0.06)
        if name.startswith("box"):
            assert mesh.bounds.mean(0) == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)


def test_a_visual_stands_for_the_shapes_and_its_mesh_is_there_once():
    tetrahedron = {
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
    look = {"type": "mesh", "mesh": "t", "color": "#ff0000"}
    place = {"position": [2, 0, 0], "orientation": TURNED}
    bodies: list[dict[str, Any]] = [
        {"visuals": [look, {**look, **place}]},
        {"visuals": [{**look, "color": "#00ff00", "opacity": 0.5}]},
        {"visuals": [{"type": "sphere", "radius": 0.1}]},
        {},
    ]
    scene = {
        "version": 1,
        "simulation": {"dt": 0.01, "duration": 0.02},
        "meshes": {"t": tetrahedron},
        "bodies": [
            {"name": f"b{k}", "mass": 1, "shapes": [{"type": "box", "size": [1, 1, 1]}], **body}
            for k, body in enumerate(bodies)
        ],
        "record": {"channels": ["pose"]},
    }
    checked = cardan.load_scene(scene)
    recording, summary = cardan.run(checked)
    tables = recording_of(checked, summary["scene_hash"], recording.tables(), summary)
    data = encode(tables, FORMATS["gltf"])
    document = pygltflib.GLTF2.load_from_bytes(data)
    assert [mesh.name for mesh in document.meshes] == ["t", "t", "b2", "b3"]
    red, green = document.meshes[:2]
    assert red.primitives[0].indices == green.primitives[0].indices
    assert [material.alphaMode for material in document.materials[:2]] == ["OPAQUE", "BLEND"]
    loaded: Any = trimesh.load(io.BytesIO(data), file_type="glb")
    found = {node: loaded.graph[node] for node in loaded.graph.nodes_geometry}
    assert len(found) == 5
    volumes = sorted(loaded.geometry[geometry].volume for _, geometry in found.values())
    assert volumes == pytest.approx([4 / 3 * np.pi * 1e-3, 1 / 6, 1 / 6, 1 / 6, 1.0], rel=0.06)
    centres = [
        pose[:3, :3] @ loaded.geometry[geometry].center_mass + pose[:3, 3]
        for pose, geometry in found.values()
    ]
    turned = rotation(TURNED) @ np.full(3, 0.25) + [2, 0, 0]
    # glTF has y up
    upright = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert min(np.linalg.norm(c - upright @ turned) for c in centres) < 1e-6


def test_planes_meshes_and_heightfields_face_outwards():
    vertices, faces = triangles({"type": "plane", "normal": [0, 3, 4], "offset": 2.0})
    a, b, c = vertices[faces[0]]
    n = np.cross(b - a, c - a)
    assert n / np.linalg.norm(n) == pytest.approx([0, 0.6, 0.8])
    assert vertices @ [0, 0.6, 0.8] == pytest.approx(2.0)
    field = {"type": "heightfield", "heights": [[0, 1, 2], [3, 4, 7]], "size": [2.0, 1.0]}
    vertices, faces = triangles(field)
    assert len(faces) == 4
    assert vertices[4].tolist() == [0.0, 0.5, 4.0]
    corners = vertices[faces]
    assert (np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0).all()
    mesh = {"type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]}
    assert triangles(mesh | {"position": [0, 0, 5]})[0][:, 2].tolist() == [5, 5, 5]


def test_foxglove_gets_transforms_shapes_and_plots(run):
    recording, tables = run
    seen: dict[str, list[Any]] = {}
    reader = make_reader(io.BytesIO(encode(tables, FORMATS["mcap"])))
    for schema, channel, message in reader.iter_messages():
        assert schema is not None
        data = json.loads(message.data)
        jsonschema.validate(data, json.loads(schema.data))
        seen.setdefault(channel.topic, []).append((message.log_time, data))
        names = {"/tf": "foxglove.FrameTransforms", "/scene": "foxglove.SceneUpdate"}
        assert schema.name == names.get(channel.topic, "cardan.energy")
    assert set(seen) == {"/tf", "/scene", "/energy"}
    times, poses = recording.times(), recording.poses()
    assert [at for at, _ in seen["/tf"]] == [round(1e9 * time) for time in times]
    for (_, data), frame in zip(seen["/tf"], poses, strict=True):
        for one, name, pose in zip(data["transforms"], recording.body_names, frame, strict=True):
            assert (one["parent_frame_id"], one["child_frame_id"]) == ("world", name)
            assert [one["translation"][k] for k in "xyz"] == pose[:3].tolist()
            assert [one["rotation"][k] for k in "wxyz"] == pose[3:].tolist()
    entities = seen["/scene"][0][1]["entities"]
    assert [one["frame_id"] for one in entities] == list(recording.body_names)
    assert entities[1]["triangles"][0]["color"] == {"r": 1.0, "g": 128 / 255, "b": 0.0, "a": 1.0}
    total = recording.tables()["energy"]["total"].tolist()
    assert [data["total"] for _, data in seen["/energy"]] == total


def test_a_part_shows_its_bodies_and_a_recording_without_poses_is_refused(run):
    _, tables = run
    part = cut(tables, Slice(start=0.2, end=0.6, bodies=("box 1",)))
    document = pygltflib.GLTF2.load_from_bytes(encode(part, FORMATS["gltf"]))
    assert [node.name for node in document.nodes] == ["W", "box 1"]
    times = accessor(document, document.animations[0].samplers[0].input)
    assert (times[0, 0], times[-1, 0]) == (np.float32(0.2), np.float32(0.6))
    for name in ("gltf", "mcap"):
        with pytest.raises(NoMotionError, match="pose"):
            encode(cut(tables, Slice(channels=("energy",))), FORMATS[name])
        with pytest.raises(NoMotionError, match="no recorded time lies between"):
            encode(cut(tables, Slice(start=1e3)), FORMATS[name])


def file_of(scene: dict[str, Any], name: str) -> tuple[Any, bytes]:
    """The recording of a scene, and the file of a format."""
    checked = cardan.load_scene(scene)
    recording, summary = cardan.run(checked)
    tables = recording_of(checked, summary["scene_hash"], recording.tables(), summary)
    return recording, encode(tables, FORMATS[name])


def coloured(*shapes: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "simulation": {"dt": 0.01, "duration": 0.02},
        "bodies": [
            {"name": f"b{k}", "mass": 1, "inertia": [1, 1, 1], "position": [k, 0, 0], "shapes": [s]}
            for k, s in enumerate(shapes)
        ],
        "record": {"channels": ["pose"]},
    }


def test_colours_are_in_linear_light_whatever_form_they_have():
    ball = {"type": "sphere", "radius": 0.1}
    forms: list[Any] = ["#808080", "#888", "gray", [0.5, 0.5, 0.5], "rebeccapurple", None]
    scene = coloured(*({**ball, **({"color": form} if form else {})} for form in forms))
    _, data = file_of(scene, "gltf")
    document = pygltflib.GLTF2.load_from_bytes(data)
    found = [
        document.materials[mesh.primitives[0].material].pbrMetallicRoughness.baseColorFactor
        for mesh in document.meshes
    ]
    # IEC 61966-2-1: half of the digits are a fifth of the light
    half, eight = 0.2158605, 0.2462013
    assert [value[0] for value in found[:4]] == pytest.approx([half, eight, half, half], abs=1e-6)
    assert found[4] == pytest.approx([0.1328683, 0.0331048, 0.3185468, 1.0], abs=1e-6)
    # the sixth of the palette of the page, #8f86c9
    assert found[5] == pytest.approx([0.2746773, 0.2383976, 0.5840784, 1.0], abs=1e-6)
    _, text = file_of(scene, "usda")
    tones = [line for line in text.decode().split("\n") if "displayColor" in line]
    shown = [float(line.split("(")[1].split(",")[0]) for line in tones]
    assert shown == pytest.approx([value[0] for value in found])
    # Foxglove reads sRGB
    _, data = file_of(scene, "mcap")
    messages = make_reader(io.BytesIO(data)).iter_messages(topics=["/scene"])
    entities = json.loads(next(iter(messages))[2].data)["entities"]
    assert entities[0]["triangles"][0]["color"]["r"] == 128 / 255


def test_a_part_has_the_colours_of_the_whole():
    ball = {"type": "sphere", "radius": 0.1}
    scene = coloured(ball, ball, ball)
    scene["bodies"][0] = {"name": "b0", "type": "static", "shapes": [ball]}
    checked = cardan.load_scene(scene)
    recording, summary = cardan.run(checked)
    tables = recording_of(checked, summary["scene_hash"], recording.tables(), summary)
    whole, part = (
        pygltflib.GLTF2.load_from_bytes(encode(one, FORMATS["gltf"]))
        for one in (tables, cut(tables, Slice(bodies=("b2",))))
    )
    rest, first, second = (
        whole.materials[mesh.primitives[0].material].pbrMetallicRoughness.baseColorFactor
        for mesh in whole.meshes
    )
    # of the page: what moves is counted, what rests is grey
    assert first[:3] == pytest.approx([0.7605245, 0.2462013, 0.0423114], abs=1e-6)
    assert max(rest[:3]) - min(rest[:3]) < 0.1
    (own,) = part.materials
    assert own.pbrMetallicRoughness.baseColorFactor == second


def test_equal_shapes_share_their_triangles():
    ball = {"type": "sphere", "radius": 0.1}
    one, many = (file_of(coloured(*[ball] * n), "gltf")[1] for n in (1, 101))
    assert len(many) - len(one) < 100 * 1200
    document = pygltflib.GLTF2.load_from_bytes(many)
    assert len({mesh.primitives[0].indices for mesh in document.meshes}) == 1
    assert len(document.materials) == 7


COMING: dict[str, Any] = {
    "version": 1,
    "gravity": [0, 0, 0],
    "simulation": {"dt": 0.01, "duration": 0.5},
    "bodies": [
        {"name": "stays", "mass": 1, "shapes": [{"type": "sphere", "radius": 0.1}]},
        {"name": "late", "mass": 1, "position": [1, 0, 0], "linear_velocity": [0, 1, 0],
         "shapes": [{"type": "sphere", "radius": 0.1}], "appears": 0.2, "vanishes": 0.4},
        {"name": "wall", "type": "static", "position": [5, 0, 0], "vanishes": 0.3,
         "shapes": [{"type": "box", "size": [1, 1, 1]}]},
    ],
    "record": {"every": 5, "channels": ["pose"]},
}  # fmt: skip


def test_absent_bodies_are_hidden_and_do_not_fly_to_where_they_appear():
    recording, data = file_of(COMING, "gltf")
    present = recording.tables()["bodies"]["present"].reshape(-1, 3).astype(bool)
    assert present.any(axis=0).all()
    assert present.all(axis=0).tolist() == [True, False, False]
    document = pygltflib.GLTF2.load_from_bytes(data)
    assert [node.scale for node in document.nodes[1:]] == [None, [0.0, 0.0, 0.0], None]
    animation = document.animations[0]
    outputs = {
        (channel.target.node - 1, channel.target.path): animation.samplers[channel.sampler]
        for channel in animation.channels
    }
    assert (0, "scale") not in outputs
    for body in (1, 2):
        sampler = outputs[body, "scale"]
        assert sampler.interpolation == "STEP"
        assert np.array_equal(accessor(document, sampler.output)[:, 0] == 1.0, present[:, body])
    ways = accessor(document, outputs[1, "translation"].output)[:, 1]
    gone = np.flatnonzero(present[:-1, 1] & ~present[1:, 1])[0] + 1
    assert ways[gone] == ways[gone - 1] > 0.1
    assert ways[gone + 1] == 0.0

    _, text = file_of(COMING, "usda")
    parts = text.decode().split('def Xform "')[2:]
    for number, part in enumerate(parts):
        said = [line for line in part.split("\n") if "inherited" in line or "invisible" in line]
        shown = ["inherited" in line for line in said]
        assert shown == ([] if present[:, number].all() else present[:, number].tolist())


def test_foxglove_is_told_which_bodies_come_and_go():
    recording, data = file_of(COMING, "mcap")
    present = recording.tables()["bodies"]["present"].reshape(-1, 3).astype(bool)
    times = [round(1e9 * time) for time in recording.times()]
    messages: dict[str, list[tuple[int, Any]]] = {}
    for schema, channel, message in make_reader(io.BytesIO(data)).iter_messages():
        if channel.topic.startswith("/scene"):
            assert schema is not None
            update = json.loads(message.data)
            jsonschema.validate(update, json.loads(schema.data))
            messages.setdefault(channel.topic, []).append((message.log_time, update))
    ((_, lasting),) = messages.pop("/scene")
    assert [entity["id"] for entity in lasting["entities"]] == [recording.body_names[0]]
    for body in (1, 2):
        name = recording.body_names[body]
        told = messages.pop(f"/scene/{name}")
        # what Foxglove shows: all messages up to a moment, or the last one alone after a jump
        for at, here in zip(times, present[:, body], strict=True):
            so_far = [update for when, update in told if when <= at]
            shown: set[str] = set()
            for update in so_far:
                shown -= {deletion["id"] for deletion in update["deletions"]}
                shown |= {entity["id"] for entity in update["entities"]}
            alone = {entity["id"] for update in so_far[-1:] for entity in update["entities"]}
            assert shown == alone == ({name} if here else set())
    assert not messages


def test_absent_bodies_have_no_pose_in_a_web_page():
    recording, data = file_of(COMING, "html")
    present = recording.tables()["bodies"]["present"].reshape(-1, 3).astype(bool)
    text = data.decode().split('id="run">')[1].split("</script>")[0]
    run = json.loads(text)
    # the wall that goes is sent, too
    assert run["moving"] == [0, 1, 2]
    poses = np.frombuffer(gzip.decompress(base64.b64decode(run["poses"])), "<f4").reshape(-1, 3, 7)
    assert np.array_equal(np.isfinite(poses).all(axis=2), present)
    assert np.array_equal(np.isnan(poses).all(axis=2), ~present)


@pytest.mark.parametrize(("scale", "away"), [(1e-3, 0.0), (100.0, 5e4)])
def test_planes_fit_the_scene_and_lie_below_it(scale: float, away: float):
    normal = np.array([0.6, 0.0, 0.8])
    place = {"orientation": [math.cos(0.2), 0, 0, math.sin(0.2)], "position": [scale, 0, 0]}
    plane = {"type": "plane", "normal": normal.tolist(), "offset": 0.5 * scale, **place}
    bodies: list[dict[str, Any]] = [
        {"name": "ground", "type": "static", "position": [0, scale, 0], "orientation": TURNED,
         "shapes": [plane]},
        {"name": "ball", "mass": 1, "position": [away, 0, 10 * scale],
         "shapes": [{"type": "sphere", "radius": scale}]},
    ]  # fmt: skip
    scene = {"version": 1, "simulation": {"duration": 0.01}, "bodies": bodies}
    _, data = file_of(scene, "gltf")
    loaded: Any = trimesh.load(io.BytesIO(data), file_type="glb")
    matrix, geometry = loaded.graph["ground"]
    corners = trimesh.transform_points(loaded.geometry[geometry].vertices, matrix)
    # glTF has y up
    corners = corners[:, [0, 2, 1]] * [1, -1, 1]
    n = rotation(TURNED) @ rotation(place["orientation"]) @ normal
    origin = np.array([0, scale, 0]) + rotation(TURNED) @ [scale, 0, 0] + 0.5 * scale * n
    apart = (corners - origin) @ n
    assert np.abs(apart).max() < 1e-5 * np.abs(corners).max()
    ball = np.array([away, 0, 10 * scale])
    foot = ball - ((ball - origin) @ n) * n
    assert corners.mean(axis=0) == pytest.approx(foot, abs=1e-5 * np.abs(corners).max())
    edge = np.linalg.norm(corners[1] - corners[0])
    size = 2 * math.sqrt(3) * scale
    assert edge == pytest.approx(14 * (size + abs((ball - origin) @ n)), rel=1e-4)


def test_nothing_of_a_shape_is_beyond_its_reach():
    shapes = [
        *SOLIDS,
        {"type": "tube", "inner_radius": 0.5, "outer_radius": 0.6, "length": 2.0},
        {"type": "ring", "major_radius": 0.5, "minor_radius": 0.1},
        {"type": "bowl", "inner_radius": 0.5, "outer_radius": 0.6, "angle": 1.0},
        {"type": "heightfield", "heights": [[0, 1, 2], [3, 4, 7]], "size": [2.0, 1.0]},
    ]
    for shape in shapes:
        for moved in ({}, {"position": [0.0, 3.0, 0.0], "orientation": TURNED}):
            vertices, _ = triangles({**shape, **moved})
            farthest = float(np.linalg.norm(vertices, axis=1).max())
            assert 0.3 * farthest < reach({**shape, **moved}) <= 3.0 * farthest, shape
            assert farthest <= reach({**shape, **moved}) * (1 + 1e-12), shape
