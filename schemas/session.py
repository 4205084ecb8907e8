"""Answers of live sessions over HTTP."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cardan.schemas.base import Base

Record = dict[str, float | int | None]
"""One row of a table: numbers by column; null: not finite."""
Energies = dict[str, float | None]
"""Energies and work by name [J]."""
Row7 = Annotated[list[float | None], Field(min_length=7, max_length=7)]
Row6 = Annotated[list[float | None], Field(min_length=6, max_length=6)]


class SeriesRow(Base):
    """The state at one sampled step."""

    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    poses: list[Row7]
    """(bodies, 7): px py pz of body origins [m], qw qx qy qz, in W."""
    velocities: list[Row6]
    """(bodies, 6): vx vy vz [m/s], wx wy wz [rad/s], in W."""
    joints: list[Record]
    """Coordinates and rates of the joints."""
    energy: Energies
    """Energies."""


class CommandResult(Base):
    """A command that took effect."""

    op: Literal["result"]
    """Kind of message."""
    applied_step: int
    """Step at which it took effect."""
    step: int
    """Step now."""
    time: float
    """Simulated time now [s]."""
    id: str | None = None
    """The id of the command, if it had one."""
    steps_done: int | None = None
    """Of `step`: steps that were done."""
    interrupted: str | None = None
    """Of `step`: what ended it early."""
    series: list[SeriesRow] | None = None
    """Of `step` with `sample_every`: the sampled states."""


class SnapshotInfo(Base):
    """A stored state of a session."""

    id: str
    """Identity within the session."""
    epoch: int
    """Epoch of the state."""
    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    state_hash: str
    """Identity of the state, hex."""
    bytes: int
    """Size [bytes]."""


class SnapshotList(Base):
    """The stored states of a session, oldest first."""

    items: list[SnapshotInfo]
    """Snapshots."""


class LoggedCommandInfo(Base):
    """A command that took effect; its arguments are further members."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)

    number: int
    """Counts the commands of the session."""
    epoch: int
    """Epoch in which it took effect."""
    step: int
    """Step at which it took effect."""
    op: str
    """What it did."""
    client_id: str | None
    """Who sent it; null: over HTTP."""


class CommandLogAnswer(Base):
    """The log of accepted commands."""

    items: list[LoggedCommandInfo]
    """Commands in order."""
    forgotten: int
    """Older commands that are no longer kept."""


class MotorTarget(Base):
    """The target of a motor that a command or a trigger has set."""

    joint: str
    """Name of the joint."""
    axis: int
    """Axis of the joint, from 0."""
    target: float
    """Target [m, rad, m/s, rad/s, N or N m]."""


class PastState(Base):
    """The complete state at a step, in double precision."""

    epoch: int
    """Counts resets and restores."""
    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    body_names: list[str]
    """Names of the bodies, in the order of the rows."""
    poses: list[Row7]
    """(bodies, 7): px py pz of body origins [m], qw qx qy qz, in W."""
    velocities: list[Row6]
    """(bodies, 6): vx vy vz [m/s], wx wy wz [rad/s], in W."""
    asleep: list[bool | int]
    """(bodies,): whether each body sleeps."""
    present: list[bool]
    """(bodies,): whether each body is there; an absent one rests where it will appear."""
    joint_names: list[str]
    """Names of the joints."""
    joints: list[Record]
    """One row per joint coordinate."""
    broken_joints: list[dict[str, str | float]]
    """Joints that broke: joint, time [s], force [N]."""
    motor_targets: list[MotorTarget]
    """Targets of motors that were commanded; others are those of the scene."""
    gravity: list[float]
    """(3,): gravity that acts [m/s^2], in W; commands and triggers change it."""
    contacts: list[Record]
    """One row per contact of the last step."""
    sensors: dict[str, dict[str, float | None]]
    """Readings by name of the sensor; null: none."""
    energy: Energies
    """Energies."""
    momentum: list[float | None]
    """(6,): linear [N s], angular about the origin of W [N m s]."""
    solver: dict[str, Any]
    """How the last step was solved."""
    grab: dict[str, Any] | None
    """The body that is held, with the point, target and force in W; null: none."""
    state_hash: str
    """Identity of the state, hex."""


class SessionState(PastState):
    """The complete state of a session now."""

    state: str
    """Phase of the session."""


class FrameInfo(Base):
    """A frame of the history; columns of tables are those of `cardan.schemas.frame`."""

    step: int
    """Steps since the start."""
    time: float
    """Simulated time [s]."""
    epoch: int
    """Epoch of the frame."""
    sequence: int
    """Number of the frame."""
    poses: list[Row7] | None = None
    """(bodies, 7): px py pz [m], qw qx qy qz, in W."""
    energy: Record | None = None
    """Energies [J]."""
    momentum: Record | None = None
    """Of the scene: linear [N s], angular about the origin [N m s], in W."""
    solver: Record | None = None
    """How the step was solved."""
    grab: dict[str, int | list[float]] | None = None
    """The body that is held, point, target and force."""
    state_hash: str | None = None
    """Identity of the state, hex."""
    velocities: list[Record] | None = None
    """Of the origins of bodies [m/s], and angular [rad/s], in W."""
    contacts: list[Record] | None = None
    """Contacts."""
    friction: list[Record] | None = None
    """Per contact: the force on the second body [N], in W, and the coefficient of friction."""
    joints: list[Record] | None = None
    """Joint coordinates."""
    reactions: list[Record] | None = None
    """Forces [N] and torques [N m] of joints on their children at the anchor, in W."""
    events: list[Record] | None = None
    """Contact events, joints that broke, triggers that fired, bodies that appeared or vanished."""
    asleep: list[Record] | None = None
    """Bodies that sleep."""
    absent: list[Record] | None = None
    """Bodies that are absent; null: none is."""


class FramesAnswer(Base):
    """A part of the history of a session."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, populate_by_name=True
    )

    epoch: int
    """Epoch now."""
    first: int | None = Field(alias="from")
    """First kept step; null: nothing is kept."""
    last: int | None = Field(alias="to")
    """Last kept step."""
    spacing: int | None = None
    """Steps between two kept frames, at most."""
    frames: list[FrameInfo]
    """Frames, oldest first."""
