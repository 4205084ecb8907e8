"""Names are unique, and every name that is used exists."""

from collections.abc import Iterator
from typing import Any

from cardan.schemas.checks.parts import WORLD, Parts, fault
from cardan.schemas.error import Fault, printable
from cardan.schemas.pointer import to_pointer
from cardan.schemas.spelling import did_you_mean, listed
from cardan.schemas.visual import VisualMesh

Path = list[str | int]


def name_faults(parts: Parts) -> Iterator[Fault]:
    """Yield duplicate names, and bodies called `world`."""
    for field in ("bodies", "joints", "forces", "sensors", "triggers"):
        first: dict[str, int] = {}
        for i, name in enumerate(parts.names(field)):
            if name is None:
                continue
            if field == "bodies" and name == WORLD:
                yield fault(
                    [field, i, "name"],
                    "reserved_name",
                    "The name 'world' is reserved for the frame that never moves.",
                    name,
                    "Give the body another name.",
                )
            elif name in first:
                place = to_pointer([field, first[name], "name"])
                yield fault(
                    [field, i, "name"],
                    "duplicate_name",
                    f"The name '{printable(name)}' is taken by {place}; names are unique.",
                    name,
                    "Rename one of them.",
                )
            else:
                first[name] = i


def reference_faults(parts: Parts) -> Iterator[Fault]:
    """Yield names of bodies, joints, materials and meshes that do not exist."""
    if isinstance(parts.document.get("bodies"), list):
        names = [name for name in parts.names("bodies") if name is not None and name != WORLD]
        known = dict.fromkeys(names)
        for path, name, may_be_world in _body_references(parts):
            if name in known or (may_be_world and name == WORLD):
                continue
            yield unknown_name("body", path, name, [*known, WORLD] if may_be_world else list(known))
    joints = [name for name in parts.names("joints") if name is not None]
    for path, name in _joint_references(parts):
        if name not in joints:
            yield unknown_name("joint", path, name, joints)
    materials = parts.document.get("materials", {})
    if isinstance(materials, dict):
        for path, name in _material_references(parts):
            if name not in materials:
                yield unknown_name("material", path, name, list(materials))
    meshes = parts.document.get("meshes", {})
    if isinstance(meshes, dict):
        for path, name in _mesh_references(parts):
            if name not in meshes:
                yield unknown_name("mesh", path, name, list(meshes))


def unknown_name(kind: str, path: Path, name: str, known: list[str]) -> Fault:
    """Return the fault of a name that nothing of this kind has in the scene."""
    there = f"the scene has {listed(known)}" if known else "the scene has none"
    return fault(
        path,
        f"unknown_{kind}",
        f"There is no {kind} named '{name}'; {there}.",
        name,
        did_you_mean(name, known),
    )


def _end_references(parts: Parts) -> Iterator[tuple[Path, str, bool]]:
    """Yield the bodies that joints and forces name: path, name, whether it may be the world."""
    for field in ("joints", "forces"):
        items = parts.document.get(field)
        for i, item in enumerate(items if isinstance(items, list) else []):
            if not isinstance(item, dict):
                continue
            for end, may_be_world in (("parent", True), ("child", True), ("body", False)):
                if isinstance(item.get(end), str):
                    yield [field, i, end], item[end], may_be_world


def _body_references(parts: Parts) -> Iterator[tuple[Path, str, bool]]:
    """Yield (path, name, may it be `world`) for every use of a body's name."""
    yield from _end_references(parts)
    for i, item in _sensors(parts):
        for end, may_be_world in (("body", item.get("type") == "ray"), ("other", False)):
            if isinstance(item.get(end), str):
                yield ["sensors", i, end], item[end], may_be_world
    for path, part in _trigger_parts(parts):
        for end in ("body", "other"):
            if isinstance(part.get(end), str):
                yield [*path, end], part[end], False
    if parts.record is not None and parts.record.bodies is not None:
        for i, name in enumerate(parts.record.bodies):
            yield ["record", "bodies", i], name, False


def _sensors(parts: Parts) -> Iterator[tuple[int, dict[str, Any]]]:
    items = parts.document.get("sensors")
    for i, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict):
            yield i, item


def _trigger_parts(parts: Parts) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Conditions and commands of all triggers."""
    items = parts.document.get("triggers")
    for i, item in enumerate(items if isinstance(items, list) else []):
        if not isinstance(item, dict):
            continue
        do = item.get("do")
        found: list[tuple[Path, Any]] = [(["triggers", i, "when"], item.get("when"))]
        for k, action in enumerate(do if isinstance(do, list) else []):
            found.append((["triggers", i, "do", k], action))
        yield from ((path, one) for path, one in found if isinstance(one, dict))


def _term_references(parts: Parts) -> Iterator[tuple[Path, str]]:
    for i, joint in parts.joints.items():
        for t, term in enumerate(getattr(joint, "terms", ())):
            yield ["joints", i, "terms", t, "joint"], term.joint


def _joint_references(parts: Parts) -> Iterator[tuple[Path, str]]:
    yield from _term_references(parts)
    for i, item in _sensors(parts):
        if isinstance(item.get("joint"), str):
            yield ["sensors", i, "joint"], item["joint"]
    for path, part in _trigger_parts(parts):
        if isinstance(part.get("joint"), str):
            yield [*path, "joint"], part["joint"]


def _material_references(parts: Parts) -> Iterator[tuple[Path, str]]:
    for i, body in parts.bodies.items():
        for j, shape in enumerate(body.shapes):
            if shape.material is not None:
                yield ["bodies", i, "shapes", j, "material"], shape.material
    for i, pair in parts.pairs.items():
        for j, name in enumerate(pair.materials):
            yield ["material_pairs", i, "materials", j], name


def _mesh_references(parts: Parts) -> Iterator[tuple[Path, str]]:
    for i, body in parts.bodies.items():
        for j, visual in enumerate(body.visuals):
            if isinstance(visual, VisualMesh):
                yield ["bodies", i, "visuals", j, "mesh"], visual.mesh
