"""What limits, drives and springs the coordinates of joints."""

import math
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Fraction, NonNegative, Number, Positive, Stiffness
from cardan.schemas.series import Target, VectorTarget

Angle = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=math.pi)]


class Limits(Base):
    """Stops of one joint coordinate; hard unless `stiffness` or `damping` is given.

    A soft stop is a spring and damper that only pushes back, and only beyond the limit; with
    `damping` alone it slows what goes deeper. Equal limits lock the coordinate.
    """

    lower: Number | None = None
    """Smallest value of the coordinate; none: free on this side [m or rad]."""
    upper: Number | None = None
    """Largest value of the coordinate; none: free on this side [m or rad]."""
    restitution: Fraction = 0.0
    """Rebound at the stop; none below a fiftieth of `contact.restitution_threshold`, at most 0.01
    m/s or rad/s [-]."""
    stiffness: Stiffness | None = None
    """Stiffness of a soft stop, k or [k1, k2, k3] [N/m or N m/rad]."""
    damping: NonNegative | None = None
    """Damping of a soft stop [N s/m or N m s/rad]."""


class BallLimits(Base):
    """Cone and twist limits of a ball joint about its `axis`; hard unless soft as other stops are.

    The child's axis is the one that coincides with `axis` at the start. The swing is the angle
    between them, the twist what is left of the rotation when the axis is swung back by the shortest
    way. With the axis turned right over (swing = pi) there is no twist, and its limit rests.
    """

    swing: Angle | None = None
    """Half angle of the cone that the child's axis may not leave [rad]."""
    twist: Angle | None = None
    """Largest turn about the axis, either way [rad]."""
    restitution: Fraction = 0.0
    """Rebound at the stop; none below a fiftieth of `contact.restitution_threshold`, at most 0.01
    m/s or rad/s [-]."""
    stiffness: Stiffness | None = None
    """Stiffness of a soft stop, k or [k1, k2, k3] [N m/rad]."""
    damping: NonNegative | None = None
    """Damping of a soft stop [N m s/rad]."""


class VelocityMotor(Base):
    """Drives the coordinate at a speed, with no more than a given force."""

    type: Literal["velocity"]
    target: Target
    """Speed, constant or over time [m/s or rad/s]."""
    max_force: NonNegative | None = None
    """Largest force or torque; none: unlimited [N or N m]."""


class PositionDrive(Base):
    """How a position motor drives: as a spring and damper when these are given, else rigidly.

    The rigid one is a servo: it holds the coordinate as equal limits would, with no more than
    `max_force`, and brakes with half of that before it arrives. Without `max_force` it rushes to a
    target far away, unless `max_speed` bounds it.
    """

    max_force: NonNegative | None = None
    """Largest force or torque; none: unlimited [N or N m]."""
    max_speed: Positive | None = None
    """Largest speed of a drive without `stiffness`; none: unlimited [m/s or rad/s]."""
    stiffness: Stiffness | None = None
    """Stiffness of the drive, k or [k1, k2, k3]; none: rigid [N/m or N m/rad]."""
    damping: NonNegative | None = None
    """Damping of the drive [N s/m or N m s/rad]."""


class PositionMotor(PositionDrive):
    """Drives the coordinate to a value."""

    type: Literal["position"]
    target: Target
    """Value of the coordinate, constant or over time [m or rad]."""


class ForceMotor(Base):
    """Applies a force or torque along or about the axis."""

    type: Literal["force"]
    target: Target
    """Force or torque, constant or over time [N or N m]."""


Motor = Annotated[
    Annotated[VelocityMotor, Tag("union:velocity")]
    | Annotated[PositionMotor, Tag("union:position")]
    | Annotated[ForceMotor, Tag("union:force")],
    Discriminator(type_tag),
]


class BallVelocityMotor(Base):
    """Drives the relative angular velocity of a ball joint; each component has its own torque."""

    type: Literal["velocity"]
    target: VectorTarget
    """Along x, y, z of `frame` at the start, then fixed in the parent [rad/s]."""
    max_force: NonNegative | None = None
    """Largest torque about each of them; none: unlimited [N m]."""


class BallPositionMotor(PositionDrive):
    """Drives the orientation of the child of a ball joint against its parent."""

    type: Literal["position"]
    target: VectorTarget
    """Rotation vector since the start, along x, y, z of `frame` at the start, then fixed in the
    parent [rad]."""


class BallForceMotor(Base):
    """Applies a torque to the child of a ball joint, and its reverse to the parent."""

    type: Literal["force"]
    target: VectorTarget
    """Along x, y, z of `frame` at the start, then fixed in the parent [N m]."""


BallMotor = Annotated[
    Annotated[BallVelocityMotor, Tag("union:velocity")]
    | Annotated[BallPositionMotor, Tag("union:position")]
    | Annotated[BallForceMotor, Tag("union:force")],
    Discriminator(type_tag),
]


class JointSpring(Base):
    """A spring and damper on the joint coordinate (of a hinge2: along `axis`, the suspension)."""

    stiffness: Stiffness
    """k or [k1, k2, k3] [N/m or N m/rad]."""
    damping: NonNegative = 0.0
    """Damping [N s/m or N m s/rad]."""
    rest: Number = 0.0
    """Value of the coordinate where the spring is free [m or rad]."""
