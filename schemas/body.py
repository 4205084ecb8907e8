"""A rigid body: name, kind, initial pose and velocity, inertia, shapes."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag

from cardan.schemas.base import Base
from cardan.schemas.quantities import Boolean, Name, Number, Positive, QuaternionWXYZ, Vec3
from cardan.schemas.series import PoseSeries
from cardan.schemas.shape import Shape
from cardan.schemas.visual import Visual


def _inertia_tag(value: Any) -> str:
    full = isinstance(value, (list, tuple)) and len(value) > 3
    return "union:full" if full else "union:diagonal"


Inertia = Annotated[
    Annotated[tuple[Number, Number, Number], Tag("union:diagonal")]
    | Annotated[tuple[Number, Number, Number, Number, Number, Number], Tag("union:full")],
    Discriminator(_inertia_tag),
]


class Body(Base):
    """A rigid body. Positions and velocities are of the body origin, in W, at the start."""

    name: Name
    """Unique among the bodies; `world` is reserved."""
    type: Literal["dynamic", "static", "kinematic"] = "dynamic"
    """`dynamic` moves by forces, `static` never, `kinematic` with its given velocities or along its
    `motion`."""
    position: Vec3 = (0.0, 0.0, 0.0)
    """Body origin in W [m]."""
    orientation: QuaternionWXYZ = (1.0, 0.0, 0.0, 0.0)
    """Body to world, [w, x, y, z]."""
    linear_velocity: Vec3 = (0.0, 0.0, 0.0)
    """Velocity of the body origin in W [m/s]."""
    angular_velocity: Vec3 = (0.0, 0.0, 0.0)
    """Angular velocity in W [rad/s]."""
    motion: PoseSeries | None = None
    """Poses over time of a kinematic body, which it has exactly at the ends of steps. They begin at
    `position` and `orientation`; velocities are those of the interpolation."""
    mass: Positive | None = None
    """Mass, spread evenly over the shapes unless `inertia` is given [kg]."""
    density: Positive | None = None
    """Density of all shapes, instead of `mass` [kg/m^3]."""
    center_of_mass: Vec3 | None = None
    """Centre of mass in the body frame; default: that of the shapes, and the origin where `inertia`
    is given or there are none [m]."""
    inertia: Inertia | None = None
    """About the centre of mass in body axes: xx, yy, zz or xx, yy, zz, xy, xz, yz [kg m^2]."""
    shapes: tuple[Shape, ...] = ()
    """Collision shapes, also those over which the mass is spread."""
    visuals: tuple[Visual, ...] = ()
    """What pictures show instead of the shapes; without mass, and touched by nothing."""
    present: Boolean = True
    """Whether it is there at the start. If not, a trigger or a command lets it appear."""
    appears: Positive | None = None
    """When it appears, with the pose and the velocities above; until then it is absent [s]."""
    vanishes: Positive | None = None
    """When it vanishes [s]."""
