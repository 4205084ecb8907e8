"""Convert a model into a scene: every step of an import, in order."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cardan.schemas import SceneInvalid, load_scene
from cardan.schemas.imported import ImportAnswer, ImportOptions, ImportReport
from cardan.schemas.parse import parse_json
from cardan.service.importing.compiled import Compiled, compile_model
from cardan.service.importing.couplings import Couplings
from cardan.service.importing.drives import find_drives, holding_drives
from cardan.service.importing.files import (
    SCENE_ENDING,
    Folder,
    find_model,
    is_archive,
    unpack,
)
from cardan.service.importing.filters import Filters
from cardan.service.importing.joints import Mechanism, pose_of
from cardan.service.importing.links import WORLD, Link, Names, find_links, in_body, mass_of
from cardan.service.importing.mesh_references import with_meshes
from cardan.service.importing.mjcf import prepare_mjcf
from cardan.service.importing.motions import Motion, note_free_joint, read_motion
from cardan.service.importing.notes import Notes
from cardan.service.importing.prepared import Prepared
from cardan.service.importing.refusal import ImportRefusedError
from cardan.service.importing.setting import ground_plane, simulation_of
from cardan.service.importing.shapes import Shapes
from cardan.service.importing.surfaces import find_surfaces
from cardan.service.importing.tendons import Tendons
from cardan.service.importing.urdf import prepare_urdf
from cardan.service.importing.visuals import Visuals
from cardan.service.importing.xml_text import parse_xml

MAX_MODEL_BYTES = 64 * 1024**2


def import_path(
    path: Path | str, options: ImportOptions | None = None, packages: Sequence[Path | str] = ()
) -> ImportAnswer:
    """Import a trusted .urdf, .xml, .json or .zip file: it may name files anywhere on the machine.

    `packages`: folders that hold the packages of `package://`; without them packages are searched
    in the folders around the model. Raises ImportRefusedError.
    """
    path, options = Path(path), options or ImportOptions()
    if not os.path.isfile(path):
        raise ImportRefusedError("file_missing", f"There is no file '{path}'.")
    if is_archive(path):
        with tempfile.TemporaryDirectory(prefix="cardan-import-") as folder:
            return import_archive(path, Path(folder), options)
    everywhere = Path(path.resolve().anchor)
    folders = tuple(Path(folder).resolve() for folder in packages)
    return import_model(Folder(everywhere, folders), path.resolve(), options)


def import_archive(archive: Path, into: Path, options: ImportOptions) -> ImportAnswer:
    """Unpack an untrusted archive and import it: no other file is read.

    Raises ImportRefusedError.
    """
    unpack(archive, into)
    return import_folder(into, options)


def import_folder(root: Path, options: ImportOptions) -> ImportAnswer:
    """Import the model of a folder; no file outside it is read. Raises ImportRefusedError."""
    folder = Folder(root)
    return import_model(folder, find_model(folder, options.main), options)


def import_model(folder: Folder, path: Path, options: ImportOptions) -> ImportAnswer:
    """Import one model or scene of a folder. Raises ImportRefusedError."""
    if path.suffix.lower() == SCENE_ENDING:
        return _complete(folder, path)
    try:
        return _import(folder, path, options, Notes())
    except ImportRefusedError as error:
        if not options.visuals:
            raise
        plain = options.model_copy(update={"visuals": False})
        notes = Notes()
        notes.dropped("visuals", f"What is only seen is left out, because with it: {error}")
        try:
            return _import(folder, path, plain, notes)
        except ImportRefusedError:
            # it was not for the visuals
            raise error from None


def _import(folder: Folder, path: Path, options: ImportOptions, notes: Notes) -> ImportAnswer:
    prepared = _prepare(folder, path, options, notes)
    compiled = compile_model(prepared, options, notes)
    document = _scene(compiled, options, notes)
    if not document["bodies"]:
        raise _without_bodies(notes)
    try:
        load_scene(document)
    except SceneInvalid as error:
        raise ImportRefusedError(
            "scene_invalid", f"The model makes no valid scene: {error}"
        ) from error
    return ImportAnswer(scene=document, report=_report(compiled, document, notes))


def _without_bodies(notes: Notes) -> ImportRefusedError:
    if any(note.code == "fixed_root" for note in notes.listed()):
        return ImportRefusedError(
            "no_bodies",
            "Nothing of the model moves or can be touched: its root is fixed to the world, and so "
            "is all it carries.",
            "Import it with a free root (root=free; on the page: Robots float).",
        )
    return ImportRefusedError(
        "no_bodies", "The model has no bodies: it is a part for other models to include."
    )


def _complete(folder: Folder, path: Path) -> ImportAnswer:
    """Write the mesh files that a scene names into it."""
    try:
        written = parse_json(_text(folder, path))
        document = with_meshes(written, folder, path.parent)
        scene = load_scene(document)
    except SceneInvalid as error:
        raise ImportRefusedError("scene_invalid", f"The scene is not valid: {error}") from error
    report = ImportReport(
        format="scene",
        name=scene.name,
        compiler="Cardan",
        source=folder.shown(path),
        bodies=len(scene.bodies),
        joints=len(scene.joints),
        mass=None,
    )
    return ImportAnswer(scene=document, report=report)


def _text(folder: Folder, path: Path) -> str:
    inside = folder.inside(path)
    if inside is not None and inside.is_file() and inside.stat().st_size > MAX_MODEL_BYTES:
        raise ImportRefusedError("too_large", f"A model of more than {MAX_MODEL_BYTES} bytes.")
    return folder.text(path)


def _prepare(folder: Folder, path: Path, options: ImportOptions, notes: Notes) -> Prepared:
    root = parse_xml(_text(folder, path), folder.shown(path))
    if root.tag == "robot":
        return prepare_urdf(folder, path, root, options.visuals, notes)
    if root.tag == "mujoco":
        return prepare_mjcf(folder, path, root, notes)
    raise ImportRefusedError(
        "unknown_format", f"A model begins with <robot> (URDF) or <mujoco>, not <{root.tag[:80]}>."
    )


def _scene(compiled: Compiled, options: ImportOptions, notes: Notes) -> dict[str, Any]:
    """Write the scene document part by part."""
    body_names, joint_names = Names(WORLD), Names()
    links = find_links(compiled, options, body_names, notes)
    link_of = {body: link.name for link in links if link.kind != "static" for body in link.bodies}
    motions = _motions(compiled, options, notes)
    couplings = Couplings(compiled, link_of, motions, joint_names, notes)
    couplings.read_equalities()
    tendons = Tendons(compiled, link_of, motions, notes)
    tendons.mark()
    mechanism = Mechanism(compiled, options.formulation, joint_names, body_names, notes)
    materials_of, materials, pairs = find_surfaces(compiled, notes)
    bodies = _bodies(compiled, links, link_of, motions, mechanism)
    couplings.name_terms(mechanism.names_of)
    tendons.read(joint_names, mechanism.names_of, couplings.kept_tendons)
    couplings.read_gravity_compensation()
    _open_joints(compiled, links, mechanism)
    filters = Filters(compiled, links, _roots(links, mechanism.jointed), notes).fields()
    surfaces = {geom: {"material": name, **filters[geom]} for geom, name in materials_of.items()}
    shapes = Shapes(compiled, surfaces, notes)
    visuals = Visuals(compiled, shapes, notes)
    for body, link in zip(bodies, links, strict=True):
        body["shapes"] = shapes.of_link(link)
        if options.visuals and (seen := visuals.of_link(link)):
            body["visuals"] = seen
    used = {shape["material"] for body in bodies for shape in body["shapes"]}
    document = {
        "version": 1,
        "name": str(
            compiled.model.names[: compiled.model.names.find(b"\0")].decode("utf-8", "replace")
        ),
        "description": f"Imported from {compiled.prepared.source}.",
        **simulation_of(compiled, options, couplings.widest_gap, notes),
        "materials": {name: fields for name, fields in materials.items() if name in used},
        "material_pairs": [pair for pair in pairs if used.issuperset(pair["materials"])],
        "bodies": [*bodies, *mechanism.bodies],
        "joints": [*mechanism.joints, *couplings.joints, *tendons.joints],
        "forces": [*tendons.forces, *couplings.forces],
        "meshes": visuals.meshes(),
    }
    if options.ground:
        document["bodies"].insert(0, ground_plane(compiled, body_names, notes))
    return document


def _motions(compiled: Compiled, options: ImportOptions, notes: Notes) -> dict[int, Motion]:
    """All joints of the model except free ones, by number, with their motors."""
    import mujoco

    model = compiled.model
    drives = find_drives(compiled, notes)
    motions = {}
    for joint in range(model.njnt):
        if mujoco.mjtJoint(int(model.jnt_type[joint])) == mujoco.mjtJoint.mjJNT_FREE:
            note_free_joint(compiled, joint, notes)
            continue
        motion = motions[joint] = read_motion(compiled, joint, notes)
        if joint in drives:
            drives[joint].give(motion)
        elif model.jnt_actfrclimited[joint] and options.drives == "none":
            notes.dropped(
                "effort_limit",
                "A largest effort belongs to a motor; the joint has none.",
                f"joint '{motion.name}'",
            )
    if options.drives == "position":
        holding_drives(compiled, motions, notes)
    return motions


def _bodies(
    compiled: Compiled,
    links: list[Link],
    link_of: dict[int, str],
    motions: dict[int, Motion],
    mechanism: Mechanism,
) -> list[dict[str, Any]]:
    """Write the bodies without their shapes; add the joints that hold them to the mechanism."""
    model = compiled.model
    bodies = []
    for link in links:
        body: dict[str, Any] = {
            "name": link.name,
            "type": link.kind,
            **pose_of(compiled, link.root),
        }
        if link.kind == "dynamic":
            mass, share = mass_of(compiled, link.bodies), 1.0
            parent = link_of.get(int(model.body_parentid[link.root]), WORLD)
            start, count = int(model.body_jntadr[link.root]), int(model.body_jntnum[link.root])
            own = [motions[joint] for joint in range(start, start + count) if joint in motions]
            if link.carrier is not None:
                mechanism.fix(f"{link.name} fixed", link_of[link.carrier], link.name)
            elif own:
                share = mechanism.add(link, parent, own, mass)
            body |= in_body(compiled, link.root, mass, share)
        bodies.append(body)
    return bodies


def _open_joints(compiled: Compiled, links: list[Link], mechanism: Mechanism) -> None:
    """Let bodies on a joint touch where the model does, which a joint of a scene forbids.

    MuJoCo keeps parent and child apart unless it is told not to, or geoms of both are a listed
    pair. A URDF has no such rules.
    """
    model = compiled.model
    if compiled.prepared.format == "urdf":
        return
    always = compiled.is_off("FILTERPARENT")
    name_of = {body: link.name for link in links for body in link.bodies}
    listed = {
        frozenset(name_of[int(model.geom_bodyid[geom])] for geom in pair)
        for pair in zip(model.pair_geom1, model.pair_geom2, strict=True)
    }
    for joint in mechanism.joints:
        pair = frozenset((joint["parent"], joint["child"]))
        if joint["type"] != "fixed" and (always or pair in listed):
            joint["collide_connected"] = True
            mechanism.jointed.discard(pair)


def _roots(links: list[Link], jointed: set[frozenset[str]]) -> set[frozenset[int]]:
    """Pairs of links with a joint between them, each link by its root body in the model."""
    root_of = {link.name: link.root for link in links}
    return {frozenset(root_of[name] for name in pair) for pair in jointed if pair <= root_of.keys()}


def _report(compiled: Compiled, document: dict[str, Any], notes: Notes) -> ImportReport:
    import mujoco

    return ImportReport(
        format=compiled.prepared.format,
        name=document["name"],
        compiler=f"MuJoCo {mujoco.mj_versionString()}",
        source=compiled.prepared.source,
        bodies=len(document["bodies"]),
        joints=len(document["joints"]),
        mass=sum(body.get("mass", 0.0) for body in document["bodies"]),
        keyframe=compiled.start,
        notes=notes.listed(),
    )
