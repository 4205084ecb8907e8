"""Scenes that name mesh files: from the command line, from folders and from archives."""

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardan.schemas import SceneInvalid, load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.cli.scene_source import read_document, read_scene
from cardan.service.importing import ImportRefusedError, import_archive, import_path

pytest.importorskip("trimesh")

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(
    f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
)


def stl() -> bytes:
    """The tetrahedron as a binary STL, in which every face has vertices of its own."""
    faces = b"".join(
        struct.pack("<12fH", 0, 0, 0, *np.array(CORNERS, float)[face].ravel(), 0) for face in FACES
    )
    return b"\0" * 80 + struct.pack("<I", len(FACES)) + faces


def volume(mesh: dict[str, Any]) -> float:
    """By the divergence theorem: positive where triangles are counter-clockwise from outside."""
    a, b, c = np.moveaxis(np.array(mesh["vertices"])[np.array(mesh["faces"])], 1, 0)
    return float(np.sum(a * np.cross(b, c))) / 6


def scene(**shape: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "a part",
        "bodies": [{"name": "part", "density": 1000, "shapes": [{"type": "mesh", **shape}]}],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_bytes(stl())
    (tmp_path / "part.obj").write_text(OBJ)
    return tmp_path


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / "scene.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("file", ["meshes/part.stl", "part.obj"])
def test_a_file_stands_for_its_vertices(folder: Path, file: str) -> None:
    read, document = read_scene(str(write(folder, scene(file=file, scale=0.1))))
    (shape,) = document["bodies"][0]["shapes"]
    assert "file" not in shape
    assert len(shape["vertices"]) == len(CORNERS)
    # a corner of a cube: a sixth of its volume
    assert volume(shape) == pytest.approx(0.1**3 / 6, rel=1e-12)
    assert len(read.bodies[0].shapes) == 1


def test_a_mirrored_mesh_keeps_its_outside(folder: Path) -> None:
    document = read_document(str(write(folder, scene(file="part.obj", scale=[1, 1, -2]))))
    (shape,) = document["bodies"][0]["shapes"]
    assert volume(shape) == pytest.approx(2 / 6)


def test_convex_shapes_and_visuals_take_files_too(folder: Path) -> None:
    document = scene(file="part.obj")
    document["bodies"][0]["shapes"] = [{"type": "convex", "file": "meshes/part.stl"}]
    document["bodies"][0]["visuals"] = [{"type": "mesh", "mesh": "seen"}]
    document["meshes"] = {"seen": {"file": "part.obj", "scale": 2}}
    found = read_document(str(write(folder, document)))
    load_scene(found)
    assert sorted(found["bodies"][0]["shapes"][0]["points"]) == sorted(CORNERS)
    assert np.max(found["meshes"]["seen"]["vertices"]) == 2


def test_every_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "empty.stl").write_bytes(b"")
    (folder / "notes.txt").write_text("no mesh")
    document = scene(file="lost.stl")
    document["bodies"][0]["shapes"] += [
        {"type": "mesh", "file": "empty.stl"},
        {"type": "mesh", "file": "notes.txt"},
        {"type": "mesh", "file": 3},
        {"type": "mesh", "file": "part.obj", "scale": 0},
        {"type": "mesh", "file": "part.obj", "faces": [[0, 1, 2]]},
    ]
    with pytest.raises(SceneInvalid) as caught:
        read_document(str(write(folder, document)))
    assert [(fault.pointer, fault.code) for fault in caught.value.errors] == [
        ("/bodies/0/shapes/0/file", "file_missing"),
        ("/bodies/0/shapes/1/file", "unreadable"),
        ("/bodies/0/shapes/2/file", "unknown_format"),
        ("/bodies/0/shapes/3/file", "not_a_text"),
        ("/bodies/0/shapes/4/scale", "out_of_range"),
        ("/bodies/0/shapes/5/file", "both"),
    ]


def glb_with_a_corner_that_is_not_there() -> bytes:
    import trimesh

    glb: Any = trimesh.Trimesh(CORNERS, FACES, process=False).export(file_type="glb")
    indices = [k for face in FACES for k in face]
    broken = bytes(glb).replace(
        struct.pack("<12I", *indices), struct.pack("<12I", *indices[:-1], 99)
    )
    assert broken != glb
    return broken


def test_damaged_meshes_are_named(folder: Path) -> None:
    (folder / "flat.obj").write_text(OBJ.replace("v 0 0 0", "v 0 0").replace(" 0\n", "\n"))
    (folder / "torn.glb").write_bytes(glb_with_a_corner_that_is_not_there())
    document = scene(file="flat.obj")
    document["bodies"][0]["shapes"].append({"type": "mesh", "file": "torn.glb"})
    with pytest.raises(SceneInvalid) as caught:
        read_document(str(write(folder, document)))
    assert [(fault.pointer, fault.code) for fault in caught.value.errors] == [
        ("/bodies/0/shapes/0/file", "unreadable"),
        ("/bodies/0/shapes/1/file", "unreadable"),
    ]


@pytest.mark.parametrize("kind", ["visual", "collision"])
def test_a_damaged_mesh_of_a_robot_is_left_out(folder: Path, kind: str) -> None:
    (folder / "torn.glb").write_bytes(glb_with_a_corner_that_is_not_there())
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (folder / "r.urdf").write_text(
        f"""<robot name="r"><link name="base"/><link name="arm">
        <inertial><mass value="1"/>{inertia}</inertial>
        <{kind}><geometry><mesh filename="torn.glb"/></geometry></{kind}></link>
        <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
        </robot>"""
    )
    notes = import_path(folder / "r.urdf").report.notes
    assert [note.where for note in notes if note.code == "mesh_format"] == [
        ["link 'arm': torn.glb"]
    ]


def test_a_scene_is_imported_with_its_files(folder: Path, tmp_path: Path) -> None:
    path = write(folder, scene(file="meshes/part.stl"))
    archive = tmp_path / "part.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in (path, folder / "meshes" / "part.stl"):
            packed.write(file, f"robot/{file.relative_to(folder)}")
    beside = import_path(path)
    unpacked = import_archive(archive, tmp_path / "in", ImportOptions())
    assert beside.scene == unpacked.scene
    assert (unpacked.report.format, unpacked.report.source) == ("scene", "robot/scene.json")
    assert len(unpacked.scene["bodies"][0]["shapes"][0]["vertices"]) == 4


def test_an_archive_reads_no_file_outside(tmp_path: Path) -> None:
    outside = tmp_path / "secret.obj"
    outside.write_text(OBJ)
    for reference in (str(outside), "../secret.obj", f"file://{outside}"):
        archive = tmp_path / "a.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("scene.json", json.dumps(scene(file=reference)))
        with pytest.raises(ImportRefusedError, match="There is no file"):
            import_archive(archive, tmp_path / "in", ImportOptions())


def test_a_posted_scene_with_a_file_says_where_files_are_read() -> None:
    with pytest.raises(SceneInvalid) as caught:
        load_scene(scene(file="part.stl"))
    (fault,) = [fault for fault in caught.value.errors if fault.code == "unknown_field"]
    assert fault.pointer == "/bodies/0/shapes/0/file"
    assert fault.hint is not None
    assert "command line" in fault.hint
