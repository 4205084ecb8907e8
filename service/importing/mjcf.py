"""Prepare an MJCF model: insert included files, resolve paths, remove elements for drawing."""

import copy
from pathlib import Path

from cardan.service.importing.files import Folder
from cardan.service.importing.mesh_formats import why_not_read
from cardan.service.importing.notes import Notes
from cardan.service.importing.prepared import Assets, Prepared
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.xml_text import Element, parse_xml, remove, text_of, with_parents

MAX_INCLUDES = 100
PICTURES = {"texture", "skin", "layer", "camera", "light", "visual", "statistic"}
"""Elements that only concern drawing."""


def prepare_mjcf(folder: Folder, path: Path, root: Element, notes: Notes) -> Prepared:
    """The model with everything it includes. Raises ImportRefusedError."""
    _include(folder, path, root)
    if any(True for _ in root.iter("model")):
        raise ImportRefusedError(
            "attached_models",
            "The model attaches other models (<model file=...>), which is not followed.",
            "Save it as one file first: MuJoCo's `MjSpec.to_xml` writes it.",
        )
    _leave_out(root, notes)
    assets = Assets(folder)
    _resolve(folder, path.parent, root, assets, notes)
    return Prepared("mjcf", text_of(root), assets.bytes_by_name, folder.shown(path))


def _include(folder: Folder, path: Path, root: Element) -> None:
    """Replace every `<include>` by the children of the file's root, also in included files."""
    seen = {path.resolve()}
    for _ in range(MAX_INCLUDES):
        found = next(((p, c) for p, c in with_parents(root) if c.tag == "include"), None)
        if found is None:
            return
        parent, element = found
        name = element.get("file", "")
        target = folder.find(name, path.parent)
        if target is None:
            raise ImportRefusedError("file_missing", f"The included file '{name}' is not there.")
        if target in seen:
            raise ImportRefusedError("included_twice", f"The file '{name}' is included twice.")
        seen.add(target)
        included = parse_xml(folder.text(target), name)
        at = list(parent).index(element)
        parent.remove(element)
        for k, child in enumerate(included):
            parent.insert(at + k, copy.deepcopy(child))
    raise ImportRefusedError("too_many_files", f"More than {MAX_INCLUDES} files are included.")


def _leave_out(root: Element, notes: Notes) -> None:
    """Remove elements that scenes do not have, so that their files and plugins are not loaded."""
    for tag, what in (
        ("sensor", "Sensors of a model are not brought; a scene has its own in `sensors`."),
        ("extension", "Plugins are not run."),
        ("plugin", "Plugins are not run."),
    ):
        if remove(root, lambda element, tag=tag: element.tag == tag):  # type: ignore[misc]
            notes.dropped(f"{tag}s", what)
    pictures = remove(root, lambda element: element.tag in PICTURES)
    if pictures:
        notes.dropped("pictures", "Textures, skins, lights and cameras are left out.")
    for element in root.iter():
        element.attrib.pop("texture", "")


def _resolve(folder: Folder, base: Path, root: Element, assets: Assets, notes: Notes) -> None:
    """Replace every path by the name of a file that was read."""
    places = {"mesh": base, "hfield": base}
    for compiler in root.iter("compiler"):
        shared = compiler.attrib.pop("assetdir", None)
        meshes = compiler.attrib.pop("meshdir", None) or shared
        compiler.attrib.pop("texturedir", None)
        compiler.attrib.pop("strippath", None)
        if meshes:
            places = {"mesh": base / meshes, "hfield": base / meshes}
    for parent, element in with_parents(root):
        name = element.get("file")
        if name is None:
            continue
        if element.tag not in places:
            parent.remove(element)
            where = f"{element.tag} '{element.get('name', name)}'"
            notes.dropped(
                "file_not_read", "Of files only meshes and height fields are read.", where
            )
            continue
        path = folder.find(name, places[element.tag]) or folder.find(name, base)
        if path is None:
            raise ImportRefusedError(
                "file_missing",
                f"The {element.tag} file '{name}' is not there.",
                "Import the folder as a zip, or the file beside its meshes.",
            )
        taken = assets.take(path)
        if taken is None:
            raise ImportRefusedError(
                "mesh_format",
                f"The {element.tag} '{name}' {why_not_read(path)}.",
            )
        element.set("name", element.get("name") or path.stem)
        element.set("file", taken)
        element.attrib.pop("content_type", None)
