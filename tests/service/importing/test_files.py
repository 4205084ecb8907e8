"""Archives and references of strangers: what is outside stays outside."""

import stat
import zipfile

import numpy as np
import pytest

from cardan.schemas.imported import ImportOptions
from cardan.service.importing import ImportRefusedError, import_archive, import_path
from cardan.service.importing.files import Folder

LINK = """
<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
"""
JOINT = """
<joint name="pivot" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/></joint>
"""
TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
BODY = '<mujoco><worldbody><body name="b"><geom size="0.1"/></body></worldbody>{}</mujoco>'


def robot(mesh):
    links = '<link name="base"/>' + LINK.format(name="arm", mesh=mesh)
    return f'<robot name="r">{links}{JOINT}</robot>'


def packed(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def refused(code, call):
    with pytest.raises(ImportRefusedError) as caught:
        call()
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("package://arm_description/meshes/link.obj", "arm_description/meshes/link.obj"),
        ("package://arm_description/meshes/link.obj", "meshes/link.obj"),
        ("../meshes/link.obj", "meshes/link.obj"),
        ("package://other/link.obj", "other/link.obj"),
    ],
)
def test_meshes_are_found_in_the_archive(tmp_path, reference, place):
    model = "arm_description/urdf/r.urdf" if place.startswith("arm_") else "urdf/r.urdf"
    archive = packed(tmp_path / "r.zip", {model: robot(reference), place: TETRAHEDRON})
    answer = import_archive(archive, tmp_path / "in", ImportOptions())
    (shape,) = answer.scene["bodies"][0]["shapes"]
    assert shape["type"] == "convex"
    assert len(shape["points"]) == 4
    assert answer.report.source == model


@pytest.mark.parametrize(
    "reference",
    ["{outside}", "../../secret.obj", "file://{outside}", "package://x/../../../secret.obj"],
)
def test_nothing_outside_of_the_archive_is_read(tmp_path, reference):
    outside = tmp_path / "secret.obj"
    outside.write_bytes(TETRAHEDRON)
    text = robot(reference.format(outside=outside))
    archive = packed(tmp_path / "r.zip", {"robot/r.urdf": text})
    answer = import_archive(archive, tmp_path / "in", ImportOptions())
    assert "shapes" not in answer.scene["bodies"][0] or not answer.scene["bodies"][0]["shapes"]
    assert "mesh_missing" in {note.code for note in answer.report.notes}


@pytest.mark.parametrize("tag", ["<include file='{}'/>", "<asset><mesh file='{}'/></asset>"])
def test_mjcf_reads_nothing_outside_either(tmp_path, tag):
    outside = tmp_path / "secret.xml"
    outside.write_text("<mujoco/>")
    archive = packed(tmp_path / "r.zip", {"r.xml": BODY.format(tag.format(outside))})
    refused("file_missing", lambda: import_archive(archive, tmp_path / "in", ImportOptions()))


@pytest.mark.parametrize(
    "name", ["../evil.xml", "/evil.xml", "a/../../evil.xml", "C:/evil.xml", "."]
)
def test_archive_with_paths_outside_is_refused(tmp_path, name):
    archive = packed(tmp_path / "r.zip", {"r.xml": BODY.format(""), name: "<mujoco/>"})
    into = tmp_path / "deep" / "in"
    refused("path_outside", lambda: import_archive(archive, into, ImportOptions()))
    assert {path.name for path in tmp_path.rglob("*.xml")} <= {"r.xml"}


@pytest.mark.parametrize("names", [["a", "a/b.xml"], ["a/b.xml", "a"], [f"{'a' * 300}.xml"]])
def test_names_that_no_file_can_have_are_refused(tmp_path, names):
    archive = packed(tmp_path / "r.zip", dict.fromkeys(names, BODY.format("")))
    error = refused(
        "not_an_archive", lambda: import_archive(archive, tmp_path / "in", ImportOptions())
    )
    assert str(tmp_path) not in str(error)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_are_refused(tmp_path, method):
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w", method) as made:
        made.writestr("r.xml", BODY.format(f"<!-- {' '.join(map(str, range(900)))} -->"))
    whole = archive.read_bytes()
    found = 0
    # the data is behind the name of the file: every byte of it in turn
    for at in range(35, 120):
        archive.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            import_archive(archive, tmp_path / "in", ImportOptions())
        except ImportRefusedError as error:
            found += error.code == "not_an_archive"
    assert found > 70


@pytest.mark.parametrize(
    ("names", "said"),
    [([], "There are no files."), (["a.stl", "b.txt"], "among the files: a.stl, b.txt.")],
)
def test_an_archive_without_a_model_says_what_it_has(tmp_path, names, said):
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in names:
            made.writestr(name, "nothing")
    assert said in str(refused("no_model", lambda: import_path(archive)))


def test_a_model_in_another_encoding_names_the_byte(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_bytes("<robot name='\xe9'/>".encode("latin-1"))
    error = refused("file_unreadable", lambda: import_path(path))
    assert str(error) == "'r.urdf' is not a text in UTF-8: byte 13 is 0xe9."


def test_links_in_archives_are_not_followed(tmp_path):
    secret = tmp_path / "secret.obj"
    secret.write_bytes(TETRAHEDRON)
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("r.urdf", robot("link.obj"))
        link = zipfile.ZipInfo("link.obj")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, str(secret))
    refused("not_compiled", lambda: import_archive(archive, tmp_path / "in", ImportOptions()))
    assert not (tmp_path / "in" / "link.obj").is_symlink()


@pytest.mark.parametrize("sizes", [[1_000_000], [6_000, 6_000]], ids=["one", "together"])
def test_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, sizes):
    monkeypatch.setattr("cardan.service.importing.files.MAX_BYTES", 10_000)
    archive = tmp_path / "r.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("r.xml", BODY.format(""))
        for number, size in enumerate(sizes):
            made.writestr(f"zeros-{number}", bytes(size))
    refused("too_large", lambda: import_archive(archive, tmp_path / "in", ImportOptions()))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<mujoco", "not_xml"),
        ("", "not_xml"),
        ("<scene/>", "unknown_format"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>', "document_type"),
        ("<robot name='r'/>", "no_links"),
        (
            "<robot xmlns:xacro='http://ros.org/wiki/xacro'><link name='a'/><xacro:if/></robot>",
            "xacro",
        ),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "scene_invalid"),
        ("<mujoco><worldbody><body pos='a'/></worldbody></mujoco>", "not_compiled"),
        ("<mujoco><include file='gone.xml'/></mujoco>", "file_missing"),
        ("<mujoco><asset><model file='b.xml'/></asset></mujoco>", "attached_models"),
        ("<mujoco><worldbody/></mujoco>", "no_bodies"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, text, code):
    path = tmp_path / "model.xml"
    path.write_text(text)
    if code == "scene_invalid" and "joint" in text:
        # a body without mass gets some, and is valid
        answer = import_path(path)
        assert "light_link" in {note.code for note in answer.report.notes}
        return
    assert str(refused(code, lambda: import_path(path)))


def test_the_model_of_an_archive_is_found_or_asked_for(tmp_path):
    two = {"a/one.xml": BODY.format(""), "a/two.xml": BODY.format("")}
    archive = packed(tmp_path / "two.zip", two)
    error = refused(
        "several_models", lambda: import_archive(archive, tmp_path / "1", ImportOptions())
    )
    assert "a/one.xml" in str(error)
    named = import_archive(archive, tmp_path / "2", ImportOptions(main="a/two.xml"))
    assert named.report.source == "a/two.xml"
    scene = BODY.format("").replace("<mujoco>", "<mujoco><include file='part.xml'/>")
    part = "<mujoco><worldbody><body name='c'><geom size='1'/></body></worldbody></mujoco>"
    both = packed(tmp_path / "scene.zip", {"scene.xml": scene, "part.xml": part})
    whole = import_archive(both, tmp_path / "3", ImportOptions())
    assert {body["name"] for body in whole.scene["bodies"]} == {"b", "c"}


def test_a_model_may_begin_with_a_line_break(tmp_path):
    text = BODY.format("").replace("<mujoco>", '<mujoco\n  model="m">')
    archive = packed(tmp_path / "r.zip", {"r.xml": text, "readme.txt": "a robot"})
    answer = import_archive(archive, tmp_path / "in", ImportOptions())
    assert answer.report.name == "m"


def test_comments_before_the_model_may_hold_elements(tmp_path):
    path = tmp_path / "r.urdf"
    text = robot("gone.obj").replace("</link>", "<drake:note/></link>", 1)
    path.write_text(f"<?xml version='1.0'?><!-- <robot> of <drake:model> -->\n{text}")
    assert "extensions" in {note.code for note in import_path(path).report.notes}


def test_models_that_are_nested_too_deep_are_refused(tmp_path):
    path = tmp_path / "rope.xml"

    def rope(bodies):
        link = '<body pos="0 0 0.1"><joint/><geom size="0.05"/>'
        return f"<mujoco><worldbody>{link * bodies}{'</body>' * bodies}</worldbody></mujoco>"

    path.write_text(rope(1200))
    assert "499" in str(refused("too_deep", lambda: import_path(path)))
    path.write_text(rope(496))
    assert import_path(path).report.bodies == 496


def test_a_file_that_is_not_read_is_said(tmp_path):
    path = tmp_path / "model.xml"
    flex = '<flexcomp name="jelly" type="gmsh" file="jelly.msh" dim="3"/></worldbody>'
    path.write_text(BODY.format("").replace("</worldbody>", flex))
    (note,) = [n for n in import_path(path).report.notes if n.code == "file_not_read"]
    assert note.where == ["flexcomp 'jelly'"]


def test_meshes_of_one_name_in_two_folders_are_two(tmp_path):
    big = TETRAHEDRON.replace(b"1 0 0", b"2 0 0")
    links = '<link name="base"/>' + LINK.format(name="arm", mesh="b/link.obj").replace(
        "</link>",
        "<collision><geometry><mesh filename='a/link.obj'/></geometry></collision></link>",
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{JOINT}</robot>')
    for folder, content in (("a", TETRAHEDRON), ("b", big)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "link.obj").write_bytes(content)
    shapes = import_path(tmp_path / "r.urdf").scene["bodies"][0]["shapes"]
    sizes = sorted(np.ptp(np.array(shape["points"]), axis=0).max() for shape in shapes)
    assert sizes[0] == pytest.approx(2**0.5, rel=0.35)
    assert sizes[1] > sizes[0] + 0.3


def test_packages_may_lie_elsewhere(tmp_path):
    (tmp_path / "here").mkdir()
    mesh = tmp_path / "there" / "arm" / "link.obj"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(TETRAHEDRON)
    model = tmp_path / "here" / "r.urdf"
    model.write_text(robot("package://arm/link.obj"))
    without = import_path(model)
    assert "mesh_missing" in {note.code for note in without.report.notes}
    found = import_path(model, ImportOptions(), (tmp_path / "there",))
    assert import_path(str(model), None, [str(tmp_path / "there")]) == found
    assert len(found.scene["bodies"][0]["shapes"]) == 1
    assert Folder(tmp_path / "here").find("package://arm/link.obj", tmp_path / "here") is None


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><created>2026-01-01T00:00:00</created><modified>2026-01-01T00:00:00</modified>
  <unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
   <technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
    <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
  </source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
   <p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>
 </visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def test_collada_meshes_are_read(tmp_path):
    (tmp_path / "r.urdf").write_text(robot("link.dae"))
    (tmp_path / "link.dae").write_text(COLLADA)
    (shape,) = import_path(tmp_path / "r.urdf").scene["bodies"][0]["shapes"]
    assert len(shape["points"]) == 4
    assert np.ptp(np.array(shape["points"]), axis=0).max() > 0.9
    entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    for text in ("no mesh at all", "<COLLADA/>", COLLADA.replace("<COLLADA", f"{entity}<COLLADA")):
        (tmp_path / "link.dae").write_text(text)
        broken = import_path(tmp_path / "r.urdf")
        assert "mesh_format" in {note.code for note in broken.report.notes}


def test_a_robot_of_one_fixed_link_is_told_of_the_free_root(tmp_path):
    robot = tmp_path / "cup.urdf"
    inertial = "<mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    robot.write_text(
        f"<robot name='cup'><link name='a'><inertial>{inertial}</inertial></link></robot>"
    )
    refusal = refused("no_bodies", lambda: import_path(robot, ImportOptions()))
    assert "fixed to the world" in str(refusal)
    assert "root=free" in (refusal.hint or "")
    assert import_path(robot, ImportOptions(root="free")).scene["bodies"][0]["name"] == "a"


def test_a_part_without_bodies_is_refused_as_one(tmp_path):
    part = tmp_path / "skybox.xml"
    part.write_text('<mujoco><asset><material name="m"/></asset></mujoco>')
    assert "no bodies" in str(refused("no_bodies", lambda: import_path(part, ImportOptions())))
