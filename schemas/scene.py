"""The scene: one document that says everything about a simulation."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from cardan.schemas.base import Base
from cardan.schemas.body import Body
from cardan.schemas.force import Force
from cardan.schemas.joint import Joint
from cardan.schemas.material import Material, MaterialPair
from cardan.schemas.options import SimulationOptions
from cardan.schemas.quantities import Name, Text, Vec3
from cardan.schemas.record import Record
from cardan.schemas.sensor import Sensor
from cardan.schemas.trigger import Trigger
from cardan.schemas.visual import TriangleMesh


def _not_boolean(value: Any) -> Any:
    """Refuse `true`, which Python takes for 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("not_an_integer", "A version number is needed, not a boolean.")
    return value


class Scene(Base):
    """Bodies, joints, forces, and how to simulate and record them.

    SI units and radians; W is right-handed with z up; quaternions are [w, x, y, z].
    Build one with `cardan.schemas.load_scene`, which also checks what concerns several fields.
    """

    version: Annotated[Literal[1], BeforeValidator(_not_boolean)] = 1
    """Version of this format."""
    name: Text = ""
    """Title of the scene."""
    description: Text = ""
    """What it shows."""
    gravity: Vec3 = (0.0, 0.0, -9.81)
    """Uniform gravity in W [m/s^2]."""
    simulation: SimulationOptions = SimulationOptions()
    """Time, formulation and numerical method."""
    materials: Annotated[dict[Name, Material], Field(default_factory=dict)]
    """Surface materials by name."""
    material_pairs: tuple[MaterialPair, ...] = ()
    """Pairs of materials that do not combine as usual."""
    bodies: Annotated[tuple[Body, ...], Field(min_length=1)]
    """The rigid bodies."""
    joints: tuple[Joint, ...] = ()
    """Joints between bodies, or between a body and `world`."""
    forces: tuple[Force, ...] = ()
    """External forces."""
    sensors: Annotated[tuple[Sensor, ...], Field(max_length=1000)] = ()
    """What is measured on bodies and joints; at most 1000."""
    triggers: Annotated[tuple[Trigger, ...], Field(max_length=100)] = ()
    """Commands that are done when a quantity crosses a value; at most 100."""
    record: Record = Record()
    """What is kept of a run."""
    meshes: Annotated[dict[Name, TriangleMesh], Field(default_factory=dict)]
    """Meshes by name that `visuals` of bodies show."""
