"""What may be done to a running simulation, by a live command or by a trigger of the scene."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base, op_tag
from cardan.schemas.quantities import Index, Name, NonNegative, Number, Vec3


class SetMotorAction(Base):
    """Changes the target of a motor."""

    op: Literal["set_motor"]
    joint: Name
    """Name of the joint."""
    axis: Annotated[Index, Field(le=2)] = 0
    """0: `motor`, 1: `motor2`, 2: `motor3`; of a ball: x, y, z."""
    target: Number
    """New target, in the unit of the motor."""
    max_force: NonNegative | None = None
    """New largest force; none: as it is [N or N m]."""


class ApplyForceAction(Base):
    """Applies a force and a torque for some time."""

    op: Literal["apply_force"]
    body: Name
    """Name of the body."""
    force: Vec3 = (0.0, 0.0, 0.0)
    """In W [N]."""
    torque: Vec3 = (0.0, 0.0, 0.0)
    """In W [N m]."""
    point: Vec3 | None = None
    """Where the force acts, in W; none: centre of mass [m]."""
    duration: NonNegative = 0.0
    """How long; 0: one step [s]."""


class ApplyImpulseAction(Base):
    """Applies an impulse at the next step."""

    op: Literal["apply_impulse"]
    body: Name
    """Name of the body."""
    impulse: Vec3
    """In W [N s]."""
    point: Vec3 | None = None
    """Where it acts, in W; none: centre of mass [m]."""


class SetVelocityAction(Base):
    """Sets the velocity of a body."""

    op: Literal["set_velocity"]
    body: Name
    """Name of the body."""
    linear: Vec3
    """Of the body origin, in W [m/s]."""
    angular: Vec3
    """In W [rad/s]."""


class GravityAction(Base):
    """Sets gravity."""

    op: Literal["gravity"]
    value: Vec3
    """In W [m/s^2]."""


class BreakJointAction(Base):
    """Ends a joint; one that is broken stays so.

    In reduced coordinates only a joint with `breaking_force`, or one that a trigger of the scene
    breaks, can end: the others are coordinates.
    """

    op: Literal["break_joint"]
    joint: Name
    """Name of the joint."""


class AppearAction(Base):
    """Lets a body that is absent appear, where and as fast as the scene says; one that is present
    stays as it is."""

    op: Literal["appear"]
    body: Name
    """Name of the body."""


class VanishAction(Base):
    """Lets a body vanish: it has no mass and touches nothing until it appears again."""

    op: Literal["vanish"]
    body: Name
    """Name of the body."""


Action = Annotated[
    Annotated[SetMotorAction, Tag("union:set_motor")]
    | Annotated[ApplyForceAction, Tag("union:apply_force")]
    | Annotated[ApplyImpulseAction, Tag("union:apply_impulse")]
    | Annotated[SetVelocityAction, Tag("union:set_velocity")]
    | Annotated[GravityAction, Tag("union:gravity")]
    | Annotated[BreakJointAction, Tag("union:break_joint")]
    | Annotated[AppearAction, Tag("union:appear")]
    | Annotated[VanishAction, Tag("union:vanish")],
    Discriminator(op_tag),
]
