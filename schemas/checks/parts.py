"""The parts of a document that are valid by themselves, with their places in it."""

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from cardan.schemas.body import Body
from cardan.schemas.error import Fault, shown
from cardan.schemas.force import Force
from cardan.schemas.joint import Joint
from cardan.schemas.material import Material, MaterialPair
from cardan.schemas.options import SimulationOptions
from cardan.schemas.pointer import to_pointer
from cardan.schemas.record import Record
from cardan.schemas.scene import Scene
from cardan.schemas.visual import TriangleMesh

T = TypeVar("T")
WORLD = "world"

_BODY: TypeAdapter[Body] = TypeAdapter(Body)
_JOINT: TypeAdapter[Joint] = TypeAdapter(Joint)
_FORCE: TypeAdapter[Force] = TypeAdapter(Force)
_MATERIAL: TypeAdapter[Material] = TypeAdapter(Material)
_PAIR: TypeAdapter[MaterialPair] = TypeAdapter(MaterialPair)
_SIMULATION: TypeAdapter[SimulationOptions] = TypeAdapter(SimulationOptions)
_MESH: TypeAdapter[TriangleMesh] = TypeAdapter(TriangleMesh)
_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


@dataclass(frozen=True)
class Parts:
    """Valid parts by index in the document, and the names of all parts, valid or not."""

    document: dict[str, Any]
    simulation: SimulationOptions | None
    record: Record | None
    materials: dict[str, Material]
    pairs: dict[int, MaterialPair]
    bodies: dict[int, Body]
    joints: dict[int, Joint]
    forces: dict[int, Force]
    meshes: dict[str, TriangleMesh]

    def names(self, field: str) -> list[str | None]:
        """Return the names in a list of the document, None where there is no text."""
        items = self.document.get(field)
        if not isinstance(items, list):
            return []
        names = [item.get("name") if isinstance(item, dict) else None for item in items]
        return [name if isinstance(name, str) else None for name in names]

    @property
    def bodies_by_name(self) -> dict[str, Body]:
        """Return the valid bodies by name; a duplicate name means the first body."""
        first: dict[str | None, int] = {}
        for i, name in enumerate(self.names("bodies")):
            first.setdefault(name, i)
        return {body.name: body for i, body in self.bodies.items() if first.get(body.name) == i}


def parts_of_scene(document: dict[str, Any], scene: Scene) -> Parts:
    """Return all parts of a scene whose fields are all valid."""
    return Parts(
        document=document,
        simulation=scene.simulation,
        record=scene.record,
        materials=dict(scene.materials),
        pairs=dict(enumerate(scene.material_pairs)),
        bodies=dict(enumerate(scene.bodies)),
        joints=dict(enumerate(scene.joints)),
        forces=dict(enumerate(scene.forces)),
        meshes=dict(scene.meshes),
    )


def valid_parts(document: dict[str, Any]) -> Parts:
    """Return the parts that are valid in a document where others are not."""
    return Parts(
        document=document,
        simulation=_valid(_SIMULATION, document.get("simulation", {})),
        record=_valid(_RECORD, document.get("record", {})),
        materials=_valid_values(_MATERIAL, document.get("materials")),
        pairs=_valid_items(_PAIR, document.get("material_pairs")),
        bodies=_valid_items(_BODY, document.get("bodies")),
        joints=_valid_items(_JOINT, document.get("joints")),
        forces=_valid_items(_FORCE, document.get("forces")),
        meshes=_valid_values(_MESH, document.get("meshes")),
    )


def _valid(adapter: TypeAdapter[T], value: Any) -> T | None:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None


def _valid_items(adapter: TypeAdapter[T], values: Any) -> dict[int, T]:
    items = enumerate(values if isinstance(values, list) else [])
    valid = {i: _valid(adapter, value) for i, value in items}
    return {i: value for i, value in valid.items() if value is not None}


def _valid_values(adapter: TypeAdapter[T], values: Any) -> dict[str, T]:
    items = values.items() if isinstance(values, dict) else ()
    valid = {name: _valid(adapter, value) for name, value in items}
    return {name: value for name, value in valid.items() if value is not None}


def fault(path: list[str | int], code: str, message: str, got: Any, hint: str | None) -> Fault:
    """Return a fault at a path of the document."""
    return Fault(pointer=to_pointer(path), code=code, message=message, got=shown(got), hint=hint)
