"""Commands to a live session, the same over the socket and over HTTP: a union on `op`."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from cardan.schemas.action import (
    AppearAction,
    ApplyForceAction,
    ApplyImpulseAction,
    BreakJointAction,
    GravityAction,
    SetMotorAction,
    SetVelocityAction,
    VanishAction,
)
from cardan.schemas.base import Base, op_tag
from cardan.schemas.quantities import Boolean, Count, Index, Name, Number, Vec3


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


class SetMotor(SetMotorAction, CommandBase):
    """Changes the target of a motor."""


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


class ApplyForce(ApplyForceAction, CommandBase):
    """Applies a force and a torque for some time."""


class ApplyImpulse(ApplyImpulseAction, CommandBase):
    """Applies an impulse at the next step."""


class SetVelocity(SetVelocityAction, CommandBase):
    """Sets the velocity of a body."""


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


class Reset(CommandBase):
    """Goes back to the start of the scene, then to coordinates and velocities if it has any."""

    op: Literal["reset"]
    q: dict[Name, JointValues] = Field(default_factory=dict)
    """Coordinates by the name of the joint; the others start as the scene says [m or rad]."""
    qd: dict[Name, JointValues] = Field(default_factory=dict)
    """Velocities by the name of the joint; the others start as the scene says [m/s or rad/s]."""


class Gravity(GravityAction, CommandBase):
    """Sets gravity."""


class BreakJoint(BreakJointAction, CommandBase):
    """Ends a joint."""


class Appear(AppearAction, CommandBase):
    """Lets a body appear."""


class Vanish(VanishAction, CommandBase):
    """Lets a body vanish."""


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


class TakeControl(CommandBase):
    """Lets only this client change the run, until it lets go, leaves, or is silent for 90 s."""

    op: Literal["take_control"]


class ReleaseControl(CommandBase):
    """Lets everybody change the run again."""

    op: Literal["release_control"]


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
    | Annotated[BreakJoint, Tag("union:break_joint")]
    | Annotated[Appear, Tag("union:appear")]
    | Annotated[Vanish, Tag("union:vanish")]
    | Annotated[Seek, Tag("union:seek")]
    | Annotated[Live, Tag("union:live")]
    | Annotated[TakeControl, Tag("union:take_control")]
    | Annotated[ReleaseControl, Tag("union:release_control")],
    Discriminator(op_tag),
]
