"""Commands to a live session, the same over the socket and over HTTP: a union on `op`."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.base import Base, op_tag
from cardan.schemas.quantities import Boolean, Count, Index, Name, NonNegative, Number, Vec3


class CommandBase(Base):
    """What every command has."""

    id: Annotated[str, Field(strict=True, max_length=200)] | None = None
    """Chosen by the client; comes back with the answer."""


class Pause(CommandBase):
    """Stops stepping."""

    op: Literal["pause"]


class Resume(CommandBase):
    """Goes on stepping."""

    op: Literal["resume"]


class Step(CommandBase):
    """Does some steps and pauses."""

    op: Literal["step"]
    n: Count = 1
    """Number of steps."""


class Speed(CommandBase):
    """Sets simulated time per wall time."""

    op: Literal["speed"]
    factor: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=64.0)] | None
    """Factor; null: as fast as possible [-]."""


class Reset(CommandBase):
    """Goes back to the start of the scene."""

    op: Literal["reset"]


class SetMotor(CommandBase):
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


class Grab(CommandBase):
    """Takes hold of a body at a point, with a spring."""

    op: Literal["grab"]
    body: Name
    """Name of the body."""
    point: Vec3
    """Where to hold it, in W [m]."""


class GrabMove(CommandBase):
    """Moves the point that a held body is drawn to."""

    op: Literal["grab_move"]
    target: Vec3
    """In W [m]."""


class Release(CommandBase):
    """Lets go of the held body."""

    op: Literal["release"]


class ApplyForce(CommandBase):
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


class ApplyImpulse(CommandBase):
    """Applies an impulse at the next step."""

    op: Literal["apply_impulse"]
    body: Name
    """Name of the body."""
    impulse: Vec3
    """In W [N s]."""
    point: Vec3 | None = None
    """Where it acts, in W; none: centre of mass [m]."""


class SetVelocity(CommandBase):
    """Sets the velocity of a body."""

    op: Literal["set_velocity"]
    body: Name
    """Name of the body."""
    linear: Vec3
    """Of the body origin, in W [m/s]."""
    angular: Vec3
    """In W [rad/s]."""


def _values_tag(value: Any) -> str:
    return "union:list" if isinstance(value, (list, tuple)) else "union:number"


JointValues = Annotated[
    Annotated[Number, Tag("union:number")]
    | Annotated[tuple[Number, ...], Field(min_length=1, max_length=3), Tag("union:list")],
    Discriminator(_values_tag),
]
"""One number, or as many as the joint has coordinates; of a ball a vector as in its `initial`."""


class SetState(CommandBase):
    """Puts joints at coordinates and velocities; the bodies beyond them move along."""

    op: Literal["set_state"]
    q: dict[Name, JointValues] = Field(default_factory=dict)
    """Coordinates by the name of the joint; the others stay as they are [m or rad]."""
    qd: dict[Name, JointValues] = Field(default_factory=dict)
    """Velocities by the name of the joint; the others stay as they are [m/s or rad/s]."""


class Gravity(CommandBase):
    """Sets gravity."""

    op: Literal["gravity"]
    value: Vec3
    """In W [m/s^2]."""


class Seek(CommandBase):
    """Shows this viewer, and no other, a step of the history."""

    op: Literal["seek"]
    step: Index
    """Step to show."""
    exact: Boolean = False
    """Whether it is computed again if no frame of it is kept; else the kept one before it."""


class Live(CommandBase):
    """Brings this viewer back to the running simulation."""

    op: Literal["live"]


Command = Annotated[
    Annotated[Pause, Tag("union:pause")]
    | Annotated[Resume, Tag("union:resume")]
    | Annotated[Step, Tag("union:step")]
    | Annotated[Speed, Tag("union:speed")]
    | Annotated[Reset, Tag("union:reset")]
    | Annotated[SetMotor, Tag("union:set_motor")]
    | Annotated[Grab, Tag("union:grab")]
    | Annotated[GrabMove, Tag("union:grab_move")]
    | Annotated[Release, Tag("union:release")]
    | Annotated[ApplyForce, Tag("union:apply_force")]
    | Annotated[ApplyImpulse, Tag("union:apply_impulse")]
    | Annotated[SetVelocity, Tag("union:set_velocity")]
    | Annotated[SetState, Tag("union:set_state")]
    | Annotated[Gravity, Tag("union:gravity")]
    | Annotated[Seek, Tag("union:seek")]
    | Annotated[Live, Tag("union:live")],
    Discriminator(op_tag),
]
