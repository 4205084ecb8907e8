"""Statics, linear models and inverse kinematics of a scene: requests and answers."""

from typing import Annotated, Literal

from pydantic import Field

from cardan.schemas.api import Overrides, SceneSource
from cardan.schemas.base import Base
from cardan.schemas.command import JointValues
from cardan.schemas.quantities import (
    Boolean,
    Count,
    Finite,
    FiniteVec3,
    Index,
    Name,
    Positive,
    QuaternionWXYZ,
    Vec3,
)

MOST_TARGETS = 100
MOST_CHANNELS = 1000


class MechanicsRequest(Base):
    """Request about a scene at its start."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""
    overrides: Overrides = Field(default_factory=dict)
    """Values by JSON Pointer, set in the scene before it is checked."""


class LoadForce(Base):
    """A force on a body."""

    body: Name
    """Name of the body."""
    force: Vec3 = (0.0, 0.0, 0.0)
    """In W [N]."""
    torque: Vec3 = (0.0, 0.0, 0.0)
    """In W [N m]."""
    point: Vec3 | None = None
    """Where the force acts, in W; none: centre of mass [m]."""


class Load(Base):
    """A load that is multiplied, on top of what acts in the scene."""

    acceleration: Vec3 | None = None
    """Of gravity, on every body: [9.81, 0, 0] times tan(a) is a tilt by the angle a [m/s^2]."""
    forces: list[LoadForce] = Field(default_factory=list, max_length=MOST_CHANNELS)
    """Forces on bodies."""


class StaticsRequest(MechanicsRequest):
    """Request for an equilibrium, its reactions, its stability and the load it carries."""

    search: Boolean = True
    """Whether to look for an equilibrium where the start is none."""
    load: Load | None = None
    """How many times this load is carried; none: not asked."""


class JointReaction(Base):
    """What a joint carries at rest; none without an equilibrium."""

    joint: str
    """Its name."""
    force: FiniteVec3 | None
    """On the child at the anchor, in W [N]."""
    torque: FiniteVec3 | None
    """On the child about the anchor, in W [N m]."""
    drives: FiniteVec3 | None
    """Of the motors of its coordinates [N or N m]."""
    stops: FiniteVec3 | None
    """Of the stops of its coordinates, as large as they push [N or N m]."""
    unique: bool | None
    """Whether statics determines them."""


class ContactReaction(Base):
    """What a contact carries at rest; none without an equilibrium."""

    number: Index
    """Number of the contact, which `margin` refers to."""
    body_a: str
    """First body."""
    body_b: str
    """Second body."""
    point: FiniteVec3
    """Middle between the surfaces, in W [m]."""
    normal: FiniteVec3
    """From the first to the second body, in W [-]."""
    gap: Finite
    """Distance, negative where they overlap [m]."""
    friction: Finite
    """Coefficient of friction [-]."""
    normal_force: Finite | None
    """On the second body [N]."""
    friction_force: FiniteVec3 | None
    """On the second body, in W [N]."""
    unique: bool | None
    """Whether statics determines the normal force."""


class Stability(Base):
    """Whether small disturbances stay small; contacts and friction that carry nothing left out."""

    stable: bool | None
    """None: neutral in some direction, or nothing is free to move."""
    least_stiffness: Finite | None
    """The least eigenvalue of the stiffness on the manifold of the constraints; displacements count
    as shares of the scene's length [N m/rad]."""
    eigenvalues: list[Finite]
    """Of stiffness against mass, ascending: squares of angular frequencies [1/s^2]."""
    frequencies: list[Finite]
    """Of the undamped small oscillations, of positive eigenvalues only [Hz]."""
    symmetric: bool
    """Whether all forces have a potential; if not, eigenvalues are those of the symmetric part."""


class LoadMargin(Base):
    """How many times a load is carried, and how the scene gives way beyond."""

    factor: Finite | None
    """The largest multiple; none: any."""
    gives_way: str | None
    """`tipping`, `sliding`, joints whose drives, stops or friction give way, `free to move` where
    nothing holds against the load; none: nothing does."""
    opens: list[Index]
    """Contacts that open."""
    slides: list[Index]
    """Contacts that slide."""
    joints: list[str]
    """Joints that give way, and by what."""


class BodyPose(Base):
    """Where a body is."""

    body: str
    """Its name."""
    position: FiniteVec3
    """Of its origin, in W [m]."""
    orientation: tuple[Finite, Finite, Finite, Finite]
    """[w, x, y, z]."""


class StaticsAnswer(Base):
    """What the laws of statics say of a scene."""

    status: Literal["equilibrium", "none", "not_found"]
    """`none`: not at these poses; `not_found`: nor did the search find one."""
    reason: str
    """Why there is none."""
    moved: bool
    """Whether the search moved bodies; coordinates, poses and contacts are those it found."""
    steps: Index
    """Steps of the search."""
    unbalanced: Finite | None
    """What no reactions balance, summed over bodies; 0 in equilibrium [N]."""
    coordinates: dict[str, list[Finite]]
    """Of the joints [m or rad]."""
    poses: list[BodyPose]
    """Of all bodies."""
    joints: list[JointReaction]
    """Reactions of the joints."""
    contacts: list[ContactReaction]
    """Forces of the contacts."""
    indeterminate: Index
    """How many combinations of reactions statics leaves open; the shortest are given."""
    stability: Stability | None
    """None where contacts, stops or dry friction carry, or without an equilibrium."""
    margin: LoadMargin | None
    """None without a `load`."""
    left_out: list[str]
    """What `stability` leaves out."""


class InputChannel(Base):
    """An input of a linear model."""

    joint: Name
    """Name of the joint."""
    coordinate: Annotated[Index, Field(le=2)] = 0
    """Which of its coordinates."""
    kind: Literal["target", "force"] = "target"
    """The target of its motor, or a force along or about the coordinate [N, N m]."""


class OutputChannel(Base):
    """An output of a linear model: of a joint coordinate, or of a point of a body."""

    joint: Name | None = None
    """Name of the joint."""
    coordinate: Annotated[Index, Field(le=2)] = 0
    """Which of its coordinates."""
    body: Name | None = None
    """Name of the body, instead of a joint; gives three outputs in W."""
    point: Vec3 = (0.0, 0.0, 0.0)
    """Point of the body, from its origin in its axes [m]."""
    quantity: Literal["position", "velocity", "acceleration"] = "position"
    """`acceleration` of joint coordinates only."""


class LinearizationRequest(MechanicsRequest):
    """Request for a linear model about a state."""

    q: dict[Name, JointValues] = Field(default_factory=dict)
    """Coordinates by the name of the joint; the others are at their start [m or rad]."""
    qd: dict[Name, JointValues] = Field(default_factory=dict)
    """Velocities by the name of the joint [m/s or rad/s]."""
    inputs: list[InputChannel] | None = Field(default=None, max_length=MOST_CHANNELS)
    """Default: targets of all motors that are not rigid."""
    outputs: list[OutputChannel] | None = Field(default=None, max_length=MOST_CHANNELS)
    """Default: positions of all joint coordinates."""
    shapes: Boolean = True
    """Whether modes have their shapes."""


Matrix = list[list[Finite]]


class BodyShape(Base):
    """How a body moves in a mode: real and imaginary parts, in W."""

    body: str
    """Its name."""
    rotation: tuple[FiniteVec3, FiniteVec3]
    """[rad]."""
    displacement: tuple[FiniteVec3, FiniteVec3]
    """Of its origin [m]."""


class ModeShape(Base):
    """Amplitudes of a mode; the largest coordinate is 1."""

    coordinates: list[tuple[Finite, Finite]]
    """Real and imaginary part of each coordinate, in the order of `coordinates`."""
    bodies: list[BodyShape]
    """Motions of the bodies, for pictures."""


class ModeInfo(Base):
    """An eigenvalue of A; of a pair the one with the positive imaginary part."""

    eigenvalue: tuple[Finite, Finite]
    """Real and imaginary part [1/s]."""
    frequency: Finite
    """Of the undamped oscillation, |eigenvalue|/2 pi; 0: it does not oscillate [Hz]."""
    damping_ratio: Finite
    """-Re/|eigenvalue|; negative: it grows [-]."""
    shape: ModeShape | None
    """None unless asked for."""


class LinearizationAnswer(Base):
    """dx/dt = f0 + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0), x = (z, dz/dt)."""

    coordinates: list[str]
    """Names of z: independent coordinates; orientations have rotation vectors from the state."""
    inputs: list[str]
    """Names of u."""
    outputs: list[str]
    """Names of y."""
    A: Matrix
    """2 n rows."""
    B: Matrix
    """2 n rows."""
    C: Matrix
    """One row for each output."""
    D: Matrix
    """One row for each output."""
    x0: list[Finite]
    """The state; velocities of free bodies are those of their centres of mass in W."""
    u0: list[Finite]
    """Inputs at the state."""
    y0: list[Finite]
    """Outputs at the state."""
    f0: list[Finite]
    """dx/dt at the state: 0 at rest in equilibrium."""
    mass: Matrix
    """n rows: kinetic energy is dz/dt . mass dz/dt/2."""
    modes: list[ModeInfo]
    """From the slowest to the fastest."""
    left_out: list[str]
    """What the model leaves out: contacts, stops, dry friction, motions from outside."""


class FrameTarget(Base):
    """Where a body is to be."""

    body: Name
    """Name of the body."""
    point: Vec3 = (0.0, 0.0, 0.0)
    """Point of the body, from its origin in its axes [m]."""
    position: Vec3 | None = None
    """Where the point is to be, in W; none: anywhere [m]."""
    orientation: QuaternionWXYZ | None = None
    """How the body is to be turned, [w, x, y, z]; none: anyhow."""


class InverseKinematicsRequest(MechanicsRequest):
    """Request for joint coordinates that bring bodies to targets, within limits."""

    targets: Annotated[list[FrameTarget], Field(min_length=1, max_length=MOST_TARGETS)]
    """Targets, all at once."""
    q: dict[Name, JointValues] = Field(default_factory=dict)
    """Where to begin, by the name of the joint; the others are at their start [m or rad]."""
    tolerance: Positive = 1e-8
    """Largest error of a target [m, rad]."""
    starts: Annotated[Count, Field(le=100)] = 8
    """From how many starts to try."""


class TargetError(Base):
    """Distance by which a target is missed."""

    position: Finite
    """[m]."""
    orientation: Finite
    """[rad]."""


class InverseKinematicsAnswer(Base):
    """Joint coordinates, the best that were found."""

    found: bool
    """Whether every target is met within the tolerance."""
    coordinates: dict[str, list[Finite]]
    """Of the joints [m or rad]."""
    errors: list[TargetError]
    """Of the targets, in their order."""
    steps: Index
    """Steps from the best start."""
    starts: Count
    """Starts that were tried."""
    at_limits: list[str]
    """Joints with a coordinate on a limit."""
