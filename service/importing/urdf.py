"""Prepare a URDF for MuJoCo's compiler: resolve meshes, keep visual shapes if they are wanted."""

import copy
from pathlib import Path

from cardan.service.importing.files import Folder
from cardan.service.importing.mesh_formats import Color, why_not_read
from cardan.service.importing.notes import Notes
from cardan.service.importing.prepared import GREY, Assets, Prepared
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.srdf import read_states
from cardan.service.importing.urdf_repairs import repair
from cardan.service.importing.urdf_tree import check_tree
from cardan.service.importing.xml_text import Element, remove, text_of

IGNORED = ("gazebo", "transmission", "sensor")


def prepare_urdf(
    folder: Folder, path: Path, root: Element, visuals: bool, notes: Notes
) -> Prepared:
    """The model with its meshes. Raises ImportRefusedError."""
    if any("xacro" in element.tag for element in root.iter()):
        raise ImportRefusedError(
            "xacro",
            "The model is a xacro template, not yet a URDF.",
            "Expand it first: `xacro robot.urdf.xacro > robot.urdf`.",
        )
    _remove_foreign(root, notes)
    links = {link.get("name") for link in root.iter("link")}
    if None in links or not links:
        raise ImportRefusedError("no_links", "The URDF has no links, or links without a name.")
    check_tree(root, folder.shown(path))
    for tag in IGNORED:
        if remove(root, lambda element, tag=tag: element.tag == tag):  # type: ignore[misc]
            notes.dropped("extensions", f"<{tag}> elements are not part of a robot's mechanics.")
    palette = _palette(root)
    colors = {str(link.get("name")): _color(link, palette) for link in root.iter("link")}
    repair(root, notes)
    assets = Assets(folder)
    base = path.parent / _mesh_folder(root)
    for link in root.iter("link"):
        _complete_inertia(link)
        if not visuals:
            _remove_pictures(link)
        _paint_plain(link, palette)
        _resolve_meshes(folder, base, link, assets, notes)
    _declare_compiler(root)
    return Prepared(
        "urdf",
        text_of(root),
        assets.bytes_by_name,
        folder.shown(path),
        {name: color for name, color in colors.items() if color is not None},
        _bounds(root),
        read_states(folder, path, root.get("name")),
    )


def _remove_foreign(root: Element, notes: Notes) -> None:
    """Remove what has a prefix, but for capsules, which the compiler reads without one."""
    for geometry in root.iter("geometry"):
        for shape in geometry:
            if shape.tag.endswith("}capsule"):
                shape.tag = "capsule"
    foreign = remove(root, lambda element: element.tag.startswith("{"))
    for element in root.iter():
        for name in [name for name in element.attrib if name.startswith("{")]:
            del element.attrib[name]
            foreign += 1
    if foreign:
        notes.dropped(
            "extensions", f"{foreign} elements and attributes of other formats (with a prefix)."
        )


def _bounds(root: Element) -> dict[str, tuple[float, float]]:
    """Effort and velocity of the joints that move by themselves; 0 where they are not given."""
    found = {}
    for joint in root.findall("joint"):
        moves = joint.get("type") in ("revolute", "continuous", "prismatic")
        if moves and joint.find("mimic") is None:
            limit = joint.find("limit")
            found[str(joint.get("name"))] = (
                _number(limit, "effort"),
                _number(limit, "velocity"),
            )
    return found


def _number(element: Element | None, name: str) -> float:
    """A number of an element; 0 without one."""
    try:
        return float(element.get(name, "0")) if element is not None else 0.0
    except ValueError:
        return 0.0


def _complete_inertia(link: Element) -> None:
    """Write zeros for a missing <inertia>: the compiler refuses them, the repair is noted."""
    inertial = link.find("inertial")
    if inertial is not None and inertial.find("inertia") is None:
        names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        inertial.append(Element("inertia", dict.fromkeys(names, "0")))


def _remove_pictures(link: Element) -> None:
    """Remove the visual shapes of a link that has collision shapes to take a mass from."""
    if link.find("collision") is not None:
        remove(link, lambda element: element.tag == "visual")


def _resolve_meshes(
    folder: Folder, base: Path, link: Element, assets: Assets, notes: Notes
) -> None:
    where = f"link '{link.get('name')}'"
    for part in [*link.findall("visual"), *link.findall("collision")]:
        mesh = part.find("geometry/mesh")
        if part.find("geometry/*") is None:
            link.remove(part)
            notes.dropped("no_shape", "A shape without a geometry that is read.", where)
        if mesh is None:
            continue
        name = mesh.get("filename", "")
        path = folder.find(name, base)
        if path is not None and _take(part, mesh, path, assets, link):
            continue
        link.remove(part)
        why = "was not found" if path is None else why_not_read(path)
        kind = "picture" if part.tag == "visual" else "collision shape"
        code = "mesh_missing" if path is None else "mesh_format"
        notes.dropped(code, f"A mesh {why}; the {kind} is left out.", f"{where}: {name}")


def _take(part: Element, mesh: Element, path: Path, assets: Assets, link: Element) -> bool:
    """Read the file of a mesh; a picture of several colours becomes as many pictures."""
    if part.tag == "collision":
        taken = assets.take(path)
        if taken is not None:
            mesh.set("filename", taken)
        return taken is not None
    parts = assets.take_pictures(path)
    for k, (name, color) in enumerate(parts):
        one = part if k == 0 else copy.deepcopy(part)
        if k > 0:
            link.append(one)
        one_mesh = one.find("geometry/mesh")
        assert one_mesh is not None
        one_mesh.set("filename", name)
        if color is not None:
            _paint(one, color)
    return bool(parts)


def _paint_plain(link: Element, palette: dict[str, Color]) -> None:
    """Give pictures without a colour a grey one: the compiler takes that of the picture before."""
    for picture in link.findall("visual"):
        material = picture.find("material")
        named = palette.get(material.get("name", "")) if material is not None else None
        if named is None and (material is None or _rgb(material) is None):
            _paint(picture, GREY)


def _paint(picture: Element, color: Color) -> None:
    """Give a picture the colour of its file, which viewers prefer to that of the model."""
    remove(picture, lambda element: element.tag == "material")
    material = Element("material", {"name": "of file {} {} {}".format(*color)})
    material.append(Element("color", {"rgba": "{} {} {} 1".format(*color)}))
    picture.append(material)


def _mesh_folder(root: Element) -> str:
    """`meshdir` of MuJoCo's own element, if the URDF has one."""
    for compiler in root.iter("compiler"):
        folder = compiler.attrib.pop("meshdir", None)
        if folder:
            return folder
    return ""


def _declare_compiler(root: Element) -> None:
    """Tell the compiler to keep every link and shape: the importer decides what to merge."""
    extension = root.find("mujoco")
    if extension is None:
        extension = Element("mujoco")
        root.insert(0, extension)
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = Element("compiler")
        extension.insert(0, compiler)
    compiler.attrib.update(fusestatic="false", discardvisual="false", strippath="false")


def _palette(root: Element) -> dict[str, Color]:
    """Colours that are named at the top of the file."""
    found = {}
    for material in root.findall("material"):
        color = _rgb(material)
        if color is not None:
            found[material.get("name", "")] = color
    return found


def _color(link: Element, palette: dict[str, Color]) -> Color | None:
    for material in link.findall("visual/material"):
        color = _rgb(material) or palette.get(material.get("name", ""))
        if color is not None:
            return color
    return None


def _rgb(material: Element) -> Color | None:
    element = material.find("color")
    try:
        values = [
            float(word) for word in (element.get("rgba", "") if element is not None else "").split()
        ]
    except ValueError:
        return None
    if len(values) < 3 or not all(0.0 <= value <= 1.0 for value in values[:3]):
        return None
    return (values[0], values[1], values[2])
