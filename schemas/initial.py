"""Where the coordinates of a joint start, counted from the poses of the scene."""

from cardan.schemas.base import Base
from cardan.schemas.quantities import Number, Vec3


class Initial(Base):
    """Start of a joint with one coordinate; the bodies beyond the joint are moved there."""

    position: Number = 0.0
    """Coordinate at the start; 0: the poses of the scene [m or rad]."""
    velocity: Number | None = None
    """Velocity at the start; none: 0 beside other joints that give one, else by the velocities of
    the bodies [m/s or rad/s]."""


class InitialPair(Base):
    """Start of a joint with two coordinates."""

    position: tuple[Number, Number] = (0.0, 0.0)
    """Coordinates at the start; 0: the poses of the scene [m or rad]."""
    velocity: tuple[Number, Number] | None = None
    """Velocities at the start; none: as of a joint with one coordinate [m/s or rad/s]."""


class InitialTriple(Base):
    """Start of a planar joint: two displacements, then the angle."""

    position: Vec3 = (0.0, 0.0, 0.0)
    """Coordinates at the start; 0: the poses of the scene [m, m, rad]."""
    velocity: Vec3 | None = None
    """Velocities at the start; none: as of a joint with one coordinate [m/s, m/s, rad/s]."""


class InitialBall(Base):
    """Start of a ball joint, along x, y, z of `frame` in the poses of the scene, fixed in the
    parent."""

    position: Vec3 = (0.0, 0.0, 0.0)
    """Rotation vector of the child from its pose in the scene [rad]."""
    velocity: Vec3 | None = None
    """Angular velocity of the child against the parent; none: as of a joint with one coordinate
    [rad/s]."""
