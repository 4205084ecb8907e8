"""Joint-space algorithms on the trees of a scene: arrays of states in, arrays out."""

from typing import Annotated, Literal

from pydantic import Field

from cardan.schemas.api import SceneSource
from cardan.schemas.base import Base
from cardan.schemas.quantities import Finite, Index, Name, Number, Vec3

MAX_STATES = 10_000
MAX_NUMBERS = 2_000_000
"""Numbers of an answer, and of the coordinates it was asked for."""

States = Annotated[list[list[Number]], Field(min_length=1, max_length=MAX_STATES)]


class DynamicsModelRequest(Base):
    """Request for the layout of the coordinates of a scene."""

    scene: SceneSource
    """A scene document, the name of an example, or the id of a stored scene."""


class ConfigurationRequest(DynamicsModelRequest):
    """Request for quantities that depend on coordinates alone."""

    q: States | None = None
    """Coordinates of at most 10000 states; default: one state, the scene's start."""


class MotionRequest(ConfigurationRequest):
    """Request for quantities that depend on coordinates and velocities."""

    qd: States | None = None
    """Rates of as many states, or of one for all; default: at rest."""


class InverseDynamicsRequest(MotionRequest):
    """Request for the forces that cause given accelerations."""

    qdd: States | None = None
    """Accelerations of the rates, as `qd`; default: none."""


class ForwardDynamicsRequest(MotionRequest):
    """Request for the accelerations that given forces cause."""

    tau: States | None = None
    """Forces of the rates [N, N m], as `qd`; default: none."""


class JacobianRequest(MotionRequest):
    """Request for the Jacobian of a point of a body; with `qd` also its time derivative."""

    body: Name
    """Name of the body."""
    point: Vec3 = (0.0, 0.0, 0.0)
    """Fixed in the body, from its origin, in its axes [m]."""


class CoordinateInfo(Base):
    """One elementary motion of a tree and its indices in the arrays."""

    joint: str | None
    """Name of the joint; none: a body that is free."""
    body: str
    """Name of the body it leads to."""
    motion: Literal["hinge", "slider", "screw", "ball", "free"]
    """What it is; a universal joint is two hinges, a planar joint two sliders and a hinge."""
    number: Index | None
    """Which coordinate of its joint; none: a free body, or the way of a suspension."""
    q: tuple[Index, Index]
    """First place in `q`, and the one after the last."""
    v: tuple[Index, Index]
    """The same in `qd`, `qdd`, `tau`."""
    q_names: list[str]
    """What stands there: q [rad, m]; w, x, y, z; x, y, z, qw, qx, qy, qz."""
    v_names: list[str]
    """What stands there: qd; wx, wy, wz; wx, wy, wz, vx, vy, vz in the body's axes."""


class DynamicsModelAnswer(Base):
    """Layout of the coordinates of a scene."""

    nq: Index
    """Coordinates of a state."""
    nv: Index
    """Rates of a state."""
    coordinates: list[CoordinateInfo]
    """Motions in their order."""
    bodies: list[str]
    """Names of the bodies, in the order of answers about them."""
    outside: list[str]
    """Joints that are no part of the trees; with any, inverse and forward dynamics and bias forces
    are refused."""
    start: list[Finite]
    """Coordinates where the scene has its bodies."""


Rows = list[list[Finite]]


class InverseDynamicsAnswer(Base):
    """Forces of the rates [N, N m]."""

    tau: Rows
    """One row for each state."""


class ForwardDynamicsAnswer(Base):
    """Accelerations of the rates."""

    qdd: Rows
    """One row for each state."""


class MassMatrixAnswer(Base):
    """Joint-space inertia: kinetic energy is qd . H qd/2."""

    mass_matrix: list[Rows]
    """One symmetric matrix for each state."""


class BiasForcesAnswer(Base):
    """Forces that keep all rates as they are: gravity, centrifugal, Coriolis [N, N m]."""

    bias: Rows
    """One row for each state."""


class JacobianAnswer(Base):
    """Angular velocity of a body and velocity of a point of it, from the rates, in W."""

    jacobian: list[Rows]
    """6 rows for each state: angular, linear."""
    rate: list[Rows] | None = None
    """Its derivative by time, when `qd` was given."""


class KinematicsAnswer(Base):
    """Poses and velocities of bodies in W; lists by state, then by body."""

    position: list[Rows]
    """Of the origins [m]."""
    orientation: list[Rows]
    """[w, x, y, z]."""
    velocity: list[Rows]
    """Of the origins [m/s]."""
    angular_velocity: list[Rows]
    """[rad/s]."""


class EnergyAnswer(Base):
    """Energies by state."""

    kinetic: list[Finite]
    """[J]."""
    potential: list[Finite]
    """By gravity, zero at the origin of W [J]."""


class MomentumAnswer(Base):
    """Momenta by state."""

    linear: Rows
    """[N s]."""
    angular: Rows
    """About the origin of W [N m s]."""
