"""External forces: a union on `type`."""

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import (
    Direction,
    Name,
    NonNegative,
    Number,
    Positive,
    Stiffness,
    Vec3,
)
from cardan.schemas.series import VectorTarget


class ForceBase(Base):
    """What every force has."""

    name: Name | None = None
    """Unique among the forces, if given."""


class Spring(ForceBase):
    """A spring and damper between a point of the parent and a point of the child."""

    type: Literal["spring"]
    parent: Name
    """Name of a body, or `world`."""
    child: Name
    """Name of another body."""
    anchor: Vec3
    """A point of the parent, in W at the start, then fixed in it [m]."""
    anchor2: Vec3
    """A point of the child, in W at the start, then fixed in it [m]."""
    stiffness: Stiffness
    """k or [k1, k2, k3] of the extension [N/m, N/m^2, N/m^3]."""
    damping: NonNegative = 0.0
    """Damping along the spring [N s/m]."""
    rest: NonNegative | None = None
    """Length where the spring is free; default: the first length [m]."""


class Torsion(ForceBase):
    """A torsion spring and damper about an axis fixed in the parent."""

    type: Literal["torsion"]
    parent: Name
    """Name of a body, or `world`."""
    child: Name
    """Name of another body."""
    axis: Direction
    """Axis in W at the start, then fixed in the parent [-]."""
    stiffness: Stiffness
    """k or [k1, k2, k3] of the angle [N m/rad, ...]."""
    damping: NonNegative = 0.0
    """Damping of the turn [N m s/rad]."""
    rest: Number = 0.0
    """Angle, from the start, where the spring is free [rad]."""


class Wrench(ForceBase):
    """A force at a point and a torque, constant or over time."""

    type: Literal["wrench"]
    body: Name
    """The body they act on."""
    force: VectorTarget = (0.0, 0.0, 0.0)
    """Force along `axes` [N]."""
    torque: VectorTarget = (0.0, 0.0, 0.0)
    """Torque along `axes` [N m]."""
    point: Vec3 | None = None
    """Point of the body where the force acts, in `axes` (`world`: in W at the start, then fixed
    in the body; `body`: in the body frame); default: the centre of mass [m]."""
    axes: Literal["world", "body"] = "world"
    """Axes of force, torque and point."""


class Drag(ForceBase):
    """Resistance at the centre of mass: -(linear + quadratic |v|) v."""

    type: Literal["drag"]
    body: Name
    """The body that is slowed down."""
    linear: NonNegative = 0.0
    """Coefficient of the velocity [N s/m]."""
    quadratic: NonNegative = 0.0
    """Coefficient of speed times velocity [N s^2/m^2]."""


class PointGravity(ForceBase):
    """Attraction between all pairs of bodies with mass: constant m1 m2 r / (r^2 + softening^2)^1.5.

    Static and kinematic bodies attract with their `mass`, if it is given, from their origin."""

    type: Literal["point_gravity"]
    constant: Positive
    """Gravitational constant [m^3/(kg s^2)]."""
    softening: NonNegative = 0.0
    """Length that keeps close encounters finite [m]."""


Force = Annotated[
    Annotated[Spring, Tag("union:spring")]
    | Annotated[Torsion, Tag("union:torsion")]
    | Annotated[Wrench, Tag("union:wrench")]
    | Annotated[Drag, Tag("union:drag")]
    | Annotated[PointGravity, Tag("union:point_gravity")],
    Discriminator(type_tag),
]
