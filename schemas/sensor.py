"""Sensors on bodies and joints: a union on `type`.

Readings are recorded like channels. What follows from accelerations and forces is the mean over the
step that ends at the time of the reading; a distance is that at its time.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from cardan.schemas.base import Base, type_tag
from cardan.schemas.quantities import Direction, Name, Positive, QuaternionWXYZ, Vec3


class SensorBase(Base):
    """What every sensor has."""

    name: Name
    """Unique among the sensors."""


class Imu(SensorBase):
    """Specific force `ax ay az` and angular velocity `wx wy wz` of a frame on a body, in its axes.

    The specific force is acceleration less gravity: at rest it points up, with 9.81 m/s^2.
    """

    type: Literal["imu"]
    body: Name
    """The body it is fixed to."""
    position: Vec3 = (0.0, 0.0, 0.0)
    """Origin of its frame in the body frame [m]."""
    orientation: QuaternionWXYZ = (1.0, 0.0, 0.0, 0.0)
    """Its axes to those of the body, [w, x, y, z]."""


class ForceTorque(SensorBase):
    """All that a joint hands on to its child, at the anchor: `fx fy fz` and `tx ty tz`.

    Besides the reaction these are the forces of its motor, stops, springs, friction and damping.
    Not a number while its bodies sleep.
    """

    type: Literal["force_torque"]
    joint: Name
    """The joint."""
    axes: Literal["world", "body"] = "world"
    """Axes of force and torque: W, or those of the child."""


class ContactForce(SensorBase):
    """Sum of the contact forces on a body, `fx fy fz`, with their torque about its origin.

    Those of bodies that sleep are as when they fell asleep.
    """

    type: Literal["contact_force"]
    body: Name
    """The body they act on."""
    other: Name | None = None
    """Only those from this body; none: from all."""
    axes: Literal["world", "body"] = "world"
    """Axes of force and torque."""


class RayDistance(SensorBase):
    """The `distance` along a ray to the nearest shape of another body; not a number: none."""

    type: Literal["ray"]
    body: Name
    """The body it is fixed to, or `world`."""
    position: Vec3 = (0.0, 0.0, 0.0)
    """Where it begins, in the body frame [m]."""
    direction: Direction
    """Where it goes, in the body frame; of any length but zero."""
    max_distance: Positive | None = None
    """How far it sees; none: without end [m]."""


Sensor = Annotated[
    Annotated[Imu, Tag("union:imu")]
    | Annotated[ForceTorque, Tag("union:force_torque")]
    | Annotated[ContactForce, Tag("union:contact_force")]
    | Annotated[RayDistance, Tag("union:ray")],
    Discriminator(type_tag),
]
